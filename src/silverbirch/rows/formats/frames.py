"""Tables in memory and Arrow streams, converted slice by slice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..columns import Field, Wanted, arrow_fields, without_first
from ..table import ArrowTable, Table, needed
from .npy import ArrayTable

if TYPE_CHECKING:
    import pyarrow as pa


class ArrowMemoryTable(ArrowTable):
    """A table or record batch of pyarrow."""

    in_memory = True

    def __init__(self, table: Any, label: str = "the table") -> None:
        pa = needed("pyarrow")
        self.label = label
        self._table = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
        self.fields = arrow_fields(self._table.schema)
        self.n_rows = self._table.num_rows

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        yield from self._table.select(wanted.all_names).slice(begin).to_batches()


class FrameTable(ArrowTable):
    """A data frame of pandas, polars or another library that narwhals supports."""

    in_memory = True

    def __init__(self, frame: Any, label: str = "the table") -> None:
        narwhals = needed("narwhals")
        needed("pyarrow")
        self.label = label
        self._column = narwhals.col
        if getattr(frame.columns, "nlevels", 1) > 1:  # narwhals has no names of several levels
            frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        self._frame = narwhals.from_native(frame, eager_only=True)
        if len(set(map(str, self._frame.columns))) < len(self._frame.columns):
            raise ValueError(f"{label} has several columns with the same name: rename them")
        self._native_names = {str(name): name for name in self._frame.columns}
        self.n_rows = len(self._frame)
        names = list(self._native_names)
        self.fields = tuple(map(self._with_values, arrow_fields(self._arrow(0, min(1, self.n_rows), names).schema)))

    def _with_values(self, field: Field) -> Field:
        """The field by its first value that is not missing, if the first row has none to tell its type."""
        if field.type != "null":
            return field
        present = (~self._frame[self._native_names[field.name]].is_null()).to_numpy()
        row = int(present.argmax())
        return arrow_fields(self._arrow(row, row + 1, [field.name]).schema)[0] if present.any() else field

    def _arrow(self, start: int, end: int, names: list[str]) -> pa.Table:
        pa = needed("pyarrow")
        part = self._frame[start:end].select([self._column(self._native_names[name]) for name in names])
        try:
            return part.to_arrow().select(names)  # drops the index of pandas
        except pa.ArrowException as error:
            reason = str(error).partition("\n")[0]
            raise ValueError(f"{self.label} has values of several kinds in one column: {reason}") from None

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        assert self.n_rows is not None
        for start in range(begin, self.n_rows, chunk_rows):
            end = min(start + chunk_rows, self.n_rows)
            yield from self._arrow(start, end, wanted.all_names).to_batches()


class ArrowReaderTable(ArrowTable):
    """A stream of record batches, which can be read only once."""

    def __init__(self, stream: Any, label: str = "the stream") -> None:
        self.label = label
        self._reader = needed("pyarrow").RecordBatchReader.from_stream(stream)
        self._held: list[pa.RecordBatch] = []  # read before the first chunk
        self.fields = arrow_fields(self._reader.schema)

    def _first_batches(self, name: str) -> Iterator[pa.RecordBatch]:
        yield from self._held
        for batch in self._reader:
            self._held.append(batch)
            yield batch

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        held, self._held = self._held, []
        for batch in without_first(itertools.chain(held, self._reader), begin):
            yield batch.select(wanted.all_names)


def as_table(item: Any, label: str) -> Table:
    """The table for an array, data frame, Arrow table or record batch."""
    if is_arrow(item):
        return ArrowMemoryTable(item, label)
    if is_frame(item):
        return FrameTable(item, label)
    if isinstance(item, str | bytes | dict) or item is None:
        raise TypeError(f"{label} is a {type(item).__name__}: arrays, data frames or record batches are needed")
    return ArrayTable(item, label)


def is_arrow(source: Any) -> bool:
    """Whether the source is a table or record batch of pyarrow; does not import pyarrow."""
    return _module_of(source) == "pyarrow" and type(source).__name__ in ("Table", "RecordBatch")


def is_series(source: Any) -> bool:
    """Whether the source is a single column of a data frame."""
    return type(source).__name__ == "Series" and hasattr(source, "to_frame")


def is_frame(source: Any) -> bool:
    """Whether the source is a data frame in memory; does not import narwhals."""
    return type(source).__name__ == "DataFrame" and hasattr(source, "columns") and hasattr(source, "shape")


def _module_of(source: Any) -> str:
    return type(source).__module__.partition(".")[0]

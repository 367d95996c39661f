"""Tables in memory and Arrow streams, converted slice by slice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..columns import Wanted, arrow_fields, without_first
from ..table import ArrowTable, Table, needed
from .npy import ArrayTable

if TYPE_CHECKING:
    import pyarrow as pa


class ArrowMemoryTable(ArrowTable):
    """A table or record batch of pyarrow."""

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

    def __init__(self, frame: Any, label: str = "the table") -> None:
        narwhals = needed("narwhals")
        needed("pyarrow")
        self.label = label
        self._column = narwhals.col
        self._frame = narwhals.from_native(frame, eager_only=True)
        if len(set(map(str, self._frame.columns))) < len(self._frame.columns):
            raise ValueError(f"{label} has several columns with the same name: rename them")
        self._native_names = {str(name): name for name in self._frame.columns}
        self.n_rows = len(self._frame)
        self.fields = arrow_fields(self._arrow(0, min(1, self.n_rows), list(self._native_names)).schema)

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
        self.fields = arrow_fields(self._reader.schema)

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        for batch in without_first(self._reader, begin):
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


def is_frame(source: Any) -> bool:
    """Whether the source is a data frame in memory; does not import narwhals."""
    return type(source).__name__ == "DataFrame" and hasattr(source, "columns") and hasattr(source, "shape")


def _module_of(source: Any) -> str:
    return type(source).__module__.partition(".")[0]

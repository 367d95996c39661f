"""The file formats that Arrow reads: one class each. All read in steps of bounded size, without reading ahead."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Floats
from ..columns import Wanted, arrow_fields, without_first
from ..table import ArrowTable, needed, reading

if TYPE_CHECKING:
    import pyarrow as pa

# A column chunk of Parquet is read through a buffer of this size instead of whole.
_PARQUET_BUFFER = 1 << 18
# Arrow files with batches larger than this are mapped instead of read: a batch can only be read whole.
_LARGE_BATCH = 64 << 20
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


class FileTable(ArrowTable):
    """A file; where the rows are not counted in it, how far one is goes by the bytes that were read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.label = str(path)
        self.n_bytes = path.stat().st_size
        self._bytes_of_row = 0.0  # so far
        if self.n_bytes == 0:
            raise ValueError(f"{path} is empty")
        with reading(self.label):
            self._open()

    def _open(self) -> None:
        """Reads what the file says of itself: `fields`, and `n_rows` where it does."""
        raise NotImplementedError

    def share(self, row: int) -> float | None:
        return min(1.0, row * self._bytes_of_row / self.n_bytes) if self.n_rows is None else super().share(row)

    def _noting_bytes(self, batches: Any, bytes_read: Callable[[int], int]) -> Iterator[pa.RecordBatch]:
        """The batches, while it is noted how many bytes of the file a row takes; `bytes_read` after so many batches."""
        rows = 0
        for number, batch in enumerate(batches, start=1):
            rows += batch.num_rows
            if rows:
                self._bytes_of_row = bytes_read(number) / rows
            yield batch


class ParquetTable(FileTable):
    def _file(self) -> Any:
        # Without pre_buffer and with a buffer_size, pages are read one by one, however large the row group is.
        parquet = needed("pyarrow.parquet")
        return parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=_PARQUET_BUFFER)

    def _open(self) -> None:
        with self._file() as file:
            self.fields = arrow_fields(file.schema_arrow)
            self.n_rows = file.metadata.num_rows

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        with reading(self.label), self._file() as file:
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if begin < rows:
                    read = file.iter_batches(
                        chunk_rows, row_groups=[group], columns=wanted.all_names, use_threads=False
                    )
                    yield from without_first(read, begin)
                begin = max(0, begin - rows)

    def extremes(self, names: tuple[str, ...]) -> tuple[Floats, Floats] | None:
        low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
        with reading(self.label), self._file() as file:
            metadata = file.metadata
            number = {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}
            for group in map(metadata.row_group, range(metadata.num_row_groups)):
                for place, name in enumerate(names):
                    both = _group_extremes(group.column(number[name]), group.num_rows)
                    if both is None:
                        return None
                    low[place], high[place] = min(low[place], both[0]), max(high[place], both[1])
        return low, high


def _group_extremes(column: Any, rows: int) -> tuple[float, float] | None:
    """What a writer noted of one column of a row group. Missing values are not counted in it; where NaN was, some
    writers noted nothing or NaN."""
    statistics = column.statistics
    if rows == 0 or (statistics is not None and statistics.has_null_count and statistics.null_count == rows):
        return float("inf"), float("-inf")
    if statistics is None or not statistics.has_min_max:
        return None
    try:
        both = float(statistics.min), float(statistics.max)
    except (TypeError, ValueError):  # bytes: a kind of number that pyarrow does not decode here
        return None
    return None if math.isnan(sum(both)) else both


class ArrowFileTable(FileTable):
    """Arrow IPC files, Feather among them. Read batch by batch, as the writer cut them."""

    def _file(self) -> Any:
        pa = needed("pyarrow")
        return (pa.memory_map if self._mapped else pa.OSFile)(str(self.path))

    def _reader(self, file: Any, columns: list[int] | None = None) -> Any:
        ipc = needed("pyarrow.ipc")
        return ipc.open_file(file, options=ipc.IpcReadOptions(use_threads=False, included_fields=columns))

    def _open(self) -> None:
        self._mapped = False
        with self._file() as file:
            reader = self._reader(file)
            self.fields = arrow_fields(reader.schema)
            self._numbers = {field.name: number for number, field in enumerate(self.fields)}
            self._mapped = self.n_bytes > _LARGE_BATCH * max(1, reader.num_record_batches)
            counted = hasattr(reader, "count_rows")  # else an older version of pyarrow
            self.n_rows = reader.count_rows() if counted else sum(self._batch_rows())

    def _batch_rows(self) -> Iterator[int]:
        """The number of rows of each batch; one column has to be read for it."""
        with self._file() as file:
            reader = self._reader(file, [0])
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number).num_rows

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        with reading(self.label), self._file() as file:
            first, begin = self._batch_of_row(begin)
            reader = self._reader(file, [self._numbers[name] for name in wanted.all_names])
            yield from without_first(map(reader.get_batch, range(first, reader.num_record_batches)), begin)

    def _batch_of_row(self, row: int) -> tuple[int, int]:
        """Which batch a row is in, and where in it."""
        number = 0
        for rows in self._batch_rows() if row else ():
            if row < rows:
                break
            number, row = number + 1, row - rows
        return number, row


class ArrowStreamTable(FileTable):
    """Arrow IPC streams: batch by batch, from the beginning only."""

    def _reader(self, file: Any, columns: list[int] | None = None) -> Any:
        ipc = needed("pyarrow.ipc")
        return ipc.open_stream(file, options=ipc.IpcReadOptions(use_threads=False, included_fields=columns))

    def _open(self) -> None:
        with self.path.open("rb") as file:
            file.seek(max(0, self.n_bytes - len(_END_OF_STREAM)))
            if file.read() != _END_OF_STREAM:  # Arrow itself would take the last whole batch for the end
                raise ValueError(f"{self.path} is cut short: the end of a stream of Arrow batches is missing")
        with needed("pyarrow").OSFile(str(self.path)) as file:
            self.fields = arrow_fields(self._reader(file).schema)
        self._numbers = {field.name: number for number, field in enumerate(self.fields)}

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        with reading(self.label), needed("pyarrow").OSFile(str(self.path)) as file:
            reader = self._reader(file, [self._numbers[name] for name in wanted.all_names])
            yield from without_first(self._noting_bytes(reader, lambda _: file.tell()), begin)

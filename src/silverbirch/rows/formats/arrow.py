"""Arrow IPC files and streams, read one record batch at a time, without reading ahead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...wording import parameter
from ..columns import Wanted, arrow_fields, without_first
from ..table import FileTable, needed, reading

if TYPE_CHECKING:
    import pyarrow as pa

# Files with larger batches are memory-mapped: a batch can only be read as a whole.
_LARGE_BATCH = 64 << 20
_BEGIN_OF_STREAM = b"\xff\xff\xff\xff"
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


class ArrowFileTable(FileTable):
    """Arrow IPC files, including Feather."""

    suffixes = (".arrow", ".feather", ".ipc")

    def _file(self) -> Any:
        pa = needed("pyarrow")
        return (pa.memory_map if self._mapped else pa.OSFile)(str(self.path))

    def _reader(self, file: Any, columns: list[int] | None = None) -> Any:
        ipc = needed("pyarrow.ipc")
        return ipc.open_file(file, options=ipc.IpcReadOptions(use_threads=False, included_fields=columns))

    def _open(self) -> None:
        with self.path.open("rb") as begin:
            if begin.read(4) == _BEGIN_OF_STREAM:
                raise ValueError(
                    f"{self.label} is an Arrow stream, not an Arrow file: let its name end in .arrows, or say so by "
                    f"{parameter('read_chunks().format', 'arrows')}"
                )
        self._mapped = False
        with self._file() as file:
            reader = self._reader(file)
            self.fields = arrow_fields(reader.schema)
            self._numbers = {field.name: number for number, field in enumerate(self.fields)}
            self._mapped = self.n_bytes > _LARGE_BATCH * max(1, reader.num_record_batches)
            counted = hasattr(reader, "count_rows")  # older versions of pyarrow lack it
            self.n_rows = reader.count_rows() if counted else sum(self._batch_rows())

    def _batch_rows(self) -> Iterator[int]:
        """The number of rows of each batch; reads the first column to find it."""
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
        """The batch that holds a row, and the position of the row in this batch."""
        number = 0
        for rows in self._batch_rows() if row else ():
            if row < rows:
                break
            number, row = number + 1, row - rows
        return number, row


class ArrowStreamTable(FileTable):
    """Arrow IPC streams, which can only be read from the beginning."""

    suffixes = (".arrows",)

    def _reader(self, file: Any, columns: list[int] | None = None) -> Any:
        ipc = needed("pyarrow.ipc")
        return ipc.open_stream(file, options=ipc.IpcReadOptions(use_threads=False, included_fields=columns))

    def _open(self) -> None:
        with self.path.open("rb") as file:
            file.seek(max(0, self.n_bytes - len(_END_OF_STREAM)))
            if file.read() != _END_OF_STREAM:  # Arrow does not notice a missing end
                raise ValueError(f"{self.label} is cut short: the end of the Arrow stream is missing; write it again")
        with needed("pyarrow").OSFile(str(self.path)) as file:
            self.fields = arrow_fields(self._reader(file).schema)
        self._numbers = {field.name: number for number, field in enumerate(self.fields)}

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        with reading(self.label), needed("pyarrow").OSFile(str(self.path)) as file:
            reader = self._reader(file, [self._numbers[name] for name in wanted.all_names])
            yield from without_first(self._noting_bytes(reader, lambda _: file.tell()), begin)

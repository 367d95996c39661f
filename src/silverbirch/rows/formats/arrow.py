"""Arrow IPC files and streams, read one record batch at a time, without reading ahead.

A batch that is larger than allowed is read in blocks of rows from a map of the file, which gives up its pages again.
A file on another machine cannot be mapped: its batches are counted by their messages and read as a whole.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from struct import unpack_from
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ...wording import parameter
from ..by_columns import Part, by_columns, row_bytes
from ..columns import Wanted, arrow_fields, without_first
from ..source import ReadingBytes
from ..table import FileTable, needed, reading, released

if TYPE_CHECKING:
    import pyarrow as pa

_LARGE_BATCH = 64 << 20  # larger batches are not read as a whole, even without a limit
_SMALL_FILE = 1 << 20  # no look at its batches
_LOOKED_AT = 16 << 20  # larger batches are mapped to count their rows, because pyarrow reads them otherwise
_COMPRESSED_BLOCK = 1 << 30  # without a limit; a batch is decompressed again for each block of rows
_MAPPED_COLUMN = 1 << 17  # of a map that become resident when a few rows of a column are read
_RECORD_BATCH = 3  # a kind of message
_MAGIC = b"ARROW1\0\0"  # a file is a stream between this and a footer
_BEGIN_OF_STREAM = b"\xff\xff\xff\xff"
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


class IpcTable(FileTable):
    """What files and streams share."""

    _numbers: dict[str, int]
    _may_be_large: bool  # whether a batch is worth a map of the file

    def _set_fields(self, schema: pa.Schema) -> None:
        self.fields = arrow_fields(schema)
        self._numbers = {field.name: number for number, field in enumerate(self.fields)}

    def _options(self, names: Iterable[str] | None = None) -> Any:
        columns = None if names is None else [self._numbers[name] for name in names]
        return needed("pyarrow.ipc").IpcReadOptions(use_threads=False, included_fields=columns)

    def _first_columns(self, file: Any) -> Iterator[pa.RecordBatch]:
        """The first column of each batch."""
        raise NotImplementedError

    @cached_property
    def _remote_batches(self) -> list[BatchMessage]:
        """What the messages of a remote file say of its batches; the batches themselves are not read."""
        with reading(self.label), self.file.open(buffering=False) as file:
            return list(batch_messages(file, self.n_bytes))

    @cached_property
    def _batch(self) -> tuple[int, bool]:
        """The rows of the largest batch, and whether batches are compressed."""
        if self.file.local is None:
            found = self._remote_batches
            return max((batch.rows for batch in found), default=0), bool(found) and found[0].is_compressed
        rows = max((batch.num_rows for batch in self._first_columns(self._looked_at())), default=0)
        return rows, _is_compressed(self._looked_at())

    def _looked_at(self) -> Any:
        """The file without its data: pyarrow reads all of a batch to count its rows, unless the file is mapped."""
        return FileMap(self.path).open() if self._may_be_large else self.file.open_for_arrow()

    def _batch_bytes(self, wanted: Wanted) -> int:
        """The bytes that it takes to read the largest batch as a whole."""
        rows, compressed = self._batch
        return rows * row_bytes(wanted) * (2 if compressed else 1)

    def _is_large(self, wanted: Wanted) -> bool:
        if self.file.local is None or self.n_bytes <= _SMALL_FILE or (self.allowed is None and not self._may_be_large):
            return False
        return self._batch_bytes(wanted) > (_LARGE_BATCH if self.allowed is None else min(_LARGE_BATCH, self.allowed))

    def reading_bytes(self, wanted: Wanted, chunk_rows: int) -> ReadingBytes:
        with reading(self.label):
            whole = self._batch_bytes(wanted)
            if self.file.local is None:
                return ReadingBytes(whole, whole)
            least = min(whole, self._part(wanted, self._batch[0]).least_bytes(chunk_rows))
        return ReadingBytes(least, max(least, min(whole, _LARGE_BATCH)))

    def _part(self, wanted: Wanted, rows: int) -> Part:
        """A batch. To read a column of a compressed batch takes all its values: mapped, copied and decompressed."""
        return Part(rows, row_bytes(wanted), 24 * rows if self._batch[1] else _MAPPED_COLUMN)

    def _blocks_of(
        self,
        file: FileMap,
        rows: int,
        columns: Callable[[list[str]], pa.RecordBatch],
        wanted: Wanted,
        begin: int,
        chunk_rows: int,
    ) -> Iterator[pa.RecordBatch]:
        """A large batch from row `begin` on. `columns(names)` are some of its columns."""
        part = self._part(wanted, rows)
        usual = _COMPRESSED_BLOCK if self._batch[1] else _LARGE_BATCH
        blocks = part.blocks(usual if self.allowed is None else self.allowed, chunk_rows)

        def read(names: list[str], start: int, stop: int) -> Iterator[Any]:
            with released():
                yield from columns(names).slice(start, stop - start).select(names).columns
                file.forget()

        return by_columns(part.rows, begin, blocks, wanted, read)


class FileMap:
    """A file mapped to memory. Pages that were read count as memory in use, until they are forgotten."""

    def __init__(self, path: Any) -> None:
        with open(path, "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._buffer = needed("pyarrow").py_buffer(self._map)

    def open(self) -> Any:
        return needed("pyarrow").BufferReader(self._buffer)

    def forget(self) -> None:
        if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
            self._map.madvise(mmap.MADV_DONTNEED)


def _is_compressed(file: Any) -> bool:
    """Whether the first record batch is compressed; pyarrow does not tell."""
    file.seek(len(_MAGIC) if file.read(len(_MAGIC)) == _MAGIC else 0)
    messages = needed("pyarrow.ipc").MessageReader.open_stream(file)
    metadata = next((bytes(m.metadata) for m in messages if m.type == "record batch"), None)
    return metadata is not None and BatchMessage.of(metadata).is_compressed


class BatchMessage(NamedTuple):
    """What the message of a record batch says; pyarrow tells it only with the batch itself."""

    rows: int
    is_compressed: bool

    @classmethod
    def of(cls, metadata: bytes) -> Self:
        header = _field(metadata, unpack_from("<I", metadata)[0], 2)  # Message: version, header_type, header, …
        batch = header + unpack_from("<I", metadata, header)[0]
        rows = _field(metadata, batch, 0)  # RecordBatch: length, nodes, buffers, compression
        return cls(unpack_from("<q", metadata, rows)[0] if rows else 0, _field(metadata, batch, 3) != 0)


def batch_messages(file: Any, size: int) -> Iterator[BatchMessage]:
    """The messages of the record batches of a file or stream; skips the batches themselves."""
    place = len(_MAGIC) if file.read(len(_MAGIC)) == _MAGIC else 0
    while place < size:
        file.seek(place)
        begin = file.read(8)
        marked = begin[:4] == _BEGIN_OF_STREAM  # as all messages since version 0.15
        length = unpack_from("<i", begin, 4 if marked else 0)[0]
        if length == 0:  # the end
            return
        file.seek(place + (8 if marked else 4))
        metadata = file.read(length)
        message = unpack_from("<I", metadata)[0]
        kind, body = _field(metadata, message, 1), _field(metadata, message, 3)
        if kind and metadata[kind] == _RECORD_BATCH:
            yield BatchMessage.of(metadata)
        place += (8 if marked else 4) + length + (unpack_from("<q", metadata, body)[0] if body else 0)


def _field(metadata: bytes, table: int, number: int) -> int:
    """Where a table of flatbuffers holds a field; 0 if it does not."""
    fields = table - unpack_from("<i", metadata, table)[0]
    known = 4 + 2 * number < unpack_from("<H", metadata, fields)[0]
    offset = unpack_from("<H", metadata, fields + 4 + 2 * number)[0] if known else 0
    return table + offset if offset else 0


class ArrowFileTable(IpcTable):
    """Arrow IPC files, including Feather."""

    suffixes = (".arrow", ".feather", ".ipc")

    def _reader(self, file: Any, names: Iterable[str] | None = None) -> Any:
        return needed("pyarrow.ipc").open_file(file, options=self._options(names))

    def _open(self) -> None:
        with self.file.open(buffering=False) as begin:
            if begin.read(4) == _BEGIN_OF_STREAM:
                raise ValueError(
                    f"{self.label} is an Arrow stream, not an Arrow file: let its name end in .arrows, or say so by "
                    f"{parameter('read_chunks().format', 'arrows')}"
                )
        with self.file.open_for_arrow() as file:
            reader = self._reader(file)
            self._set_fields(reader.schema)
            self._may_be_large = self.n_bytes > _LOOKED_AT * max(1, reader.num_record_batches)
        if self.file.local is None:
            self._may_be_large = False
            self.n_rows = sum(batch.rows for batch in self._remote_batches)
            return
        reader = self._reader(self._looked_at())
        counted = hasattr(reader, "count_rows")  # older versions of pyarrow lack it
        self.n_rows = (
            reader.count_rows() if counted else sum(b.num_rows for b in self._first_columns(self._looked_at()))
        )

    def _first_columns(self, file: Any) -> Iterator[pa.RecordBatch]:
        reader = self._reader(file, [self.fields[0].name])
        return map(reader.get_batch, range(reader.num_record_batches))

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        with reading(self.label), released():
            if self._is_large(wanted):
                yield from self._large(wanted, begin, chunk_rows)
                return
            with self.file.open_for_arrow() as file:
                first, begin = self._batch_of_row(file, begin)
                reader = self._reader(file, wanted.all_names)
                yield from without_first(map(reader.get_batch, range(first, reader.num_record_batches)), begin)

    def _batch_of_row(self, file: Any, row: int) -> tuple[int, int]:
        """The batch that holds a row, and the position of the row in this batch."""
        number = 0
        for rows in self._rows_of_batches(file) if row else ():
            if row < rows:
                break
            number, row = number + 1, row - rows
        return number, row

    def _rows_of_batches(self, file: Any) -> Iterator[int]:
        if self.file.local is None:
            return (batch.rows for batch in self._remote_batches)
        return (batch.num_rows for batch in self._first_columns(file))

    def _large(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        file = FileMap(self.path)
        # With chosen columns, pyarrow copies them from the map, and it has to decompress them in any case.
        reader_of = cache(lambda *names: self._reader(file.open(), names or None))
        compressed = self._batch[1]

        for number, first in enumerate(self._first_columns(file.open())):

            def columns(names: list[str], number: int = number) -> pa.RecordBatch:
                return reader_of(*(names if compressed else ())).get_batch(number)

            if begin < first.num_rows:
                yield from self._blocks_of(file, first.num_rows, columns, wanted, begin, chunk_rows)
            begin = max(0, begin - first.num_rows)


class ArrowStreamTable(IpcTable):
    """Arrow IPC streams, which can only be read from the beginning. Without a limit, batches are read as a whole."""

    suffixes = (".arrows",)

    def _reader(self, file: Any, names: Iterable[str] | None = None) -> Any:
        return needed("pyarrow.ipc").open_stream(file, options=self._options(names))

    def _looked_at(self) -> Any:
        return FileMap(self.path).open()

    def _first_columns(self, file: Any) -> Iterator[pa.RecordBatch]:
        return iter(self._reader(file, [self.fields[0].name]))

    def _open(self) -> None:
        with self.file.open(buffering=False) as file:
            file.seek(max(0, self.n_bytes - len(_END_OF_STREAM)))
            if file.read() != _END_OF_STREAM:  # Arrow does not notice a missing end
                raise ValueError(f"{self.label} is cut short: the end of the Arrow stream is missing; write it again")
        with self.file.open_for_arrow() as file:
            self._set_fields(self._reader(file).schema)
        self._may_be_large = False

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        with reading(self.label), released():
            if self._is_large(wanted):
                yield from self._large(wanted, begin, chunk_rows)
                return
            with self.file.open_for_arrow() as file:
                reader = self._reader(file, wanted.all_names)
                yield from without_first(self._noting_bytes(reader, lambda _: file.tell()), begin)

    def _large(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        mapped = FileMap(self.path)
        file = mapped.open()
        reader = self._reader(file, wanted.all_names)
        for batch in self._noting_bytes(reader, lambda _: file.tell()):
            if begin < batch.num_rows:
                yield from self._blocks_of(mapped, batch.num_rows, batch.select, wanted, begin, chunk_rows)
            begin = max(0, begin - batch.num_rows)

    def _part(self, wanted: Wanted, rows: int) -> Part:
        """A batch of a stream is decompressed as a whole."""
        part = super()._part(wanted, rows)
        return part._replace(column_bytes=self._batch_bytes(wanted)) if self._batch[1] else part

"""Parquet files, read in batches of bounded size, without reading ahead.

A column that is being read holds a page and its dictionary, a few megabytes. If all columns together take more than is
allowed, each block of rows is read by groups of columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Floats
from ..by_columns import Part, by_columns, row_bytes
from ..columns import Wanted, arrow_fields, without_first
from ..source import ReadingBytes
from ..table import FileTable, needed, reading, released

if TYPE_CHECKING:
    import pyarrow as pa

# A column chunk of Parquet is read through a buffer of this size, not as a whole.
_BUFFER = 1 << 16
_BUFFERS = 64 << 20  # of all columns of a remote file together
# Writers end a page at about this size; the first page may be smaller than the rest.
_PAGE = 1 << 20
# What pyarrow takes for each byte of a page, and for each byte of the file's metadata; measured.
_OF_PAGE, _OF_METADATA = 1.3, 12


class ParquetTable(FileTable):
    suffixes = (".parquet", ".pq")

    def _file(self) -> Any:
        # Without pre_buffer and with a buffer_size, pages are read one by one, however large the row group is.
        parquet = needed("pyarrow.parquet")
        source = self.path if self.file.local else needed("pyarrow").PythonFile(self.file.open(buffering=False), "r")
        return parquet.ParquetFile(source, pre_buffer=False, buffer_size=self._buffer)

    def _open(self) -> None:
        self._buffer = _BUFFER
        with self._file() as file:
            # Every column of a row group has a buffer, also one that is shorter than it.
            self._buffer = max(_BUFFER, min(self.file.buffer, _BUFFERS // max(1, file.metadata.num_columns)))
            self.fields = arrow_fields(file.schema_arrow)
            self.n_rows = file.metadata.num_rows

    def batches(self, wanted: Wanted, begin: int, chunk_rows: int) -> Iterator[pa.RecordBatch]:
        with reading(self.label), self._file() as file, released():
            at_once = self._fits(file.metadata, wanted)
            for number in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(number).num_rows
                if begin < rows and at_once:
                    yield from without_first(_batches_of(file, number, wanted.all_names, chunk_rows), begin)
                elif begin < rows:
                    yield from self._by_columns(file, number, wanted, begin, chunk_rows)
                begin = max(0, begin - rows)

    def _fits(self, metadata: Any, wanted: Wanted) -> bool:
        """Whether all columns can be read at once, in every row group.

        Reading by groups of columns converts numbers, and a chunk may have rows of two row groups.
        """
        if self.allowed is None or metadata.num_row_groups == 0:
            return True
        _, usual = self._part(metadata, _largest_group(metadata), wanted)
        return usual <= self.allowed - _held_bytes(metadata)

    def _by_columns(
        self, file: Any, number: int, wanted: Wanted, begin: int, chunk_rows: int
    ) -> Iterator[pa.RecordBatch]:
        assert self.allowed is not None
        part, _ = self._part(file.metadata, number, wanted)
        blocks = part.blocks(self.allowed - _held_bytes(file.metadata), chunk_rows)

        def read(names: list[str], start: int, stop: int) -> Iterator[Any]:
            held, rows = [], 0
            with released():
                for batch in without_first(_batches_of(file, number, names, blocks.rows), start):
                    held.append(batch.slice(0, stop - start - rows))
                    rows += held[-1].num_rows
                    if rows == stop - start:
                        break
                for column in needed("pyarrow").Table.from_batches(held).select(names).columns:
                    yield column.combine_chunks()

        yield from by_columns(part.rows, begin, blocks, wanted, read)

    def reading_bytes(self, wanted: Wanted, chunk_rows: int) -> ReadingBytes:
        with reading(self.label), self._file() as file:
            metadata = file.metadata
            held = _held_bytes(metadata)
            if metadata.num_row_groups == 0:
                return ReadingBytes(held, held)
            part, usual = self._part(metadata, _largest_group(metadata), wanted)
        return ReadingBytes(min(usual, part.least_bytes(chunk_rows)) + held, usual + held)

    def _part(self, metadata: Any, number: int, wanted: Wanted) -> tuple[Part, int]:
        """A row group, and the bytes that it takes to read all its wanted columns at once."""
        group, names = metadata.row_group(number), set(wanted.all_names)
        columns = map(group.column, range(group.num_columns))
        with self.file.open(buffering=False) as file:
            taken = [
                _column_bytes(file, column, self._buffer) for column in columns if _top(column.path_in_schema, names)
            ]
        return Part(group.num_rows, row_bytes(wanted), max(taken)), sum(taken)

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


def _batches_of(file: Any, group: int, names: list[str], size: int) -> Iterator[pa.RecordBatch]:
    batches: Iterator[pa.RecordBatch] = file.iter_batches(size, row_groups=[group], columns=names, use_threads=False)
    return batches


def _largest_group(metadata: Any) -> int:
    return max(range(metadata.num_row_groups), key=lambda number: metadata.row_group(number).total_byte_size)


def _held_bytes(metadata: Any) -> int:
    """The bytes that the metadata take while the file is read."""
    return int(_OF_METADATA * metadata.serialized_size)


def _top(path: str, names: set[str]) -> bool:
    """Whether a column of the file is a wanted one, or holds the items of its lists: 'e.list.element'.

    A name may have dots itself.
    """
    parts = path.split(".")
    return any(".".join(parts[:count]) in names for count in range(1, len(parts) + 1))


def _column_bytes(file: Any, column: Any, buffer: int) -> int:
    """The bytes that it takes to read a column: its dictionary, stored and decoded, one page, and a buffer."""
    whole = column.total_uncompressed_size
    page = min(whole, max(_PAGE, _page_bytes(file, column.data_page_offset)))
    dictionary = _page_bytes(file, column.dictionary_page_offset) if column.has_dictionary_page else 0
    return int(_OF_PAGE * (2 * min(whole, dictionary) + page + buffer))


def _page_bytes(file: Any, offset: int) -> int:
    """The size of a page without compression, from its header: type and size are its first fields, as varints."""
    file.seek(offset)
    header, place = file.read(32), 0
    values: list[int] = []
    while len(values) < 2 and header[place : place + 1] == b"\x15":  # a 32-bit number with the next field id
        value = shift = 0
        while True:
            place += 1
            byte = header[place]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        values.append(value >> 1)  # zigzag: all sizes are positive
        place += 1
    return values[1] if len(values) == 2 else _PAGE


def _group_extremes(column: Any, rows: int) -> tuple[float, float] | None:
    """The extremes of one column of a row group from its metadata; None if they are not stored.

    Missing values are ignored. For a column with NaN some writers store nothing or NaN.
    """
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

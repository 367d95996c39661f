"""Reads a part of a file that is too large for memory in blocks of rows, each one by groups of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .arrow_rows import numbers_of
from .columns import Wanted

if TYPE_CHECKING:
    import pyarrow as pa

_ID_BYTES = 64  # of a value that is no number
# A part is decoded from its beginning for each block. Beyond this number of blocks that takes too long.
_MOST_BLOCKS = 128


class Part(NamedTuple):
    """A part of a file that can only be decoded from its beginning, such as a row group."""

    rows: int
    row_bytes: int  # of all columns, decoded
    column_bytes: int  # to decode one column, beside its values

    def blocks(self, allowed: int, chunk_rows: int) -> Blocks:
        """Blocks of at least a chunk, of which half of the memory holds the rows and half decodes the next columns."""
        rows = max(self._least_rows(chunk_rows), allowed // 2 // self.row_bytes // chunk_rows * chunk_rows)
        rows = max(1, min(self.rows, rows))
        return Blocks(rows, max(1, allowed // 2 // (self.column_bytes + 8 * rows)), chunk_rows)

    def least_bytes(self, chunk_rows: int) -> int:
        rows = self._least_rows(chunk_rows)
        return 2 * max(rows * self.row_bytes, self.column_bytes + 8 * rows)

    def _least_rows(self, chunk_rows: int) -> int:
        return max(chunk_rows, -(-self.rows // _MOST_BLOCKS // chunk_rows) * chunk_rows)


class Blocks(NamedTuple):
    rows: int
    columns: int  # read at once
    chunk_rows: int

    def groups(self, names: Sequence[str]) -> list[list[str]]:
        return [[*names[first : first + self.columns]] for first in range(0, len(names), self.columns)]


def row_bytes(wanted: Wanted) -> int:
    """The bytes of a row of the wanted columns."""
    numbers = sum(1 if width is None else width for width in wanted.widths)
    return wanted.dtype.itemsize * numbers + _ID_BYTES * (len(wanted.all_names) - len(wanted.names))


def by_columns(
    rows: int, begin: int, blocks: Blocks, wanted: Wanted, read: Callable[[list[str], int, int], Iterable[Any]]
) -> Iterator[pa.RecordBatch]:
    """The rows of a part from `begin` on. `read(names, start, stop)` returns the arrays of some columns."""
    import pyarrow as pa

    for start in range(begin - begin % blocks.rows, rows, blocks.rows):
        batch = _block(start, min(start + blocks.rows, rows), blocks, wanted, read).slice(max(0, begin - start))
        # The last chunk is held while the next block is read: a copy of it holds nothing else.
        last = max(0, batch.num_rows - blocks.chunk_rows)
        yield batch.slice(0, last)
        batch = pa.record_batch(
            [pa.concat_arrays([column]) for column in batch.slice(last).columns], schema=batch.schema
        )
        yield batch


def _block(
    start: int, stop: int, blocks: Blocks, wanted: Wanted, read: Callable[[list[str], int, int], Iterable[Any]]
) -> pa.RecordBatch:
    """Consecutive rows of a part. Numbers are converted to those of the rows, which gives back what the reader took."""
    import pyarrow as pa

    names = wanted.all_names
    plain = {name for name, width in zip(wanted.names, wanted.widths, strict=True) if width is None}
    plain -= {*wanted.kept, *wanted.times}  # times become numbers later, where they are seen to be times
    # One array for all numbers: many small ones among the memory of the reader would keep that from being freed.
    numbers: Any = np.empty((len(names), stop - start), wanted.dtype)
    kind = pa.from_numpy_dtype(wanted.dtype)
    arrays: list[Any] = []
    for group in blocks.groups(names):
        for name, array in zip(group, read(group, start, stop), strict=True):
            if name in plain:
                column = numbers[len(arrays)]
                column[:] = numbers_of(array, name)
                arrays.append(pa.Array.from_buffers(kind, len(column), [None, pa.py_buffer(column)]))
            else:
                arrays.append(pa.concat_arrays([array]))  # a copy
    return pa.record_batch(arrays, names=names)

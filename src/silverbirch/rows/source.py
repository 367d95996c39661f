"""RowSource and Chunk: the form in which the rest of the package sees every input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats, Rows, refused_value
from ..progress import Report

_CHUNK_BYTES = 4 << 20
_FEWEST_ROWS, _MOST_ROWS = 16, 65_536


class Position(NamedTuple):
    """Where a chunk begins or ends."""

    file: int  # number of the file, or of the chunk of a generator; 0 if there is only one
    row: int  # in that file, from 0; rows with missing values count


START = Position(0, 0)


class NoRowsError(ValueError):
    """The input has no rows. A partition of a larger input may have none."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of one file or table: the one type between a source and the tree."""

    rows: Rows  # (n, d) contiguous float32 or float64, NaN where a value is missing
    begin: Position
    end: Position  # where the next chunk begins
    weight: Floats | None = None  # (n,), 0 for a row that does not count; None if each row counts once
    kept: Any | None = None  # pyarrow.RecordBatch of n rows, if requested: the ids first, then the other kept columns
    id_column: str | None = None  # the column of `kept` that holds the ids
    checked: bool = False  # every value is known to be finite and small enough to be squared
    left_out: NDArray[np.bool_] | None = None  # (n,), whether a row gets no label: it has weight 0 then; None if none

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def ids(self) -> Any | None:
        """The ids as a pyarrow.Array, if requested."""
        return None if self.kept is None or self.id_column is None else self.kept.column(self.id_column)


def usual_chunk_rows(n_dimensions: int) -> int:
    """A power of two, so that a chunk of float64 takes about four megabytes."""
    rows = _CHUNK_BYTES // (8 * max(1, n_dimensions))
    return min(_MOST_ROWS, max(_FEWEST_ROWS, 1 << max(0, rows.bit_length() - 1)))


class ReadingBytes(NamedTuple):
    """The memory that reading takes beside the chunk that is read."""

    least: int  # by groups of columns
    usual: int  # without a limit


class RowSource(ABC):
    """Rows of files, tables or streams in chunks; made by `read_chunks`.

    `for rows in source` gives arrays and raises ValueError for a missing value. `chunks` gives `Chunk` objects, in
    which missing values are NaN.

    names : names of the chosen columns; None if the columns have no names
    n_dimensions : number of chosen columns
    n_rows : number of rows; None if it is not known before all rows are read
    repeatable : whether the source can be read again, as files can and generators cannot
    in_memory : whether the rows are in memory already
    numbers : numbers of the chosen columns, if the columns have no names and not all of them were chosen
    kept : names of the columns in `Chunk.kept`, the ids first
    weight_column : name of the column that holds the weights of the rows; None without one
    of_several_types : those of the kept columns whose type differs from file to file
    device : the GPU that holds the rows, as in "cuda:0"; None for rows elsewhere
    """

    names: tuple[str, ...] | None
    n_dimensions: int
    n_rows: int | None
    repeatable: bool
    in_memory: bool = False
    numbers: tuple[str, ...] | None = None
    kept: tuple[str, ...] = ()
    weight_column: str | None = None
    of_several_types: frozenset[str] = frozenset()
    device: str | None = None

    @abstractmethod
    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        """The chunks from `begin` on, which is START or the `end` of a chunk. Every pass gives the same chunks.

        with_ids : whether the ids and the other kept columns are read, too
        """

    @abstractmethod
    def place(self, position: Position) -> str:
        """A position in words: 'row 17 of rows.parquet'."""

    def fraction(self, position: Position) -> float | None:
        """The fraction of the input before a position, from 0 to 1; None if it is not known."""
        return None

    def fingerprint(self) -> list[dict[str, Any]] | None:
        """Name, size and time of change of each file when it was opened, to notice changes; None without files."""
        return None

    def refuse_changes(self) -> None:
        """Raises ValueError if a file was changed since it was opened."""
        return None

    @property
    def chunk_bytes(self) -> int:
        """The bytes of a chunk of the usual size."""
        return 8 * self.n_dimensions * usual_chunk_rows(self.n_dimensions)

    def reading_bytes(self) -> ReadingBytes:
        """The memory that reading takes, beside the chunk."""
        return ReadingBytes(0, 0)

    def allow(self, reading_bytes: int) -> None:
        """Bounds the bytes that reading takes beside the chunk; must be at least `reading_bytes().least`."""
        return None

    def extremes(self) -> tuple[Floats, Floats] | None:
        """The least and greatest value of each chosen column, from the metadata of the files; None without it.

        Missing values are ignored.
        """
        return None

    def __iter__(self) -> Iterator[Rows]:
        for chunk in self.chunks():
            yield self.checked(chunk).rows

    def checked(self, chunk: Chunk) -> Chunk:
        """Returns the chunk after its check; raises ValueError for a value that is missing, infinite or too large."""
        if chunk.checked:
            return chunk
        bad = _core.check_coordinates(chunk.rows)
        if bad is not None:
            raise self.refusal(chunk, *bad)
        return replace(chunk, checked=True)

    def nearest(
        self, index: _core.NearestIndex, chunk: Chunk, threads: int, report: Report | None
    ) -> NDArray[np.int64]:
        """The number of the point nearest to each row; raises ValueError for a value that `checked` refuses."""
        nearest, bad = index.nearest(chunk.rows, threads, report)
        if bad is not None:
            raise self.refusal(chunk, *bad)
        return nearest

    def refusal(self, chunk: Chunk, row: int, column: int, value: float) -> ValueError:
        """The error for a value in a chunk that cannot be clustered."""
        name = repr(self.names[column]) if self.names else column
        return refused_value(f"{self.place_in(chunk, row)}, column {name}", value)

    def place_in(self, chunk: Chunk, row: int) -> str:
        """The place of a row of a chunk, in words."""
        return self.place(Position(chunk.begin.file, chunk.begin.row + row))


class DerivedSource(RowSource):
    """The base of sources that change or weigh the rows of another source; errors name the places in that source."""

    def __init__(self, source: RowSource) -> None:
        self._source = source
        self.names, self.n_dimensions = source.names, source.n_dimensions
        self.n_rows, self.repeatable, self.in_memory = source.n_rows, source.repeatable, source.in_memory
        self.kept, self.weight_column, self.device = source.kept, source.weight_column, source.device

    def place(self, position: Position) -> str:
        return self._source.place(position)

    def fraction(self, position: Position) -> float | None:
        return self._source.fraction(position)

    def reading_bytes(self) -> ReadingBytes:
        return self._source.reading_bytes()

    def allow(self, reading_bytes: int) -> None:
        self._source.allow(reading_bytes)

    def refusal(self, chunk: Chunk, row: int, column: int, value: float) -> ValueError:
        return self._source.refusal(chunk, row, column, value)

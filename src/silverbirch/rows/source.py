"""What all inputs look like to the rest of the package: rows in chunks, from a place that has a name."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import _core
from ..checks import Floats, Rows

_CHUNK_BYTES = 4 << 20
_FEWEST_ROWS, _MOST_ROWS = 256, 65_536


class Position(NamedTuple):
    """Where a chunk begins or ends."""

    file: int  # number of the file, or of the chunk of a generator; 0 where there is but one
    row: int  # in that file, counted from 0; rows with missing values count


START = Position(0, 0)


@dataclass(frozen=True)
class Chunk:
    """Some rows that follow each other in one file."""

    rows: Rows  # (n, d) contiguous float32 or float64, NaN where a value is missing
    ids: Any | None  # pyarrow.Array of length n, where asked for
    begin: Position
    end: Position  # where the next one begins


def usual_chunk_rows(n_dimensions: int) -> int:
    """About four megabytes of float64, in a power of two of rows."""
    rows = _CHUNK_BYTES // (8 * max(1, n_dimensions))
    return min(_MOST_ROWS, max(_FEWEST_ROWS, 1 << max(0, rows.bit_length() - 1)))


class RowSource(ABC):
    """Rows in chunks, from files, tables or streams; made by `read_chunks`.

    `for rows in source` gives arrays and refuses missing values; `chunks` gives all that is known of each chunk.

    names : of the chosen columns; None where columns have none
    n_dimensions : how many columns are chosen
    n_rows : where it can be known without reading them all, else None
    repeatable : whether it can be read again, as files can and generators cannot
    """

    names: tuple[str, ...] | None
    n_dimensions: int
    n_rows: int | None
    repeatable: bool

    @abstractmethod
    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        """The chunks from `begin` on, which is START or the `end` of a chunk: the same ones, whatever came before."""

    @abstractmethod
    def place(self, position: Position) -> str:
        """A position in words: 'row 17 of rows.parquet'."""

    def fraction(self, position: Position) -> float | None:
        """How much of the whole input lies before a position, from 0 to 1; None where nobody knows."""
        return None

    def fingerprint(self) -> list[dict[str, Any]] | None:
        """What tells whether the files are still the same: name, bytes and time of change of each, when it
        was opened; None if no files."""
        return None

    def extremes(self) -> tuple[Floats, Floats] | None:
        """The least and greatest value of each chosen column, missing ones aside, where the files say so without
        being read; else None."""
        return None

    def __iter__(self) -> Iterator[Rows]:
        for chunk in self.chunks():
            self.check(chunk)
            yield chunk.rows

    def check(self, chunk: Chunk) -> None:
        """ValueError, with the place, where a value is missing, infinite or too large."""
        try:
            _core.check_coordinates(chunk.rows)
        except ValueError as error:
            raise ValueError(self._placed(str(error), chunk.begin)) from None

    def _placed(self, message: str, begin: Position) -> str:
        """The core's 'row 3, column 1 is nan: …', by the row's place in the input and the column's name."""
        found = re.match(r"row (\d+), column (\d+)(.*)", message, re.DOTALL)
        if found is None:
            return message
        row, column, rest = int(found[1]), int(found[2]), found[3]
        name = repr(self.names[column]) if self.names else column
        return f"{self.place(Position(begin.file, begin.row + row))}, column {name}{rest}"

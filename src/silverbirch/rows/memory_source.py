"""Arrays and data frames in memory as sources. They need numpy alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from ..checks import Rows, as_any_rows
from .formats.frames import is_frame
from .source import START, Chunk, Position, RowSource, usual_chunk_rows

Convert: TypeAlias = Callable[[Any], Rows]  # an array, or a slice of a data frame, to rows
Complain: TypeAlias = Callable[[Rows], Any]  # raises an error for rows that hold a value that cannot be clustered


class MemorySource(RowSource):
    """An array is one chunk, passed on as it is. A data frame comes in slices, converted when their turn comes."""

    repeatable = True

    def __init__(self, X: Any, convert: Convert = as_any_rows, complain: Complain | None = None) -> None:
        self._convert, self._complain = convert, complain
        self._frame = X if is_frame(X) else None
        if self._frame is None:
            rows = convert(X)
            self._chunk = Chunk(rows, START, Position(1, 0))
            self.names, (self.n_rows, self.n_dimensions) = None, rows.shape
        else:
            self.names, (self.n_rows, self.n_dimensions) = tuple(map(str, X.columns)), X.shape

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        assert self.n_rows is not None
        if self._frame is None:
            if begin == START:
                yield self._chunk
            return
        size = usual_chunk_rows(self.n_dimensions)
        for start in range(begin.row, max(1, self.n_rows), size):  # a frame without rows is refused by `convert`
            part = slice(start, start + size)
            rows = self._convert(self._frame.iloc[part] if hasattr(self._frame, "iloc") else self._frame[part])
            yield Chunk(rows, Position(0, start), Position(0, start + len(rows)))

    def place(self, position: Position) -> str:
        return f"X: row {position.row}"

    def fraction(self, position: Position) -> float | None:
        return min(1.0, (position.row if position.file == 0 else self.n_rows or 0) / max(1, self.n_rows or 0))

    def refusal(self, chunk: Chunk, row: int, column: int, value: float) -> ValueError:
        if self._complain is not None:
            self._complain(chunk.rows)
        return super().refusal(chunk, row, column, value)


class SingleChunk(RowSource):
    """A chunk of another source, on its own."""

    names = None
    repeatable = True

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self.n_rows, self.n_dimensions = chunk.rows.shape

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        yield self._chunk

    def place(self, position: Position) -> str:
        return f"row {position.row}"

"""The sources of arrays and data frames in memory. They need numpy alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from ..checks import Rows
from .source import START, Chunk, Position, RowSource, usual_chunk_rows

Convert: TypeAlias = Callable[[Any], Rows]  # an array, or a slice of a data frame, to rows
Complain: TypeAlias = Callable[[Rows], Any]  # raises an error for rows that hold a value that cannot be clustered


class MemorySource(RowSource):
    """Rows in memory. `complain` raises the error for a bad value; None for the error of this package."""

    repeatable = True
    in_memory = True
    n_rows: int

    def __init__(self, shape: tuple[int, ...], names: tuple[str, ...] | None, complain: Complain | None) -> None:
        self.n_rows, self.n_dimensions = shape
        self.names = names
        self._complain = complain

    def place(self, position: Position) -> str:
        return f"X: row {position.row}"

    def refusal(self, chunk: Chunk, row: int, column: int, value: float) -> ValueError:
        if self._complain is not None:
            self._complain(chunk.rows)
        return super().refusal(chunk, row, column, value)


class ArraySource(MemorySource):
    """An array: one chunk, without a copy."""

    def __init__(self, chunk: Chunk, complain: Complain | None = None) -> None:
        super().__init__(chunk.rows.shape, None, complain)
        self._chunk = chunk

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        if begin == START:
            yield self._chunk


class FrameSource(MemorySource):
    """A data frame in slices; each slice is converted when it is read."""

    def __init__(self, frame: Any, convert: Convert, complain: Complain | None = None) -> None:
        super().__init__(frame.shape, tuple(map(str, frame.columns)), complain)
        self._frame = frame
        self._convert = convert

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        size = usual_chunk_rows(self.n_dimensions)
        for start in range(begin.row, max(1, self.n_rows), size):  # a frame without rows is refused by `convert`
            part = slice(start, start + size)
            rows = self._convert(self._frame.iloc[part] if hasattr(self._frame, "iloc") else self._frame[part])
            yield Chunk(rows, Position(0, start), Position(0, start + len(rows)))

    def fraction(self, position: Position) -> float | None:
        return position.row / max(1, self.n_rows)

"""The sources of arrays and data frames in memory. They need numpy alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from ..checks import Rows
from .frame_rows import rows_of_frame
from .source import START, Chunk, Position, RowSource, usual_chunk_rows

Convert: TypeAlias = Callable[[Any], Rows]  # an array to rows
Complain: TypeAlias = Callable[[Rows], Any]  # raises an error for rows that hold a value that cannot be clustered


class MemorySource(RowSource):
    """Rows in memory."""

    repeatable = True
    in_memory = True
    n_rows: int

    def __init__(self, shape: tuple[int, ...], names: tuple[str, ...] | None) -> None:
        self.n_rows, self.n_dimensions = shape
        self.names = names

    def place(self, position: Position) -> str:
        return f"X: row {position.row}"


class ArraySource(MemorySource):
    """An array: one chunk, without a copy.

    `complain` raises the error for a bad value; None for the error of this package.
    """

    def __init__(self, chunk: Chunk, complain: Complain | None = None) -> None:
        super().__init__(chunk.rows.shape, None)
        self._chunk = chunk
        self._complain = complain

    @property
    def array(self) -> Rows:
        return self._chunk.rows

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        if begin == START:
            yield self._chunk

    def refusal(self, chunk: Chunk, row: int, column: int, value: float) -> ValueError:
        if self._complain is not None:
            self._complain(chunk.rows)
        return super().refusal(chunk, row, column, value)


class FrameSource(MemorySource):
    """A data frame in slices; each slice is converted when it is read."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame.shape, tuple(map(str, frame.columns)))
        self._frame = frame

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        size = usual_chunk_rows(self.n_dimensions)
        for start in range(begin.row, max(1, self.n_rows), size):  # a frame without rows is refused by name
            part = slice(start, start + size)
            frame = self._frame.iloc[part] if hasattr(self._frame, "iloc") else self._frame[part]
            rows = rows_of_frame(frame, start)
            yield Chunk(rows, Position(0, start), Position(0, start + len(rows)))

    def fraction(self, position: Position) -> float | None:
        return position.row / max(1, self.n_rows)

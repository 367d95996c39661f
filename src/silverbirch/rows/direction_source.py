"""The source of rows that are compared by their direction: for cosine and correlation distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..directions import directions, no_direction
from .source import START, Chunk, Position, RowSource


class DirectionSource(RowSource):
    """The chunks of another source with rows of unit length, centred first for correlation.

    A row without a direction is refused, unless its weight is 0.
    """

    def __init__(self, source: RowSource, metric: str) -> None:
        self._source = source
        self._metric = metric
        self.names, self.n_dimensions = source.names, source.n_dimensions
        self.n_rows, self.repeatable, self.in_memory = source.n_rows, source.repeatable, source.in_memory

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        for chunk in self._source.chunks(begin, with_ids=with_ids):
            rows, without = directions(self._source.checked(chunk).rows, self._metric)
            if chunk.weight is not None:
                without &= chunk.weight > 0
            if without.any():
                raise no_direction(self._source.place_in(chunk, int(np.argmax(without))), self._metric)
            yield replace(chunk, rows=rows, checked=True)

    def place(self, position: Position) -> str:
        return self._source.place(position)

    def fraction(self, position: Position) -> float | None:
        return self._source.fraction(position)

    def refusal(self, chunk: Chunk, row: int, column: int, value: float) -> ValueError:
        return self._source.refusal(chunk, row, column, value)

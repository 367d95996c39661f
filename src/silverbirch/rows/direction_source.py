"""The source of rows that are compared by their direction: for cosine and correlation distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..directions import directions, no_direction
from .source import START, Chunk, DerivedSource, Position, RowSource


class DirectionSource(DerivedSource):
    """The chunks of another source with rows of unit length, centred first for correlation.

    A row without a direction is refused, unless its weight is 0.
    """

    def __init__(self, source: RowSource, metric: str) -> None:
        super().__init__(source)
        self._metric = metric

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        for chunk in self._source.chunks(begin, with_ids=with_ids):
            rows, without = directions(self._source.checked(chunk).rows, self._metric)
            if chunk.weight is not None:
                without &= chunk.weight > 0
            if without.any():
                raise no_direction(self._source.place_in(chunk, int(np.argmax(without))), self._metric)
            yield replace(chunk, rows=rows, checked=True)

"""The source of rows with weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import Floats, as_weights
from ..wording import parameter
from .source import START, Chunk, DerivedSource, Position, RowSource


class WeightedSource(DerivedSource):
    """The chunks of another source with the weights of their rows; a single weight applies to all rows."""

    def __init__(self, source: RowSource, weight: Any, name: str) -> None:
        super().__init__(source)
        if source.weight_column is not None:
            raise ValueError(
                "the rows have weights already, those of "
                f"{parameter('weight_column', source.weight_column)}: leave {parameter(name)} out"
            )
        if source.n_rows is None and np.ndim(weight) > 0:
            raise ValueError(
                f"{name} needs an input whose number of rows is known before it is read: pass a Parquet, Arrow or "
                ".npy file, or the rows chunk by chunk, each with its own weights"
            )
        self._weight = as_weights(weight, 1 if source.n_rows is None else source.n_rows, name)

    def chunks(self, begin: Position = START, *, with_ids: bool = False) -> Iterator[Chunk]:
        if begin != START:
            raise ValueError("weights belong to the rows of the whole input: read it from the start")
        done = 0
        for chunk in self._source.chunks(with_ids=with_ids):
            yield replace(chunk, weight=self._weight_of(done, len(chunk)))
            done += len(chunk)

    def _weight_of(self, begin: int, count: int) -> Floats:
        return np.repeat(self._weight, count) if self.n_rows is None else self._weight[begin : begin + count]

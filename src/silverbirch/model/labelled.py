"""The rows that were labelled to each leaf: their number and their cluster features.

A row is absorbed by one leaf while the tree grows, and labelled later by the leaf whose mean is nearest. The two may
differ, so the rows of a cluster are summed up while they are labelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats, Rows
from ..features import ClusterFeatures
from ..rows import Chunk

_PIECE = 1 << 20  # rows that are summed up at once, so that memory does not grow with the rows of a chunk


@dataclass(frozen=True)
class LabelledLeaves:
    """The number of rows labelled to each leaf, and their weight, mean and sse; rows of weight 0 are not counted.

    A leaf without rows has weight 0, sse 0 and the mean of the leaf itself.
    """

    rows: NDArray[np.int64]
    features: ClusterFeatures


class LeafCounter:
    """Sums up the rows of each leaf, chunk by chunk."""

    def __init__(self, leaves: ClusterFeatures) -> None:
        self._leaves = leaves
        self._rows = np.zeros(len(leaves), dtype=np.int64)
        self._weight, self._sse = np.zeros((2, len(leaves)))
        self._mean = np.zeros_like(leaves.mean)

    def add(self, chunk: Chunk, leaf_of_row: NDArray[np.int64]) -> None:
        for begin in range(0, len(chunk), _PIECE):
            piece = slice(begin, begin + _PIECE)
            self._add(chunk.rows[piece], None if chunk.weight is None else chunk.weight[piece], leaf_of_row[piece])

    def _add(self, rows: Rows, weight: Floats | None, leaf_of_row: NDArray[np.int64]) -> None:
        if weight is not None:
            counted = weight > 0
            rows, weight, leaf_of_row = rows[counted], weight[counted], leaf_of_row[counted]
        count = np.bincount(leaf_of_row, minlength=len(self._rows))
        # A chunk may hold far fewer rows than there are leaves, so only the leaves that got rows are merged.
        present = np.flatnonzero(count)
        place = np.empty(len(count), dtype=np.int64)
        place[present] = np.arange(len(present))
        more = _core.grouped(rows, weight, place[leaf_of_row], len(present), None)
        known = self._weight[present], self._mean[present], self._sse[present]
        self._weight[present], self._mean[present], self._sse[present] = _core.merged_pairs(*known, *more)
        self._rows += count

    def sums(self) -> dict[str, NDArray[Any]]:
        """What is summed up so far."""
        return {"rows": self._rows, "weight": self._weight, "mean": self._mean, "sse": self._sse}

    def restore(self, sums: dict[str, NDArray[Any]]) -> None:
        """Continues from the sums of an earlier counter of the same leaves."""
        for name, own in self.sums().items():
            own[...] = sums[name]

    def result(self) -> LabelledLeaves:
        empty = self._weight == 0
        self._mean[empty] = self._leaves.mean[empty]
        return LabelledLeaves(self._rows, ClusterFeatures._adopt(self._weight, self._mean, self._sse))

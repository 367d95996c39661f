"""The rows nearest to the centre of each cluster, found in one pass over rows in chunks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats, Rows, bytes_text
from ..errors import MemoryLimitError
from ..machine import free_memory
from ..rows.source import usual_chunk_rows


@dataclass(frozen=True, eq=False, repr=False)
class Representatives:
    """The n rows of each of k clusters that are nearest to its centre; `Betula.representatives` finds them.

    The nearest row comes first, and of equally near rows the first of the input.

    Parameters
    ----------
    index : int64 array (k, n)
        The numbers of the rows in the input, -1 where a cluster has fewer than n rows.
    distance : float64 array (k, n)
        Their distances to the centre, NaN where there is no row.
    rows : float64 array (k, n, d)
        The rows as the tree takes them (projected, or of unit length, where the model does that); NaN where there is
        none.
    """

    index: NDArray[np.int64]
    distance: Floats
    rows: Floats

    def __post_init__(self) -> None:
        for array in (self.index, self.distance, self.rows):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        clusters, most = self.index.shape
        return f"Representatives({clusters:,} clusters, up to {most} rows of each)"


class NearestRows:
    """Keeps the n rows of each cluster that are nearest to its centre. Takes O(k n d) memory."""

    def __init__(self, centers: Floats, n: int) -> None:
        count, columns = centers.shape
        needed, free = 8 * count * n * (columns + 2), free_memory()
        if free is not None and needed > free:
            raise MemoryLimitError(
                f"{n:,} rows of {columns:,} columns for each of {count:,} clusters need {bytes_text(needed)} and "
                f"{bytes_text(free)} of memory are free: lower n"
            )
        self._centers, self._n = centers, n
        self._seen = 0
        self._index = np.full((count, n), -1, dtype=np.int64)
        self._squared = np.full((count, n), np.inf)
        self._rows = np.full((count, n, columns), np.nan)

    def add(self, rows: Rows, labels: NDArray[np.int64]) -> None:
        """Takes the next rows with their labels; rows with label -1 stand for no cluster."""
        size = usual_chunk_rows(rows.shape[1])
        for begin in range(0, len(rows) if len(self._centers) else 0, size):
            self._add(rows[begin : begin + size], labels[begin : begin + size])

    def _add(self, rows: Rows, labels: NDArray[np.int64]) -> None:
        squared = ((rows - self._centers[labels]) ** 2).sum(axis=1, dtype=np.float64)
        # A row as near as the last one kept comes later in the input, so it does not replace that row.
        chosen = np.flatnonzero((labels >= 0) & (squared < self._squared[labels, -1]))
        order = chosen[np.lexsort((squared[chosen], labels[chosen]))]
        clusters, begin, place = np.unique(labels[order], return_index=True, return_inverse=True)
        rank = np.arange(len(order)) - begin[place]
        order, place, rank = (array[rank < self._n] for array in (order, place, rank))

        new = len(clusters), self._n
        index, gaps = np.full(new, -1, dtype=np.int64), np.full(new, np.inf)
        found = np.full((*new, rows.shape[1]), np.nan)
        index[place, rank], gaps[place, rank], found[place, rank] = self._seen + order, squared[order], rows[order]
        self._merge(clusters, index, gaps, found)
        self._seen += len(rows)

    def _merge(self, clusters: NDArray[np.int64], index: NDArray[np.int64], squared: Floats, rows: Floats) -> None:
        both = np.concatenate([self._squared[clusters], squared], axis=1)
        best = np.argsort(both, axis=1, kind="stable")[:, : self._n]  # stable: earlier rows win ties
        self._squared[clusters] = np.take_along_axis(both, best, axis=1)
        both_index = np.concatenate([self._index[clusters], index], axis=1)
        self._index[clusters] = np.take_along_axis(both_index, best, axis=1)
        both_rows = np.concatenate([self._rows[clusters], rows], axis=1)
        self._rows[clusters] = np.take_along_axis(both_rows, best[:, :, None], axis=1)

    def result(self) -> Representatives:
        distance = np.where(self._index < 0, np.nan, np.sqrt(self._squared))
        return Representatives(self._index, distance, self._rows)

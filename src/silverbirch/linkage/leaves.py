"""The leaves of a dendrogram: the data that a user gave, and the orders in which neighbours are near."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats, bytes_text, refused_texts
from ..progress import reporter
from .distances import pairwise_distances, require_distances
from .job import Pairs, require_free

_BY_POINTS = {"euclidean": "euclidean", "sqeuclidean": "squared"}  # metrics that the core computes, by its names

logger = logging.getLogger("silverbirch")


def as_points(y: Any) -> Any:
    """The rows of a data frame, a column of lists, an Arrow table or `read_chunks`; everything else as it is."""
    from ..rows import is_table, rows_of_table

    return rows_of_table(y) if is_table(y) else y


def condensed_count(array: NDArray[Any]) -> int:
    """The number of objects of a condensed distance vector; raises an error if it is none."""
    if len(array) and isinstance(array[0], str):
        raise refused_texts("y", array[0], paths=False)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"distances of type {array.dtype}: only numbers can be clustered")
    count: int = round((1 + (1 + 8 * len(array)) ** 0.5) / 2)
    if len(array) == 0 or count * (count - 1) // 2 != len(array):
        raise ValueError(
            f"{len(array)} distances: a condensed vector of n objects has n(n-1)/2; for values of one column pass "
            "y.reshape(-1, 1)"
        )
    return count


@dataclass(frozen=True)
class Leaves:
    """What the distances of leaves are computed from, made on demand: points, or the distances of all pairs."""

    points: Callable[[], Floats] | None
    distance: str  # of two points, as the core names it
    pairs: Pairs | None
    vectors: int  # how many numbers for each pair are taken to have the distances

    @classmethod
    def of_points(cls, rows: Floats, metric: Any = "euclidean") -> Leaves:
        if isinstance(metric, str) and metric in _BY_POINTS:
            return cls(lambda: rows, _BY_POINTS[metric], None, 0)
        return cls.of_pairs(lambda report: pairwise_distances(rows, metric, report))

    @classmethod
    def of_unit_rows(cls, rows: Callable[[], Floats]) -> Leaves:
        """By cosine or correlation distances, which are half the squared distances of unit rows."""
        return cls(rows, "half_squared", None, 0)

    @classmethod
    def of_distances(cls, condensed: Floats) -> Leaves:
        return cls(None, "", lambda report: condensed, 0)

    @classmethod
    def of_pairs(cls, pairs: Pairs) -> Leaves:
        return cls(None, "", pairs, 1)

    def order(self, Z: Floats, ends: int | None, threads: int, progress: Any) -> NDArray[np.int64]:
        """The order of the core: optimal if `ends` is None, else with so many ends for each part of a branch."""
        if self.points is not None:
            with reporter(progress, "leaf order") as report:
                return _core.order_points(Z, self.points(), self.distance, ends, threads, report)
        assert self.pairs is not None
        with reporter(progress if self.vectors else False, "distances") as report:
            distances = self.pairs(report)
        require_distances(distances, "the metric gave")
        with reporter(progress, "leaf order") as report:
            return _core.order_distances(Z, distances, ends, threads, report)


def bytes_of_order(count: int, leaves: Leaves) -> int:
    """What the optimal order takes: a square matrix, and the distances if they have to be computed first."""
    return 8 * count * count + leaves.vectors * 8 * (count * (count - 1) // 2)


def require_memory_for_order(count: int, leaves: Leaves, remedy: str) -> None:
    """Logs the memory for the optimal order; raises MemoryLimitError if less is free."""
    task, needed = f"the optimal order of {count} leaves", bytes_of_order(count, leaves)
    logger.info("%s: %s for the distances of all pairs", task, bytes_text(needed))
    require_free(task, needed, remedy)

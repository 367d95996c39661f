"""The order of the leaves of a dendrogram in which neighbours are near."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats, as_array, as_flag, as_rows, as_threads
from ..directions import METRICS, directions, no_direction
from ..features import ClusterFeatures
from ..names import Metric
from ..wording import parameter
from .distances import full_metric_name, require_distances
from .job import available_memory, require_free
from .leaves import Leaves, as_points, bytes_of_order, condensed_count, require_memory_for_order
from .matrix import checked_z
from .sparse_rows import SPARSE_METRICS, SparseRows, as_csr
from .unit_features import require_unit_rows, unit_centres

# exact=None is exact up to this many leaves: some seconds and 0.2 GB.
_MOST_EXACT_LEAVES = 5000
# Orders with this many ends cost within 1 % of the optimum in benchmarks/studies/leaf_order.py; half as many save a
# quarter of the time.
_ENDS = 32


def leaf_order(
    Z: Any,
    y: Any,
    exact: bool | None = None,
    *,
    metric: Metric | Callable[[Floats, Floats], float] = "euclidean",
    n_jobs: int | None = None,
    progress: bool = False,
) -> NDArray[np.int64]:
    """Returns the leaves from left to right so that neighbours are near: a dendrogram drawn like that shows more.

    Of all orders that a dendrogram allows, the optimal one has the least sum of distances of adjacent leaves. The
    dendrogram itself stays the same: only the children of its nodes are exchanged.

    Parameters
    ----------
    Z : array (m - 1, 4)
        A linkage matrix of m leaves.
    y : array (m, d), data frame, sparse matrix (m, d), array (m(m-1)/2,) or ClusterFeatures
        The leaves: points, a condensed distance vector, or cluster features, whose means are taken.
    exact : bool, default None
        True finds the optimal order. False finds an order that is nearly as good, in linear time. None is True up to
        5 000 leaves if there is memory for it, else False.
    metric : str or function, default "euclidean"
        The distance of points, as in `linkage`; for cluster features "euclidean", and for those of unit rows also
        "cosine" or "correlation". It is ignored for a condensed distance vector.
    n_jobs : int, default None
        Number of threads for the optimal order; None is one, -1 is one for each physical core that this process may
        use. It changes only the time.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    int64 array (m,)
        The numbers of the leaves in this order. `Dendrogram.ordered` exchanges children so that Z has it.

    Raises
    ------
    ValueError
        Z is not a linkage matrix, y has not as many leaves as Z, or a distance is not defined.
    MemoryLimitError
        The distances of all pairs would need more memory than is free.

    Notes
    -----
    The optimal order takes cubic time, with a small factor, and 8 m² bytes: 10 000 leaves take about 20 s and 0.8 GB.
    The approximation takes linear time and memory: a million leaves take some seconds, and some hundred bytes each. It
    considers only the 32 cheapest ends of each part of a branch. docs/leaf-order.md compares both.

    Points with metrics other than "euclidean", "sqeuclidean", "cosine" and "correlation", and sparse points, take 8
    bytes more for each pair.

    References
    ----------
    Bar-Joseph, Gifford and Jaakkola (2001), "Fast optimal leaf ordering for hierarchical clustering", Bioinformatics
    17, S22-S29.

    Examples
    --------
    >>> import silverbirch as sb
    >>> X = [[0.0], [5.0], [1.0], [7.0]]
    >>> sb.leaf_order(sb.linkage(X, "average"), X).tolist()
    [0, 2, 1, 3]
    """
    rows = checked_z(Z)
    count = len(rows) + 1
    leaves = _leaves_of(as_points(y), count, full_metric_name(metric))
    threads = as_threads(n_jobs)
    if exact is None:
        available = available_memory()
        fits = available is None or bytes_of_order(count, leaves) <= available
        exact = count <= _MOST_EXACT_LEAVES and fits
    elif as_flag(exact, "exact"):
        require_memory_for_order(count, leaves, f"use {parameter('exact', False)}")
    if not exact and leaves.vectors:
        needed = leaves.vectors * 8 * (count * (count - 1) // 2)
        require_free(f"the order of {count} leaves", needed, f"use {parameter('metric', 'euclidean')}")
    return leaves.order(rows, None if exact else _ENDS, threads, progress)


def _leaves_of(y: Any, count: int, metric: Any) -> Leaves:
    """The leaves that a user gave, checked: `count` of them."""
    if isinstance(y, ClusterFeatures):
        _require_count(len(y), count, "features")
        if metric not in METRICS:
            raise ValueError(f"metric={metric!r} with cluster features: only {', '.join(METRICS)} are defined there")
        if metric == "euclidean":
            return Leaves.of_points(y.mean)
        require_unit_rows(y, metric)
        return Leaves.of_unit_rows(lambda: unit_centres(y).mean)
    if hasattr(y, "tocsr"):
        return _sparse_leaves(y, count, metric)
    array = as_array(y, "y")
    if array.ndim == 1:
        if len(array) or count > 1:  # a single leaf has no distances
            _require_count(condensed_count(array), count, "distances of as many objects")
        distances: Floats = np.ascontiguousarray(array, dtype=np.float64)
        require_distances(distances, "y holds")
        return Leaves.of_distances(distances)
    points = np.asarray(as_rows(y, name="y"), dtype=np.float64)
    _require_count(len(points), count, "rows")
    if metric not in METRICS or metric == "euclidean":
        return Leaves.of_points(points, metric)
    unit, without = directions(points, metric)
    if without.any():
        raise no_direction(f"y: row {np.argmax(without)}", metric)
    return Leaves.of_unit_rows(lambda: np.asarray(unit, dtype=np.float64))


def _sparse_leaves(y: Any, count: int, metric: Any) -> Leaves:
    if metric not in SPARSE_METRICS:
        raise ValueError(f"metric={metric!r} with sparse rows: must be one of {', '.join(map(repr, SPARSE_METRICS))}")
    matrix = as_csr(y)
    _require_count(matrix.shape[0], count, "rows")
    return Leaves.of_pairs(SparseRows.under(metric, matrix, np.arange(count)).pairwise_distances)


def _require_count(given: int, count: int, what: str) -> None:
    if given != count:
        raise ValueError(f"Z has {count} leaves but y has {given} {what}: they must belong together")

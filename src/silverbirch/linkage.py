"""Hierarchical clustering of points, distances and cluster features.

This module checks the data and the memory needed, then calls the core, which chooses and runs the algorithm.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _core
from .checks import (
    ALGORITHMS,
    LINKAGES,
    MODES,
    Floats,
    as_array,
    as_choice,
    as_method,
    as_rows,
    as_threads,
    as_weights,
    bytes_text,
)
from .errors import MemoryLimitError
from .features import ClusterFeatures
from .linkage_matrix import LinkageMatrix, with_prototypes
from .machine import physical_memory
from .names import Algorithm, CFDistance, Method, Metric, Mode
from .progress import Report, reporter

logger = logging.getLogger("silverbirch")


def linkage(
    y: Any,
    method: Method = "single",
    metric: Metric | Callable[[Floats, Floats], float] = "euclidean",
    optimal_ordering: bool = False,
    *,
    weights: Any = None,
    mode: Mode = "linkage",
    algorithm: Algorithm = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Floats:
    """Returns the dendrogram of agglomerative clustering, as `scipy.cluster.hierarchy.linkage` does.

    Parameters
    ----------
    y : array (n, d), array (n(n-1)/2,) or ClusterFeatures
        Points, a condensed distance vector, or cluster features.
    method : str, default "single"
        The linkage: "single", "complete", "average", "weighted", "centroid", "median", "ward", "minimax" or "medoid".
        With mode="aggregation", the CF distance: "centroid", "manhattan", "average", "diameter", "ward" or "radius".
    metric : str or function, default "euclidean"
        Any metric of `scipy.spatial.distance.pdist`, for points. Centroid, median and ward need "euclidean".
    optimal_ordering : bool, default False
        Whether scipy reorders the leaves so that adjacent leaves are similar; slow beyond a thousand objects.
    weights : array (n,), default None
        How often each object counts; None counts each object once. Objects of weight 0 are left out, and the leaves
        are numbered without them.
    mode : {"linkage", "centers", "aggregation"}, default "linkage"
        How cluster features are treated. "linkage" computes the initial distances from the features and then updates
        them by the linkage, with the weights of the features. "centers" clusters the means of the features as points
        of weight 1. "aggregation" merges the features at each step and computes the distances from the merged feature.
    algorithm : str, default "auto"
        "auto" chooses the fastest algorithm for the data. Reference algorithms: "agnes" (naive), "anderberg",
        "nn_chain", "generic" and "mst" (single). Algorithms with a spatial index, for points and features: "rounds"
        (reducible linkages), "heap" (ward, centroid, median, squared average and weighted) and "boruvka" (single). For
        many dimensions: "blocked" (the linkages of "heap").
    n_jobs : int, default None
        Number of threads; None is one, -1 is one for each core. It changes the time and nothing else.
    progress : bool, default False
        Whether to show a progress bar.

    Returns
    -------
    Z : float64 array (n - 1, 4)
        The linkage matrix, valid for every function of `scipy.cluster.hierarchy`. For minimax and medoid it has an
        attribute `prototypes`: the number of the object that represents the cluster of each row.

    Raises
    ------
    ValueError
        A name is unknown, a value is not finite, a distance is negative, or the algorithm does not compute the method.
    TypeError
        The data are not numbers.
    MemoryLimitError
        The distances of all pairs would need more memory than the machine has.

    Warns
    -----
    scipy.cluster.hierarchy.ClusterWarning
        The points look like a square distance matrix.

    Notes
    -----
    Heights are in scipy's units. On points, "average" and "weighted" use Euclidean distances; metric="sqeuclidean"
    makes them use squared distances. On cluster features they use squared distances, because features determine only
    these exactly, and the height is the square root (D2).

    On cluster features "single", "complete", "minimax" and "medoid" are approximate, because they use only the means.
    They are exact where every feature is a single point.

    "centroid", "median" and "medoid" are not reducible. "auto", "agnes", "anderberg" and "generic" give the greedy
    result; "nn_chain" gives a different dendrogram.

    Memory is linear in the number of objects for "ward", "average" (squared), "weighted" (squared), "centroid",
    "median", "single" and "medoid" of points or features. It is also linear for "complete", "average" and "weighted" of
    points with algorithm="rounds", and where "auto" uses an index (few dimensions, or points in groups). Otherwise
    these three take 8 bytes for each pair of objects. So do "minimax", metrics other than Euclidean, and "agnes" and
    "anderberg" with any linkage but "medoid".

    Time is at most quadratic in the number of objects, and much less with an index. "agnes", "minimax" and "medoid" can
    take cubic time.

    Examples
    --------
    >>> import silverbirch as sb
    >>> Z = sb.linkage([[0.0], [1.0], [5.0], [7.0]], "average")
    >>> Z[:, 2].tolist()
    [1.0, 2.0, 5.5]
    """
    as_choice(mode, "mode", MODES)
    job = _Job(
        as_method(method, mode, "method"), as_choice(algorithm, "algorithm", ALGORITHMS), as_threads(n_jobs), progress
    )

    if isinstance(y, ClusterFeatures):
        if weights is not None:
            raise ValueError("cluster features have weights of their own: leave `weights` out")
        _require_euclidean(metric, "cluster features")
        objects = _with_weight(y)
        Z, geometry = _cluster_features(job, objects, mode), objects.mean
    elif (array := as_array(y, "y")).ndim == 1:
        if mode != "linkage":
            raise ValueError(f"mode={mode!r} is for points and cluster features; distances have mode='linkage' only")
        geometry, weight = _checked_distances(array, weights)
        job.announce_pairs(len(weight))
        Z = _cluster_distances(job, geometry if LINKAGES[method].prototypes else geometry.copy(), weight)
    else:
        Z, geometry = _cluster_points(job, y, metric, weights, mode)
    if optimal_ordering and len(Z):
        job.announce_pairs(len(Z) + 1)
        Z = _optimally_ordered(Z, geometry, metric)
    return Z


def cluster_features(
    features: ClusterFeatures,
    method: str,
    mode: str,
    algorithm: str,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
    max_memory: int | None = None,
) -> Floats:
    """`linkage` of cluster features; raises MemoryLimitError if the distances need more than max_memory bytes."""
    return _cluster_features(_Job(method, algorithm, as_threads(n_jobs), progress, max_memory), features, mode)


def matching_distance(linkage: str) -> CFDistance:
    """The CF distance that matches a linkage: table 2 of the paper, and "ward" for linkages that use only the means."""
    known = LINKAGES.get(linkage)
    return cast("CFDistance", (known and known.cf_distance) or "ward")


@dataclass(frozen=True)
class _Job:
    method: str
    algorithm: str
    threads: int
    progress: bool
    max_memory: int | None = None

    def report(self) -> AbstractContextManager[Report | None]:
        return reporter(self.progress, f"{self.method} linkage")

    def announce_pairs(self, count: int) -> None:
        """Logs the memory that the distances of all pairs need; raises MemoryLimitError if it exceeds the limit."""
        needed = 8 * (count * (count - 1) // 2)
        task = f"{self.method} linkage of {count} objects"
        logger.info("%s: %s for the distances of all pairs", task, bytes_text(needed))
        if self.max_memory is not None and needed > self.max_memory:
            raise MemoryLimitError(
                f"{task} needs {bytes_text(needed)} for the distances of all pairs, max_memory leaves "
                f"{bytes_text(self.max_memory)}: lower max_leaves to {int((self.max_memory / 4) ** 0.5)} or raise "
                f"max_memory; {_linear_alternatives(self.method)}"
            )
        available = physical_memory()
        if available is not None and needed > available:
            raise MemoryLimitError(
                f"{task} needs {bytes_text(needed)} for the distances of all pairs and the machine has "
                f"{bytes_text(available)}: aggregate first with CFTree or Betula; {_linear_alternatives(self.method)}"
            )


def _linear_alternatives(method: str) -> str:
    known = LINKAGES.get(method)
    text = "method='ward' needs memory for the objects alone"
    if known and known.cf_distance and not known.squared:
        text = "metric='sqeuclidean' or " + text.replace("needs", "need")
    if known and known.by_members:
        text += ", and so do Euclidean distances with algorithm='rounds', in quadratic time"
    return text


def _cluster_features(job: _Job, features: ClusterFeatures, mode: str) -> Floats:
    if mode == "aggregation":
        return _aggregate(job, features)
    if mode == "centers":
        return _cluster(job, _unweighted(features), squares=False)
    return _cluster(job, features, squares=True)


def _cluster_points(job: _Job, y: Any, metric: Any, weights: Any, mode: str) -> tuple[Floats, Floats]:
    """Returns Z and the points that are its leaves."""
    rows = np.asarray(as_rows(y, name="y"), dtype=np.float64)
    _warn_of_square_distances(rows)
    weight = np.ones(len(rows)) if weights is None else as_weights(weights, len(rows), "weights")
    points = _with_weight(ClusterFeatures._adopt(weight.view(), rows.view(), np.zeros(len(rows))))
    if mode == "aggregation":
        _require_euclidean(metric, "mode='aggregation'")
        return _aggregate(job, points), points.mean
    if mode == "centers":
        points = _unweighted(points)
    if LINKAGES[job.method].squared:
        _require_euclidean(metric, f"method {job.method!r}")
    if isinstance(metric, str) and metric == "euclidean":
        return _cluster(job, points, squares=False), points.mean
    if isinstance(metric, str) and metric == "sqeuclidean" and LINKAGES[job.method].cf_distance:
        Z = _cluster(job, points, squares=True)
        Z[:, 2] **= 2
        return Z, points.mean
    from scipy.spatial.distance import pdist

    job.announce_pairs(len(points))
    distances = pdist(points.mean, metric)
    _require_distances(distances, f"metric {metric!r} gave")
    return _cluster_distances(job, distances, points.weight), points.mean


def _cluster(job: _Job, features: ClusterFeatures, *, squares: bool) -> Floats:
    """With `squares`, average and weighted linkage use squared distances and heights are their square roots."""
    with job.report() as report:
        Z, prototypes = _core.cluster_features(
            *features.arrays(), job.method, squares, job.algorithm, job.threads, job.announce_pairs, report
        )
    return with_prototypes(Z, prototypes) if LINKAGES[job.method].prototypes else Z


def _aggregate(job: _Job, features: ClusterFeatures) -> Floats:
    with job.report() as report:
        return _core.aggregate_features(*features.arrays(), job.method, job.algorithm, job.threads, report)[0]


def _cluster_distances(job: _Job, distances: Floats, weight: Floats) -> Floats:
    """Overwrites the distances, unless the linkage has prototypes."""
    with job.report() as report:
        if LINKAGES[job.method].prototypes:
            by_prototypes = _core.cluster_distances_by_prototypes
            return with_prototypes(*by_prototypes(distances, weight, job.method, job.algorithm, report))
        return _core.cluster_distances(distances, weight, job.method, job.algorithm, report)[0]


def _unweighted(features: ClusterFeatures) -> ClusterFeatures:
    """The means as points of weight 1."""
    return ClusterFeatures._adopt(np.ones(len(features)), features.mean, np.zeros(len(features)))


def _with_weight(features: ClusterFeatures) -> ClusterFeatures:
    """The features of positive weight: a feature of weight zero counts as no feature."""
    present = features.weight > 0
    if not present.any():
        raise ValueError("there is nothing to cluster: all weights are zero")
    return features if present.all() else features[present]


def _checked_distances(array: NDArray[Any], weights: Any) -> tuple[Floats, Floats]:
    if array.dtype.kind not in "fiub":
        raise TypeError(f"distances of type {array.dtype}: only numbers can be clustered")
    distances: Floats = np.ascontiguousarray(array, dtype=np.float64)
    count = round((1 + (1 + 8 * len(distances)) ** 0.5) / 2)
    if len(distances) == 0 or count * (count - 1) // 2 != len(distances):
        raise ValueError(
            f"{len(distances)} distances: a condensed vector of n objects has n(n-1)/2; for values of one column pass "
            "y.reshape(-1, 1)"
        )
    _require_distances(distances, "y holds")
    if weights is None:
        return distances, np.ones(count)
    weight = as_weights(weights, count, "weights")
    if (weight > 0).all():
        return distances, weight
    from scipy.spatial.distance import squareform

    present = weight > 0
    if not present.any():
        raise ValueError("there is nothing to cluster: all weights are zero")
    square = squareform(distances, checks=False)
    return squareform(square[np.ix_(present, present)], checks=False), weight[present]


def _require_distances(distances: Floats, what: str) -> None:
    bad = np.flatnonzero(~((distances >= 0) & (distances <= _core.LARGEST_COORDINATE)))
    if bad.size:
        raise ValueError(
            f"{what} distance {distances[bad[0]]} at position {bad[0]}: distances must be finite, not negative and at "
            f"most {_core.LARGEST_COORDINATE:g}; drop or rescale them, and turn similarities into distances first"
        )


def _warn_of_square_distances(rows: Floats) -> None:
    """Warns, as scipy does, if the points look like a square distance matrix: it would be clustered as points."""
    square = rows.shape[0] == rows.shape[1] > 1
    if square and (rows >= 0).all() and np.allclose(rows.diagonal(), 0) and np.allclose(rows, rows.T):
        from scipy.cluster.hierarchy import ClusterWarning

        warnings.warn(
            "y looks like a square distance matrix but is clustered as points: pass "
            "scipy.spatial.distance.squareform(y) if distances are meant",
            ClusterWarning,
            stacklevel=4,
        )


def _require_euclidean(metric: Any, what: str) -> None:
    if not isinstance(metric, str) or metric != "euclidean":
        raise ValueError(f"metric={metric!r} with {what}: only 'euclidean' is defined there")


def _optimally_ordered(Z: Floats, geometry: Floats, metric: Any) -> Floats:
    from scipy.cluster.hierarchy import optimal_leaf_ordering

    ordered: Floats = optimal_leaf_ordering(np.asarray(Z), geometry, metric)
    return with_prototypes(ordered, Z.prototypes) if isinstance(Z, LinkageMatrix) else ordered

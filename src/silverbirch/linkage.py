"""Hierarchical clustering of points, distances and cluster features: the door to the compiled algorithms.

Two things happen here and nowhere else: names and data are turned into one call of the core, and the core's numbers
into scipy's units.
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .checks import (
    ALGORITHMS,
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
from .progress import reporter

logger = logging.getLogger("silverbirch")

_PROTOTYPE_LINKAGES = ("minimax", "medoid")
_SINGLE_ALGORITHMS = ("mst", "boruvka")
_INDEX_ALGORITHMS = ("rounds", "heap", "boruvka", "blocked")
# Of points, by Euclidean distances: an index proposes neighbours and the points of the clusters decide.
_VERIFIED_LINKAGES = ("complete", "average", "weighted")


@dataclass(frozen=True)
class _FeatureForm:
    """How a linkage is computed from cluster features alone: table 2 of the paper."""

    cf_distance: str
    equal_vote: bool = False
    scale: float = 1.0  # Ward's linkage is twice D4 squared


_FEATURE_FORMS = {
    "ward": _FeatureForm("ward", scale=2.0),
    "average": _FeatureForm("average"),
    "weighted": _FeatureForm("average", equal_vote=True),
    "centroid": _FeatureForm("centroid"),
    "median": _FeatureForm("centroid", equal_vote=True),
}
_PIECE = 1 << 22
# These are defined on squared Euclidean distances and reported as roots, as in scipy.
_EUCLIDEAN_ONLY = ("centroid", "median", "ward")


def linkage(
    data: Any,
    method: str = "single",
    metric: Any = "euclidean",
    optimal_ordering: bool = False,
    *,
    weights: Any = None,
    mode: str = "linkage",
    algorithm: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Floats:
    """The dendrogram of hierarchical agglomerative clustering, as `scipy.cluster.hierarchy.linkage` returns it.

    Parameters
    ----------
    data : points (n, d), a condensed distance vector, or ClusterFeatures
    method : "single", "complete", "average", "weighted", "centroid", "median", "ward", "minimax" or "medoid";
        with mode="aggregation" a CF distance: "centroid", "manhattan", "average", "diameter", "ward" or "radius"
    metric : any metric of `scipy.spatial.distance.pdist`, for points; centroid, median and ward need "euclidean"
    optimal_ordering : reorder the leaves so that neighbours are near, by scipy's algorithm; slow beyond a thousand rows
    weights : how often each row counts; 0 leaves it out, and the leaves are numbered without it
    mode : how cluster features are treated. "linkage": initial distances from the whole features, then the linkage
        with their weights. "centers": their means as if they were points. "aggregation": features are merged at each
        step and distances computed anew from them.
    algorithm : "auto" chooses the fastest by the data. By name, the references: "agnes" (naive), "anderberg",
        "nn_chain", "generic", "mst" (single). With an index, for points and features: "rounds" (reducible linkages),
        "heap" (ward, centroid, median, squared average and weighted), "boruvka" (single). For many dimensions:
        "blocked" (the linkages of "heap").
    n_jobs : threads; None is one, -1 all. The result does not depend on it.
    progress : show progress on stderr

    Returns
    -------
    Z : float64 (n - 1, 4), valid for every function of scipy.cluster.hierarchy; for minimax and medoid with an
        attribute `prototypes`, the number of the object that stands for each row's cluster

    Notes
    -----
    Heights are in scipy's units. On points "average" and "weighted" mean Euclidean distances; metric="sqeuclidean"
    gives the mean squared distance. On cluster features they mean squared distances, the only ones features keep
    exactly, and the height is the root (D2).

    On cluster features "single", "complete", "minimax" and "medoid" are approximate: they see the means only. They are
    exact where every feature is one point.

    "centroid", "median" and "medoid" are not reducible: "auto", "agnes", "anderberg" and "generic" give the greedy
    result, "nn_chain" gives another dendrogram.

    "ward", "average" (squared), "weighted" (squared), "centroid", "median", "single" and "medoid" of points or features
    need memory linear in their number, and so do "complete", "average" and "weighted" of points in low dimensions or in
    groups, where "auto" finds that an index pays, and wherever algorithm="rounds" is asked for. Otherwise these need 8
    bytes for each pair, as do "minimax", and "agnes" and "anderberg" for all.
    """
    mode = as_choice(mode, "mode", MODES)
    method = as_method(method, mode, "method")
    job = _Job(method, as_choice(algorithm, "algorithm", ALGORITHMS), as_threads(n_jobs), progress)

    if isinstance(data, ClusterFeatures):
        if weights is not None:
            raise ValueError("cluster features have weights of their own: leave `weights` out")
        _require_euclidean(metric, "cluster features")
        objects = _with_weight(data)
        Z, geometry = _cluster_features(job, objects, mode), objects.mean
    elif (array := as_array(data, "data")).ndim == 1:
        if mode != "linkage":
            raise ValueError(f"mode={mode!r} is for points and cluster features; distances have mode='linkage' only")
        geometry, weight = _checked_distances(array, weights)
        _announce_pairs(job, len(weight))
        Z = _cluster_distances(job, geometry if method in _PROTOTYPE_LINKAGES else geometry.copy(), weight)
    else:
        Z, geometry = _cluster_points(job, data, metric, weights, mode)
    if optimal_ordering and len(Z):
        _announce_pairs(job, len(Z) + 1)
        Z = _optimally_ordered(Z, geometry, metric)
    return Z


@dataclass(frozen=True)
class _Job:
    method: str
    algorithm: str
    threads: int
    progress: bool
    max_memory: int | None = None

    def report(self) -> Any:
        return reporter(self.progress, f"{self.method} linkage")


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
    """`linkage` of cluster features, refused where distances would take more than max_memory bytes."""
    return _cluster_features(_Job(method, algorithm, as_threads(n_jobs), progress, max_memory), features, mode)


def _cluster_features(job: _Job, features: ClusterFeatures, mode: str) -> Floats:
    method = job.method
    if mode == "aggregation":
        return _merge_features(job, features, _FeatureForm(method, scale=2.0 if method == "ward" else 1.0))
    if mode == "centers":
        features = _unweighted(features)
    if method in _FEATURE_FORMS and not (mode == "centers" and method in ("average", "weighted")):
        return _cluster_squared(job, features)
    return _cluster_centers(job, features)


def _cluster_points(job: _Job, data: Any, metric: Any, weights: Any, mode: str) -> tuple[Floats, Floats]:
    """Z, and the points or distances it is of."""
    rows = np.asarray(as_rows(data, name="data"), dtype=np.float64)
    _warn_of_square_distances(rows)
    weight = np.ones(len(rows)) if weights is None else as_weights(weights, len(rows), "weights")
    points = _with_weight(ClusterFeatures._adopt(weight.view(), rows.view(), np.zeros(len(rows))))
    if mode == "centers":
        points = _unweighted(points)
    if mode == "aggregation" or job.method in _EUCLIDEAN_ONLY:
        _require_euclidean(metric, "mode='aggregation'" if mode == "aggregation" else f"method {job.method!r}")
        return _cluster_features(job, points, mode), points.mean
    if isinstance(metric, str) and metric == "euclidean":
        return _cluster_centers(job, points), points.mean
    if isinstance(metric, str) and metric == "sqeuclidean" and job.method in _FEATURE_FORMS:
        Z = _cluster_squared(job, points)
        Z[:, 2] **= 2
        return Z, points.mean
    from scipy.spatial.distance import pdist

    _announce_pairs(job, len(points))
    distances = pdist(points.mean, metric)
    _require_finite(distances, f"metric {metric!r} gave")
    return _cluster_distances(job, distances, points.weight), points.mean


def _cluster_squared(job: _Job, features: ClusterFeatures) -> Floats:
    """The linkages that squared distances and cluster features are enough for; heights are roots."""
    form = _FEATURE_FORMS[job.method]
    if job.algorithm not in ("agnes", "anderberg"):
        return _merge_features(job, features, form)
    squared = _pairwise_squared(job, features, form.cf_distance)
    squared *= form.scale
    Z, _ = _core.cluster_matrix(squared, features.weight, job.method, job.algorithm, job.report())
    return _with_roots(Z)


def _merge_features(job: _Job, features: ClusterFeatures, form: _FeatureForm) -> Floats:
    """In linear memory."""
    if job.algorithm in _SINGLE_ALGORITHMS:
        raise _unsuitable(job)
    Z, _ = _core.cluster_features(
        *features.arrays(), form.cf_distance, form.equal_vote, job.algorithm, job.threads, job.report()
    )
    return _with_roots(Z, form.scale)


def _cluster_centers(job: _Job, features: ClusterFeatures) -> Floats:
    """The linkages that need Euclidean distances of points; features count as points at their means."""
    if job.method == "single" and job.algorithm in ("auto", *_SINGLE_ALGORITHMS):
        Z, _ = _core.cluster_single(features.weight, features.mean, job.algorithm, job.threads, job.report())
        return _with_roots(Z)
    if job.method in _PROTOTYPE_LINKAGES:
        if job.method == "minimax":
            _announce_pairs(job, len(features))
        return with_prototypes(
            *_core.cluster_points_by_prototypes(
                features.weight, features.mean, job.method, _matrix_algorithm(job), job.report()
            )
        )
    if job.method in _VERIFIED_LINKAGES and job.algorithm in ("auto", "rounds"):
        merges = _core.cluster_points(
            features.weight, features.mean, job.method, job.algorithm, job.threads, job.report()
        )
        if merges is not None:
            return _with_roots(merges[0])
    distances = _pairwise_squared(job, features, "centroid")
    for begin in range(0, len(distances), _PIECE):  # in pieces, so that Ctrl-C gets a turn
        piece = distances[begin : begin + _PIECE]
        np.sqrt(piece, out=piece)
    Z, _ = _core.cluster_matrix(distances, features.weight, job.method, _matrix_algorithm(job), job.report())
    return Z


def _cluster_distances(job: _Job, distances: Floats, weight: Floats) -> Floats:
    """Overwrites the distances, but for minimax and medoid."""
    algorithm = _matrix_algorithm(job)
    if job.method in _PROTOTYPE_LINKAGES:
        return with_prototypes(*_core.cluster_by_prototypes(distances, weight, job.method, algorithm, job.report()))
    if job.method not in _EUCLIDEAN_ONLY:
        Z, _ = _core.cluster_matrix(distances, weight, job.method, algorithm, job.report())
        return Z
    squared = np.square(distances, out=distances)
    if job.method == "ward" and not np.all(weight == 1.0):
        end = 0
        for i, own in enumerate(weight[:-1]):
            begin, end, others = end, end + len(weight) - 1 - i, weight[i + 1 :]
            squared[begin:end] *= 2.0 * own * others / (own + others)
    Z, _ = _core.cluster_matrix(squared, weight, job.method, algorithm, job.report())
    return _with_roots(Z)


def _unsuitable(job: _Job) -> ValueError:
    return ValueError(f"algorithm={job.algorithm!r} cannot do this: use algorithm='auto' for {job.method!r}")


def _matrix_algorithm(job: _Job) -> str:
    """For distances of all pairs."""
    if job.algorithm in _INDEX_ALGORITHMS or (job.algorithm == "mst" and job.method != "single"):
        raise _unsuitable(job)
    return job.algorithm


def _pairwise_squared(job: _Job, features: ClusterFeatures, cf_distance: str) -> Floats:
    _announce_pairs(job, len(features))
    return _core.pairwise_squared_distances(*features.arrays(), cf_distance, job.threads, None)


def _announce_pairs(job: _Job, count: int) -> None:
    """Says what the distances of all pairs will take, and refuses what cannot be had, before anything is allocated."""
    needed = 8 * (count * (count - 1) // 2)
    logger.info("%s linkage of %d objects: %s for the distances of all pairs", job.method, count, bytes_text(needed))
    linear = "method='ward' needs memory for the objects alone"
    if job.method in ("average", "weighted"):
        linear = "metric='sqeuclidean' or " + linear.replace("needs", "need")
    if job.method in _VERIFIED_LINKAGES:
        linear += ", and so do Euclidean distances with algorithm='rounds', in quadratic time"
    if job.max_memory is not None and needed > job.max_memory:
        raise MemoryLimitError(
            f"{job.method} linkage of {count} objects needs {bytes_text(needed)} for the distances of all pairs, "
            f"max_memory leaves {bytes_text(job.max_memory)}: lower max_leaves to {int((job.max_memory / 4) ** 0.5)} "
            f"or raise max_memory; {linear}"
        )
    available = physical_memory()
    if available is not None and needed > available:
        raise MemoryLimitError(
            f"{job.method} linkage of {count} objects needs {bytes_text(needed)} for the distances of all pairs and "
            f"the machine has {bytes_text(available)}: aggregate first with CFTree or Betula; {linear}"
        )


def _with_roots(Z: Floats, scale: float = 1.0) -> Floats:
    Z[:, 2] = np.sqrt(np.maximum(Z[:, 2] * scale, 0.0))  # a recurrence on squares can end a rounding below zero
    return Z


def _unweighted(features: ClusterFeatures) -> ClusterFeatures:
    """The bare centres."""
    return ClusterFeatures._adopt(np.ones(len(features)), features.mean, np.zeros(len(features)))


def _with_weight(features: ClusterFeatures) -> ClusterFeatures:
    """Without the features of weight zero: they are the same as no feature."""
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
            "data.reshape(-1, 1)"
        )
    _require_finite(distances, "data holds")
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


def _require_finite(distances: Floats, what: str) -> None:
    bad = np.flatnonzero(~(np.abs(distances) <= _core.LARGEST_COORDINATE))
    if bad.size:
        raise ValueError(
            f"{what} distance {distances[bad[0]]} at position {bad[0]}: distances must be finite and at most "
            f"{_core.LARGEST_COORDINATE:g}; drop or rescale them first"
        )


def _warn_of_square_distances(rows: Floats) -> None:
    """As scipy does: a whole distance matrix passed as points is clustered as points, and seldom meant so."""
    square = rows.shape[0] == rows.shape[1] > 1
    if square and (rows >= 0).all() and not rows.diagonal().any() and np.array_equal(rows, rows.T):
        warnings.warn(
            "data looks like a square distance matrix but is clustered as points: pass "
            "scipy.spatial.distance.squareform(data) if distances are meant",
            stacklevel=4,
        )


def _require_euclidean(metric: Any, what: str) -> None:
    if not isinstance(metric, str) or metric != "euclidean":
        raise ValueError(f"metric={metric!r} with {what}: only 'euclidean' is defined there")


def _optimally_ordered(Z: Floats, geometry: Floats, metric: Any) -> Floats:
    from scipy.cluster.hierarchy import optimal_leaf_ordering

    ordered: Floats = optimal_leaf_ordering(np.asarray(Z), geometry, metric)
    return with_prototypes(ordered, Z.prototypes) if isinstance(Z, LinkageMatrix) else ordered

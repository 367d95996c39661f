"""Hierarchical clustering of points, distances and cluster features.

This module checks the data and the memory needed, then calls the core, which chooses and runs the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import (
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
)
from ..directions import METRICS
from ..features import ClusterFeatures
from ..gpu.device import chosen_device, in_main_memory
from ..names import Algorithm, CFDistance, Method, Metric, Mode
from ..progress import Report
from .distances import full_metric_name, pairwise_distances, require_distances, selected_distances
from .job import Job, Pairs, core_messages
from .leaves import Leaves, as_points, condensed_count, require_memory_for_order
from .matrix import LinkageMatrix, warn_of_square_distances, with_prototypes
from .on_gpu import cluster_features_on_gpu, cluster_points_on_gpu, require_on_gpu
from .sparse import cluster_sparse
from .unit_features import require_unit_rows, unit_centres, unit_points

# Linkages that depend on the order of the distances alone: any increasing function of the distances gives the same
# merges.
_BY_ORDER = ("single", "complete", "minimax")


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
    device: Any = None,
) -> Floats:
    """Returns the dendrogram of agglomerative clustering, as `scipy.cluster.hierarchy.linkage` does.

    Parameters
    ----------
    y : array (n, d), data frame, sparse matrix (n, d), array (n(n-1)/2,) or ClusterFeatures
        Points, a condensed distance vector, or cluster features. Sparse points are not made dense. A column of lists
        holds points, alone or in a data frame or Arrow table; `read_chunks` chooses columns and reads files.
    method : str, default "single"
        The linkage: "single", "complete", "average", "weighted", "centroid", "median", "ward", "minimax" or "medoid".
        With mode="aggregation", the CF distance: "centroid", "manhattan", "average", "diameter", "ward" or "radius".
    metric : str or function, default "euclidean"
        Any metric of `scipy.spatial.distance.pdist`, for points. "euclidean", "sqeuclidean", "cosine" or "correlation"
        for sparse points. "euclidean" for cluster features; those of unit rows may also have "cosine" or "correlation".
        Centroid, median and ward need "euclidean".
    optimal_ordering : bool, default False
        Whether to exchange children so that the sum of the distances of adjacent leaves is least. It takes cubic
        time, about 20 s for 10 000 objects; `leaf_order` also has a fast approximation.
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
        many dimensions: "blocked" (the linkages of "heap", and single).
    n_jobs : int, default None
        Number of threads; None is one, -1 is one for each physical core that this process may use.
        It changes the time and nothing else.
    progress : bool, default False
        Whether to show a progress bar.
    device : str or torch.device, default None
        Where to compute: "cpu", "cuda" for a GPU of NVIDIA, or "cuda:1" for one of several. None computes where the
        points are: an array on a GPU, of torch, CuPy or any library with DLPack, is clustered there. The result is the
        same, heights to 1e-9. See "GPU" in the documentation for what it needs and what runs there.

    Returns
    -------
    Z : float64 array (n - 1, 4)
        The linkage matrix, valid for every function of `scipy.cluster.hierarchy`. For minimax and medoid it has an
        attribute `prototypes`: the number of the object that represents the cluster of each row.

    Raises
    ------
    ValueError
        A name is unknown, a value is not finite, a distance is negative, a row has no direction ("cosine",
        "correlation"), or the algorithm does not compute the method.
    TypeError
        The data are not numbers.
    MemoryLimitError
        The distances of all pairs would need more memory than is free, or the GPU has too little.
    ImportError
        A GPU needs torch and Triton.

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

    "cosine" and "correlation" are computed from rows of unit length: half their squared distance is scipy's distance.
    Heights are such distances, also for "average" and "weighted" of cluster features. Linkages that use only the means
    use the directions of the means.

    Memory is linear in the number of objects for "ward", "average" (squared), "weighted" (squared), "centroid",
    "median", "single" and "medoid" of points or features, and for "single", "complete", "average" and "weighted" with
    "cosine" or "correlation". It is also linear for "complete", "average" and "weighted" of points with
    algorithm="rounds", and where "auto" uses an index (few dimensions, or points in groups). Otherwise these three take
    8 bytes for each pair of objects. So do "minimax", "medoid" with "cosine" or "correlation", other metrics, sparse
    rows (but for "single"), and "agnes" and "anderberg" with any linkage but "medoid". "minimax" takes twice as much
    from distances. `optimal_ordering` takes 16 bytes for each pair, and 8 more where distances have to be computed
    first. What is taken is logged and compared with the memory that is free.

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
    metric = full_metric_name(metric)
    device = chosen_device(device, y)
    job = Job(
        as_method(method, mode, "linkage.method"),
        as_choice(algorithm, "algorithm", ALGORITHMS),
        as_threads(n_jobs),
        progress,
        device=device,
    )
    if device is None:
        y = in_main_memory(y)
    else:
        require_on_gpu(job.method, mode, algorithm, ordering=optimal_ordering)

    y = as_points(y)
    if isinstance(y, ClusterFeatures):
        if weights is not None:
            raise ValueError("cluster features have weights of their own: leave `weights` out")
        Z, leaves = _cluster_given_features(job, y, metric, mode)
    elif device is not None:
        return cluster_points_on_gpu(job, y, metric, weights, mode)
    elif hasattr(y, "tocsr"):
        Z, leaves = cluster_sparse(job, y, metric, weights, mode)
    elif (array := as_array(y, "y")).ndim == 1:
        if mode != "linkage":
            raise ValueError(f"mode={mode!r} is for points and cluster features; distances have mode='linkage' only")
        Z, leaves = _cluster_condensed(job, array, weights, keep=optimal_ordering)
    else:
        Z, leaves = _cluster_points(job, y, metric, weights, mode)
    return _optimally_ordered(job, Z, leaves) if optimal_ordering and len(Z) else Z


def cluster_features(
    features: ClusterFeatures,
    method: str,
    mode: str,
    algorithm: str,
    *,
    metric: str = "euclidean",
    n_jobs: int | None = None,
    progress: bool = False,
    max_memory: int | None = None,
    device: Any = None,
) -> Floats:
    """`linkage` of cluster features; raises MemoryLimitError if the distances need more than max_memory bytes.

    With metric "cosine" or "correlation", linkages that need Euclidean distances (ward, centroid, median, and
    mode="aggregation" but for "average") are allowed too: on unit rows, with Euclidean heights.
    """
    job = Job(method, algorithm, as_threads(n_jobs), progress, max_memory, chosen_device(device))
    if job.device is not None:
        require_on_gpu(method, mode, algorithm)
    if metric == "euclidean":
        return _cluster_features(job, features, mode)
    return _cluster_features_of_directions(job, features, metric, mode)


def check_algorithm(method: str, mode: str, algorithm: str, metric: str) -> None:
    """Raises ValueError if the algorithm does not compute the linkage. A clustering of two features tells."""
    if algorithm != "auto":
        rows = np.array([[1.0, -1.0], [-1.0, 1.0]]) / 2**0.5  # centred and of unit length, for every metric
        cluster_features(ClusterFeatures(1, rows, 0), method, mode, algorithm, metric=metric)


def heights_are_euclidean(method: str, mode: str) -> bool:
    """Whether a linkage of unit rows has Euclidean heights, not cosine or correlation distances."""
    return method != "average" if mode == "aggregation" else LINKAGES[method].squared


def matching_distance(linkage: str) -> CFDistance:
    """The CF distance that matches a linkage: table 2 of the paper, and "ward" for linkages that use only the means."""
    known = LINKAGES.get(linkage)
    return cast("CFDistance", (known and known.cf_distance) or "ward")


# -- cluster features


def _cluster_given_features(job: Job, features: ClusterFeatures, metric: Any, mode: str) -> tuple[Floats, Leaves]:
    features = _with_weight(features)
    if metric == "euclidean":
        return _cluster_features(job, features, mode), Leaves.of_points(features.mean)
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} with cluster features: only {', '.join(METRICS)} are defined there")
    if mode == "aggregation":
        _require_euclidean(metric, "mode='aggregation'")
    job.require_unsquared(metric)
    Z = _cluster_features_of_directions(job, features, metric, mode)
    return Z, Leaves.of_unit_rows(lambda: unit_centres(features).mean)


def _cluster_features(job: Job, features: ClusterFeatures, mode: str) -> Floats:
    if mode == "aggregation":
        return _aggregate(job, features)
    if mode == "centers":
        return _cluster(job, _unweighted(features), squares=False)
    return _cluster(job, features, squares=True)


def _cluster_features_of_directions(job: Job, features: ClusterFeatures, metric: str, mode: str) -> Floats:
    """Heights are cosine or correlation distances; those of Euclidean linkages are Euclidean."""
    require_unit_rows(features, metric)
    if mode == "aggregation":
        Z = _aggregate(job, features)
        return _with_half_squares(Z) if job.method == "average" else Z
    if mode == "centers":
        features = unit_centres(_unweighted(features))
    elif not LINKAGES[job.method].cf_distance:
        features = unit_centres(features)
    if LINKAGES[job.method].squared:
        return _cluster(job, features, squares=True)
    return _cluster_directions(job, features)


# -- points


def _cluster_points(job: Job, y: Any, metric: Any, weights: Any, mode: str) -> tuple[Floats, Leaves]:
    rows = np.asarray(as_rows(y, name="y"), dtype=np.float64)
    warn_of_square_distances(rows, stacklevel=4)
    weight = np.ones(len(rows)) if weights is None else as_weights(weights, len(rows), "weights")
    points = _with_weight(ClusterFeatures._adopt(weight.view(), rows.view(), np.zeros(len(rows))))
    del rows  # unit rows take its place
    if mode == "aggregation":
        _require_euclidean(metric, "mode='aggregation'")
        return _aggregate(job, points), Leaves.of_points(points.mean)
    if mode == "centers":
        points = _unweighted(points)
    if metric == "euclidean":
        return _cluster(job, points, squares=False), Leaves.of_points(points.mean)
    job.require_unsquared(metric)
    if metric in METRICS:
        points = unit_points(points, metric, np.flatnonzero(weight))
        return _cluster_directions(job, points), Leaves.of_unit_rows(lambda: points.mean)
    if metric == "sqeuclidean" and LINKAGES[job.method].cf_distance:
        Z = _cluster(job, points, squares=True)
        Z[:, 2] **= 2
        return Z, Leaves.of_points(points.mean, metric)
    Z = job.cluster_pairs(_pairs_of(points.mean, metric), points.weight, f"metric {metric!r} gave")
    return Z, Leaves.of_points(points.mean, metric)


def _cluster_directions(job: Job, features: ClusterFeatures) -> Floats:
    """Features of unit rows: half the squared distance is the cosine or correlation distance."""
    job = replace(job, alternatives="'single', 'complete', 'average' and 'weighted' need memory for the objects alone")
    if LINKAGES[job.method].cf_distance:
        return _with_half_squares(_cluster(job, features, squares=True))
    if job.method not in _BY_ORDER:
        return job.cluster_pairs(lambda report: _half_squares(features.mean, report), features.weight, "y has")
    # A matrix of all pairs makes complete linkage faster. It is used where it takes at most sixteen times the memory of
    # the rows, so memory stays linear; rounds take about ten times that memory.
    if job.method == "complete" and job.algorithm == "auto" and len(features) > 32 * features.n_dimensions:
        job = replace(job, algorithm="rounds")
    return _with_half_squares(_cluster(job, features, squares=True))


def _with_half_squares(Z: Floats) -> Floats:
    Z[:, 2] *= Z[:, 2] / 2
    return Z


def _half_squares(unit_rows: Floats, report: Report | None) -> Floats:
    """The cosine or correlation distances of all pairs of unit rows."""
    distances = pairwise_distances(unit_rows, "sqeuclidean", report)
    distances /= 2
    return distances


# -- distances


def _cluster_condensed(job: Job, array: NDArray[Any], weights: Any, *, keep: bool) -> tuple[Floats, Leaves]:
    """Leaves the array as it is. `keep`: the distances are needed afterwards."""
    count = condensed_count(array)
    weight = np.ones(count) if weights is None else as_weights(weights, count, "weights")
    present = weight > 0
    if not present.any():
        raise ValueError("there is nothing to cluster: all weights are zero")
    converted = array.dtype != np.float64 or not array.flags.c_contiguous
    overwritten = not LINKAGES[job.method].prototypes
    copied = overwritten and (keep or (not converted and bool(present.all())))
    job.announce_pairs(count, converted + (not present.all()) + copied + job.vectors_beside_distances())

    distances: Floats = np.ascontiguousarray(array, dtype=np.float64)
    require_distances(distances, "y holds")
    if not present.all():
        distances, weight = selected_distances(distances, present), weight[present]
    Z = job.cluster_distances(distances.copy() if copied else distances, weight)
    return Z, Leaves.of_distances(distances)


def _pairs_of(rows: Floats, metric: Any) -> Pairs:
    return lambda report: pairwise_distances(rows, metric, report)


# -- the core


def _cluster(job: Job, features: ClusterFeatures, *, squares: bool) -> Floats:
    """With `squares`, average and weighted linkage use squared distances and heights are their square roots."""
    if job.device is not None:
        return cluster_features_on_gpu(job, features, squares=squares)
    with core_messages(), job.report() as report:
        Z, prototypes = _core.cluster_features(
            *features.arrays(), job.method, squares, job.algorithm, job.threads, job.announce_pairs, report
        )
    return with_prototypes(Z, prototypes) if LINKAGES[job.method].prototypes else Z


def _aggregate(job: Job, features: ClusterFeatures) -> Floats:
    with core_messages(), job.report() as report:
        return _core.aggregate_features(*features.arrays(), job.method, job.algorithm, job.threads, report)[0]


def _unweighted(features: ClusterFeatures) -> ClusterFeatures:
    """The means as points of weight 1."""
    return ClusterFeatures._adopt(np.ones(len(features)), features.mean, np.zeros(len(features)))


def _with_weight(features: ClusterFeatures) -> ClusterFeatures:
    """The features of positive weight: a feature of weight zero counts as no feature."""
    present = features.weight > 0
    if not present.any():
        raise ValueError("there is nothing to cluster: all weights are zero")
    return features if present.all() else features[present]


def _require_euclidean(metric: Any, what: str) -> None:
    if not isinstance(metric, str) or metric != "euclidean":
        raise ValueError(f"metric={metric!r} with {what}: only 'euclidean' is defined there")


def _optimally_ordered(job: Job, Z: Floats, leaves: Leaves) -> Floats:
    rows: Floats = np.asarray(Z)
    require_memory_for_order(len(Z) + 1, leaves, "leave optimal_ordering out, or take the order of leaf_order(Z, y)")
    order = leaves.order(rows, None, job.threads, job.progress)
    ordered = _core.reordered(rows, order)
    return with_prototypes(ordered, Z.prototypes) if isinstance(Z, LinkageMatrix) else ordered

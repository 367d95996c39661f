"""Measures one clustering: aggregates the rows, clusters the features, and computes the quality of the cut."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from silverbirch import _core
from silverbirch.checks import Floats
from silverbirch.dendrogram import Dendrogram
from silverbirch.features import ClusterFeatures
from silverbirch.linkage import linkage
from silverbirch.tree import CFTree

from . import summaries
from .jobs import BIRCH, FULL, MODES, ClusterJob
from .merge_order import size_before_height

# Shorter work is repeated within the process; otherwise the first page faults would distort it.
_SHORT, _MOST_LOOPS = 0.1, 20


def measure(job: ClusterJob) -> dict[str, Any]:
    X = job.data_set().make()
    seconds, (features, Z) = _timed(job, X)
    dendrogram = Dendrogram(Z, features)
    row: dict[str, Any] = {"features": len(features), "height_sum": float(Z[:, 2].sum())} | seconds
    if job.k > len(features):
        return row
    if job.input not in summaries.MAKERS:  # these do not keep the feature of each row
        row["rmsd"] = dendrogram.rmsd(job.k)
    if job.algorithm == "nn_chain":
        sizes = dendrogram.weights[len(features) :]
        row["rmsd_size_order"] = Dendrogram(size_before_height(dendrogram.Z, sizes), features).rmsd(job.k)
    if job.input != FULL:
        row |= quality_of_labels(X, features.mean, dendrogram.cut(n_clusters=job.k), job.k)
    return row


def _timed(job: ClusterJob, X: Floats) -> tuple[dict[str, Any], tuple[ClusterFeatures, Floats]]:
    """The CPU seconds of both steps, which other processes disturb less than wall time."""
    aggregate: list[float] = []
    cluster: list[float] = []
    while not aggregate or (sum(aggregate) + sum(cluster) < _SHORT and len(aggregate) < _MOST_LOOPS):
        begin = time.process_time()
        features, spent_otherwise = summary(job, X)
        middle = time.process_time()
        Z = dendrogram_of(job, features)
        end = time.process_time()
        aggregate.append(middle - begin - spent_otherwise)
        cluster.append(end - middle)
    spent = {"cpu_aggregate": statistics.median(aggregate), "cpu_linkage": statistics.median(cluster)}
    spent["cpu"] = sum(spent.values())
    return {name: round(value, 6) for name, value in spent.items()} | {"loops": len(aggregate)}, (features, Z)


def summary(job: ClusterJob, X: Floats) -> tuple[ClusterFeatures, float]:
    """The features to cluster, and the CPU seconds spent on finding parameters, which do not count."""
    if job.input == FULL:
        return ClusterFeatures(1, X, 0), 0.0
    if job.max_leaves is None:
        raise ValueError(f"max_leaves=None with input={job.input!r}: a summary needs a size")
    if job.input in summaries.MAKERS:
        return summaries.MAKERS[job.input](X, job.max_leaves, job.order)
    names: dict[str, Any] = {"distance": job.distance or "ward", "absorption": job.absorption or "radius"}
    return CFTree(max_leaves=job.max_leaves, **names).insert(X).features, 0.0


def dendrogram_of(job: ClusterJob, features: ClusterFeatures) -> Floats:
    names: dict[str, Any] = {"method": job.linkage, "algorithm": job.algorithm}
    if job.input == FULL and job.linkage in ("average", "weighted"):
        names["metric"] = job.metric
        Z = linkage(features.mean, **names)
        if job.metric == "sqeuclidean":
            Z[:, 2] **= 0.5  # heights of features are square roots too
        return Z
    # Sampled rows have no spread, and scikit-learn's Birch clusters only its centres.
    names["mode"] = MODES.get(job.input, "centers" if job.input == BIRCH else "linkage")
    return linkage(features, **names)


def quality_of_labels(X: Floats, means: Floats, label_of_feature: NDArray[np.int64], k: int) -> dict[str, float]:
    """The quality of two labellings: by the exactly nearest feature, then by the nearest mean of these clusters."""
    nearest, centers = _rmsd(X, label_of_feature[_nearest(means, X)], k)
    refined, _ = _rmsd(X, _nearest(centers, X), len(centers))
    return {"rmsd_nearest": nearest, "rmsd_nearest_mean": refined}


def _nearest(means: Floats, X: Floats) -> NDArray[np.int64]:
    return _core.NearestIndex(np.ascontiguousarray(means)).nearest(X, 1, None)[0]


def _rmsd(X: Floats, labels: NDArray[np.int64], k: int) -> tuple[float, Floats]:
    weight, mean, sse = _core.grouped(X, None, labels, k, None)
    return float(np.sqrt(sse.sum() / len(X))), mean[weight > 0]

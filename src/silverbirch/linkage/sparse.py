"""Linkage of sparse rows: single linkage in linear memory, all others from the distances of all pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from ..checks import Floats, as_weights
from .job import Job
from .leaves import Leaves
from .sparse_rows import SPARSE_METRICS, SparseRows, as_csr

_REMEDY = (
    "project the rows first with sklearn.decomposition.TruncatedSVD or sklearn.random_projection, or let "
    "Betula(projection=...) do so"
)
_ALTERNATIVES = "method='single' needs memory for the rows alone"


def cluster_sparse(job: Job, y: Any, metric: Any, weights: Any, mode: str) -> tuple[Floats, Leaves]:
    """Returns Z and its leaves."""
    if mode == "aggregation":
        raise ValueError("mode='aggregation' with sparse rows: cluster features are dense; use mode='linkage'")
    if metric not in SPARSE_METRICS:
        raise ValueError(
            f"metric={metric!r} with sparse rows: must be one of {', '.join(map(repr, SPARSE_METRICS))}; for others "
            "pass y.toarray() if it fits into memory"
        )
    if metric != "euclidean":
        job.require_unsquared(metric)
    matrix = as_csr(y)
    weight = np.ones(matrix.shape[0]) if weights is None else as_weights(weights, matrix.shape[0], "weights")
    numbers = np.flatnonzero(weight)
    if not numbers.size:
        raise ValueError("there is nothing to cluster: all weights are zero")
    if len(numbers) < len(weight):
        matrix, weight = matrix[numbers], weight[numbers]
    rows = SparseRows.under(metric, matrix, numbers)
    job = replace(job, remedy=_REMEDY, alternatives=_ALTERNATIVES)
    if job.method == "single" and job.algorithm in ("auto", "mst"):
        return _by_mst(job, matrix, metric), Leaves.of_pairs(rows.pairwise_distances)
    if mode == "centers":
        weight = np.ones_like(weight)
    Z = job.cluster_pairs(rows.pairwise_distances, weight, "y has")
    return Z, Leaves.of_pairs(rows.pairwise_distances)


def _by_mst(job: Job, matrix: Any, metric: str) -> Floats:
    arrays = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data
    squared = metric == "sqeuclidean"
    with job.report() as report:
        Z = _core.sparse_mst(*arrays, matrix.shape[1], "euclidean" if squared else metric, report)
    if squared:
        Z[:, 2] **= 2
    return Z

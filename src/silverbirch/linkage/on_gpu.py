"""Linkage on a GPU: what runs there, and points in main memory or on the GPU as the room `gpu` takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Floats, as_any_rows, as_array, as_weights, is_sparse, require_table
from ..directions import METRICS
from ..features import ClusterFeatures
from ..gpu.cluster import ALGORITHMS, check_directions, check_values, cluster, uploaded
from ..gpu.device import as_tensor, in_main_memory, is_on_gpu
from ..gpu.rows import Rows
from ..wording import parameter
from .job import Job
from .matrix import warn_of_square_distances

if TYPE_CHECKING:
    from torch import Tensor

_ON_THE_CPU = "is computed on the CPU only: use device='cpu'"
_POINT_METRICS = (*METRICS, "sqeuclidean")


def require_on_gpu(
    method: str, mode: str, algorithm: str, *, ordering: bool = False, name: str = "linkage.method"
) -> None:
    """Raises an error that names the remedy if a GPU does not compute this."""
    if ordering:
        raise ValueError(f"optimal_ordering {_ON_THE_CPU}, or leave it out and take the order of leaf_order(Z, y)")
    if mode == "aggregation":
        raise ValueError(f"{parameter('mode', mode)} {_ON_THE_CPU}")
    if method not in ALGORITHMS:
        known = ", ".join(map(repr, ALGORITHMS))
        raise ValueError(f"{parameter(name, method)} {_ON_THE_CPU}, or one of {known}")
    if algorithm != "auto":
        raise ValueError(f"{parameter('algorithm', algorithm)} {_ON_THE_CPU}, or {parameter('algorithm', 'auto')}")


def cluster_points_on_gpu(job: Job, y: Any, metric: Any, weights: Any, mode: str) -> Floats:
    if is_sparse(y):
        raise ValueError(f"y is a sparse matrix, whose linkage {_ON_THE_CPU}, or pass y.toarray() if it is small")
    if metric not in _POINT_METRICS:
        raise ValueError(
            f"{parameter('metric', metric)} {_ON_THE_CPU}, or one of {', '.join(map(repr, _POINT_METRICS))}"
        )
    if metric != "euclidean":
        job.require_unsquared(metric)
    array, numbers, weight = _chosen_points(job, y, weights)
    direction = metric if metric in ("cosine", "correlation") else None
    if direction is not None:
        check_directions(Rows(array, job.device), direction, "y", numbers)
    weight = None if mode == "centers" else weight
    with job.report() as report:
        Z, _ = cluster(
            array,
            job.device,
            job.method,
            squares=metric != "euclidean",
            direction=direction,
            weight=weight,
            report=report,
        )
    if metric != "euclidean":
        Z[:, 2] **= 2
    if direction is not None:
        Z[:, 2] /= 2
    return Z


def cluster_features_on_gpu(job: Job, features: ClusterFeatures, *, squares: bool) -> Floats:
    """With `squares`, average and weighted linkage use squared distances and heights are their square roots."""
    mean, weight, sse = (as_tensor(array) for array in (features.mean, features.weight, features.sse))
    with job.report() as report:
        return cluster(
            mean,
            job.device,
            job.method,
            squares=squares,
            weight=weight.to(job.device),
            sse=sse.to(job.device),
            report=report,
        )[0]


def _chosen_points(job: Job, y: Any, weights: Any) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """The points of positive weight, checked; their rows in the data, None for all; their weights, None for ones."""
    array = _tensor_of(y)
    if weights is not None:
        weight = as_weights(in_main_memory(weights), len(array), "weights")
    array = uploaded(array, job.device)
    check_values(Rows(array, job.device), "y")
    if array.shape[0] == array.shape[1]:
        warn_of_square_distances(array.double().cpu().numpy(), stacklevel=5)
    if weights is None:
        return array, None, None
    present = np.flatnonzero(weight)
    if not present.size:
        raise ValueError("there is nothing to cluster: all weights are zero")
    if len(present) == len(array):
        return array, None, as_tensor(weight).to(job.device)
    numbers = as_tensor(present)
    return array[numbers.to(array.device)], numbers, as_tensor(weight[present]).to(job.device)


def _tensor_of(y: Any) -> Tensor:
    array = as_tensor(y) if is_on_gpu(y) else as_array(y, "y")
    if array.ndim == 1:
        raise ValueError(
            f"y is a vector of distances, whose linkage {_ON_THE_CPU}; for values of one column pass y.reshape(-1, 1)"
        )
    if isinstance(array, np.ndarray):
        return as_tensor(as_any_rows(array, name="y"))
    if array.is_complex():
        raise TypeError(
            "y holds complex numbers: only real numbers can be clustered; encode or drop those columns first"
        )
    require_table(tuple(array.shape), "y")
    return array

"""The distances of all pairs, as scipy's condensed vector: computed in blocks of rows, checked, selected.

The blocks show progress and let Ctrl-C in. Nothing here allocates a second vector of all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats
from ..names import Metric
from ..progress import Report

_BLOCK_DISTANCES = 1 << 20  # 8 MiB
_BLOCK_STEPS = 1 << 27  # values to look at for one block: about a tenth of a second

# scipy's short names of the metrics that need care here.
_METRIC_NAMES = {
    **dict.fromkeys(("euclid", "eu", "e"), "euclidean"),
    **dict.fromkeys(("sqeuclid", "sqe"), "sqeuclidean"),
    **dict.fromkeys(("seuclidean", "se", "s"), "seuclidean"),
    **dict.fromkeys(("mahal", "mah"), "mahalanobis"),
    "cos": "cosine",
    "co": "correlation",
}


def full_metric_name(metric: Any) -> Any:
    """The full name of a metric that scipy knows by a short name too; functions are returned as they are."""
    return _METRIC_NAMES.get(metric.lower(), metric.lower()) if isinstance(metric, str) else metric


def pairwise_distances(rows: Floats, metric: Any, report: Report | None = None) -> Floats:
    """Returns what `scipy.spatial.distance.pdist` does, by `cdist` of blocks of rows.

    A metric that is a function is called in the order of `pdist`, row by row.
    """
    from scipy.spatial.distance import cdist

    parameters = _of_all_rows(rows, metric if isinstance(metric, str) else getattr(metric, "__name__", ""))

    def from_block(first: int, last: int) -> Floats:
        between: Floats = cdist(rows[first:last], rows[first:], metric, **parameters)
        return between

    def from_row(first: int, last: int) -> Floats:
        others = cdist(rows[first:last], rows[last:], metric, **parameters)
        return np.concatenate(([[0.0]], others), axis=1)

    if not isinstance(metric, str):
        return condensed_distances(len(rows), 1, from_row, report)
    _require_known(metric)
    return condensed_distances(len(rows), min(_BLOCK_DISTANCES, _BLOCK_STEPS // rows.shape[1]), from_block, report)


def _require_known(metric: str) -> None:
    """Raises ValueError if scipy has no metric of this name."""
    from scipy.spatial.distance import cdist

    try:
        cdist([[1.0, 2.0]], [[1.0, 2.0]], metric)
    except ValueError as error:
        if "Unknown" in str(error):
            known = ", ".join(get_args(Metric))
            raise ValueError(f"metric={metric!r}: must be a function of two rows, or one of {known}") from None


def _of_all_rows(rows: Floats, metric: str) -> dict[str, Floats]:
    """The parameters that `pdist` computes from all rows: `cdist` would compute them from the rows of a block."""
    if metric == "seuclidean":
        return {"V": np.var(rows, axis=0, ddof=1)}
    if metric == "mahalanobis":
        count, columns = rows.shape
        if count <= columns:
            raise ValueError(
                f"metric='mahalanobis' of {count} rows with {columns} columns: their covariance has no inverse; at "
                f"least {columns + 1} rows are needed"
            )
        return {"VI": np.linalg.inv(np.atleast_2d(np.cov(rows.T))).T.copy()}
    return {}


def condensed_distances(
    count: int, block_distances: int, from_block: Callable[[int, int], Floats], report: Report | None
) -> Floats:
    """Fills a condensed vector block by block.

    `from_block(first, last)` returns the distances from the rows first … last - 1 to the rows first … count - 1. A
    block holds about `block_distances` of them, and at least one row.
    """
    distances = np.empty(count * (count - 1) // 2)
    position = first = 0
    while first < count - 1:
        last = min(count, first + max(1, block_distances // (count - first)))
        for i, from_row in enumerate(from_block(first, last), start=1):
            after = from_row[i:]
            distances[position : position + len(after)] = after
            position += len(after)
        first = last
        if report is not None:
            report(position, len(distances))
    return distances


def require_distances(distances: Floats, what: str) -> None:
    for first in range(0, len(distances), _BLOCK_DISTANCES):  # masks of all distances would take memory
        block = distances[first : first + _BLOCK_DISTANCES]
        bad = np.flatnonzero(~((block >= 0) & (block <= _core.LARGEST_COORDINATE)))
        if bad.size:
            raise ValueError(
                f"{what} distance {block[bad[0]]} at position {first + bad[0]}: distances must be finite, not negative "
                f"and at most {_core.LARGEST_COORDINATE:g}; drop or rescale them, and turn similarities into distances "
                "first"
            )


def selected_distances(distances: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """The distances of the pairs of chosen objects."""
    kept = int(chosen.sum())
    selected = np.empty(kept * (kept - 1) // 2)
    start = position = 0
    for i in range(len(chosen) - 1):
        stop = start + len(chosen) - 1 - i
        if chosen[i]:
            row = distances[start:stop][chosen[i + 1 :]]
            selected[position : position + len(row)] = row
            position += len(row)
        start = stop
    return selected

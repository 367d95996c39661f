"""Cluster features of unit rows, for cosine and correlation distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..directions import cancelled, directions, no_direction
from ..features import ClusterFeatures
from ..wording import parameter

_TOLERANCE = 1e-5  # for rows that were scaled in float32


def unit_points(points: ClusterFeatures, metric: str, numbers: NDArray[np.int64]) -> ClusterFeatures:
    """The directions of points; `numbers` are their rows in the data."""
    unit, without = directions(points.mean, metric)
    if without.any():
        raise no_direction(f"y: row {numbers[without][0]}", metric)
    return ClusterFeatures._adopt(points.weight, np.asarray(unit, dtype=np.float64), points.sse)


def require_unit_rows(features: ClusterFeatures, metric: str) -> None:
    """Rows of unit length have sse / weight + |mean|² = 1, and centred rows a mean whose values sum to zero.

    Features of weight 0 count as none.
    """
    present = features.weight > 0
    variance = np.divide(features.sse, features.weight, out=np.zeros(len(features)), where=present)
    mean_square = variance + np.einsum("ij,ij->i", features.mean, features.mean)
    bad = np.flatnonzero(present & (np.abs(mean_square - 1) > _TOLERANCE))
    if bad.size:
        raise ValueError(
            f"feature {bad[0]} is not of unit rows: their mean squared length, sse / weight + |mean|², is "
            f"{mean_square[bad[0]]:g} and must be 1; with metric={metric!r} scale the rows to unit length before they "
            f"are aggregated, or use Betula(metric={metric!r})"
        )
    if metric == "correlation":
        offset = features.mean.sum(axis=1) / features.mean.shape[1] ** 0.5
        bad = np.flatnonzero(present & (np.abs(offset) > _TOLERANCE))
        if bad.size:
            raise ValueError(
                f"feature {bad[0]} is not of centred rows: the values of its mean sum to "
                f"{features.mean[bad[0]].sum():g} and must sum to 0; with metric='correlation' subtract the mean of "
                "each row before rows are scaled and aggregated, or use Betula(metric='correlation')"
            )


def unit_centres(features: ClusterFeatures) -> ClusterFeatures:
    """The directions of the means, as points with the weights of the features."""
    short = np.flatnonzero(cancelled(features.mean))
    if short.size:
        raise ValueError(
            f"the mean of feature {short[0]} is zero: its rows cancel and their centre has no direction; use "
            f"{parameter('linkage.method', 'average')} or 'weighted' with {parameter('mode', 'linkage')}, which need "
            "none, or more and smaller features"
        )
    centres, _ = directions(features.mean, "cosine")
    return ClusterFeatures._adopt(features.weight, np.asarray(centres, dtype=np.float64), np.zeros(len(features)))

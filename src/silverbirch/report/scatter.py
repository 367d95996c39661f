"""The places of the uppermost branches in the plane: principal axes, or coordinates that the user gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import Floats
from ..dendrogram import Dendrogram
from ..dendrogram.nodes import Nodes, above
from ..plot.scatter import directions_of
from . import numbers
from .facts import means_of
from .packing import Packed
from .payload import Payload

MOST_POINTS = 25_000
_MOST_EXACT = 1000  # columns or means whose axes are computed exactly, in about two seconds
_STEPS = 65_535  # coordinates are whole numbers up to this


def add_scatter(payload: Payload, dendrogram: Dendrogram, places: Floats | None) -> None:
    """Adds a point for each of the uppermost branches.

    places : the coordinates of each leaf, NaN where they are not known; None for the principal axes
    """
    n, features = dendrogram.n_leaves, dendrogram.features
    tips, _ = above(dendrogram.Z, min(n, MOST_POINTS))
    if places is not None:
        points = _mean_places(dendrogram, tips, places)
        labels = ["first coordinate, as given", "second coordinate, as given"]
    elif features is not None and features.n_dimensions > 1:
        points, shares = principal_places(dendrogram, tips)
        labels = [
            f"{name} principal axis, {numbers.percent(share)} of the variance"
            for name, share in zip(("first", "second"), shares, strict=True)
        ]
    else:
        return
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = np.rint((points - low) / np.where(high > low, high - low, 1) * _STEPS)
    payload.arrays["scatter_node"] = Packed(tips.astype(np.uint32))
    payload.arrays["scatter_xy"] = Packed(scaled.astype(np.uint16))
    x, y = zip(low.tolist(), high.tolist(), strict=True)
    payload.header["scatter"] = {"x": x, "y": y, "labels": labels}


def principal_places(dendrogram: Dendrogram, nodes: Nodes) -> tuple[Floats, list[float]]:
    """The coordinates of nodes along the first two principal axes of their weighted means.

    Also returns the shares of the variance of all rows. Of many means of many columns the axes are approximate.
    """
    weight = dendrogram.weights[nodes]
    total = dendrogram._known_features().total()
    centred = means_of(dendrogram, nodes) - total.mean[0]
    centred[weight == 0] = 0  # no row is labelled to them
    weighted = np.sqrt(weight)[:, None] * centred
    if min(weighted.shape) > _MOST_EXACT:
        from sklearn.utils.extmath import randomized_svd

        basis = randomized_svd(weighted, 10, random_state=0)[2].T
        within, squares = directions_of(weighted @ basis)
        axes = basis @ within
    else:
        axes, squares = directions_of(weighted)
    sse = float(total.sse[0]) or 1.0
    return centred @ axes, [min(1.0, square / sse) for square in squares]


def _mean_places(dendrogram: Dendrogram, tips: Nodes, places: Floats) -> Floats:
    """The mean place of the leaves below each tip; a tip without any takes the mean of its branch that has some."""
    hierarchy = dendrogram._hierarchy
    weight = dendrogram.weights[: len(places)] * np.isfinite(places).all(axis=1)
    if not weight.any():
        raise ValueError("no leaf has coordinates: at least one row with finite coordinates is needed")
    there = weight > 0
    sums = np.column_stack([there, weight, weight[:, None] * np.where(there[:, None], places, 0)])
    below = np.concatenate([np.zeros((1, 4)), np.cumsum(sums[hierarchy.leaf_order], axis=0)])
    branches = tips.copy()
    while True:
        first = hierarchy.first[branches]
        found = below[first + hierarchy.count[branches]] - below[first]
        empty = found[:, 0] == 0
        if not empty.any():
            result: Floats = found[:, 2:] / found[:, 1:2]
            return result
        branches[empty] = hierarchy.parents[branches[empty]]


def places_of_leaves(given: Any, n_leaves: int, leaf_of_row: Any) -> Floats:
    """The coordinates of each leaf, from a pair for each row or for each leaf; NaN for a leaf without rows."""
    places = np.asarray(given, dtype=np.float64)
    if places.ndim != 2 or places.shape[1] != 2:
        raise ValueError(f"coordinates are of shape {places.shape}: a pair for each row or for each leaf is needed")
    if leaf_of_row is not None and len(places) == len(leaf_of_row):
        known = np.isfinite(places).all(axis=1)
        leaves, places = np.asarray(leaf_of_row)[known], places[known]
        count = np.bincount(leaves, minlength=n_leaves)
        sums = [np.bincount(leaves, column, n_leaves) for column in places.T]
        return np.column_stack(sums) / np.where(count > 0, count, np.nan)[:, None]
    if len(places) == n_leaves:
        return places
    rows = "" if leaf_of_row is None else f"{len(leaf_of_row):,} rows and "
    remedy = "; give the rows, too, for a pair of each row" if leaf_of_row is None else ""
    raise ValueError(f"{len(places):,} coordinates but {rows}{n_leaves:,} leaves: one pair for each is needed{remedy}")

"""Draws cluster features in the plane: discs at the means, rings that show their spread."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats
from ..features import ClusterFeatures
from .axes import branches_on, extent_in_points, new_axes
from .palette import TRUNK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COVERED = 0.12  # the share of the axes that discs would cover if none overlapped
_MOST_RINGS = 500  # more would cover each other
_LARGEST, _SMALLEST = 400.0, 1.0  # areas of discs, in square points


def draw_features(
    features: ClusterFeatures,
    ax: Axes | None,
    labels: Any,
    columns: Any,
    radii: bool | None,
    colours: Any,
    style: dict[str, Any],
) -> Axes:
    clusters = None if labels is None else _as_labels(labels, len(features))
    places, names = _projected(features, columns)
    ax = new_axes(figsize=(7, 6)) if ax is None else ax
    # Heavy features first, so that light ones are not hidden.
    order = np.argsort(-features.weight, kind="stable")
    order = order[features.weight[order] > 0]
    palette = branches_on(ax) if colours is None else tuple(colours)
    colour = _colours(clusters, palette, len(features))[order]
    radius = np.sqrt(features.sse[order] / features.weight[order])
    places = places[order]
    if radii is None:
        radii = len(order) <= _MOST_RINGS
    if radii:
        _draw_rings(ax, places, radius, colour)
    looks: dict[str, Any] = {
        "s": _areas(features.weight[order], ax),
        "c": colour,
        "alpha": 0.8,
        "linewidths": 0,
    } | style
    ax.scatter(*places.T, **looks)
    _set_limits(ax, places, radius if radii else np.zeros(len(places)))
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _as_labels(labels: Any, count: int) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.shape != (count,) or array.dtype.kind not in "iu":
        raise ValueError(
            f"labels are {array.dtype} of shape {array.shape}: one whole number for each of the {count} features is "
            "needed"
        )
    return array.astype(np.int64)


def _colours(clusters: NDArray[np.int64] | None, palette: tuple[str, ...], count: int) -> NDArray[Any]:
    """The colour of each feature as red, green, blue, alpha."""
    from matplotlib.colors import to_rgba_array

    known = np.concatenate([to_rgba_array(list(palette)), to_rgba_array([TRUNK])])
    if clusters is None:
        return np.repeat(known[:1], count, axis=0)
    chosen: NDArray[Any] = known[np.where(clusters < 0, len(palette), clusters % len(palette))]
    return chosen


def _projected(features: ClusterFeatures, columns: Any) -> tuple[Floats, tuple[str, str]]:
    """The two coordinates of each feature, and the names of the axes."""
    d = features.n_dimensions
    if columns is not None:
        x, y = (_as_column(column, d) for column in columns)
        return features.mean[:, [x, y]], (f"column {x}", f"column {y}")
    if d == 1:
        return np.column_stack([features.mean[:, 0], np.zeros(len(features))]), ("column 0", "")
    if d == 2:
        return features.mean, ("column 0", "column 1")
    places, shares = principal_axes(features)
    first, second = (f"principal axis {i + 1} ({share:.0%} of variance)" for i, share in enumerate(shares))
    return places, (first, second)


def _as_column(column: Any, d: int) -> int:
    try:
        number = operator.index(column)
    except TypeError:
        raise TypeError(f"columns: {column!r} is not the number of a column") from None
    if not 0 <= number < d:
        raise ValueError(f"columns: there is no column {number}, they are numbered 0 to {d - 1}")
    return number


def principal_axes(features: ClusterFeatures) -> tuple[Floats, tuple[float, float]]:
    """The weighted means along their first two principal axes, and the share of their variance in each."""
    centred = features.mean - features.total().mean
    scaled = np.sqrt(features.weight)[:, None] * centred
    axes, (first, second) = directions_of(scaled)
    whole = float(np.einsum("ij,ij->", scaled, scaled)) or 1.0
    return centred @ axes, (first / whole, second / whole)


def directions_of(centred: Floats) -> tuple[Floats, list[float]]:
    """The first two principal axes of centred rows, as columns, and the sums of squares along them.

    The sign of an axis is such that its largest component is positive, so that a picture is always the same.
    """
    if centred.shape[1] <= centred.shape[0]:
        squares, vectors = np.linalg.eigh(centred.T @ centred)
        squares, vectors = squares[::-1], vectors[:, ::-1]
    else:
        _, lengths, rows = np.linalg.svd(centred, full_matrices=False)
        squares, vectors = lengths**2, rows.T
    axes, first = vectors[:, :2], np.maximum(squares[:2], 0)
    if axes.shape[1] < 2:  # a single row
        axes, first = np.column_stack([axes, np.zeros(len(axes))]), np.append(first, 0.0)
    return axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1), first.tolist()


def _areas(weight: Floats, ax: Axes) -> Floats:
    width, height = extent_in_points(ax)
    share = weight / weight.sum()
    largest = min(_LARGEST, _COVERED * width * height * float(share.max(initial=0.0)))
    areas: Floats = np.maximum(largest * weight / weight.max(), _SMALLEST)
    return areas


def _draw_rings(ax: Axes, places: Floats, radius: Floats, colour: NDArray[Any]) -> None:
    from matplotlib.collections import EllipseCollection

    some = radius > 0
    count = int(some.sum())
    # Where many rings overlap they are paler, so that the discs show.
    strength = min(0.5, max(0.08, 12 / (count or 1) ** 0.5 * 0.5))
    edge, face = colour[some].copy(), colour[some].copy()
    edge[:, 3], face[:, 3] = strength, 0.15 * strength
    rings = EllipseCollection(
        2 * radius[some],
        2 * radius[some],
        np.zeros(count),
        units="xy",
        offsets=places[some],
        offset_transform=ax.transData,
        facecolors=face,
        edgecolors=edge,
        linewidths=0.8,
    )
    ax.add_collection(rings, autolim=False)


def _set_limits(ax: Axes, places: Floats, radius: Floats) -> None:
    """All discs and rings are within the axes, which have the same scale."""
    ax.update_datalim(np.concatenate([places - radius[:, None], places + radius[:, None]]))
    ax.autoscale_view()
    ax.set_aspect("equal", adjustable="datalim")

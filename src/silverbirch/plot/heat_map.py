"""Draws the table of clusters as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats
from ..model.cluster_table import ClusterTable, standardised
from .axes import extent_in_points, new_axes, short, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST_VALUE = 4.0  # standard deviations: the colours end here at the latest
_CELL = (30.0, 11.0)  # the least size in points of a cell that shows its number


def draw_table(
    table: ClusterTable, ax: Axes | None, max_clusters: int, max_columns: int, colorbar: bool, style: dict[str, Any]
) -> Axes:
    """Draws the standardised centres: a row for each cluster, in the order of the dendrogram."""
    effects = standardised(table.center, table.mean, table.deviation)
    clusters, columns = _clusters(table, max_clusters), _columns(table, effects, max_columns)
    values = effects[np.ix_(clusters, columns)]
    ax = new_axes(_figsize(table, clusters, columns)) if ax is None else ax
    most = min(float(np.abs(values).max(initial=0.0)), _LARGEST_VALUE) or 1.0
    looks: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -most, "vmax": most, "interpolation": "nearest"} | style
    image = ax.imshow(values, aspect="auto", **looks)
    _label(ax, table, clusters, columns)
    _write_values(ax, image, table.center[np.ix_(clusters, columns)], values)
    if colorbar:
        figure: Any = ax.figure
        beyond = np.abs(values).max(initial=0.0) > most
        bar = figure.colorbar(image, ax=ax, extend="both" if beyond else "neither", pad=0.02, aspect=30)
        bar.set_label("standard deviations")
        bar.outline.set_visible(False)
    return ax


def _figsize(table: ClusterTable, clusters: NDArray[np.int64], columns: NDArray[np.int64]) -> tuple[float, float]:
    """In inches; the names of columns stand below the map."""
    names = max((len(short_name(table.columns[column])) for column in columns.tolist()), default=0)
    return min(3.5 + 0.45 * len(columns), 16.0), 0.4 + 0.075 * names + min(max(0.25 * len(clusters), 1.5), 12.0)


def _clusters(table: ClusterTable, most: int) -> NDArray[np.int64]:
    order = np.arange(len(table)) if table.order is None else table.order
    heaviest = np.lexsort((np.arange(len(table)), -table.weight))[:most]
    return order[np.isin(order, heaviest)]


def _columns(table: ClusterTable, effects: Floats, most: int) -> NDArray[np.int64]:
    """The columns in which the centres differ most, in their own order."""
    spread = table.weight @ effects**2
    chosen = np.lexsort((np.arange(len(spread)), -spread))[:most]
    return np.sort(chosen)


def _label(ax: Axes, table: ClusterTable, clusters: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
    width, height = extent_in_points(ax)
    across, down = width / max(len(columns), 1), height / max(len(clusters), 1)
    names = [short_name(table.columns[column]) for column in columns.tolist()]
    size = min(8.0, 0.95 * across)
    turned = max(map(len, names), default=0) * 0.62 * size > 0.95 * across
    ax.set_xticks(range(len(names)), names, fontsize=size, rotation=90 if turned else 0, parse_math=False)
    rows = [
        f"{short_name(table.name[cluster]) or f'cluster {cluster}'} ({short(float(table.weight[cluster]))})"
        for cluster in clusters.tolist()
    ]
    ax.set_yticks(range(len(rows)), rows, fontsize=min(8.0, 0.95 * down), parse_math=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    few = len(columns) < len(table.columns)
    ax.set_xlabel(f"the {len(columns):,} of {len(table.columns):,} columns that differ most" if few else "")
    shown = len(clusters) < len(table)
    ax.set_ylabel(f"the heaviest {len(clusters):,} of {len(table):,} clusters" if shown else "")


def _write_values(ax: Axes, image: Any, centers: Floats, values: Floats) -> None:
    """Writes the coordinates into the cells, if they are large enough."""
    width, height = extent_in_points(ax)
    if not centers.size or width / centers.shape[1] < _CELL[0] or height / centers.shape[0] < _CELL[1]:
        return
    background = image.cmap(image.norm(values))[..., :3] @ [0.299, 0.587, 0.114]
    for (row, column), value in np.ndenumerate(centers):
        ink = "black" if background[row, column] > 0.5 else "white"
        ax.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=7, color=ink)

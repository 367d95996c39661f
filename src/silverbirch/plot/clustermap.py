"""`clustermap`: a heat map with the dendrograms of its rows and columns, for any number of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats, as_choice, as_count, as_flag, as_rows
from ..names import HeightScale, Method, Metric
from ..rows import is_table, rows_of_table
from .axes import new_figure
from .clustermap_drawing import Grid, names_of, strips_of
from .summary import Clustered, Job, Side, clustered, column_points, cut_side, in_given_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_NOT_SUPPORTED = {  # of seaborn's arguments, and what to do instead
    "annot": "write on `ax_heatmap`, whose lines and columns are those of `values`",
    "cbar_kws": "use cbar_label, or change `ax_cbar`",
    "cbar_pos": "use cbar=False to leave the colour bar out, or move `ax_cbar`",
    "mask": "missing values cannot be clustered; fill them first",
    "pivot_kws": "pivot the data first",
    "robust": "use vmin and vmax, for example numpy.percentile(data, [2, 98])",
    "tree_kws": "change the collections of `ax_row_dendrogram` and `ax_col_dendrogram`",
}


@dataclass(frozen=True, repr=False)
class ClusterMap:
    """What `clustermap` drew: the figure, its axes, and the order of rows and columns.

    Attributes
    ----------
    figure : matplotlib Figure or SubFigure
        Where it is drawn.
    ax_heatmap, ax_row_dendrogram, ax_col_dendrogram : matplotlib Axes
        The axes of the heat map and of the dendrograms; those of a side that is not clustered are empty.
    ax_row_colors, ax_col_colors : matplotlib Axes or None
        The axes of the strips of colours.
    ax_cbar : matplotlib Axes or None
        The axes of the colour bar.
    row_order, col_order : int64 array
        The rows and the columns in the order of the picture.
    row_linkage, col_linkage : float64 array or None
        The linkage matrices: of the rows, or of the leaves that they were aggregated to.
    row_branch, col_branch : int64 array
        The line of the picture that each row is in, and the column of the picture that each column is in.
    values : float64 array
        What the picture shows: the mean of each branch.
    """

    figure: Figure | SubFigure
    ax_heatmap: Axes
    ax_row_dendrogram: Axes
    ax_col_dendrogram: Axes
    ax_row_colors: Axes | None
    ax_col_colors: Axes | None
    ax_cbar: Axes | None
    row_order: NDArray[np.int64]
    col_order: NDArray[np.int64]
    row_linkage: Floats | None
    col_linkage: Floats | None
    row_branch: NDArray[np.int64]
    col_branch: NDArray[np.int64]
    values: Floats

    @property
    def fig(self) -> Figure | SubFigure:
        """The figure, by the name that seaborn gave it first."""
        return self.figure

    def savefig(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes the picture to a file.

        Parameters
        ----------
        path : str or path
            The file; its suffix says the format.
        **options : optional
            Passed to the savefig of the figure.
        """
        figure: Any = self.figure
        while not hasattr(figure, "savefig"):  # the figure that a subfigure is part of
            figure = figure.figure
        figure.savefig(path, **options)

    def __repr__(self) -> str:
        rows, columns = len(self.row_order), len(self.col_order)
        shown = " × ".join(f"{size:,}" for size in self.values.shape)
        return f"ClusterMap({rows:,} rows × {columns:,} columns, drawn as {shown})"


def clustermap(
    data: Any,
    *,
    method: Method = "average",
    metric: Metric | Callable[[Floats, Floats], float] = "euclidean",
    z_score: Literal[0, 1] | None = None,
    standard_scale: Literal[0, 1] | None = None,
    figsize: tuple[float, float] | None = None,
    row_cluster: bool = True,
    col_cluster: bool = True,
    row_linkage: Any = None,
    col_linkage: Any = None,
    optimal_ordering: bool = False,
    row_colors: Any = None,
    col_colors: Any = None,
    dendrogram_ratio: float | tuple[float, float] = 0.2,
    colors_ratio: float | tuple[float, float] = 0.03,
    cmap: Any = None,
    vmin: float | None = None,
    vmax: float | None = None,
    center: float | None = None,
    cbar: bool = True,
    cbar_label: str = "",
    xticklabels: Any = "auto",
    yticklabels: Any = "auto",
    max_rows: int = 500,
    max_columns: int = 500,
    max_leaves: int = 10_000,
    proportional: bool = True,
    scale: HeightScale = "linear",
    figure: Figure | SubFigure | None = None,
    n_jobs: int | None = None,
    **style: Any,
) -> ClusterMap:
    """Draws a heat map with the dendrograms of its rows and columns, as `seaborn.clustermap` does, for any number.

    More rows than a picture can show are drawn as branches of their dendrogram: a line of the picture is the mean of
    the rows of a branch, and its height follows the number of these rows. The same holds for columns.

    Parameters
    ----------
    data : array (n, d) or data frame
        Numbers. The index and the columns of a data frame give the names.
    method : str, default "average"
        The linkage, see `linkage`.
    metric : str or function, default "euclidean"
        The metric, see `linkage`. More than `max_leaves` rows need "euclidean", "cosine" or "correlation".
    z_score : {0, 1}, default None
        Subtract the mean and divide by the standard deviation, of each row (0) or of each column (1).
    standard_scale : {0, 1}, default None
        Subtract the least value and divide by the range, of each row (0) or of each column (1).
    figsize : (float, float), default None
        The size of the figure in inches; None is (10, 10).
    row_cluster, col_cluster : bool, default True
        Whether to cluster the rows and the columns; otherwise they stay in their order.
    row_linkage, col_linkage : array, default None
        Linkage matrices of all rows and of all columns, instead of clustering them here.
    optimal_ordering : bool, default False
        Whether neighbours are made as similar as the dendrograms allow, by `leaf_order`; linkage matrices that are
        given stay as they are.
    row_colors, col_colors : list, Series or data frame, default None
        A colour for each row or column, drawn as a strip beside the heat map; or an integer label for each, which is
        drawn in the colour of its number. Several lists, or the columns of a data frame, give several strips. A pandas
        Series or data frame is matched with the data by its index, and what it has no colour for is white. A branch
        has the colour that most of its rows have.
    dendrogram_ratio : float or (float, float), default 0.2
        The share of the figure for the dendrograms of the rows and of the columns.
    colors_ratio : float or (float, float), default 0.03
        The share of the figure for each strip of colours.
    cmap : str or Colormap, default None
        The colours; None is "viridis", or "RdBu_r" with `center` or `z_score`.
    vmin, vmax : float, default None
        The values at which the colours begin and end; None takes those that are drawn.
    center : float, default None
        The value in the middle of the colours; None is 0 with `z_score`, unless vmin and vmax are given.
    cbar : bool, default True
        Whether to draw a bar with the colours.
    cbar_label : str, default ""
        What the bar is labelled with.
    xticklabels, yticklabels : "auto", bool, int or list of str, default "auto"
        The names of columns and rows: those of the data frame, none, every n-th of them, or these. Names that would be
        too small to read, and names of branches of several rows, are not written.
    max_rows, max_columns : int, default 500
        The most lines and columns of the picture.
    max_leaves : int, default 10_000
        More rows than this are aggregated by a CF-tree to this many leaves, and the leaves are clustered.
    proportional : bool, default True
        Whether the height of a line follows the number of rows; False makes all lines equally high. The same holds for
        the width of columns.
    scale : {"linear", "sqrt", "log"}, default "linear"
        The scale of the heights of the dendrograms.
    figure : matplotlib Figure or SubFigure, default None
        Where to draw, best one with layout="constrained"; None makes a new figure.
    n_jobs : int, default None
        Number of threads; None is one, -1 is one for each physical core that this process may use.
    **style : optional
        Passed to matplotlib's pcolormesh; a `norm` takes the place of vmin, vmax and center.

    Returns
    -------
    ClusterMap
        The figure, its axes, the order of rows and columns, and the linkage matrices.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    ValueError
        A value is not finite, or arguments do not fit to each other or to the data.
    TypeError
        An argument of seaborn's function is not supported here.

    Notes
    -----
    Up to `max_leaves` rows are clustered exactly. Of more than `max_rows` rows, the branch with the largest sum of
    squared distances to its mean is split next, until there are `max_rows`: no other split would bring the picture
    closer to the rows. The dendrogram beside it shows the same branches, wedges where they are not split.

    Columns are clustered by all rows; where that would take minutes, by the leaves, each as often as it has rows.
    It takes memory for a copy of the data, and what `linkage` takes for `max_leaves` rows.

    Examples
    --------
    >>> import silverbirch as sb
    >>> drawn = sb.clustermap([[0.0, 9.0, 1.0], [5.0, 5.0, 5.0], [1.0, 9.0, 0.0]])
    >>> drawn.row_order.tolist(), drawn.col_order.tolist()
    ([1, 0, 2], [1, 0, 2])
    >>> drawn.savefig("map.png")
    """
    _refuse_others(style)
    given = as_rows(rows_of_table(data) if is_table(data) else data, name="data", dtype=np.dtype(np.float64))
    rows = _scaled(given.astype(np.float64, copy=False), z_score, standard_scale)
    most = as_count(max_leaves, "max_leaves", least=2)
    job = Job(method, metric, most, as_flag(optimal_ordering, "optimal_ordering"), n_jobs)
    by_rows = clustered(rows, job, row_linkage, "row") if row_cluster or row_linkage is not None else None
    down = _side(rows, by_rows, as_count(max_rows, "max_rows", least=2))
    lines = down.means(rows)
    by_columns = None
    if col_cluster or col_linkage is not None:
        points, column_metric = column_points(rows, metric, by_rows) if col_linkage is None else (rows.T, metric)
        by_columns = clustered(points, replace(job, metric=column_metric), col_linkage, "col")
    filled = lines[down.counts > 0]  # the others are NaN, and would hide which columns differ
    across = _side(filled.T, by_columns, as_count(max_columns, "max_columns", least=2))
    values = np.ascontiguousarray(across.means(lines.T).T)
    strips = (
        strips_of(row_colors, down, "row_colors", _keys(data, "index")),
        strips_of(col_colors, across, "col_colors", _keys(data, "columns")),
    )
    grid = Grid(
        new_figure(figsize or (10, 10), layout="constrained") if figure is None else figure,
        down,
        across,
        strips,
        proportional=as_flag(proportional, "proportional"),
        dendrogram_ratio=dendrogram_ratio,
        colors_ratio=colors_ratio,
        cbar=cbar,
    )
    grid.draw_dendrograms(as_choice(scale, "scale", ("linear", "sqrt", "log")))
    grid.draw_strips()
    by_limits = vmin is not None and vmax is not None
    middle = 0.0 if z_score is not None and center is None and not by_limits else center
    grid.draw_values(values, {"cmap": cmap, "vmin": vmin, "vmax": vmax} | style, middle, cbar_label)
    grid.write_names(names_of(data, xticklabels, across, "columns"), names_of(data, yticklabels, down, "index"))
    return ClusterMap(
        grid.figure,
        *grid.axes(),
        row_order=down.order,
        col_order=across.order,
        row_linkage=down.Z,
        col_linkage=across.Z,
        row_branch=down.branch_of_row,
        col_branch=across.branch_of_row,
        values=values,
    )


def _refuse_others(style: dict[str, Any]) -> None:
    """Raises an error for arguments of seaborn that are not supported, before anything is computed."""
    for name in style:
        if name in _NOT_SUPPORTED:
            raise TypeError(f"clustermap has no argument {name!r}: {_NOT_SUPPORTED[name]}")


def _keys(data: Any, attribute: str) -> Any:
    """The index or the columns of a pandas data frame; None for other data."""
    return getattr(data, attribute) if hasattr(data, "reindex") else None


def _side(rows: Floats, found: Clustered | None, max_branches: int) -> Side:
    return in_given_order(len(rows), max_branches) if found is None else cut_side(rows, found, max_branches)


def _scaled(rows: Floats, z_score: Any, standard_scale: Any) -> Floats:
    if z_score is not None and standard_scale is not None:
        raise ValueError("clustermap takes either z_score or standard_scale: give at most one of them")
    for name, value in (("z_score", z_score), ("standard_scale", standard_scale)):
        if value not in (None, 0, 1):
            raise ValueError(f"{name}={value!r}: must be 0 for rows, 1 for columns, or None")
    if z_score is None and standard_scale is None:
        return rows
    axis = 1 - int(z_score if z_score is not None else standard_scale)
    if z_score is not None:
        few = rows.shape[axis] < 2
        low = rows.mean(axis=axis, keepdims=True)
        span = np.zeros_like(low) if few else rows.std(axis=axis, ddof=1, keepdims=True)
    else:
        low = rows.min(axis=axis, keepdims=True)
        span = rows.max(axis=axis, keepdims=True) - low
    scaled: Floats = np.divide(rows - low, span, out=np.zeros_like(rows), where=span > 0)
    return scaled

"""The grid of axes of a `clustermap`, and what is drawn on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats
from .axes import extent_in_points, points_of, short_name, text_colour
from .heights import Heights
from .palette import BRANCHES, TRUNK
from .summary import Side, most_frequent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST_FONT, _SMALLEST_FONT = 9.0, 4.0


@dataclass(frozen=True)
class Strips:
    """Strips of colours beside one side: red, green and blue for each branch, and their names."""

    colours: list[NDArray[Any]]
    names: list[str]


def strips_of(given: Any, side: Side, name: str, keys: Any = None) -> Strips:
    """The strips that row_colors or col_colors ask for.

    keys : the index or the columns of a pandas data frame, by which a pandas Series or data frame is matched with it
    """
    if given is None:
        return Strips([], [])
    if hasattr(given, "reindex"):
        given = _matched(given, keys, name)
    if hasattr(given, "columns"):  # a data frame
        lists = {str(column): np.asarray(given[column]) for column in given.columns}
    elif isinstance(given, Mapping):
        lists = {str(title): np.asarray(part, dtype=_kind(part)) for title, part in given.items()}
    elif not len(given):
        lists = {"": np.empty(0)}
    elif _is_one_list(given):
        lists = {str(getattr(given, "name", None) or ""): np.asarray(given, dtype=_kind(given))}
    else:
        lists = {f"{number}": np.asarray(part, dtype=_kind(part)) for number, part in enumerate(given)}
    count = len(side.branch_of_row)
    for values in lists.values():
        if len(values) != count:
            raise ValueError(f"{name} has {len(values)} colours for {count} in the data: one for each is needed")
    titles = [""] * len(lists) if all(title.isdigit() for title in lists) else list(lists)
    return Strips([_strip(values, side) for values in lists.values()], titles)


def _matched(given: Any, keys: Any, name: str) -> Any:
    """The colours in the order of the data: by their index, as seaborn does it. What has no colour is white."""
    if keys is None or given.index.equals(keys):
        return given
    if not given.index.isin(keys).any():  # numbered on its own: one for each, in the order of the data
        return given
    if not given.index.is_unique:
        raise ValueError(f"{name} has an index with repeated entries: they cannot be matched with the data")
    return given.reindex(keys)


def _is_one_list(given: Any) -> bool:
    """Whether it is one colour or label for each row, and not several lists of them."""
    first = given.iloc[0] if hasattr(given, "iloc") else given[0]
    if isinstance(first, str) or np.ndim(first) == 0:
        return True
    if isinstance(given, np.ndarray) and given.dtype.kind == "f":  # rows of red, green, blue
        return given.ndim == 2 and given.shape[1] in (3, 4)
    # A tuple of three or four numbers is a colour.
    return isinstance(first, tuple) and len(first) in (3, 4) and not any(isinstance(part, str) for part in first)


def _kind(values: Any) -> Any:
    return None if isinstance(values, np.ndarray) or hasattr(values, "iloc") else object


def _strip(values: NDArray[Any], side: Side) -> NDArray[Any]:
    """The colour of each branch: that of most of its rows. Whole numbers are labels."""
    from matplotlib.colors import to_rgb

    if values.ndim == 2:  # rows of red, green, blue
        known, codes = np.unique(values.astype(np.float64), axis=0, return_inverse=True)
        colours = [to_rgb(tuple(colour)) for colour in known.tolist()]
    else:
        number = {value: code for code, value in enumerate(dict.fromkeys(values.tolist()))}
        codes = np.array([number[value] for value in values.tolist()], dtype=np.int64)
        colours = [to_rgb(_colour(value)) for value in number]
    return np.array(colours)[most_frequent(np.asarray(codes, dtype=np.int64).ravel(), side)]


def _colour(value: Any) -> Any:
    if value is None or value != value:  # missing in a Series
        return "white"
    if isinstance(value, int | np.integer):
        return BRANCHES[int(value) % len(BRANCHES)] if value >= 0 else TRUNK
    return value


def names_of(data: Any, wanted: Any, side: Side, attribute: str) -> list[str]:
    """The name of each branch of a single row, "" for the others; an empty list if no names are known or wanted.

    attribute : "index" or "columns" of a data frame
    """
    names = _known_names(data, wanted, len(side.order), attribute)
    if names is None:
        return []
    result = [""] * side.n_branches
    single = side.counts == 1
    step = max(int(wanted), 1) if _is_step(wanted) else 1
    for row, branch in enumerate(side.branch_of_row.tolist()):
        if single[branch] and branch % step == 0:
            result[branch] = short_name(str(names[row]))
    return result


def _is_step(wanted: Any) -> bool:
    """Whether `wanted` is a number n, which asks for every n-th name as in seaborn."""
    return isinstance(wanted, int | np.integer) and not isinstance(wanted, bool)


def _known_names(data: Any, wanted: Any, count: int, attribute: str) -> Any:
    if wanted is False or wanted is None:
        return None
    if _is_step(wanted):
        wanted = True
    if wanted is not True and not (isinstance(wanted, str) and wanted == "auto"):
        if len(wanted) != count:
            raise ValueError(f"{len(wanted)} names for {count} {attribute}: one for each is needed")
        return list(wanted)
    known: Any = getattr(data, "column_names" if attribute == "columns" else attribute, getattr(data, attribute, None))
    numbered = known is None or callable(known) or type(known).__name__ == "RangeIndex"
    if numbered:
        return range(count) if wanted is True else None
    return list(known)


class Grid:
    """The axes: dendrograms above and at the left, strips of colours, the heat map, the colour bar in the corner."""

    def __init__(
        self,
        figure: Any,
        down: Side,
        across: Side,
        strips: tuple[Strips, Strips],
        *,
        proportional: bool,
        dendrogram_ratio: Any,
        colors_ratio: Any,
        cbar: bool,
    ) -> None:
        self.figure, self.down, self.across, self.strips = figure, down, across, strips
        self.y_edges, self.x_edges = _edges(down, proportional), _edges(across, proportional)
        ratios, strip = np.broadcast_to(dendrogram_ratio, 2), np.broadcast_to(colors_ratio, 2)
        widths = _shares(ratios[0], strip[0] * len(strips[0].colours))
        heights = _shares(ratios[1], strip[1] * len(strips[1].colours))
        grid = figure.add_gridspec(len(heights), len(widths), width_ratios=widths, height_ratios=heights)
        self.heatmap: Axes = figure.add_subplot(grid[-1, -1])
        self.row_dendrogram = _bare(figure.add_subplot(grid[-1, 0]))
        self.col_dendrogram = _bare(figure.add_subplot(grid[0, -1]))
        self.row_colors = _bare(figure.add_subplot(grid[-1, 1])) if strips[0].colours else None
        self.col_colors = _bare(figure.add_subplot(grid[1, -1])) if strips[1].colours else None
        self.cbar: Axes | None = None
        if cbar:
            corner = grid[0, 0].subgridspec(2, 3, width_ratios=(1, 1.2, 3), height_ratios=(5, 1))
            self.cbar = figure.add_subplot(corner[0, 1])
        engine = figure.get_layout_engine()
        if type(engine).__name__ == "ConstrainedLayoutEngine":
            engine.set(w_pad=0.02, h_pad=0.02, wspace=0.0, hspace=0.0)

    def axes(self) -> tuple[Axes, Axes, Axes, Axes | None, Axes | None, Axes | None]:
        return (
            self.heatmap,
            self.row_dendrogram,
            self.col_dendrogram,
            self.row_colors,
            self.col_colors,
            self.cbar,
        )

    def draw_dendrograms(self, scale: str) -> None:
        """The root is at the outer edge, the first row on top."""
        _draw_tree(self.row_dendrogram, self.down, self.y_edges, scale, upright=False)
        _draw_tree(self.col_dendrogram, self.across, self.x_edges, scale, upright=True)
        self.row_dendrogram.set_ylim(self.y_edges[-1], 0)
        self.col_dendrogram.set_xlim(0, self.x_edges[-1])

    def draw_strips(self) -> None:
        for ax, strips, edges, upright in (
            (self.row_colors, self.strips[0], self.y_edges, False),
            (self.col_colors, self.strips[1], self.x_edges, True),
        ):
            if ax is None:
                continue
            count = len(strips.colours)
            image = np.stack(strips.colours)  # (strip, branch, 3)
            places = np.arange(count + 1)
            if upright:
                ax.pcolormesh(edges, places, image, rasterized=True)
                ax.set_xlim(0, edges[-1])
                ax.invert_yaxis()
                ax.yaxis.tick_right()
                ax.set_yticks(places[:-1] + 0.5, strips.names, fontsize=8, parse_math=False)
            else:
                ax.pcolormesh(places, edges, image.transpose(1, 0, 2), rasterized=True)
                ax.set_ylim(edges[-1], 0)
                ax.set_xticks(places[:-1] + 0.5, strips.names, fontsize=8, rotation=90, parse_math=False)
            ax.tick_params(length=0)

    def draw_values(self, values: Floats, style: dict[str, Any], center: float | None, label: str) -> None:
        if style.get("norm") is None:  # else it says where the colours begin and end
            low = float(np.nanmin(values)) if style["vmin"] is None else style["vmin"]
            high = float(np.nanmax(values)) if style["vmax"] is None else style["vmax"]
            if center is not None:
                reach = max(high - center, center - low) or 1.0
                low, high = center - reach, center + reach
            cmap = style["cmap"] or ("viridis" if center is None else "RdBu_r")
            style = style | {"cmap": cmap, "vmin": low, "vmax": high}
        ax = self.heatmap
        image = ax.pcolormesh(self.x_edges, self.y_edges, values, **({"rasterized": True} | style))
        ax.set_xlim(0, self.x_edges[-1])
        ax.set_ylim(self.y_edges[-1], 0)
        ax.spines[:].set_visible(False)
        ax.yaxis.tick_right()
        if self.cbar is not None:
            bar = self.figure.colorbar(image, cax=self.cbar)
            bar.outline.set_visible(False)
            bar.set_label(label)
            self.cbar.tick_params(labelsize=8)

    def write_names(self, columns: list[str], rows: list[str]) -> None:
        width, height = extent_in_points(self.heatmap)
        ax = self.heatmap
        _write(ax.xaxis, columns, self.x_edges, width, turned=True)
        _write(ax.yaxis, rows, self.y_edges, height, turned=False)
        ax.tick_params(length=0)
        sides: Any = ((self.down, ax.yaxis, "row"), (self.across, ax.xaxis, "column"))
        for side, axis, what in sides:
            count, shown = len(side.order), side.n_branches
            if shown < count:
                axis.set_label_text(f"{count:,} {what}s, drawn as {shown:,}")
                axis.set_label_position("right" if what == "row" else "bottom")


def _shares(ratio: float, strips: float) -> list[float]:
    shares = [float(ratio), 1.0 - float(ratio) - float(strips)]
    return [shares[0], float(strips), shares[1]] if strips else shares


def _edges(side: Side, proportional: bool) -> Floats:
    """Where the branches begin and end; the last entry is the end of the last."""
    sizes = side.counts.astype(np.float64) if proportional else np.ones(side.n_branches)
    return np.concatenate([[0.0], np.cumsum(sizes)])


def _bare(ax: Axes) -> Axes:
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.patch.set_visible(False)
    return ax


def _draw_tree(ax: Axes, side: Side, edges: Floats, scale: str, *, upright: bool) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    if side.tree is None or side.Z is None:
        return
    tree, n_leaves = side.tree, len(side.Z) + 1
    height = tree.heights(side.Z)
    heights = Heights(scale, height[tree.nodes >= n_leaves])
    height = heights.drawn(height)
    x = tree.positions((edges[:-1] + edges[1:]) / 2)
    points = partial(points_of, upright=upright)
    left, right = tree.children.T
    top = height[tree.n_tips :]
    corners = [(x[left], height[left]), (x[left], top), (x[right], top), (x[right], height[right])]
    lines = np.stack([points(*corner) for corner in corners], axis=1)
    width = 0.9 if tree.n_tips <= 150 else 0.6
    ax.add_collection(LineCollection(list(lines), colors=text_colour(), linewidths=width), autolim=False)
    folded = np.flatnonzero(tree.nodes[: tree.n_tips] >= n_leaves)
    place = tree.first[folded]
    base = np.full(len(folded), heights.base)
    wedge = (points(x[folded], height[folded]), points(edges[place], base), points(edges[place + 1], base))
    ax.add_collection(
        PolyCollection(list(np.stack(wedge, axis=1)), facecolors=TRUNK, alpha=0.5, linewidths=0), autolim=False
    )
    heights.set_on(ax, upright=upright)
    if upright:
        ax.set_ylim(heights.base, heights.top)
    else:
        ax.set_xlim(heights.top, heights.base)
    _bare(ax)
    ax.minorticks_off()


def _write(axis: Any, names: list[str], edges: Floats, room: float, *, turned: bool) -> None:
    """Writes the names of the branches that are wide enough for a name that can be read."""
    sizes = np.diff(edges) / edges[-1] * room if len(edges) > 1 else np.empty(0)
    size = min(_LARGEST_FONT, 0.95 * float(np.median(sizes))) if len(sizes) else 0.0
    size = max(size, _SMALLEST_FONT)
    fits = [bool(name) and wide >= 0.95 * size for name, wide in zip(names, sizes.tolist(), strict=False)]
    places: Any = ((edges[:-1] + edges[1:]) / 2)[: len(fits)][fits] if names else []
    axis.set_ticks(places)
    shown = [name for name, fit in zip(names, fits, strict=False) if fit]
    axis.set_ticklabels(shown, fontsize=size, rotation=90 if turned else 0, parse_math=False)

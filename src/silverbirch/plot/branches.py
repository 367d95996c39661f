"""Draws dendrograms of any size: only the top branches, without recursion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Floats
from ..dendrogram.nodes import Nodes
from .axes import OPPOSITE, branches_on, extent_in_points, new_axes, points_of, short, short_name, text_colour
from .heights import Heights
from .layout import Layout, layout, uppermost, with_clusters
from .palette import BRANCHES, BRANCHES_ON_DARK, TRUNK, colours_of_nodes, different_neighbours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..dendrogram import Dendrogram

_WEDGE = 0.32  # half its width, where tips are 1 apart
_LEAST_WEDGE = 0.03  # of the height
_NEAREST_CUT = 0.015  # of the height: a cut line is at least this far from the axis and from the merge above it


def draw_dendrogram(
    dendrogram: Dendrogram,
    ax: Axes | None,
    max_leaves: int,
    n_clusters: int,
    names: dict[int, str],
    style: dict[str, Any],
    *,
    clusters: Nodes | None = None,
    orientation: str = "top",
    scale: str = "linear",
    cut_line: bool = False,
) -> Axes:
    """Draws the top of a dendrogram. `clusters` are the nodes to colour, in place of the cut into n_clusters."""
    tree, colour = _coloured(dendrogram, max_leaves, n_clusters, clusters)
    upright = orientation in ("top", "bottom")
    ax = new_axes(_figsize(tree.n_tips, upright)) if ax is None else ax
    on_background = dict(zip(BRANCHES, branches_on(ax), strict=True))
    colour = [on_background.get(c, c) for c in colour]
    n_leaves, height = dendrogram.n_leaves, tree.heights(dendrogram.Z)
    heights = Heights(scale, height[tree.nodes >= n_leaves])
    picture = _Picture(ax, tree, n_leaves, heights.drawn(height), colour, orientation)
    picture.set_up(heights)
    picture.draw_branches(style)
    picture.draw_wedges(heights)
    picture.name_merges(names)
    picture.label_tips(names, dendrogram.weights)
    if cut_line and clusters is None:
        picture.draw_cut(*dendrogram._heights_of(n_clusters), heights)
    return ax


def _figsize(n_tips: int, upright: bool) -> tuple[float, float]:
    return (10, 4.5) if upright else (7, min(max(4.5, 0.16 * n_tips + 1.0), 40))


def _coloured(
    dendrogram: Dendrogram, max_leaves: int, n_clusters: int, clusters: Nodes | None
) -> tuple[Layout, list[str]]:
    """The layout of what is drawn, and the colour of each of its nodes."""
    hierarchy = dendrogram._hierarchy
    children, most = hierarchy.children, min(max_leaves, dendrogram.n_leaves)
    if clusters is None:
        tree = layout(children, uppermost(children, most))
        if n_clusters > tree.n_tips:  # the tips hold several clusters each
            return tree, [TRUNK] * len(tree.nodes)
        clusters = layout(children, uppermost(children, n_clusters)).tips
    else:
        tree = layout(children, with_clusters(hierarchy, clusters, most))
    return tree, _colours(tree, dendrogram, clusters)


def _colours(tree: Layout, dendrogram: Dendrogram, clusters: Nodes) -> list[str]:
    """The colour of each node of a layout: that of its cluster, or the trunk's if it is in none."""
    colour_of = dict(zip(clusters.tolist(), colours_of_clusters(dendrogram, clusters), strict=True))
    colour = [colour_of.get(node, TRUNK) for node in tree.nodes.tolist()]
    for merge in range(len(tree.children) - 1, -1, -1):
        if colour[tree.n_tips + merge] != TRUNK:
            for child in tree.children[merge].tolist():
                colour[child] = colour[tree.n_tips + merge]
    return colour


def colours_of_clusters(dendrogram: Dendrogram, clusters: Nodes, *, dark: bool = False) -> list[str]:
    """The colour of each of these nodes, as `draw_dendrogram` draws them."""
    in_order = np.argsort(dendrogram._hierarchy.first[clusters], kind="stable")
    numbers = different_neighbours(colours_of_nodes(dendrogram._hierarchy, dendrogram.weights, clusters[in_order]))
    palette = BRANCHES_ON_DARK if dark else BRANCHES
    colours = [""] * len(clusters)
    for cluster, number in zip(in_order.tolist(), numbers, strict=True):
        colours[cluster] = palette[number]
    return colours


@dataclass
class _Picture:
    """The axes and what is drawn on them. `height` and `colour` have an entry for each node of the layout."""

    ax: Axes
    tree: Layout
    n_leaves: int
    height: Floats
    colour: list[str]
    orientation: str

    def __post_init__(self) -> None:
        self.x = self.tree.positions()
        self.upright = self.orientation in ("top", "bottom")

    def points(self, positions: Any, heights: Any) -> Floats:
        return points_of(positions, heights, upright=self.upright)

    def set_up(self, heights: Heights) -> None:
        ax = self.ax
        tips: Any = ax.xaxis if self.upright else ax.yaxis
        height = ax.yaxis if self.upright else ax.xaxis
        set_tips, set_height = (ax.set_xlim, ax.set_ylim) if self.upright else (ax.set_ylim, ax.set_xlim)
        heights.set_on(ax, upright=self.upright)
        set_tips(-0.8, self.tree.n_tips - 0.2)
        low, high = heights.base, heights.top
        set_height(*((high, low) if self.orientation in ("bottom", "left") else (low, high)))
        side = OPPOSITE[self.orientation]
        tips.set_ticks_position(side)
        tips.set_label_position(side)
        height.set_label_text("height")
        hidden = ("top", "right", "bottom") if self.upright else ("top", "right", "left")
        ax.spines[[*hidden]].set_visible(False)

    def draw_branches(self, style: dict[str, Any]) -> None:
        from matplotlib.collections import LineCollection

        n_tips = self.tree.n_tips
        left, right = self.tree.children.T
        top = self.height[n_tips:]
        segments = np.empty((len(top), 3, 2, 2))
        for place, child in enumerate((left, right)):
            segments[:, place, 0] = self.points(self.x[child], self.height[child])
            segments[:, place, 1] = self.points(self.x[child], top)
        segments[:, 2, 0], segments[:, 2, 1] = segments[:, 0, 1], segments[:, 1, 1]
        colours = [
            self.colour[node]
            for merge, pair in enumerate(self.tree.children.tolist())
            for node in (*pair, n_tips + merge)
        ]
        looks: dict[str, Any] = {"colors": colours, "linewidths": 1.4, "capstyle": "projecting"} | style
        self.ax.add_collection(LineCollection(list(segments.reshape(-1, 2, 2)), **looks), autolim=False)

    def draw_wedges(self, heights: Heights) -> None:
        """A wedge stands for the hidden part below a branch; a least height keeps it visible."""
        from matplotlib.collections import PolyCollection

        folded = np.flatnonzero(self.tree.nodes[: self.tree.n_tips] >= self.n_leaves)
        x, peak = self.x[folded], np.maximum(self.height[folded], heights.at(_LEAST_WEDGE, heights.top))
        base = np.full(len(folded), heights.base)
        corners = (self.points(x, peak), self.points(x - _WEDGE, base), self.points(x + _WEDGE, base))
        colours = [self.colour[node] for node in folded.tolist()]
        wedges = PolyCollection(list(np.stack(corners, axis=1)), facecolors=colours, alpha=0.35, linewidths=0)
        self.ax.add_collection(wedges, autolim=False)

    def label_tips(self, names: dict[int, str], weights: Floats) -> None:
        tips = self.tree.tips.tolist()
        named = sum(tip in names for tip in tips)
        axis = self.ax.xaxis if self.upright else self.ax.yaxis
        if named < len(tips):
            axis.set_label_text("branches by name or by their points" if named else "points below each branch")
        labels = [_tip_label(names.get(tip), float(weights[tip]), folded=tip >= self.n_leaves) for tip in tips]
        _label_places(self.ax, labels, upright=self.upright)

    def name_merges(self, names: dict[int, str]) -> None:
        """Writes the names of merges beside the branch above them."""
        side = -1 if self.orientation == "left" else 1
        offset, align = ((3 * side, 2), "bottom") if self.orientation != "bottom" else ((3, -2), "top")
        for node in range(self.tree.n_tips, len(self.tree.nodes)):
            name = names.get(int(self.tree.nodes[node]))
            if name is not None:
                place: Any = tuple(self.points(self.x[node], self.height[node]))
                self.ax.annotate(
                    short_name(name),
                    place,
                    xytext=offset,
                    textcoords="offset points",
                    ha="left" if side > 0 else "right",
                    va=align,
                    fontsize=8,
                    color=self.colour[node],
                    parse_math=False,
                )

    def draw_cut(self, kept: float, undone: float, heights: Heights) -> None:
        """A line between the last merge that a cut keeps and the first that it undoes.

        No line is drawn where none cuts into these clusters, because of inversions or equal heights, and where it would
        lie on the axis or above the root.
        """
        if not (np.isfinite(undone) and kept < undone):
            return
        least = heights.at(_NEAREST_CUT, heights.top)
        height = max(heights.between(kept, undone), least)
        if heights.share(undone) - heights.share(height) < _NEAREST_CUT and height == least:
            return
        draw = self.ax.axhline if self.upright else self.ax.axvline
        draw(height, color=text_colour(), linewidth=0.8, linestyle=(0, (5, 4)), alpha=0.7, zorder=3)


def _label_places(ax: Axes, labels: list[str], *, upright: bool) -> None:
    """Writes the labels of the tips as large as they fit; none if that is too small to read."""
    axis = ax.xaxis if upright else ax.yaxis
    low, high = sorted(axis.get_view_interval())
    room = extent_in_points(ax)[0 if upright else 1] / (high - low)  # points between two places
    size = min(8.0, 0.95 * room)
    if size < 2.5:
        labels = []
    turned = upright and (len(labels) > 16 or max(map(len, labels), default=0) * 0.62 * size > 0.95 * room)
    axis.set_ticks(range(len(labels)))
    axis.set_ticklabels(labels, rotation=90 if turned else 0, fontsize=size, parse_math=False)
    axis.set_tick_params(length=0)


def _tip_label(name: str | None, weight: float, *, folded: bool) -> str:
    if name is None:
        return short(weight)
    return f"{short_name(name)} ({short(weight)})" if folded else short_name(name)


@dataclass(frozen=True)
class ShownCluster:
    """A cluster of the cut and its place in the picture."""

    leaf: int  # one of its leaves
    middle: float  # the x coordinate halfway between its outermost tips
    colour: str


def clusters_in_order(dendrogram: Dendrogram, max_leaves: int, n_clusters: int) -> list[ShownCluster]:
    """The clusters that `draw_dendrogram` colours, from left to right; none if the cut is below the drawn branches."""
    n = dendrogram.n_leaves
    if n_clusters > min(max_leaves, n):
        return []
    tree, colour = _coloured(dendrogram, max_leaves, n_clusters, None)
    children = dendrogram._hierarchy.children
    number = {node: place for place, node in enumerate(tree.nodes.tolist())}
    shown = []
    for top in layout(children, uppermost(children, n_clusters)).tips.tolist():
        place = number[top]
        leaf = top
        while leaf >= n:
            leaf = int(children[leaf - n, 0])
        middle = float(tree.first[place] + (tree.count[place] - 1) / 2)
        shown.append(ShownCluster(leaf, middle, colour[place]))
    return shown

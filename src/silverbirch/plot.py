"""Draws dendrograms of any size: only the top branches, without recursion."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .machine import in_notebook

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .dendrogram import Dendrogram
    from .dendrogram.suggestion import Suggestion

TRUNK = "#7a808a"
BRANCHES = (
    "#2f6f8f",
    "#c8553d",
    "#588157",
    "#8d5a97",
    "#d99a2b",
    "#1f3f6b",
    "#c9739c",
    "#2a9d8f",
    "#7d5a3c",
    "#9aa23b",
)
_NO_MATPLOTLIB = "drawing needs matplotlib: pip install 'silverbirch[plot]'"


def check_drawing() -> None:
    """Raises ImportError if matplotlib is missing, without importing it: a long run checks this before it begins."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError(_NO_MATPLOTLIB)


def draw_dendrogram(
    dendrogram: Dendrogram,
    ax: Axes | None,
    max_leaves: int,
    n_clusters: int,
    names: dict[int, str],
    style: dict[str, Any],
) -> Axes:
    ax = _new_axes(figsize=(10, 4.5)) if ax is None else ax
    from matplotlib.collections import LineCollection, PolyCollection

    n = dendrogram.n_leaves
    shown = min(max_leaves, n)
    first_row = len(dendrogram.Z) - (shown - 1)
    children = dendrogram.Z[:, :2].astype(np.int64)
    heights = np.concatenate([np.zeros(n), dendrogram.Z[:, 2]])
    tips = _tips_in_order(children, n, first_row)
    colour = _colours(children, n, first_row, tips, n_clusters)

    x = {tip: float(i) for i, tip in enumerate(tips)}
    lines, line_colours = [], []
    for row in range(first_row, len(children)):
        left, right = sorted((int(c) for c in children[row]), key=x.__getitem__)
        top = heights[n + row]
        x[n + row] = (x[left] + x[right]) / 2
        for side in (left, right):
            lines.append([(x[side], heights[side]), (x[side], top)])
            line_colours.append(colour[side])
        lines.append([(x[left], top), (x[right], top)])
        line_colours.append(colour[n + row])
    looks: dict[str, Any] = {"colors": line_colours, "linewidths": 1.4, "capstyle": "projecting"} | style
    ax.add_collection(LineCollection(lines, **looks))

    # A wedge stands for the hidden part below a branch; a least height keeps it visible.
    folded = [tip for tip in tips if tip >= n]
    least = 0.03 * float(heights.max())
    wedges = [[(x[t], max(heights[t], least)), (x[t] - 0.32, 0.0), (x[t] + 0.32, 0.0)] for t in folded]
    ax.add_collection(PolyCollection(wedges, facecolors=[colour[t] for t in folded], alpha=0.35, linewidths=0))

    weights = dendrogram.weights
    named = any(tip in names for tip in tips)
    ax.set_xlabel("branches by name or by their points" if named else "points below each branch")
    _label_tips(ax, [_tip_label(names.get(t), float(weights[t]), folded=t >= n) for t in tips])
    for merge in range(n + first_row, 2 * n - 1):
        if merge in names:
            _name_merge(ax, names[merge], (x[merge], float(heights[merge])), colour[merge])
    ax.set_xlim(-0.8, shown - 0.2)
    low = min(0.0, float(heights.min()))
    ax.set_ylim(low, float(heights.max()) * 1.05 or 1.0)
    ax.set_ylabel("height")
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    return ax


def draw_rmsd(dendrogram: Dendrogram, ax: Axes | None = None, *, k_max: int = 2000, mark: int | None = None) -> Axes:
    """Draws the root mean squared distance against the number of clusters, on a logarithmic axis."""
    ax = _new_axes(figsize=(6, 4)) if ax is None else ax
    last = min(k_max, dendrogram.n_leaves)
    k = np.unique(np.geomspace(1, last, 400).round().astype(np.int64))
    ax.plot(k, dendrogram.rmsd(k), color=BRANCHES[0], linewidth=1.8)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_formatter("")
    ax.set_xlabel("number of clusters k")
    ax.set_ylabel("rmsd(k)")
    ax.set_ylim(bottom=0)
    if mark is not None and mark <= last:
        value = dendrogram.rmsd(mark)
        ax.plot([mark], [value], "o", color=BRANCHES[1])
        ax.annotate(f"k = {mark:,}: {value:.4g}", (mark, value), xytext=(6, 8), textcoords="offset points")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, alpha=0.25)
    return ax


def draw_suggestion(suggestion: Suggestion, ax: Axes | None = None) -> Axes:
    """Draws a row for each criterion, darker where the score of k is better, with a dot at its vote."""
    ax = _new_axes(figsize=(8, 2.8)) if ax is None else ax
    names = [name for name in suggestion.scores if name in suggestion.votes]
    for row, name in enumerate(names):
        scores = suggestion.scores[name][1:] * (-1 if name == "Davies-Bouldin" else 1)
        span = scores.max() - scores.min()
        shade = (scores - scores.min()) / (span if span > 0 else 1)
        ax.imshow(
            shade[None], cmap="Blues", vmin=0, vmax=1.4, extent=(1.5, suggestion.k[-1] + 0.5, row + 0.45, row - 0.45)
        )
        vote = suggestion.votes[name]
        if vote is not None:
            ax.plot([vote], [row], "o", color=BRANCHES[1], markersize=6)
    if suggestion.n_clusters is not None:
        ax.axvline(suggestion.n_clusters, color=BRANCHES[1], linewidth=0.8)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    ax.set_xlim(1.5, max(suggestion.k.max(initial=2), 2) + 0.5)
    ax.set_aspect("auto")
    ax.set_xlabel("number of clusters k (darker: better score; dot: vote)")
    answer = suggestion.n_clusters
    ax.set_title("no clear number" if answer is None else f"{answer} clusters", loc="left", fontsize=10)
    ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


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
    first_row = len(dendrogram.Z) - (min(max_leaves, n) - 1)
    children = dendrogram.Z[:, :2].astype(np.int64)
    tips = _tips_in_order(children, n, first_row)
    top, colour = _cluster_tops(children, n, first_row, n_clusters), _colours(children, n, first_row, tips, n_clusters)
    places: dict[int, list[int]] = {}
    for place, tip in enumerate(tips):
        places.setdefault(top[tip], []).append(place)
    shown = []
    for node, found in places.items():
        leaf = node
        while leaf >= n:
            leaf = int(children[leaf - n, 0])
        shown.append(ShownCluster(leaf, (found[0] + found[-1]) / 2, colour[node]))
    return shown


def _tips_in_order(children: Any, n_leaves: int, first_row: int) -> list[int]:
    """The lowest nodes that are drawn, from left to right."""
    tips: list[int] = []
    stack = [n_leaves + len(children) - 1]
    while stack:
        node = stack.pop()
        if node >= n_leaves + first_row:
            stack += [int(c) for c in children[node - n_leaves][::-1]]
        else:
            tips.append(node)
    return tips


def _cluster_tops(children: Any, n_leaves: int, first_row: int, n_clusters: int) -> dict[int, int]:
    """For each drawn node, the top node of its cluster; a node above the cut is its own."""
    first_trunk = n_leaves + len(children) - (n_clusters - 1)
    root = n_leaves + len(children) - 1
    cluster = {root: root}
    for row in range(len(children) - 1, first_row - 1, -1):
        node = n_leaves + row
        for child in (int(c) for c in children[row]):
            cluster[child] = child if node >= first_trunk else cluster[node]
    return cluster


def _colours(children: Any, n_leaves: int, first_row: int, tips: list[int], n_clusters: int) -> dict[int, str]:
    """The colour of each drawn node: the trunk above the cut; below it the clusters cycle through the colours."""
    first_trunk = n_leaves + len(children) - (n_clusters - 1)
    cluster = _cluster_tops(children, n_leaves, first_row, n_clusters)
    turns: dict[int, str] = {}
    for tip in tips:
        if tip < first_trunk:
            turns.setdefault(cluster[tip], BRANCHES[len(turns) % len(BRANCHES)])
    return {node: TRUNK if node >= first_trunk else turns[top] for node, top in cluster.items()}


def _label_tips(ax: Axes, labels: list[str]) -> None:
    crowded = len(labels) > 16 or max(map(len, labels)) > 6
    ax.set_xticks(range(len(labels)))
    ax.set_xticklabels(labels, rotation=90 if crowded else 0, fontsize=8 if len(labels) <= 60 else 6)
    ax.tick_params(axis="x", length=0)


def _name_merge(ax: Axes, name: str, place: tuple[float, float], colour: str) -> None:
    """Writes the name beside the branch above a merge."""
    ax.annotate(name, place, xytext=(3, 2), textcoords="offset points", fontsize=8, color=colour)


def _tip_label(name: str | None, weight: float, *, folded: bool) -> str:
    if name is None:
        return _short(weight)
    return f"{name} ({_short(weight)})" if folded else name


def _short(value: float) -> str:
    """The number with three digits and a unit: 12.3k."""
    for unit in ("", "k", "M", "G"):
        if float(f"{value:.3g}") < 1000 or unit == "G":
            break
        value /= 1000
    return f"{value:.3g}{unit}"


def _new_axes(figsize: tuple[float, float]) -> Axes:
    """New axes. In a notebook, and where pyplot is in use, it shows the figure; otherwise no window system is used."""
    if in_notebook() or "matplotlib.pyplot" in sys.modules:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ImportError(_NO_MATPLOTLIB) from None

        return pyplot.subplots(figsize=figsize, layout="constrained")[1]
    return detached_axes(figsize)


def detached_axes(figsize: tuple[float, float]) -> Axes:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(_NO_MATPLOTLIB) from None
    return Figure(figsize=figsize, layout="constrained").subplots()


@contextlib.contextmanager
def plain_style(settings: Any) -> Iterator[None]:
    """matplotlib's defaults with these settings, without the user's own: a page looks the same everywhere."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError(_NO_MATPLOTLIB) from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        yield


def save(axes: Axes, path: Path) -> None:
    figure: Any = axes.figure
    figure.savefig(path, dpi=120)

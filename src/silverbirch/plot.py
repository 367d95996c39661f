"""Drawing dendrograms of any size: only the uppermost branches are laid out, and nothing recurses."""

from __future__ import annotations

import html
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .dendrogram import Dendrogram

_TRUNK = "#7a808a"
_BRANCHES = (
    "#2f6f8f",
    "#c8553d",
    "#588157",
    "#8d5a97",
    "#d99a2b",
    "#3d5a80",
    "#a44a3f",
    "#6b8f71",
    "#5e548e",
    "#b08968",
)


def draw_dendrogram(
    dendrogram: Dendrogram, ax: Axes | None, max_leaves: int, n_clusters: int | None, style: dict[str, Any]
) -> Axes:
    from matplotlib.collections import LineCollection, PolyCollection

    ax = _new_axes(figsize=(10, 4.5)) if ax is None else ax
    n = dendrogram.n_leaves
    shown = min(max_leaves, n)
    first_row = len(dendrogram.Z) - (shown - 1)
    children = dendrogram.Z[:, :2].astype(np.int64)
    heights = np.concatenate([np.zeros(n), dendrogram.Z[:, 2]])
    tips = _tips_in_order(children, n, first_row)
    colour = _colours(children, n, tips, n_clusters)

    x = {tip: float(i) for i, tip in enumerate(tips)}
    lines, line_colours = [], []
    for row in range(first_row, len(children)):
        left, right = sorted((int(c) for c in children[row]), key=x.__getitem__)
        top = heights[n + row]
        x[n + row] = (x[left] + x[right]) / 2
        # Each side in the colour of the branch that hangs on it; the two meet in the middle.
        for side in (left, right):
            lines.append([(x[side], heights[side]), (x[side], top), (x[n + row], top)])
            line_colours.append(colour[side])
    looks: dict[str, Any] = {"colors": line_colours, "linewidths": 1.4} | style
    ax.add_collection(LineCollection(lines, **looks))

    # What is not shown hangs below its branch as a wedge.
    folded = [tip for tip in tips if tip >= n]
    wedges = [[(x[t], heights[t]), (x[t] - 0.32, 0.0), (x[t] + 0.32, 0.0)] for t in folded]
    ax.add_collection(PolyCollection(wedges, facecolors=[colour[t] for t in folded], alpha=0.35, linewidths=0))

    _label_tips(ax, [float(dendrogram.weights[t]) for t in tips])
    ax.set_xlim(-0.8, shown - 0.2)
    low = min(0.0, float(heights.min()))
    ax.set_ylim(low, float(heights.max()) * 1.05 or 1.0)
    ax.set_ylabel("height")
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    return ax


def draw_rmsd(dendrogram: Dendrogram, ax: Axes | None = None, *, k_max: int = 2000, mark: int | None = None) -> Axes:
    """The root mean squared deviation against the number of clusters, these on a logarithmic axis."""
    ax = _new_axes(figsize=(6, 4)) if ax is None else ax
    last = min(k_max, dendrogram.n_leaves)
    k = np.unique(np.geomspace(1, last, 400).round().astype(np.int64))
    ax.plot(k, dendrogram.rmsd(k), color=_BRANCHES[0], linewidth=1.8)
    ax.set_xscale("log")
    ax.set_xlabel("number of clusters k")
    ax.set_ylabel("rmsd(k)")
    ax.set_ylim(bottom=0)
    if mark is not None and mark <= last:
        value = dendrogram.rmsd(mark)
        ax.plot([mark], [value], "o", color=_BRANCHES[1])
        ax.annotate(f"k = {mark}: {value:.3f}", (mark, value), xytext=(4, 12), textcoords="offset points")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, alpha=0.25)
    return ax


def dendrogram_page(dendrogram: Dendrogram, title: str) -> str:
    """One HTML page with the pictures inside."""
    figures = [_svg(draw_dendrogram(dendrogram, None, 60, None, {}))]
    if dendrogram.features is not None:
        figures.append(_svg(draw_rmsd(dendrogram)))
    body = "\n".join(f"<figure>{svg}</figure>" for svg in figures)
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "figure{margin:1.5rem 0}svg{width:100%;height:auto}</style></head>\n"
        f"<body>\n<h1>{html.escape(title)}</h1>\n"
        f"<p>{dendrogram.n_leaves:,} leaves, {dendrogram.weights[-1]:,.0f} points.</p>\n{body}\n</body>\n</html>\n"
    )


def _tips_in_order(children: Any, n_leaves: int, first_row: int) -> list[int]:
    """The nodes the shown rows end in, from left to right."""
    tips: list[int] = []
    stack = [n_leaves + len(children) - 1]
    while stack:
        node = stack.pop()
        if node >= n_leaves + first_row:
            stack += [int(c) for c in children[node - n_leaves][::-1]]
        else:
            tips.append(node)
    return tips


def _colours(children: Any, n_leaves: int, tips: list[int], n_clusters: int | None) -> dict[int, str]:
    """Clusters of the cut take turns with the colours; what lies above the cut is trunk."""
    if n_clusters is None:
        n_clusters = 1
    first_trunk_row = len(children) - (n_clusters - 1)
    colour: dict[int, str] = {}
    turn = 0
    # From the root down: rows are above what they refer to. Only clusters that are shown use up a colour.
    for row in range(len(children) - 1, len(children) - len(tips), -1):
        node = n_leaves + row
        own = _TRUNK if row >= first_trunk_row else colour.get(node, _BRANCHES[0])
        colour.setdefault(node, own)
        for child in (int(c) for c in children[row]):
            if own is not _TRUNK:
                colour[child] = own
            elif child < n_leaves + first_trunk_row:
                colour[child] = _BRANCHES[turn % len(_BRANCHES)]
                turn += 1
            else:
                colour[child] = _TRUNK
    for tip in tips:
        colour.setdefault(tip, _BRANCHES[0])
    return colour


def _label_tips(ax: Axes, weights: list[float]) -> None:
    crowded = len(weights) > 16
    ax.set_xticks(range(len(weights)))
    ax.set_xticklabels(
        [_short(w) for w in weights], rotation=90 if crowded else 0, fontsize=8 if len(weights) <= 60 else 6
    )
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel("points below each branch")


def _short(value: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def _new_axes(figsize: tuple[float, float]) -> Axes:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("drawing needs matplotlib: pip install 'silverbirch[plot]'") from None
    import sys

    # In a notebook or script that uses pyplot the figure should show there; otherwise no window system is touched.
    if "matplotlib.pyplot" in sys.modules:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=figsize, layout="constrained")[1]
    return Figure(figsize=figsize, layout="constrained").subplots()


def save(axes: Axes, target: Path | io.StringIO, format: str = "png") -> None:
    figure: Any = axes.figure
    figure.savefig(target, format=format, dpi=120)


def _svg(axes: Axes) -> str:
    buffer = io.StringIO()
    save(axes, buffer, "svg")
    text = buffer.getvalue()
    return text[text.index("<svg") :]

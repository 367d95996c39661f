"""The pictures of a page, as SVG with the colours and the font of the page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import plot
from ..dendrogram import Dendrogram
from .markup import Html, escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BRANCHES = 60
_CURVE_END = 2000

# matplotlib draws with these colours; they are replaced by variables of the style sheet, for light and dark pages.
_INK, _QUIET, _RULE = "#101010", "#202020", "#303030"
_THEME = {_INK: "var(--ink)", _QUIET: "var(--quiet)", _RULE: "var(--rule)", plot.TRUNK: f"var(--trunk, {plot.TRUNK})"}
_THEME |= {colour: f"var(--branch-{i}, {colour})" for i, colour in enumerate(plot.BRANCHES)}
_STYLE = {
    "svg.fonttype": "none",  # keep text as text, in the font of the page
    "text.color": _QUIET,
    "axes.labelcolor": _QUIET,
    "axes.edgecolor": _RULE,
    "xtick.color": _RULE,
    "ytick.color": _RULE,
    "xtick.labelcolor": _QUIET,
    "ytick.labelcolor": _QUIET,
    "grid.color": _RULE,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


_MOST_NAMED_CLUSTERS = 10


def dendrogram_picture(
    dendrogram: Dendrogram, n_clusters: int = 1, leaf_labels: NDArray[np.int64] | None = None, cut: float | None = None
) -> Html:
    """The uppermost branches, coloured by the cut, with a line at its height and the label below each cluster."""

    def draw(ax: Axes) -> None:
        plot.draw_dendrogram(dendrogram, ax, MOST_BRANCHES, n_clusters, names, {"linewidths": 1.2})
        ax.yaxis.set_major_formatter("{x:,g}")
        if leaf_labels is not None and n_clusters <= shown:
            _name_clusters(ax, plot.clusters_in_order(dendrogram, MOST_BRANCHES, n_clusters), leaf_labels)
        if cut is not None:
            _draw_cut(ax, cut, f"cut into {n_clusters:,}")

    shown = min(MOST_BRANCHES, dendrogram.n_leaves)
    # Names of many clusters would lie over each other; the table has them beside the labels.
    few = n_clusters <= _MOST_NAMED_CLUSTERS
    names = {node: name for node, name in dendrogram.names.items() if few or node < dendrogram.n_leaves}
    height = float(dendrogram.Z[:, 2].max(initial=0.0))
    coloured = f", coloured by the cut into {n_clusters:,} clusters" if 1 < n_clusters <= shown else ""
    alt = (
        f"Dendrogram: the uppermost {shown:,} of {dendrogram.n_leaves:,} branches up to height {height:.4g}{coloured}."
    )
    return _picture(draw, (10, 4.4), "dendrogram", alt)


def _draw_cut(ax: Axes, height: float, text: str) -> None:
    ax.axhline(height, color=_INK, linewidth=0.7, linestyle=(0, (5, 4)))
    ax.annotate(
        text,
        (1, height),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=_INK,
    )


def _name_clusters(ax: Axes, clusters: list[plot.ShownCluster], leaf_labels: NDArray[np.int64]) -> None:
    for cluster in clusters:
        ax.annotate(
            str(leaf_labels[cluster.leaf]),
            (cluster.middle, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, -4),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8 if len(clusters) <= 10 else 6.5,  # labels of two digits are as wide as a branch
            weight="bold",
            color=cluster.colour,
        )
    ax.tick_params(axis="x", pad=17)
    ax.set_xlabel("label of each cluster; rows below each branch")


def rmsd_picture(dendrogram: Dendrogram, mark: int | None = None) -> Html:
    def draw(ax: Axes) -> None:
        plot.draw_rmsd(dendrogram, ax, k_max=max(_CURVE_END, 4 * (mark or 0)), mark=mark)

    values = "" if mark is None else f" At k = {mark:,} it is {dendrogram.rmsd(mark):.4g}."
    alt = (
        f"Curve of the rmsd against the number of clusters k, from {dendrogram.rmsd(1):.4g} at k = 1 downwards.{values}"
    )
    return _picture(draw, (6.4, 3.8), "rmsd", alt)


def _picture(draw: Callable[[Axes], None], size: tuple[float, float], name: str, alt: str) -> Html:
    """The SVG of a drawing; the same drawing gives the same bytes."""
    buffer = io.StringIO()
    with plot.plain_style(_STYLE | {"svg.hashsalt": name}):
        ax = plot.detached_axes(size)
        draw(ax)
        figure: Any = ax.figure
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    return _for_page(buffer.getvalue(), name, alt)


def themed(colour: str) -> str:
    """The variable of the style sheet for a colour of the pictures."""
    return _THEME.get(colour, colour)


def _for_page(svg: str, name: str, alt: str) -> Html:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)  # it would apply to the whole page
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)  # ids must be unique on the page; none is used
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)  # use the font of the page
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    svg = re.sub(r"#[0-9a-f]{6}\b", lambda colour: themed(colour[0]), svg)
    svg = re.sub(r'(?<=<svg )(.*?)width="[^"]*" height="[^"]*"', r"\1", svg, count=1)
    return Html(svg.replace("<svg ", f'<svg role="img" class="{name}" aria-label="{escaped(alt)}" ', 1))

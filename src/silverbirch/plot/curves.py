"""Curves against the number of clusters: the rmsd, and the criteria that suggest a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .axes import new_axes
from .palette import BRANCHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..dendrogram import Dendrogram
    from ..dendrogram.suggestion import Suggestion


def draw_rmsd(dendrogram: Dendrogram, ax: Axes | None = None, *, k_max: int = 2000, mark: int | None = None) -> Axes:
    """Draws the root mean squared distance against the number of clusters, on a logarithmic axis."""
    ax = new_axes(figsize=(6, 4)) if ax is None else ax
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
    ax = new_axes(figsize=(8, 2.8)) if ax is None else ax
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

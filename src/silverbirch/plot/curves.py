"""Curves against the number of clusters: the rmsd, and the criteria that suggest a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..checks import Floats
from .axes import branches_on, new_axes
from .palette import TRUNK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..dendrogram import Dendrogram
    from ..dendrogram.suggestion import Suggestion

_LANE = 0.8  # the height of a curve; lanes are 1 apart


def draw_rmsd(dendrogram: Dendrogram, ax: Axes | None = None, *, k_max: int = 2000, mark: int | None = None) -> Axes:
    """Draws the root mean squared distance against the number of clusters, on a logarithmic axis."""
    last = min(k_max, dendrogram.n_leaves)
    k = np.unique(np.geomspace(1, last, 400).round().astype(np.int64))
    rmsd = dendrogram.rmsd(k)
    ax = new_axes(figsize=(6, 4)) if ax is None else ax
    colours = branches_on(ax)
    ax.plot(k, rmsd, color=colours[0], linewidth=1.8)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_formatter("")
    ax.set_xlabel("number of clusters k")
    ax.set_ylabel("rmsd(k)")
    ax.set_ylim(bottom=0)
    if mark is not None and mark <= last:
        value = dendrogram.rmsd(mark)
        ax.plot([mark], [value], "o", color=colours[1])
        near_end = 1 < mark > last**0.65
        # The curve falls: what is above its height at the beginning of the text is above it everywhere.
        place = (last, dendrogram.rmsd(max(1, int(last**0.65)))) if near_end else (mark, value)
        ax.annotate(
            f"k = {mark:,}: {value:.4g}",
            place,
            xytext=(0, 4) if near_end else (6, 8),
            textcoords="offset points",
            ha="right" if near_end else "left",
        )
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, alpha=0.25)
    return ax


def draw_suggestion(suggestion: Suggestion, ax: Axes | None = None) -> Axes:
    """Draws a curve for each criterion in a lane of its own, upwards where it is better, with a dot at its vote."""
    names = [name for name in suggestion.scores if name in suggestion.votes]
    ax = new_axes(figsize=(8, 1.2 + 0.5 * max(len(names), 2))) if ax is None else ax
    from matplotlib.ticker import MaxNLocator

    for lane, name in enumerate(names):
        _draw_criterion(ax, suggestion, name, lane)
    answer = suggestion.n_clusters
    if answer is not None:
        ax.axvline(answer, color=branches_on(ax)[1], linewidth=0.8, zorder=1)
    ax.set_yticks(range(len(names)), [_with_vote(name, suggestion.votes[name]) for name in names])
    ax.set_ylim(max(len(names), 1) - 0.5, -0.7)  # room for a dot at the top of the first lane
    ax.set_xlim(1.5, max(suggestion.k.max(initial=2), 2) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("number of clusters k (higher: better; dot: vote; dashed: of uniform data)")
    ax.set_title("no clear number" if answer is None else f"{answer} clusters", loc="left", fontsize=10)
    ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _with_vote(name: str, vote: int | None) -> str:
    return f"{name}: {'no vote' if vote is None else vote}"


def _draw_criterion(ax: Axes, suggestion: Suggestion, name: str, lane: int) -> None:
    """The scores from k = 2 on: least in the lane's bottom, best at its top."""
    colour, marked = branches_on(ax)[:2]
    k, sign = suggestion.k[1:], -1 if name == "Davies-Bouldin" else 1
    scores = sign * suggestion.scores[name][1:]
    reference = suggestion.scores[f"reference {name}"][1:] if f"reference {name}" in suggestion.scores else None
    low, high = _range(scores if reference is None else np.concatenate([scores, reference]))

    def place(values: Floats) -> Floats:
        return lane + _LANE / 2 - _LANE * (values - low) / (high - low)

    ax.fill_between(k, np.full(len(k), lane + _LANE / 2), place(scores), color=colour, alpha=0.15, linewidth=0)
    ax.plot(k, place(scores), color=colour, linewidth=1.4)
    if reference is not None:
        ax.plot(k, place(reference), color=TRUNK, linewidth=1.0, linestyle="--")
    vote = suggestion.votes[name]
    if vote is not None:
        ax.plot([vote], place(scores[vote - 2 : vote - 1]), "o", color=marked, markersize=6)


def _range(values: Floats) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return (low, high) if high > low else (low - 1.0, low + 1.0)

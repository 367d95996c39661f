"""The style of the figures: each line is labelled at its end, without a legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe & Ito's colours, for colour-blind readers.
BLACK, ORANGE, SKY, GREEN, BLUE, RED, PINK, GREY = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#777777",
)  # fmt: skip
_LEAST_GAP = 11.0  # points between two labels


@dataclass(frozen=True)
class Curve:
    label: str
    colour: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False
    mark: str = "o"


def new_figure(panels: int, width: float = 6.2, height: float = 4.4) -> tuple[Figure, list[Axes]]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("figures need matplotlib: pip install 'silverbirch[cli]'") from None
    figure = Figure(figsize=(width * panels, height), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, panels, squeeze=False)[0]
    return figure, list(axes)


def draw(axis: Axes, curves: Sequence[Curve], *, title: str, x: str, y: str, log_y: bool = True) -> None:
    """Draws curves on a logarithmic x axis, each with its name at the right end."""
    shown = [curve for curve in curves if len(curve.x)]
    for curve in shown:
        style = "--" if curve.dashed else "-"
        axis.plot(
            curve.x, curve.y, style, color=curve.colour, marker=curve.mark, markersize=4, linewidth=1.5, clip_on=False
        )
    axis.set(xscale="log", yscale="log" if log_y else "linear", xlabel=x, ylabel=y)
    values = [value for curve in shown for value in curve.y]
    if log_y and values and max(values) < 100 * min(values):
        for formatter in (axis.yaxis.set_major_formatter, axis.yaxis.set_minor_formatter):
            formatter("{x:,g}")
    axis.set_title(title, fontsize=10, loc="left")
    axis.grid(which="major", color="#e4e4e4", linewidth=0.7)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    _label_ends(axis, shown)


def _label_ends(axis: Axes, curves: Sequence[Curve]) -> None:
    """Writes the names right of the axes at the height of the last points, moved apart if they would overlap."""
    figure = axis.figure
    figure.canvas.draw()
    points = 72.0 / figure.dpi
    ends = sorted((axis.transData.transform((c.x[-1], c.y[-1]))[1] * points, i) for i, c in enumerate(curves))
    heights = _apart([height for height, _ in ends])
    bottom = axis.bbox.y0 * points
    for height, (_, i) in zip(heights, ends, strict=True):
        curve = curves[i]
        axis.annotate(
            curve.label,
            xy=(curve.x[-1], curve.y[-1]),
            xytext=(1.04, (height - bottom) / (axis.bbox.height * points)),
            textcoords="axes fraction",
            color=curve.colour,
            fontsize=8,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": curve.colour,
                "linewidth": 0.5,
                "alpha": 0.6,
                "shrinkA": 1,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def _apart(wanted: Sequence[float]) -> list[float]:
    """Ascending heights moved so that neighbours have at least the gap, with the least sum of squared moves.

    It pools adjacent violators: labels that touch form a block around the mean of their own heights.
    """
    blocks: list[list[float]] = []  # of heights less what the labels below take
    for i, height in enumerate(wanted):
        blocks.append([height - i * _LEAST_GAP])
        while len(blocks) > 1 and fmean(blocks[-2]) > fmean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    return [place + i * _LEAST_GAP for i, place in enumerate(fmean(block) for block in blocks for _ in block)]


def save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without the version of matplotlib, the same rows give the same file.
    figure.savefig(path, dpi=130, bbox_inches="tight", metadata={"Software": None})

"""New axes, styles, and how numbers and names are written in pictures."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Floats
from ..machine import in_notebook
from .palette import BRANCHES, BRANCHES_ON_DARK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NO_MATPLOTLIB = "drawing needs matplotlib: pip install 'silverbirch[plot]'"
OPPOSITE = {"top": "bottom", "bottom": "top", "left": "right", "right": "left"}
_LONGEST_NAME = 40


def check_drawing() -> None:
    """Raises ImportError if matplotlib is missing, without importing it: a long run checks this before it begins."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError(NO_MATPLOTLIB)


def new_axes(figsize: tuple[float, float]) -> Axes:
    return new_figure(figsize, layout="constrained").subplots()


def new_figure(figsize: tuple[float, float], layout: Any = None) -> Figure:
    """A new figure. In a notebook, and where pyplot is in use, it is shown; otherwise no window system is used."""
    try:
        if in_notebook() or "matplotlib.pyplot" in sys.modules:
            from matplotlib import pyplot

            return pyplot.figure(figsize=figsize, layout=layout)
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(NO_MATPLOTLIB) from None
    return Figure(figsize=figsize, layout=layout)


def detached_axes(figsize: tuple[float, float]) -> Axes:
    """New axes that pyplot does not know of, and does not show."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(NO_MATPLOTLIB) from None
    return Figure(figsize=figsize, layout="constrained").subplots()


@contextlib.contextmanager
def plain_style(settings: Any) -> Iterator[None]:
    """matplotlib's defaults with these settings, without the user's own: a page looks the same everywhere."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError(NO_MATPLOTLIB) from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        yield


def save(axes: Axes, path: Path) -> None:
    figure: Any = axes.figure
    figure.savefig(path, dpi=120)


def text_colour() -> str:
    """The colour of texts in the user's style: dark on light, or light on dark."""
    import matplotlib

    return str(matplotlib.rcParams["text.color"])


def on_dark(ax: Axes) -> bool:
    """Whether the background of the axes, or of the figure if they have none, is dark."""
    from matplotlib.colors import to_rgba

    figure: Any = ax.figure
    for colour in (ax.get_facecolor(), figure.get_facecolor()):
        red, green, blue, alpha = to_rgba(colour)
        if alpha > 0:
            return 0.299 * red + 0.587 * green + 0.114 * blue < 0.4
    return False


def branches_on(ax: Axes) -> tuple[str, ...]:
    """The colours of clusters that show on the background of the axes."""
    return BRANCHES_ON_DARK if on_dark(ax) else BRANCHES


def extent_in_points(ax: Axes) -> tuple[float, float]:
    """The width and the height of the axes in points (1/72 inch); a layout that is not yet done may change them."""
    figure: Any = ax.figure
    box = ax.get_window_extent()
    return box.width * 72 / figure.dpi, box.height * 72 / figure.dpi


def points_of(places: Any, heights: Any, *, upright: bool) -> Floats:
    """Places along the tips of a dendrogram, and heights, as coordinates of the axes."""
    pair = (places, heights) if upright else (heights, places)
    return np.stack([np.asarray(part, dtype=np.float64) for part in pair], axis=-1)


def short(value: float) -> str:
    """The number with three digits and a unit: 12.3k."""
    for unit in ("", "k", "M", "G"):
        if float(f"{value:.3g}") < 1000 or unit == "G":
            break
        value /= 1000
    return f"{value:.3g}{unit}"


def short_name(name: str) -> str:
    """The name in one line, cut after 40 characters."""
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"

"""The scale of the heights: linear, square root or log; the last two show many merges where a few fill the height."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import Formatter

_ROOM = 0.05  # above the root, and with a log scale below the lowest merge, relative to the drawn height


class Heights:
    """Where heights are drawn. The log scale has no 0: what is at 0 is drawn at the base, just below the lowest merge.

    Parameters
    ----------
    heights : the heights of all merges that are drawn, and of the branches that are folded
    """

    def __init__(self, name: str, heights: Floats) -> None:
        positive = heights[heights > 0]
        self.name = name if len(positive) or name != "log" else "linear"  # all merges at 0 have no logarithm
        self.base = min(0.0, float(heights.min(initial=0.0)))
        highest = float(heights.max(initial=0.0))
        if self.name == "log":
            least = float(positive.min())
            self.base = least * (least / highest) ** _ROOM if highest > least else least / 2
        self.top = float(self.at(1 + _ROOM, highest)) if highest > self.base else self.base + 1.0

    def drawn(self, heights: Any) -> Floats:
        """The heights, at least the base."""
        drawn: Floats = np.maximum(heights, self.base)
        return drawn

    def _forward(self, heights: NDArray[Any]) -> Floats:
        places: Floats = np.asarray(heights, dtype=np.float64)
        if self.name == "sqrt":
            places = np.sign(places) * np.sqrt(np.abs(places))
        return np.log(places) if self.name == "log" else places

    def _inverse(self, places: NDArray[Any]) -> Floats:
        heights: Floats = np.asarray(places, dtype=np.float64)
        if self.name == "sqrt":
            heights = np.sign(heights) * heights**2
        return np.exp(heights) if self.name == "log" else heights

    def at(self, share: float, highest: float) -> float:
        """The height that is drawn at this share of the way from the base to `highest`."""
        low, high = self._forward(np.array([self.base, highest]))
        return float(self._inverse(low + share * (high - low)))

    def share(self, height: float) -> float:
        """The share of the way from the base to the top at which a height is drawn: the inverse of `at`."""
        low, place, high = self._forward(np.array([self.base, max(height, self.base), self.top]))
        return float((place - low) / (high - low))

    def between(self, low: float, high: float) -> float:
        """The height that is drawn halfway between two heights."""
        return self.at((self.share(low) + self.share(high)) / 2, self.top)

    def set_on(self, ax: Axes, *, upright: bool) -> None:
        """Gives the axis of the heights this scale."""
        from matplotlib.ticker import FixedLocator

        set_scale, axis = (ax.set_yscale, ax.yaxis) if upright else (ax.set_xscale, ax.xaxis)
        if self.name == "sqrt":
            set_scale("function", functions=(self._forward, self._inverse))
            axis.set_major_locator(FixedLocator(self._ticks()))
            axis.set_major_formatter("{x:g}")
        elif self.name == "log":
            set_scale("log")
            axis.set_major_formatter(_plain_numbers())
            axis.set_minor_formatter(_plain_numbers(minor_thresholds=(1.5, 0.5)))

    def _ticks(self) -> list[float]:
        """Round heights that are drawn about as far apart."""
        from matplotlib.ticker import MaxNLocator

        places = MaxNLocator(6).tick_values(*self._forward(np.array([self.base, self.top])))
        return sorted({_round(height) for height in self._inverse(np.array(places)).tolist()})


def _round(height: float) -> float:
    """The nearest number of one digit; 8 or 10 in place of 7 and 9, which nobody expects on an axis."""
    digit, power = f"{height:.0e}".split("e")
    return float(f"{digit.replace('7', '8').replace('9', '10')}e{power}")


def _plain_numbers(**options: Any) -> Formatter:
    """Labels the ticks that matplotlib would label on a log scale, without powers of ten."""
    from matplotlib.ticker import LogFormatter

    class PlainNumbers(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x:g}" if super().__call__(x, pos) else ""

    return PlainNumbers(**options)

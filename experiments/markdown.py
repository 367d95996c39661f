"""Tables and numbers as Markdown text."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

NOT_MEASURED = "–"


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    body = ["| " + " | ".join(cells) + " |" for cells in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *body])


def mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def deviation(values: Sequence[float]) -> float:
    """The standard deviation of a single run, estimated from several runs."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def number(value: float | None, form: str = ".2f") -> str:
    return NOT_MEASURED if value is None else format(value, form)


def mean_and_deviation(values: Sequence[float], form: str = ".2f") -> str:
    if not values:
        return NOT_MEASURED
    text = format(statistics.fmean(values), form)
    return text if len(values) == 1 else f"{text} ± {deviation(values):{form}}"


def seconds(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def ratio(value: float | None, other: float | None, form: str = ".2f") -> str:
    return NOT_MEASURED if value is None or not other else format(value / other, form)

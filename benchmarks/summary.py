"""Computes medians, spreads, ratios and exponents from raw rows."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from . import raw_rows
from .jobs import SUITES, Job
from .raw_rows import Row

JOB_FIELDS = tuple(field.name for field in fields(Job))


@dataclass(frozen=True)
class Summary:
    """All runs of one job."""

    job: Job
    rows: tuple[Row, ...]

    @property
    def good(self) -> list[Row]:
        return [row for row in self.rows if row["status"] == "ok"]

    @property
    def failure(self) -> str | None:
        """Why there is no result; None if there is one."""
        if self.good:
            return None
        row = self.rows[-1]
        if row["status"] == "timeout":
            return f"stopped after {row['process_seconds']:.0f} s"
        return f"failed: {row.get('reason', 'no reason given')}"

    def median(self, metric: str) -> float | None:
        values = [row[metric] for row in self.good if metric in row]
        return statistics.median(values) if values else None

    def spread(self, metric: str) -> tuple[float, float]:
        values = [row[metric] for row in self.good]
        return min(values), max(values)

    @property
    def seconds(self) -> float | None:
        """The time for ratios: with one thread its CPU time, which other processes disturb less; else wall time."""
        return self.median("cpu" if self.job.threads == 1 and self.job.device == "cpu" else "wall")

    @property
    def height_difference(self) -> float | None:
        values = [row["height_difference"] for row in self.good if "height_difference" in row]
        return max(values) if values else None


def read_rows(folder: Path) -> list[Row]:
    """The rows of all suites that were run, in the order of the suites."""
    paths = [folder / f"{suite.name}.jsonl" for suite in SUITES]
    return [row for path in paths if path.exists() for row in raw_rows.read(path)]


def summarize(rows: Iterable[Row]) -> list[Summary]:
    """One summary for each job, in the order of the rows."""
    groups: dict[Job, list[Row]] = {}
    for row in rows:
        groups.setdefault(Job(**{name: row[name] for name in JOB_FIELDS if name in row}), []).append(row)
    return [Summary(job, tuple(group)) for job, group in groups.items()]


def select(summaries: Iterable[Summary], **wanted: Any) -> list[Summary]:
    """The summaries whose job has all the wanted values."""
    return [s for s in summaries if all(getattr(s.job, name) == value for name, value in wanted.items())]


def same_case(summaries: Iterable[Summary], job: Job, implementation: str) -> Summary | None:
    """The summary of another implementation for the same case, suite and number of threads."""
    for s in summaries:
        same = s.job.suite == job.suite and s.job.name() == job.name() and s.job.threads == job.threads
        if same and s.job.implementation == implementation:
            return s
    return None


def ratio(slower: Summary | None, faster: Summary | None) -> float | None:
    """The seconds of `slower` over those of `faster`; None if one has no result."""
    if slower is None or faster is None or slower.seconds is None or not faster.seconds:
        return None
    return slower.seconds / faster.seconds


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """The slope of the least-squares line through log(size), log(value); None for fewer than two sizes."""
    points = [(math.log(x), math.log(y)) for x, y in zip(sizes, values, strict=True) if x > 0 and y > 0]
    if len({x for x, _ in points}) < 2:
        return None
    xs, ys = zip(*points, strict=True)
    return statistics.linear_regression(xs, ys).slope

"""Beyond the paper: cluster features compared with the alternatives a user has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median

from .experiment import PAPER_LINKAGES, PAPER_NAMES, Experiment
from .jobs import BIRCH, KMEANS, LINKAGE, SAMPLE, ClusterJob, Job, Scale
from .markdown import deviation, mean, mean_and_deviation, number, seconds, table
from .raw_rows import RawRows

DATA = ("uniform", "Gaussian", "imbalanced")
# The largest number of cases with a better alternative that the page lists.
_MOST_LOSSES = 15
# Rows are labelled in the same two steps for all methods; the first finds the nearest feature, sampled row or centre.
QUANTITIES = {"rmsd_nearest": "nearest feature", "rmsd_nearest_mean": "then nearest mean"}


@dataclass(frozen=True)
class Case:
    data: str
    rows: int
    budget: int
    linkage: str

    def text(self) -> str:
        name = PAPER_NAMES[self.linkage]
        return f"{self.data}, {self.rows:,} rows, {self.budget:,} features, {name}"


def cases(scale: Scale) -> Iterator[Case]:
    for data in DATA:
        for rows in (scale.rows, scale.many_rows):
            for budget in scale.budgets:
                for linkage in PAPER_LINKAGES:
                    yield Case(data, rows, budget, linkage)


def inputs_of(scale: Scale, case: Case) -> tuple[str, ...]:
    """The methods for a number of rows: MiniBatchKMeans and scikit-learn's Birch run on few rows only."""
    return (LINKAGE, SAMPLE, KMEANS, BIRCH) if case.rows == scale.rows else (LINKAGE, SAMPLE)


def jobs_of(scale: Scale, case: Case, input_: str) -> list[ClusterJob]:
    job = replace(scale.tree(case.data, case.linkage), rows=case.rows, max_leaves=case.budget, input=input_)
    job = replace(job, absorption="radius") if input_ == LINKAGE else replace(job, distance=None, absorption=None)
    return job.over(1 if input_ in (KMEANS, BIRCH) else scale.few_orders)


def jobs(scale: Scale) -> list[Job]:
    return [job for case in cases(scale) for input_ in inputs_of(scale, case) for job in jobs_of(scale, case, input_)]


# -- where something else is better


@dataclass(frozen=True)
class Comparison:
    """Cluster features and one alternative, in one case and with one method of labelling."""

    case: Case
    quantity: str
    other: list[float]
    features: list[float]
    times: float  # as much CPU time as the features

    def excess(self) -> float:
        """How much worse the features are, relative to the alternative."""
        return fmean(self.features) / fmean(self.other) - 1

    def clear(self) -> bool:
        """Whether the difference is larger than both spreads together."""
        gap = abs(fmean(self.features) - fmean(self.other))
        return gap > deviation(self.other) + deviation(self.features)

    def text(self) -> str:
        return f"{self.case.text()}, {QUANTITIES[self.quantity]}: features {self.excess():+.2%}"


def comparisons(scale: Scale, rows: RawRows, other: str) -> list[Comparison]:
    found = []
    for case in (case for case in cases(scale) if other in inputs_of(scale, case)):
        jobs = jobs_of(scale, case, other), jobs_of(scale, case, LINKAGE)
        for quantity in QUANTITIES:
            theirs, ours = (rows.values(one, quantity) for one in jobs)
            if theirs and ours:
                times = fmean(rows.values(jobs[0], "cpu")) / fmean(rows.values(jobs[1], "cpu"))
                found.append(Comparison(case, quantity, theirs, ours, times))
    return found


def _times(factor: float) -> str:
    return f"{factor:.2g}" if factor < 10 else f"{factor:.0f}"


def verdict(scale: Scale, rows: RawRows, other: str) -> str:
    """The result of the comparison as a sentence."""
    name = {SAMPLE: "A random sample", BIRCH: "scikit-learn's Birch"}.get(other, other)
    found = comparisons(scale, rows, other)
    if not found:
        return f"{name}: not measured."
    lost = sorted((c for c in found if c.excess() > 0), key=lambda c: -c.excess())
    won = [c for c in found if c.excess() < 0]
    best = min(found, key=lambda c: c.excess())
    text = (
        f"**{name}**: of {len(found)} comparisons at the same size the features are better in {len(won)} "
        f"({sum(c.clear() for c in won)} by more than both spreads together), at most by {-best.excess():.1%} "
        f"({best.case.text()}). Its CPU time is {_times(median(c.times for c in found))} times theirs in the median."
    )
    if not lost:
        return f"{text} **{name} is better nowhere.**"
    clear = sum(c.clear() for c in lost)
    text += f" **{name} is better in {len(lost)}, {clear} of them by more than both spreads together:**"
    lines = [f"- {c.text()}{'' if c.clear() else ', within the spreads'}" for c in lost[:_MOST_LOSSES]]
    if len(lost) > _MOST_LOSSES:
        lines.append(f"- and {len(lost) - _MOST_LOSSES} more, by {lost[_MOST_LOSSES].excess():.2%} at most")
    return "\n".join([text, "", *lines])


# -- the section


def section(scale: Scale, rows: RawRows, images: Path) -> str:
    head = ["data", "rows", "at most", "linkage", "method", "size", *QUANTITIES.values(), "seconds"]
    lines = []
    for case in cases(scale):
        for input_ in inputs_of(scale, case):
            measured = jobs_of(scale, case, input_)
            values = [mean_and_deviation(rows.values(measured, quantity), ".3f") for quantity in QUANTITIES]
            lines.append(
                [
                    case.data,
                    f"{case.rows:,}",
                    f"{case.budget:,}",
                    PAPER_NAMES[case.linkage],
                    "**cluster features**" if input_ == LINKAGE else input_,
                    number(mean(rows.values(measured, "features")), ",.0f"),
                    *values,
                    seconds(mean(rows.values(measured, "cpu"))),
                ]
            )
    return "\n\n".join(
        [
            f"k = {scale.k}. The same linkage on a summary of the same size: leaves of silverbirch's tree, a random "
            "sample, the features of MiniBatchKMeans' clusters (started from random rows), or the bare centres of "
            "scikit-learn's Birch, which clusters its leaves without their weights; its threshold was searched so "
            "that there are at most as many of them, and one fit is counted. All label the rows by the same step: "
            "the exactly nearest feature, sampled row or centre; and in a second column the nearest mean of those "
            f"clusters. RMSD, mean ± standard deviation of {scale.few_orders} orders or draws (one of "
            f"MiniBatchKMeans and Birch, which are left out at {scale.many_rows:,} rows for the time they take). "
            "`imbalanced` has clusters of Pareto shares and unequal spread. Seconds are CPU seconds of summary and "
            "linkage.",
            *(verdict(scale, rows, other) for other in (SAMPLE, KMEANS, BIRCH)),
            table(head, lines),
        ]
    )


EXPERIMENT = Experiment("alternatives", "Beyond the paper: what a user would do instead", jobs, section)

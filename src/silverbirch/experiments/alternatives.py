"""Beyond the paper: cluster features against what a user would do instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from .experiment import PAPER_LINKAGES, PAPER_NAMES, Experiment
from .jobs import BIRCH, KMEANS, LINKAGE, SAMPLE, ClusterJob, Job, Scale
from .markdown import deviation, mean, mean_and_deviation, number, seconds, table
from .raw_rows import RawRows

DATA = ("uniform", "Gaussian", "imbalanced")
# Both steps that label rows are the same for all: first the nearest feature, sampled row or centre.
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
    """MiniBatchKMeans and scikit-learn's Birch take minutes for many rows and are asked for the fewer ones only."""
    return (LINKAGE, SAMPLE, KMEANS, BIRCH) if case.rows == scale.rows else (LINKAGE, SAMPLE)


def jobs_of(scale: Scale, case: Case, input_: str) -> list[ClusterJob]:
    job = replace(scale.tree(case.data, case.linkage), rows=case.rows, max_leaves=case.budget, input=input_)
    job = replace(job, absorption="radius") if input_ == LINKAGE else replace(job, distance=None, absorption=None)
    return job.over(1 if input_ in (KMEANS, BIRCH) else scale.few_orders)


def jobs(scale: Scale) -> list[Job]:
    return [job for case in cases(scale) for input_ in inputs_of(scale, case) for job in jobs_of(scale, case, input_)]


# -- where a sample is better


@dataclass(frozen=True)
class Comparison:
    case: Case
    quantity: str
    sample: list[float]
    features: list[float]

    def excess(self) -> float:
        """How much worse the features are, as a share of the sample's value."""
        return sum(self.features) / len(self.features) / (sum(self.sample) / len(self.sample)) - 1

    def clear(self) -> bool:
        """Whether the difference is larger than both spreads together."""
        gap = abs(sum(self.features) / len(self.features) - sum(self.sample) / len(self.sample))
        return gap > deviation(self.sample) + deviation(self.features)


def comparisons(scale: Scale, rows: RawRows) -> list[Comparison]:
    found = []
    for case in cases(scale):
        for quantity in QUANTITIES:
            sample = rows.values(jobs_of(scale, case, SAMPLE), quantity)
            features = rows.values(jobs_of(scale, case, LINKAGE), quantity)
            if sample and features:
                found.append(Comparison(case, quantity, sample, features))
    return found


def verdict(scale: Scale, rows: RawRows) -> str:
    """In words, what the rows say about a random sample of the same size."""
    found = comparisons(scale, rows)
    if not found:
        return "Not measured."
    lost = sorted((c for c in found if c.excess() > 0), key=lambda c: -c.excess())
    won = [c for c in found if c.excess() < 0]
    best = min(found, key=lambda c: c.excess())
    text = (
        f"Of {len(found)} comparisons with a random sample of the same size the features are better in {len(won)} "
        f"({sum(c.clear() for c in won)} of them by more than both spreads together), at most by {-best.excess():.1%} "
        f"({best.case.text()})."
    )
    if not lost:
        return f"{text} **The sample is better nowhere.**"
    lines = [
        f"- {c.case.text()}, {QUANTITIES[c.quantity]}: features {c.excess():+.2%}"
        + (", more than both spreads together" if c.clear() else ", within the spreads")
        for c in lost
    ]
    clear = sum(c.clear() for c in lost)
    return f"{text} **The sample is better in {len(lost)}, {clear} of them clearly:**\n\n" + "\n".join(lines)


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
            verdict(scale, rows),
            table(head, lines),
        ]
    )


EXPERIMENT = Experiment("alternatives", "Beyond the paper: what a user would do instead", jobs, section)

"""Beyond the paper: every linkage, for several numbers of features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from silverbirch.checks import LINKAGES

from .experiment import DATA, Experiment
from .jobs import AGGREGATION, CENTERS, FULL, LINKAGE, ClusterJob, Job, Scale
from .markdown import mean, mean_and_deviation, number, seconds, table
from .raw_rows import RawRows

# These compute distances of single points many times, so they run on few features and not on all rows.
SLOW = ("minimax", "medoid")
ONLY_CENTERS = ("single", "complete", "minimax", "medoid")
# CF distances that are linkages with mode="aggregation".
FEATURE_LINKAGES = ("manhattan", "diameter", "radius")


def cells_of(scale: Scale, linkage: str) -> list[tuple[str, int | None]]:
    """The (input, limit of features) of the columns that apply to a linkage."""
    budgets = [m for m in scale.budgets if linkage not in SLOW or m <= 5_000]
    if linkage in FEATURE_LINKAGES:
        return [(AGGREGATION, m) for m in scale.budgets if m <= 5_000]
    cells: list[tuple[str, int | None]] = [] if linkage in SLOW else [(FULL, None)]
    for budget in budgets:
        cells += [(LINKAGE, budget)] if linkage in ONLY_CENTERS else [(LINKAGE, budget), (CENTERS, budget)]
    return cells


def jobs_of(scale: Scale, data: str, linkage: str, input_: str, budget: int | None) -> list[ClusterJob]:
    if input_ == FULL:
        return [scale.full(data, linkage)]
    job = replace(scale.tree(data, linkage), input=input_, max_leaves=budget, absorption="radius")
    return job.over(scale.few_orders)


def jobs(scale: Scale) -> list[Job]:
    return [
        job
        for data in DATA
        for linkage in (*LINKAGES, *FEATURE_LINKAGES)
        for cell in cells_of(scale, linkage)
        for job in jobs_of(scale, data, linkage, *cell)
    ]


def section(scale: Scale, rows: RawRows, images: Path) -> str:
    parts = [
        f"N = {scale.rows:,}, k = {scale.k}, with silverbirch's own tree: the distance that matches the linkage "
        f"(Ward's where none does) and the radius for absorption; {scale.few_orders} orders. Rows are labelled by "
        "their exactly nearest feature. `single`, `complete`, `minimax` and `medoid` see the means of the features "
        "only, so CF linkage is CF centers for them. `manhattan`, `diameter` and `radius` are CF distances used as "
        "linkages, by merging features (CF aggregation), which takes quadratic time. `average` and `weighted` are "
        "of squared distances. Seconds are CPU seconds of tree and linkage, `auto`.",
    ]
    head = ["linkage", "input", "at most", "features", "RMSD", "to full data", "seconds"]
    for data in DATA:
        lines = []
        for linkage in (*LINKAGES, *FEATURE_LINKAGES):
            full = mean(rows.values(jobs_of(scale, data, linkage, FULL, None), "rmsd"))
            for input_, budget in cells_of(scale, linkage):
                measured = jobs_of(scale, data, linkage, input_, budget)
                found = rows.values(measured, "rmsd" if input_ == FULL else "rmsd_nearest")
                ours = mean(found)
                relative = "" if ours is None or full is None or input_ == FULL else f"{ours / full - 1:+.1%}"
                lines.append(
                    [
                        linkage,
                        input_,
                        "" if budget is None else f"{budget:,}",
                        "" if budget is None else number(mean(rows.values(measured, "features")), ",.0f"),
                        mean_and_deviation(found, ".3f"),
                        relative,
                        seconds(mean(rows.values(measured, "cpu"))),
                    ]
                )
        parts += [f"**{data}**", table(head, lines)]
    return "\n\n".join(parts)


EXPERIMENT = Experiment("linkages", "Beyond the paper: every linkage", jobs, section)

"""Beyond the paper: every CF distance in the tree, for several numbers of features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from silverbirch.checks import CF_DISTANCES

from .experiment import DATA, PAPER_LINKAGES, PAPER_NAMES, Experiment
from .jobs import ClusterJob, Job, Scale
from .markdown import mean, mean_and_deviation, number, seconds, table
from .raw_rows import RawRows

CODES = {"centroid": "D0", "manhattan": "D1", "average": "D2", "diameter": "D3", "ward": "D4", "radius": "R"}
SAME, RADIUS = "the same", "radius"


def jobs_of(scale: Scale, data: str, distance: str, absorption: str, budget: int, linkage: str) -> list[ClusterJob]:
    bound = distance if absorption == SAME else absorption
    job = replace(scale.tree(data, linkage), distance=distance, absorption=bound, max_leaves=budget)
    return job.over(scale.few_orders)


def _cases(scale: Scale) -> list[tuple[str, str, int]]:
    return [
        (distance, absorption, budget)
        for distance in CF_DISTANCES
        for absorption in (SAME, RADIUS)
        for budget in scale.budgets
        if (distance, absorption) != (RADIUS, RADIUS)  # that is the same
    ]


def jobs(scale: Scale) -> list[Job]:
    return [
        job
        for data in DATA
        for case in _cases(scale)
        for linkage in PAPER_LINKAGES
        for job in jobs_of(scale, data, *case, linkage)
    ]


def section(scale: Scale, rows: RawRows, images: Path) -> str:
    parts = [
        f"N = {scale.rows:,}, k = {scale.k}, CF linkage, {scale.few_orders} orders. `distance` is what rows go down "
        "the tree by, `absorption` what the threshold bounds. RMSD of the rows as absorbed, from the features "
        "alone, as in table 4; `nearest` is Ward again with every row labelled by its exactly nearest feature, "
        "which is what `Betula` does. Seconds are those of the tree; there is no RMSD where there are fewer than k "
        "features."
    ]
    head = [
        "distance",
        "absorption",
        "at most",
        "features",
        *(PAPER_NAMES[x] for x in PAPER_LINKAGES),
        "nearest",
        "seconds",
    ]
    for data in DATA:
        lines = []
        for distance, absorption, budget in _cases(scale):
            ward = jobs_of(scale, data, distance, absorption, budget, "ward")
            lines.append(
                [
                    f"{distance} ({CODES[distance]})",
                    absorption,
                    f"{budget:,}",
                    number(mean(rows.values(ward, "features")), ",.0f"),
                    *(
                        mean_and_deviation(
                            rows.values(jobs_of(scale, data, distance, absorption, budget, x), "rmsd"), ".3f"
                        )
                        for x in PAPER_LINKAGES
                    ),
                    number(mean(rows.values(ward, "rmsd_nearest")), ".3f"),
                    seconds(mean(rows.values(ward, "cpu_aggregate"))),
                ]
            )
        parts += [f"**{data}**", table(head, lines)]
    return "\n\n".join(parts)


EXPERIMENT = Experiment("distances", "Beyond the paper: every CF distance as tree distance", jobs, section)

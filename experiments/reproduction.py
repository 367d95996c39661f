"""All experiments by name, and the page that is computed from their raw rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from . import alternatives, claims, distances, draws, figure3, figure4, linkages, stability, table3, table4
from .experiment import Experiment
from .jobs import QUICK, WHOLE, Job, Scale
from .raw_rows import RawRows
from .runner import run

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        claims, table3, table4, draws, figure3, figure4, linkages, distances, alternatives, stability
    )
}  # fmt: skip
ROWS, PAGE, IMAGES = "reproduction.jsonl", "reproduction.md", "images"


def chosen(names: Sequence[str]) -> list[Experiment]:
    """The experiments with these names; without names, all."""
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(f"experiment {name!r}: must be one of {', '.join(EXPERIMENTS)}")
    return [experiment for name, experiment in EXPERIMENTS.items() if not names or name in names]


def jobs_of(experiments: Sequence[Experiment], scale: Scale) -> list[Job]:
    return list(dict.fromkeys(job for experiment in experiments for job in experiment.jobs(scale)))


def reproduce(
    names: Sequence[str] = (),
    *,
    quick: bool = False,
    out: Path,
    render_only: bool = False,
    isolated: bool = True,
    say: Callable[[str], None] = print,
) -> Path:
    """Measures the jobs without a row in out/reproduction.jsonl, then writes out/reproduction.md and its figures.

    The page has the named experiments, and all others that have rows.
    """
    experiments, scale = chosen(names), QUICK if quick else WHOLE
    rows = RawRows(out / ROWS)
    jobs = jobs_of(experiments, scale)
    if render_only and not any(rows.good(job) is not None for job in jobs):
        raise ValueError(f"{rows.path} has no rows to render: run without --render-only first")
    if not render_only:
        run(jobs, rows, isolated=isolated, say=say)
    shown = [e for e in EXPERIMENTS.values() if e in experiments or all(map(rows.any, e.jobs(scale)))]
    command = f"python -m experiments {'--quick ' if quick else ''}--out {out.name}"
    path = out / PAGE
    path.write_text(page(shown, scale, rows, out / IMAGES, command), encoding="utf-8")
    return path


def page(experiments: Sequence[Experiment], scale: Scale, rows: RawRows, images: Path, command: str) -> str:
    parts = [
        "# The paper's experiments",
        "Erich Schubert and Andreas Lang, “Data Aggregation for Hierarchical Clustering” (in *Machine Learning "
        "under Resource Constraints*, De Gruyter 2023), reproduced with silverbirch. This page is written by "
        f"`{command}` from the raw rows in [{ROWS}]({ROWS}) "
        "next to it (`--render-only` makes it again without measuring); don't edit it.",
        _provenance(jobs_of(experiments, scale), rows),
        f"Data: `uniform`, a cube of side 50 in 5 dimensions; `Gaussian`, {scale.k} Gaussians of deviation 1.5, "
        "centres uniform in a cube of side 100, shares ∝ U(0.05, 1). RMSD is the root of the mean squared distance "
        "of the rows to the mean of their cluster. “CF” are the cluster features of a tree.",
    ]
    for experiment in experiments:
        parts += [f"## {experiment.title}", experiment.section(scale, rows, images)]
    return "\n\n".join(parts) + "\n"


def _provenance(jobs: Sequence[Job], rows: RawRows) -> str:
    found = [row for job in jobs if (row := rows.any(job)) is not None]
    good = [row for row in found if row["status"] == "ok"]
    machines = list(dict.fromkeys(row["machine"] for row in good))
    days = sorted({row["date"] for row in good})
    text = f"Measured on {' and on '.join(machines)}; {' to '.join(dict.fromkeys((days[0], days[-1])))}; one thread."
    text += f" {len(good):,} of {len(jobs):,} rows."
    bad = [row for row in found if row["status"] != "ok"]
    if bad:
        reasons = dict.fromkeys(f"{row['status']}: {row['reason']}" for row in bad)
        text += f" {len(bad)} could not be measured ({'; '.join(reasons)})."
    return text

"""How much of the difference to the published quality is due to the data: other draws and other mixtures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean

from .experiment import DATA, PAPER_LINKAGES, PAPER_NAMES, Experiment, published
from .jobs import FULL, ClusterJob, Job, Scale
from .markdown import deviation, mean, mean_and_deviation, number, table
from .raw_rows import RawRows

SIDES = (30.0, 36.0, 40.0, 50.0, 70.0, 100.0)
MIXTURES = ("Gaussian", "Gaussian, equal shares")
_NEAR = 0.03
EUCLIDEAN = "UPGMA of Euclidean distances"


def draws_of(scale: Scale, data: str, linkage: str) -> list[ClusterJob]:
    job = scale.full(data, "average", metric="euclidean") if linkage == EUCLIDEAN else scale.full(data, linkage)
    return [replace(job, draw=draw) for draw in range(scale.draws)]


def mixture(scale: Scale, name: str, side: float, linkage: str) -> ClusterJob:
    """NN-chain for Ward: it makes the merges of Anderberg, which can be cut in both orders."""
    return scale.full(name, linkage, side=side, algorithm="nn_chain" if linkage == "ward" else "auto")


def jobs(scale: Scale) -> list[Job]:
    other_draws = [
        j for data in DATA for linkage in (*PAPER_LINKAGES, EUCLIDEAN) for j in draws_of(scale, data, linkage)
    ]
    mixtures = [mixture(scale, m, side, linkage) for m in MIXTURES for side in SIDES for linkage in PAPER_LINKAGES]
    return [*other_draws, *mixtures]


def section(scale: Scale, rows: RawRows, images: Path) -> str:
    printed = {
        (line["data"], line["linkage"]): line["rmsd"]
        for line in published("table4")
        if line["algorithm"] == "Anderberg" and line["input"] == FULL and scale.as_published
    }
    lines = []
    for data in DATA:
        for linkage in (*PAPER_LINKAGES, EUCLIDEAN):
            found = rows.values(draws_of(scale, data, linkage), "rmsd")
            known = printed.get((data, "average" if linkage == EUCLIDEAN else linkage), "–")
            limits = f"{min(found):.3f} … {max(found):.3f}" if found else "–"
            spread = deviation(found)
            away = f"{(float(known) - fmean(found)) / spread:+.1f}" if spread and known != "–" else "–"
            name = PAPER_NAMES.get(linkage, linkage)
            lines.append([data, name, mean_and_deviation(found, ".3f"), limits, known, away])
    return "\n\n".join(
        [
            f"Full data, greedy, k = {scale.k}, N = {scale.rows:,}. First, {scale.draws} draws of the same kind of "
            "data (another seed for each), to see what is chance. UPGMA is also shown for plain Euclidean "
            "distances, the other meaning the name has.",
            table(["data", "linkage", "over draws", "range", "published", "deviations away"], lines),
            "Second, mixtures whose clusters overlap more or less: centres uniform in a cube of another side, with "
            "unequal and with equal shares. The last two columns are Ward cut by height and by size.",
            _mixtures(scale, rows),
        ]
    )


def _mixtures(scale: Scale, rows: RawRows) -> str:
    lines, found = [], []
    for name in MIXTURES:
        for side in SIDES:
            values = [mean(rows.values([mixture(scale, name, side, x)], "rmsd")) for x in PAPER_LINKAGES]
            values.append(mean(rows.values([mixture(scale, name, side, "ward")], "rmsd_size_order")))
            found.append(values)
            shares = "equal" if "equal" in name else "unequal"
            lines.append([shares, f"{side:g}", *(number(value, ".3f") for value in values)])
    printed = _published_of_mixture() if scale.as_published else []
    if printed:
        lines.append(["published", "not given", *(f"{value:.2f}" for value in printed)])
    text = table(["shares", "side", "UPGMC", "UPGMA", "Ward", "Ward, cut by size"], lines)
    near = [values for values in found if _all_near(values, printed)]
    if printed and not near:
        text += f"\n\nNone of these has all four published values within {_NEAR:.0%} at once."
    return text


def _published_of_mixture() -> list[float]:
    known = {
        (line["algorithm"], line["linkage"]): float(line["rmsd"])
        for line in published("table4")
        if line["data"] == "Gaussian" and line["input"] == FULL
    }
    return [*(known["Anderberg", linkage] for linkage in PAPER_LINKAGES), known["NN-chain", "ward"]]


def _all_near(values: list[float | None], printed: list[float]) -> bool:
    pairs = zip(values, printed, strict=False)
    return all(value is not None and abs(value / known - 1) <= _NEAR for value, known in pairs)


EXPERIMENT = Experiment("draws", "Which data: other draws and other mixtures", jobs, section)

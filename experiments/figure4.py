"""Figure 4 of the paper: quality against the number of rows, centroid linkage, both data sets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from . import figures
from .experiment import DATA, Experiment
from .figures import Curve
from .jobs import FULL, LINKAGE, ClusterJob, Job, Scale
from .markdown import mean, mean_and_deviation, table
from .raw_rows import RawRows
from .table4 import HEIGHT_ORDER, QUANTITY, SIZE_ORDER

LINKAGE_OF_FIGURE = "centroid"
# (algorithm, input, order of the cut): colour, dashed
CURVES = {
    ("Anderberg", FULL, HEIGHT_ORDER): (figures.BLUE, False),
    ("Anderberg", LINKAGE, HEIGHT_ORDER): (figures.BLUE, True),
    ("NN-chain", FULL, HEIGHT_ORDER): (figures.GREEN, False),
    ("NN-chain", LINKAGE, HEIGHT_ORDER): (figures.GREEN, True),
    ("NN-chain", FULL, SIZE_ORDER): (figures.RED, False),
    ("NN-chain", LINKAGE, SIZE_ORDER): (figures.RED, True),
}


def jobs_of(scale: Scale, data: str, algorithm: str, input_: str, rows: int) -> list[ClusterJob]:
    if algorithm == "NN-chain" and input_ == FULL and rows > scale.most_nn_chain:
        return []
    make = scale.full if input_ == FULL else scale.tree
    name = "nn_chain" if algorithm == "NN-chain" else "auto"
    return replace(make(data, LINKAGE_OF_FIGURE), rows=rows, algorithm=name).over(scale.few_orders)


def jobs(scale: Scale) -> list[Job]:
    return [
        job
        for data in DATA
        for algorithm, input_, _ in CURVES
        for rows in scale.sizes
        for job in jobs_of(scale, data, algorithm, input_, rows)
    ]


def values(scale: Scale, rows: RawRows, data: str, algorithm: str, input_: str, order: str, count: int) -> list[float]:
    return rows.values(jobs_of(scale, data, algorithm, input_, count), QUANTITY[order])


def section(scale: Scale, rows: RawRows, images: Path) -> str:
    figure, axes = figures.new_figure(2)
    figure.subplots_adjust(wspace=0.85)
    parts = [
        f"Centroid linkage (UPGMC), k = {scale.k}, at most {scale.max_leaves:,} features, mean over {scale.few_orders} "
        "orders. “Anderberg” is the greedy result. With at most as many rows as features there is no aggregation, and "
        "features and full data agree, as the paper says. Its “noticeably worse” NN-chain is the cut by size.",
        "![Quality against the number of rows](images/reproduction-figure4.png)",
    ]
    for axis, data in zip(axes, DATA, strict=True):
        curves = []
        lines = {n: [f"{n:,}"] for n in scale.sizes}
        for line, (colour, dashed) in CURVES.items():
            points = {n: values(scale, rows, data, *line, n) for n in scale.sizes}
            means = {n: m for n, found in points.items() if (m := mean(found)) is not None}
            curves.append(Curve(_label(*line), colour, list(means), list(means.values()), dashed))
            for n, found in points.items():
                lines[n].append(mean_and_deviation(found, ".3f"))
        figures.draw(axis, curves, title=data, x="rows", y=f"RMSD at k = {scale.k}", log_y=False)
        parts += [f"**{data}**, RMSD:", table(["rows", *(_label(*line) for line in CURVES)], lines.values())]
    figures.save(figure, images / "reproduction-figure4.png")
    return "\n\n".join(parts)


def _label(algorithm: str, input_: str, order: str) -> str:
    return f"{algorithm}, {input_}" + (f", cut {order}" if algorithm == "NN-chain" else "")


EXPERIMENT = Experiment("figure4", "Figure 4: quality against the number of rows", jobs, section)

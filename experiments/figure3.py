"""Figure 3 of the paper: runtime against the number of rows, centroid and Ward linkage, uniform data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from . import figures
from .experiment import PAPER_NAMES, Experiment
from .figures import Curve
from .jobs import AGGREGATION, CENTERS, FULL, LINKAGE, ClusterJob, Job, Scale
from .markdown import mean, number, seconds, table
from .raw_rows import RawRows
from .table3 import ALGORITHMS

DATA = "uniform"
LINKAGES = ("centroid", "ward")
# (algorithm, input): colour, dashed
CURVES = {
    ("Anderberg", FULL): (figures.RED, False),
    ("NN-chain", FULL): (figures.ORANGE, False),
    ("auto", FULL): (figures.BLUE, False),
    ("Anderberg", CENTERS): (figures.PINK, True),
    ("Anderberg", LINKAGE): (figures.RED, True),
    ("NN-chain", AGGREGATION): (figures.GREY, True),
    ("NN-chain", LINKAGE): (figures.ORANGE, True),
    ("auto", LINKAGE): (figures.BLUE, True),
}


def sizes_of(scale: Scale, algorithm: str, input_: str) -> list[int]:
    """The numbers of rows. Full data are limited by the matrix for Anderberg, by quadratic time for NN-chain."""
    most = {"Anderberg": scale.most_anderberg, "NN-chain": scale.most_nn_chain, "auto": scale.most_auto}[algorithm]
    return [rows for rows in scale.sizes if input_ != FULL or rows <= most]


def jobs_of(scale: Scale, linkage: str, algorithm: str, input_: str, rows: int) -> list[ClusterJob]:
    make = scale.full if input_ == FULL else scale.tree
    job = replace(make(DATA, linkage), input=input_, algorithm=ALGORITHMS[algorithm], rows=rows)
    return job.over(1 if algorithm == "Anderberg" else scale.few_orders)


def jobs(scale: Scale) -> list[Job]:
    return [
        job
        for linkage in LINKAGES
        for line in CURVES
        for rows in sizes_of(scale, *line)
        for job in jobs_of(scale, linkage, *line, rows)
    ]


def section(scale: Scale, rows: RawRows, images: Path) -> str:
    figure, axes = figures.new_figure(2)
    figure.subplots_adjust(wspace=0.75)
    parts = [
        "Uniform data, one thread, CPU seconds from the rows to the dendrogram. Solid: full data, as far as each "
        f"goes ({scale.most_anderberg:,} rows by Anderberg's algorithm with its matrix of all distances, "
        f"{scale.most_nn_chain:,} by NN-chain in quadratic time). Dashed: at most {scale.max_leaves:,} cluster "
        "features. The paper's claim is that the dashed lines are flat; its own figure has no numbers to compare "
        "with.",
        "![Runtime against the number of rows](images/reproduction-figure3.png)",
    ]
    for axis, linkage in zip(axes, LINKAGES, strict=True):
        curves = [_curve(scale, rows, linkage, *line) for line in CURVES]
        figures.draw(axis, curves, title=PAPER_NAMES[linkage], x="rows", y="CPU seconds")
        parts += [
            f"**{PAPER_NAMES[linkage]}**, CPU seconds:",
            _table(scale, rows, linkage),
            _growth(scale, rows, linkage),
        ]
    figures.save(figure, images / "reproduction-figure3.png")
    return "\n\n".join(part for part in parts if part)


def _points(scale: Scale, rows: RawRows, linkage: str, algorithm: str, input_: str) -> dict[int, float]:
    found = {n: mean(rows.values(jobs_of(scale, linkage, algorithm, input_, n), "cpu")) for n in scale.sizes}
    return {n: value for n, value in found.items() if value is not None and n in sizes_of(scale, algorithm, input_)}


def _curve(scale: Scale, rows: RawRows, linkage: str, algorithm: str, input_: str) -> Curve:
    colour, dashed = CURVES[algorithm, input_]
    points = _points(scale, rows, linkage, algorithm, input_)
    return Curve(f"{algorithm}, {input_}", colour, list(points), list(points.values()), dashed)


def _growth(scale: Scale, rows: RawRows, linkage: str) -> str:
    """A sentence on how time grows with N: only the tree reads every row."""
    aggregated = [n for n in scale.sizes if n > scale.max_leaves]
    first, last = aggregated[0], aggregated[-1]
    grown = []
    for algorithm, input_ in (line for line in CURVES if line[1] != FULL):
        points = _points(scale, rows, linkage, algorithm, input_)
        tree = mean(rows.values(jobs_of(scale, linkage, algorithm, input_, last), "cpu_aggregate"))
        if first in points and last in points and tree is not None:
            grown.append(f"{algorithm}, {input_} {points[last] / points[first]:.1f} (tree {tree / points[last]:.0%})")
    if not grown:
        return ""
    return (
        f"From {first:,} to {last:,} rows, {last / first:.0f} times as many, the seconds grow by these factors (in "
        f"brackets the share of the tree at the end): {'; '.join(grown)}."
    )


def _table(scale: Scale, rows: RawRows, linkage: str) -> str:
    head = ["rows", *(f"{algorithm}, {input_}" for algorithm, input_ in CURVES), "features"]
    lines = []
    for n in scale.sizes:
        cells = [seconds(_points(scale, rows, linkage, *line).get(n)) for line in CURVES]
        features = mean(rows.values(jobs_of(scale, linkage, "auto", LINKAGE, n), "features"))
        lines.append([f"{n:,}", *cells, number(features, ",.0f")])
    return table(head, lines)


EXPERIMENT = Experiment("figure3", "Figure 3: runtime against the number of rows", jobs, section)

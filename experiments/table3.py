"""Table 3 of the paper: how long each algorithm takes, and how many cluster features there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from .experiment import DATA, Experiment, published
from .jobs import AGGREGATION, CENTERS, FULL, LINKAGE, ClusterJob, Job, Scale
from .markdown import mean, number, ratio, seconds, table
from .raw_rows import RawRows

# The paper does not say which linkage its table 3 is of.
LINKAGE_OF_TABLE = "ward"
LINES = (
    ("Anderberg", FULL),
    ("Anderberg", CENTERS),
    ("Anderberg", LINKAGE),
    ("NN-chain", FULL),
    ("NN-chain", AGGREGATION),
    ("NN-chain", LINKAGE),
    ("auto", FULL),
    ("auto", LINKAGE),
)
ALGORITHMS = {"Anderberg": "anderberg", "NN-chain": "nn_chain", "auto": "auto"}


def job(scale: Scale, data: str, algorithm: str, input_: str) -> ClusterJob:
    make = scale.full if input_ == FULL else scale.tree
    return replace(make(data, LINKAGE_OF_TABLE), input=input_, algorithm=ALGORITHMS[algorithm])


def orders_of(scale: Scale, algorithm: str, input_: str) -> int:
    """The number of orders: fewer for slower algorithms; the matrix of all rows takes 10 GB and is computed once."""
    if algorithm == "Anderberg":
        return 1 if input_ == FULL else scale.few_orders
    return scale.orders


def jobs_of(scale: Scale, data: str, algorithm: str, input_: str) -> list[ClusterJob]:
    return job(scale, data, algorithm, input_).over(orders_of(scale, algorithm, input_))


def jobs(scale: Scale) -> list[Job]:
    return [one for data in DATA for line in LINES for one in jobs_of(scale, data, *line)]


def section(scale: Scale, rows: RawRows, images: Path) -> str:
    parts = [
        f"Ward linkage of N = {scale.rows:,} rows in 5 dimensions, one thread, at most {scale.max_leaves:,} leaves; "
        "CPU seconds from the rows to the dendrogram, the tree included. The published seconds are those of Java "
        "code on another machine, so what can be compared is the **gain** within a column: the seconds of the same "
        "algorithm on full data over the seconds of the line. `auto` is what silverbirch does unless told otherwise."
    ]
    for data in DATA:
        parts += [f"**{data}**", _table(scale, rows, data), _expected_gain(scale, rows, data)]
    return "\n\n".join(part for part in parts if part)


def _expected_gain(scale: Scale, rows: RawRows, data: str) -> str:
    """The gain that follows from the number of features, which the tree chooses, as in the paper."""
    features = mean(rows.values(jobs_of(scale, data, "NN-chain", LINKAGE), "features"))
    known = [line["features"] for line in published("table3") if line["data"] == data and line["features"]]
    if features is None or not scale.as_published:
        return ""
    printed = float(known[0])
    ours, theirs = ((scale.rows / count) ** 2 for count in (features, printed))
    text = (
        f"In quadratic time the gain to expect is (N / features)²: {ours:.1f} with the features there are here, "
        f"{theirs:.1f} with the published number. How many of the {scale.max_leaves:,} allowed features a tree keeps "
        "depends on how far it raises its threshold when it is full"
    )
    return text + (
        "; this tree keeps more than the published one, which serves quality and costs time."
        if features > printed
        else "."
    )


def _table(scale: Scale, rows: RawRows, data: str) -> str:
    printed = {
        (line["algorithm"], line["input"]): line
        for line in published("table3")
        if line["data"] == data and scale.as_published
    }
    head = [
        "algorithm",
        "input",
        "runs",
        "seconds",
        "published",
        "gain",
        "published",
        "features",
        "published",
        "peak MB",
    ]
    lines = []
    for algorithm, input_ in LINES:
        measured = jobs_of(scale, data, algorithm, input_)
        cpu = rows.values(measured, "cpu")
        full = mean(rows.values(jobs_of(scale, data, algorithm, FULL), "cpu"))
        known = printed.get((algorithm, input_), {})
        paper, paper_full = (float(t) if t else None for t in (known.get("seconds"), _seconds(printed, algorithm)))
        features = None if input_ == FULL else mean(rows.values(measured, "features"))
        lines.append(
            [
                algorithm,
                input_,
                str(len(cpu)),
                seconds(mean(cpu)),
                seconds(paper),
                ratio(full, mean(cpu), ".1f"),
                ratio(paper_full, paper, ".1f"),
                number(features, ",.1f"),
                number(float(known["features"]) if known.get("features") else None, ",.1f"),
                number(max(rows.values(measured, "peak_mb"), default=None), ",.0f"),
            ]
        )
    return table(head, lines)


def _seconds(printed: dict[tuple[str, str], dict[str, str]], algorithm: str) -> str | None:
    return printed.get((algorithm, FULL), {}).get("seconds")


EXPERIMENT = Experiment("table3", "Table 3: runtime and number of cluster features", jobs, section)

"""The generated parts of docs/scale.md."""

from __future__ import annotations

import statistics
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks import markdown, raw_rows, runner
from benchmarks.raw_rows import Row
from benchmarks.studies import merge_quality
from silverbirch.engines.job import FAN_IN

from . import model
from .cluster import SMALL
from .costs import DATA, median_of
from .model import Costs

PAGE = runner.ROOT / "docs" / "scale.md"
GOAL_ROWS, GOAL_WORKERS, GOAL_SECONDS = 100_000_000_000, 1_000, 600
LARGE = 100_000_000
GIGABIT = 1e9 / 8  # bytes a second

# What is measured in one process, for each kind of data: the name of the cost, what it is, and its unit.
ALONE = [
    ("read", "read a row of Parquet", "ns"),
    ("aggregate", "read a row and insert it into the tree", "ns"),
    ("tree", "the tree alone", "ns"),
    ("count", "read a row and count it in its nearest feature", "ns"),
    ("label", "read a row and label it", "ns"),
    ("set bytes", "bytes that a partition sends", "MB"),
    ("counts bytes", "bytes that it sends in the second pass", "MB"),
    ("pack set", "pack them", "ms"),
    ("unpack set", "unpack and check them", "ms"),
    ("merge", f"merge {FAN_IN} sets of features, with unpacking and packing", "ms"),
    ("merge counts", f"the same in the second pass: {FAN_IN} sets of counts", "ms"),
    ("take", "make the features the leaves of a model", "ms"),
    ("linkage", "Ward linkage of the features and a cut", "ms"),
    ("model bytes", "bytes of the model that is sent for labels", "MB"),
    ("counted model bytes", "bytes of the model that is sent for the second pass", "MB"),
    ("pack model", "pack the model", "ms"),
    ("unpack model", "unpack and check it", "ms"),
    ("index", "build the index of its features", "ms"),
]
UNITS = {"ns": 1e9, "ms": 1e3, "MB": 1e-6}


def write(rows: list[Row], quality: list[Row] | None = None, page: Path = PAGE) -> None:
    for name, text in sections(rows, quality).items():
        markdown.put_between(page, *marks(name), text)


def marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def sections(rows: list[Row], quality: list[Row] | None = None) -> dict[str, str]:
    """Each generated part of the page by its name."""
    measured, merges = last_run(rows, "measure"), last_run(rows, "merges")
    costs = Costs.of(measured)
    return {
        "measured": f"{alone(measured)}\n\n{between(measured, costs)}\n\n{place_of(measured)}",
        "whole runs": "\n\n".join(
            [whole_runs(measured), load_of_whole_runs(measured), whole_runs_by_model(measured, costs)]
        ),
        "symbols": symbols(costs),
        "workers": workers(costs),
        "goal": goal(costs),
        "limits": limits(costs),
        "merges": checked_merges(merges, measured),
        "quality": quality_table(quality or raw_rows.read(merge_quality.RESULTS)),
        "second pass": second_pass(measured),
    }


def last_run(rows: list[Row], command: str) -> list[Row]:
    started = max((row["started"] for row in rows if row["command"] == command), default=None)
    if started is None:
        raise SystemExit(f"no raw rows: run `python -m benchmarks.studies.scale {command}`")
    found = [row for row in rows if row["command"] == command and row["started"] == started]
    if not all(row["as_a_worker"] for row in found):
        raise SystemExit(
            f"the rows are not of the environment of a worker: run `python -m benchmarks.studies.scale {command}`"
        )
    return found


def place_of(rows: list[Row]) -> str:
    """Where the rows were measured, and the load, in which the processes of the study count, too."""
    place, loads = rows[-1]["machine"], [row["load"] for row in rows]
    return (
        f"Measured by `python -m benchmarks.studies.scale {rows[-1]['command']}` on {place['cpu']}, "
        f"{place['cores']} cores, {place['system']}, Python {place['python']}, on {rows[-1]['started'][:10]}. "
        f"The load was {loads[0]:.1f} at the start, {statistics.median(loads):.1f} in the median and at most "
        f"{max(loads):.1f}, with the processes of the study."
    )


# -- what was measured


def alone(rows: list[Row]) -> str:
    present = data_of(rows)
    lines = []
    for cost, what, unit in ALONE:
        values = [UNITS[unit] * median_of(rows, cost, data) for data in present]
        lines.append([what, *(f"{value:,.3g} {unit}" if value < 100 else f"{value:,.0f} {unit}" for value in values)])
    return markdown.table(["in one process", *present], lines)


def data_of(rows: list[Row]) -> list[str]:
    return [data for data in DATA if any(row.get("data") == data for row in rows)]


def between(rows: list[Row], costs: Costs) -> str:
    (found,) = [row for row in rows if row.get("cost") == "broadcast"]
    own = statistics.median(row["cpu"] / row["partitions"] for row in model.largest_graph(rows))
    lines = [
        ["from a task to the next one on another worker", f"{1e3 * costs.next_task:.1f} ms"],
        ["the same on one worker", f"{1e3 * model.in_chain(rows, 'stays', SMALL):.1f} ms"],
        ["bytes a second between two workers", f"{costs.bytes_a_second / 1e6:,.0f} MB/s"],
        ["a partition without work, in each pass, with two workers", f"{1e3 * costs.partition:.2f} ms"],
        ["of this, CPU time of the scheduler and the client", f"{1e3 * own:.2f} ms"],
        [
            f"what {found['workers']} workers need, sent once to each",
            f"{found['most_copies_of_one']} of {found['copies']} copies from one worker",
        ],
    ]
    return markdown.table(["between processes, by Dask on loopback", ""], lines)


def whole_runs(rows: list[Row]) -> str:
    lines = []
    for cost, refine in (("fit", 0), ("fit", 1), ("predict", 1)):
        runs = {n: [row for row in rows if row.get("cost") == cost and chosen(row, n, refine)] for n in (1, 2)}
        seconds = {n: statistics.median(row["seconds"] for row in runs[n]) for n in runs}
        speeds = [f"{runs[n][0]['rows'] / seconds[n] / 1e6:.2f} million" for n in runs]
        cells = [f"`fit`, refine={refine}" if cost == "fit" else "`predict`", *speeds, f"{seconds[1] / seconds[2]:.2f}"]
        if cost == "fit":
            shares = [statistics.median(1 - row["tree_seconds"] / n / row["seconds"] for row in runs[n]) for n in runs]
            cells += [f"{share:.0%}" for share in shares]
        lines.append(cells if cost == "fit" else [*cells, "–", "–"])
    head = ["", "rows a second, 1 worker", "2 workers", "ratio", "not building trees, 1 worker", "2 workers"]
    return markdown.table(head, lines)


def chosen(row: Row, workers: int, refine: int) -> bool:
    return bool(row["workers"] == workers and row["refine"] == refine)


def load_of_whole_runs(rows: list[Row]) -> str:
    runs = [row for row in rows if row.get("cost") in ("fit", "predict")]
    one, two = (statistics.median(row["load"] for row in runs if row["workers"] == count) for count in (1, 2))
    text = f"The load was {one:.1f} in the median with one worker and {two:.1f} with two."
    cores = runs[0]["machine"]["cores"]
    if max(one, two) <= cores:
        return text
    waited = f"There are {cores} cores, so processes waited for one"
    return f"{text} {waited}, and **these ratios are not those of a quiet machine**."


def whole_runs_by_model(rows: list[Row], costs: Costs) -> str:
    said = []
    for name, cost, terms_of in (("`fit` with refine=1", "fit", model.fit), ("`predict`", "predict", model.label)):
        for count in (1, 2):
            runs = [row for row in rows if row.get("cost") == cost and chosen(row, count, 1)]
            found = statistics.median(row["seconds"] for row in runs)
            expected = model.total(terms_of(costs, count, runs[0]["rows"] // count))
            said.append(f"{name} on {count}: {expected:.1f} s by the model, {found:.1f} s measured")
    return f"The model below against these runs, by the number of workers: {'; '.join(said)}."


# -- the model


def symbols(costs: Costs) -> str:
    lines = [
        ["a", "aggregate a row", f"{1e9 * costs.aggregate:.0f} ns"],
        ["c", "count a row", f"{1e9 * costs.count:.0f} ns"],
        ["l", "label a row", f"{1e9 * costs.label:.0f} ns"],
        [
            "m, m₂",
            "merge 8 sets of features; of counts",
            f"{1e3 * costs.merge:.0f} ms, {1e3 * costs.merge_counts:.0f} ms",
        ],
        ["s, s₂", "bytes of a set; of counts", f"{costs.set_bytes / 1e6:.2f} MB, {costs.counts_bytes / 1e6:.2f} MB"],
        [
            "b, b₂",
            "bytes of the model for labels; for the second pass",
            f"{costs.model_bytes / 1e6:.2f} MB, {costs.counted_model_bytes / 1e6:.2f} MB",
        ],
        ["o", "pack the model, unpack it and build its index", f"{1e3 * (costs.pack_model + costs.open_model):.0f} ms"],
        ["z", "the client: leaves of the model and linkage", f"{1e3 * (costs.take + costs.linkage):.0f} ms"],
        ["λ", "from a task to the next one on another worker", f"{1e3 * costs.next_task:.1f} ms"],
        ["B", "bytes a second", f"{costs.bytes_a_second / 1e6:,.0f} MB/s"],
        ["σ", "a partition without work in a pass", f"{1e3 * costs.partition:.2f} ms"],
    ]
    return markdown.table(["symbol", "what", "measured"], lines)


def workers(costs: Costs) -> str:
    alone = model.total(model.fit(costs, 1)), model.total(model.label(costs, 1))
    lines = []
    for count in model.WORKERS:
        terms, labels = model.fit(costs, count), model.label(costs, count)
        whole, labelled = model.total(terms), model.total(labels)
        lines.append(
            [
                f"{count:,}",
                f"{count * model.PARTITION:,}",
                *(f"{seconds:.1f}" if seconds >= 0.05 else f"{seconds:.2f}" for seconds in terms.values()),
                f"**{whole:.1f}**",
                f"{count * model.PARTITION / whole / 1e6:,.1f} million",
                f"{alone[0] / whole:.0%}",
                f"**{labelled:.1f}**",
                f"{alone[1] / labelled:.0%}",
            ]
        )
    head = ["workers", "rows", *model.fit(costs, 1), "**fit, s**", "rows a second", "efficiency"]
    return markdown.table([*head, "**labels, s**", "efficiency"], lines)


def goal(costs: Costs) -> str:
    rows = GOAL_ROWS // GOAL_WORKERS
    lines = []
    for partition in (model.PARTITION, LARGE):
        for name, known in (("as measured, on loopback", costs), ("1 Gbit/s: arithmetic", at_a_gigabit(costs))):
            fit = model.total(model.fit(known, GOAL_WORKERS, rows, partition))
            label = model.total(model.label(known, GOAL_WORKERS, rows, partition))
            lines.append(
                [f"{partition / 1e6:.0f} million", name, f"**{fit:.0f} s**", f"{label:.0f} s", f"{fit + label:.0f} s"]
            )
    worst = max(model.total(model.fit(costs, GOAL_WORKERS, rows, partition)) for partition in (model.PARTITION, LARGE))
    verdict = "met" if worst < GOAL_SECONDS else "**missed**"
    table = markdown.table(["rows of a partition", "transfers", "`fit`", "labels", "both"], lines)
    return f"{table}\n\nThe goal for `fit` is ten minutes: it is {verdict} by the model, with {worst:.0f} s."


def at_a_gigabit(costs: Costs) -> Costs:
    return replace(costs, bytes_a_second=min(costs.bytes_a_second, GIGABIT))


def limits(costs: Costs) -> str:
    lines = []
    for rows, partition in ((model.PARTITION, model.PARTITION), (LARGE, model.PARTITION), (LARGE, LARGE)):
        for name, terms_of in (("`fit`", model.fit), ("labels", model.label)):
            at = partial(terms_of, costs, rows=rows, partition=partition)
            cells = [name, f"{rows / 1e6:.0f} million", f"{partition / 1e6:.0f} million"]
            for share in (0.1, 0.5):
                count = model.workers_at(share, at)
                largest = None if count is None else largest_overhead(at(count))
                cells.append("none up to a million" if count is None else f"{_round(count)}: {largest}")
            lines.append(cells)
    head = ["", "rows a worker", "rows a partition", "10 % at so many workers: largest term", "50 %"]
    return markdown.table(head, lines)


def largest_overhead(terms: model.Terms) -> str:
    return max((name for name in terms if name not in model.WORK), key=lambda name: terms[name])


def _round(count: int) -> str:
    return f"{int(float(f'{count:.2g}')):,}"


# -- the check of the merges


def checked_merges(rows: list[Row], measured: list[Row]) -> str:
    *rounds, result = rows
    one = median_of(measured, "merge", "mixture") / FAN_IN  # of a set
    lines = []
    for row in rounds:
        expected = [one * count for count in row["sets"]]
        lines.append([str(row["round"]), f"{len(row['sets'])} of ≤ {max(row['sets'])}", *_four(expected, row["cpu"])])
    expected = [one * sum(row["sets"]) for row in rounds], [one * max(row["sets"]) for row in rounds]
    found = [sum(row["cpu"]) for row in rounds], [max(row["cpu"]) for row in rounds]
    total = [f"{sum(values):.2f}" for pair in zip(expected, found, strict=True) for values in pair]
    lines.append(["all", str(sum(len(row["sets"]) for row in rounds)), *total])
    head = ["round", "merges", "CPU seconds: model", "measured", "longest chain: model", "measured"]
    rows_in = result["sets"] * result["set_rows"]
    exact = (
        "exactly that of the rows"
        if result["weight"] == rows_in
        else f"{result['weight']:,.0f}, **not that of the rows**"
    )
    text = (
        f"{result['sets']:,} sets of {result['features']:,.0f} features on average, each of a tree of "
        f"{result['set_rows']:,} rows of the mixture. The weight of the result is {exact}: {rows_in:,}. Its rmsd at "
        f"500 clusters is {result['rmsd']:.4f}. That of one tree of {result['sample_rows']:,} rows is "
        f"{result['rmsd_of_one_tree']:.4f}, and that of the mixture itself {result['rmsd_of_generator']:.4f}."
    )
    return f"{markdown.table(head, lines)}\n\n{text}\n\n{place_of(rows)}"


def _four(expected: list[float], found: list[float]) -> list[str]:
    return [f"{value:.2f}" for value in (sum(expected), sum(found), max(expected), max(found))]


# -- quality


def quality_table(rows: list[Row]) -> str:
    """A line for each case, with a number for each number of partitions."""
    found = merge_quality.compared(rows)
    recipes = {
        f"insert:{FAN_IN}": "set after set",
        f"shuffled:{FAN_IN}": "shuffled",
        f"shuffled:{FAN_IN}+refined": "shuffled, refined",
    }
    known = [case for case in found if case[4] > 1 and case[5] in recipes]
    partitions = sorted({case[4] for case in known})
    lines = []
    for case in sorted({case[:4] for case in known}):
        data, _, leaves, order = case
        cells = [data, f"{leaves:,}", order]
        for number in (0, 1):
            for recipe in recipes:
                values = [found.get((*case, count, recipe)) for count in partitions]
                cells.append(" ".join("–" if value is None else percent(value[number]) for value in values))
        lines.append(cells)
    head = ["data", "leaves", "order", *(f"({name}) {recipe}" for name in "ab" for recipe in recipes.values())]
    counts = f"{', '.join(map(str, partitions[:-1]))} and {partitions[-1]}"
    return (
        f"{markdown.table(head, lines)}\n\nThe numbers of a cell are those of {counts} partitions. {single_draws(rows)}"
    )


def single_draws(rows: list[Row]) -> str:
    """How far single draws of the default are from one tree: means over seeds hide them."""
    recipe = f"shuffled:{FAN_IN}+refined"
    seeds = sorted({row["seed"] for row in rows})
    draws = [
        found
        for seed in seeds
        for case, found in merge_quality.compared([row for row in rows if row["seed"] == seed]).items()
        if case[5] == recipe
    ]
    above = [sum(draw[number] > 1 for draw in draws) for number in (0, 1)]
    most = [percent(max(draw[number] for draw in draws)) for number in (0, 1)]
    one = [found for case, found in merge_quality.compared(rows).items() if case[3:] == ("sorted", 1, "one")]
    by_order = [percent(max(found[number] for found in one)) for number in (0, 1)]
    return (
        f"Of {len(draws)} single draws of the default, {above[0]} are more than 1 % above one tree in (a), at most "
        f"{most[0]} %, and {above[1]} in (b), at most {most[1]} %. One tree of all rows depends on their order, too: "
        f"of sorted rows it is up to {by_order[0]} % in (a) and {by_order[1]} % in (b) above that of random order, as "
        "means over the seeds."
    )


def percent(value: float) -> str:
    text = f"{value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def second_pass(rows: list[Row]) -> str:
    ratios = [median_of(rows, "count", data) / median_of(rows, "aggregate", data) for data in data_of(rows)]
    said = " and ".join(f"{ratio:.1f} times ({data})" for ratio, data in zip(ratios, data_of(rows), strict=True))
    return f"The second pass reads all rows again. It takes {said} the time of the first one."

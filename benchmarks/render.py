"""Writes docs/benchmarks.md, its figure, and the table in the README between <!-- benchmark --> marks.

notes.md holds text written by hand, such as why a target was missed; it is put below the targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from . import ablations, cores, figure, markdown, raw_rows
from .jobs import CORES, SUITES, WITH_LEAVES, Job, Suite, suite_named
from .markdown import Cells, table
from .summary import Row, Summary, exponent, ratio, read_rows, same_case, select, summarize
from .targets import Verdict, verdicts

BEGIN, END = "<!-- benchmark -->", "<!-- /benchmark -->"
NOTES = Path(__file__).parent / "notes.md"


def render(results: Path, root: Path) -> None:
    rows = read_rows(results)
    if not rows:
        raise SystemExit(f"no raw rows in {results}: run `python -m benchmarks run` first")
    summaries = summarize(rows)
    (root / "docs" / "images").mkdir(parents=True, exist_ok=True)
    figure.draw(summaries, root / "docs" / "images" / "benchmark.png")
    ablated = results / "ablations.jsonl"
    whole = page(rows, summaries, raw_rows.read(ablated) if ablated.exists() else [])
    (root / "docs" / "benchmarks.md").write_text(whole, encoding="utf-8")
    markdown.put_between(root / "README.md", BEGIN, END, headline(rows, summaries))
    print(f"written: {root / 'docs' / 'benchmarks.md'}, docs/images/benchmark.png, the table in README.md")


# -- the page


def page(rows: Sequence[Row], summaries: Sequence[Summary], ablation_rows: Sequence[Row]) -> str:
    elsewhere = [s for s in summaries if machine_of(s.rows) != machine_of(rows)]
    notes = NOTES.read_text(encoding="utf-8") if NOTES.exists() else ""
    parts = [
        "# Benchmarks",
        "This page is written by `make bench` (`python -m benchmarks run`, then `python -m benchmarks render`) from "
        "the raw rows in `benchmarks/results/`; don't edit it.",
        machine_text([row for row in rows if machine_of([row]) == machine_of(rows)]) + absent(rows),
        HOW,
        "![Time and memory against the number of points](images/benchmark.png)",
        "## Targets",
        targets_table(verdicts(summaries)),
        notes.strip(),
        "## Where silverbirch is slower",
        losses(summaries),
        *cores.page_part(summaries, measured_on(elsewhere, CORES)),
        *(
            part
            for suite in SUITES
            if suite.name not in CORES
            for part in suite_part(suite, summaries, measured_on(elsewhere, [suite.name]))
        ),
        "## Exponents",
        "The slope of a straight line through the medians in log-log scale, over three sizes or more, without what is "
        "below 1 ms or 1 MB.",
        exponents(summaries),
        *ablations.page_part(ablation_rows),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


HOW = """Each measurement is a process of its own that makes the data from a seed, loads the library, calls it once
on 200 rows, and is measured from then on. Repeat 1 of all jobs of a suite comes before repeat 2. What took longer
than 10 s is not repeated; work shorter than 0.2 s is looped within its process. All run on one thread except where
threads are named. `wall` and `cpu` are the medians in seconds, with the least and the greatest wall time; `MB` is the
peak of resident memory beyond what the process had with its data and libraries. `×` is the CPU time (with threads:
the wall time) over silverbirch's: below 1, silverbirch is the slower one. Each peer is asked up to a number of rows
it can handle in time and memory (`python -m benchmarks list`).

Data: `uniform`, a cube of side 100; `mixture`, 500 Gaussians of deviation 1.5 in it with unequal shares. `rmsd` is
the root of the mean squared distance to the mean of a row's cluster at the cut into 500 clusters (or a tenth of the
rows); `heights` is the largest relative difference of sorted heights to those of the first library that ran the case.
betula-cluster gives no heights and no dendrogram, and labels rows by a walk down its tree."""


def machine_text(rows: Sequence[Row]) -> str:
    """One line for each machine and commit in the rows."""
    lines = {}
    for row in rows:
        m = row["machine"]
        versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
        gpu = f"{m['gpu']}, " if m.get("gpu") else ""
        lines[
            f"{m['cpu']}, {m['cores']} cores, {gpu}{m['instruction_set']} kernels, {m['system']}; "
            f"Python {m['python']}, numpy {m['numpy']}, {versions}; commit {m['commit']}; {row['started'][:10]}"
        ] = None
    load = [row["load"] for row in rows]
    busy = f"Load average when a run began: {median(load):.1f} in the median, {max(load):.1f} at most."
    return "Measured on: " + "\nand: ".join(lines) + f".\n{busy}"


def machine_of(rows: Sequence[Row]) -> tuple[str, int]:
    """The processor and the cores of the first row."""
    return rows[0]["machine"]["cpu"], rows[0]["machine"]["cores"]


def measured_on(elsewhere: Sequence[Summary], suites: Sequence[str]) -> str:
    """The machines of suites that did not run on the machine named at the top of the page."""
    rows = [row for s in elsewhere if s.job.suite in suites for row in s.rows]
    return machine_text(rows) if rows else ""


def absent(rows: Sequence[Row]) -> str:
    """The peers that were not installed."""
    measured = {(row["suite"], row["implementation"]) for row in rows}
    suites = {suite for suite, _ in measured}
    peers = {peer for suite in SUITES if suite.name in suites for peer in suite.peers}
    missing = sorted(peer for peer in peers if not any((suite, peer) in measured for suite in suites))
    return f" Not installed and left out: {', '.join(missing)}." if missing else ""


def targets_table(found: Iterable[Verdict]) -> str:
    state = {True: "met", False: "**missed**", None: "not measured"}
    return table(("work", "at least", "reached", ""), [(v.work, v.goal, v.reached, state[v.met]) for v in found])


def losses(summaries: Sequence[Summary]) -> str:
    lines = []
    for s in summaries:
        times = ratio(s, same_case(summaries, s.job, "silverbirch"))
        if times is not None and times < 1:
            what = f"{suite_named(s.job.suite).title}, {case_text(s)}"
            lines.append(f"- {what}: {s.job.implementation} takes {times:.2g} of silverbirch's time")
    return "\n".join(lines) or "Nowhere in this run."


def suite_part(suite: Suite, summaries: Sequence[Summary], measured_on: str) -> list[str]:
    chosen = select(summaries, suite=suite.name)
    if not chosen:
        return []
    extra = [(name, metric, form) for name, metric, form in EXTRA if any(s.median(metric) is not None for s in chosen)]
    heights = any(s.height_difference is not None for s in chosen)
    head = ["data", "library", "runs", "wall", "cpu", "MB", "×", *(name for name, _, _ in extra)]
    lines = [suite_line(s, chosen, extra) + ([difference(s)] if heights else []) for s in chosen]
    missing = f"Not measured there: {', '.join(suite.not_measured)}." if suite.not_measured else ""
    return [f"## {suite.title}", measured_on, table(head + (["heights"] if heights else []), lines), missing]


EXTRA = (
    ("GB on the GPU", "gpu_gb", ".1f"),
    ("TFLOP/s", "teraflops", ",.0f"),
    ("leaves", "leaves", ",.0f"),
    ("leaf SSE", "leaf_sse", ".4g"),
    ("nearest MSE", "nearest_mse", ".4g"),
    ("exact", "exact_share", ".1%"),
    ("rmsd", "rmsd", ".4f"),
)


def suite_line(s: Summary, summaries: Sequence[Summary], extra: Sequence[tuple[str, str, str]]) -> list[str]:
    name = s.job.implementation if s.job.threads == 1 else f"{s.job.implementation}, {s.job.threads} threads"
    if s.failure:
        return [case_text(s), name, str(len(s.rows)), s.failure, "", "", "", *("" for _ in extra)]
    least, most = s.spread("wall")
    times = ratio(s, same_case(summaries, s.job, "silverbirch"))
    wall = seconds(s.median("wall"))
    return [
        case_text(s),
        f"**{name}**" if s.job.implementation == "silverbirch" else name,
        str(len(s.good)),
        wall if len(s.good) == 1 else f"{wall} ({seconds(least)}–{seconds(most)})",
        seconds(s.median("cpu")),
        f"{s.median('beyond_mb'):,.0f}",
        "" if times is None or s.job.implementation == "silverbirch" else f"{times:.3g}",
        *("" if (value := s.median(metric)) is None else format(value, form) for _, metric, form in extra),
    ]


def difference(s: Summary) -> str:
    return "" if s.height_difference is None else f"{s.height_difference:.0e}"


def case_text(s: Summary) -> str:
    job = s.job
    what = job.task if job.suite in ("threads", "scaling") or job.task in ("first call", "product") else ""
    if job.device != "cpu" and not what:
        what = job.method
    text = f"{what + ', ' if what else ''}{job.data} {job.rows:,} × {job.columns}"
    return text + (f", ≤ {job.max_leaves:,} leaves" if job.task in WITH_LEAVES else "")


# -- scaling


def exponents(summaries: Sequence[Summary]) -> str:
    """A table of the exponents of all series of at least three summaries that differ in one size only."""
    lines = []
    for size, name in (("rows", "N"), ("max_leaves", "M"), ("columns", "d")):
        for series in series_over(size, summaries):
            sizes = [getattr(s.job, size) for s in series]
            slope = exponent(sizes, [s.seconds for s in series])
            large = [s for s in series if s.median("beyond_mb") >= 1]
            memory_slope = exponent([getattr(s.job, size) for s in large], [s.median("beyond_mb") for s in large])
            job = series[0].job
            work = f"{job.method} linkage" if job.task == "linkage" else job.task
            fixed = [f"{label} = {getattr(job, key):,}" for key, label in FIXED if key != size and applies(key, job)]
            lines.append(
                (
                    job.implementation,
                    f"{work}, {job.data}, {', '.join(fixed)}",
                    f"{name} = {sizes[0]:,} … {sizes[-1]:,}",
                    f"{name}^{slope:.2f}",
                    "" if memory_slope is None else f"{name}^{memory_slope:.2f}",
                )
            )
    return table(("library", "work", "range", "time", "memory"), lines)


FIXED = (("rows", "N"), ("max_leaves", "M"), ("columns", "d"))


def applies(key: str, job: Job) -> bool:
    return key != "max_leaves" or job.task != "linkage"


def series_over(size: str, summaries: Sequence[Summary]) -> list[list[Summary]]:
    groups: dict[tuple, list[Summary]] = {}
    for s in summaries:
        job = s.job
        if job.suite in ("threads", "billion", "gpu", *CORES) or s.seconds is None or s.seconds < 1e-3:
            continue
        others = tuple(getattr(job, key) for key, _ in FIXED if key != size)
        key = (job.suite, job.implementation, job.task, job.method, job.data, job.dtype, others)
        groups.setdefault(key, []).append(s)
    ordered = (sorted(group, key=lambda s: getattr(s.job, size)) for group in groups.values())
    return [group for group in ordered if len({getattr(s.job, size) for s in group}) >= 3]


# -- the README


def headline(rows: Sequence[Row], summaries: Sequence[Summary]) -> str:
    """The README's table: each job of HEADLINE by silverbirch and by the fastest peer."""
    lines = []
    for work, suite, where in HEADLINE:
        for ours in select(summaries, suite=suite, implementation="silverbirch", threads=1, **where):
            peers = [s for s in summaries if s.job.suite == suite and s.job.name() == ours.job.name() and s is not ours]
            best = min((s for s in peers if s.seconds is not None), key=lambda s: s.seconds, default=None)
            where_run = "" if ours.job.device == "cpu" else f", {ours.rows[0]['machine']['gpu']}, wall time"
            lines.append((f"{work} ({ours.job.data}{where_run})", *headline_cells(ours, best)))
    m = rows[0]["machine"]
    where_from = f"{m['cpu']}, {m['instruction_set']}, {rows[0]['started'][:10]}"
    text = table(("work", "silverbirch", "fastest peer measured", "ratio"), lines)
    return (
        f"{text}\n\nCPU time of one thread and peak memory beyond the data, medians; {where_from}; by `make bench`. "
        "Everything, losses too: [docs/benchmarks.md](docs/benchmarks.md)."
    )


def headline_cells(ours: Summary, best: Summary | None) -> Cells:
    if ours.failure:
        return ours.failure, "", ""
    mine = f"{seconds(ours.seconds)} s, {ours.median('beyond_mb'):,.0f} MB"
    if best is None:
        return mine, "none goes that far", ""
    theirs = f"{best.job.implementation} {seconds(best.seconds)} s, {best.median('beyond_mb'):,.0f} MB"
    return mine, theirs, f"{ratio(best, ours):.3g} ×"


HEADLINE = (
    ("Ward of 10,000 points", "ward", {"rows": 10_000}),
    ("Ward of 50,000 points", "ward", {"rows": 50_000}),
    ("Ward of 1,000,000 points", "ward", {"rows": 1_000_000}),
    ("single linkage of 1,000,000 points", "single", {"rows": 1_000_000}),
    ("complete linkage of 25,000 points", "complete", {"rows": 25_000}),
    ("Ward of 10,000 points, 384 columns", "ward-wide", {"rows": 10_000}),
    ("Ward of 1,000,000 embeddings, 384 columns", "gpu", {"rows": 1_000_000, "data": "embeddings"}),
    ("tree of 1,000,000 rows, 25,000 leaves", "tree", {"rows": 1_000_000, "max_leaves": 25_000}),
    ("whole job, 10,000,000 rows, 500 clusters", "whole", {"rows": 10_000_000}),
)


# -- text


def seconds(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"

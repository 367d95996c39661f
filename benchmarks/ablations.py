"""Measures what each mechanism for speed gains: every case with and without it, in turn.

The build in build/ablations can switch mechanisms off (cpp/silverbirch/base/switches.hpp). It needs numpy alone. Raw
rows go to results/ablations.jsonl; `render` puts them on the page.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from . import raw_rows
from .instructions import TOOLS
from .jobs import Case
from .markdown import table as markdown_table
from .mechanisms import MECHANISMS, Mechanism, small
from .raw_rows import Row

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "ablations"
PACKAGE = BUILD / "package"
TIMEOUT = 300.0
CASE_FIELDS = tuple(field.name for field in fields(Case))

Cores = tuple[int, ...]


@dataclass(frozen=True)
class Contestant:
    case: Case
    without: str | None  # None: with everything


def run(mechanisms: Iterable[Mechanism], out: Path, repeats: int, parallel: int) -> None:
    """Measures the mechanisms; overwrites `out`. `parallel` runs take place at a time, each on its own cores."""
    build()
    place = ask_worker({}, cores_of(1, 1)[0])
    if place["status"] != "ok":
        raise SystemExit(f"the build in {BUILD} does not work: {place['reason']}")
    place = {name: value for name, value in place.items() if name != "status"}
    out.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    rows = (row | {"machine": place} for row in measured(mechanisms, repeats, parallel))
    raw_rows.write(out, rows, lambda row: print(f"{time.monotonic() - begin:5.0f} s  {one_line(row)}", flush=True))


def chosen(names: Sequence[str], tasks: Sequence[str], quick_rows: int | None = None) -> tuple[Mechanism, ...]:
    """The mechanisms of these names in cases of these tasks; no names and no tasks mean all."""
    kept = [mechanism for mechanism in MECHANISMS if mechanism.kept]
    unknown = set(names) - {mechanism.name for mechanism in kept}
    if unknown:
        raise SystemExit(
            f"mechanism {', '.join(sorted(unknown))}: must be among {', '.join(mechanism.name for mechanism in kept)}"
        )
    some = tuple(
        replace(mechanism, cases=tuple(case for case in mechanism.cases if not tasks or case.task in tasks))
        for mechanism in kept
        if not names or mechanism.name in names
    )
    return some if quick_rows is None else small(some, quick_rows)


# -- the build


def build() -> None:
    """Builds the package with a core that can switch mechanisms off, in PACKAGE."""
    environment = os.environ | {"PATH": TOOLS}
    configure = ["cmake", "-S", str(ROOT), "-B", str(BUILD), "-G", "Ninja", "-DSILVERBIRCH_ABLATIONS=ON"]
    for command in ([*configure, f"-DPython_EXECUTABLE={sys.executable}"], ["cmake", "--build", str(BUILD)]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    target = PACKAGE / "silverbirch"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "silverbirch", target, ignore=shutil.ignore_patterns("_core*", "__pycache__"))
    for core in BUILD.glob("_core*.so"):
        shutil.copy(core, target)


# -- the run


def measured(mechanisms: Iterable[Mechanism], repeats: int, parallel: int) -> Iterator[Row]:
    """The raw rows: repeat 1 of all contestants, then repeat 2, … In each repeat another contestant comes first."""
    rounds = contestants(mechanisms)
    for repeat in range(1, repeats + 1):
        for threads in sorted({case.threads for case in rounds}):
            turn = [
                contestant
                for case, without in rounds.items()
                if case.threads == threads
                for contestant in rotated([Contestant(case, name) for name in without], repeat)
            ]
            for contestant, row in side_by_side(turn, threads, parallel):
                yield asdict(contestant.case) | {"without": contestant.without, "repeat": repeat} | row


def contestants(mechanisms: Iterable[Mechanism]) -> dict[Case, list[str | None]]:
    """For each case, the mechanisms to switch off, one at a time; None comes first."""
    rounds: dict[Case, list[str | None]] = {}
    for mechanism in mechanisms:
        for case in mechanism.cases:
            rounds.setdefault(case, [None]).append(mechanism.name)
    return rounds


def rotated(items: list[Contestant], by: int) -> list[Contestant]:
    by %= len(items)
    return items[by:] + items[:by]


def side_by_side(turn: Sequence[Contestant], threads: int, parallel: int) -> Iterator[tuple[Contestant, Row]]:
    """The contestants and their rows, in the given order."""
    free: queue.SimpleQueue[Cores] = queue.SimpleQueue()
    groups = cores_of(threads, parallel)
    for group in groups:
        free.put(group)

    def one(contestant: Contestant) -> Row:
        cores = free.get()
        try:
            return ask_worker({"case": asdict(contestant.case), "without": contestant.without}, cores)
        finally:
            free.put(cores)

    with ThreadPoolExecutor(len(groups)) as pool:
        yield from zip(turn, pool.map(one, turn), strict=True)


def cores_of(threads: int, parallel: int) -> list[Cores]:
    """Groups of `threads` cores, from `parallel` cores in all; at least one group."""
    cores = sorted(os.sched_getaffinity(0))[: max(parallel, threads)]
    return [tuple(cores[i : i + threads]) for i in range(0, max(len(cores) - threads, 0) + 1, threads)]


def ask_worker(request: Row, cores: Cores) -> Row:
    """The row of one run; a run that fails or takes too long gives a row too."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
    try:
        done = subprocess.run(
            [sys.executable, "-m", f"{__package__}.ablation_worker"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            env=os.environ | threads | {"PYTHONPATH": path},
            cwd=ROOT,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
    except subprocess.TimeoutExpired:
        return {"status": "timeout"}
    if done.returncode != 0:
        return {"status": "failed", "reason": (done.stderr.strip().splitlines() or ["killed"])[-1][:300]}
    return {"status": "ok"} | json.loads(done.stdout.splitlines()[-1])


def one_line(row: Row) -> str:
    what = f"{row['repeat']}. {case_text(case_of(row))}, without {row['without'] or 'nothing'}"
    if row["status"] != "ok":
        return f"{what}: {row['status']} {row.get('reason', '')}"
    return f"{what}: {row['cpu']:.4g} s, {row['beyond_mb']:.0f} MB"


# -- what the rows say


@dataclass(frozen=True)
class Gain:
    """The gain of one mechanism in one case; ratios are the value without it over the value with it."""

    case: Case
    seconds: float  # with it; CPU time with one thread, else wall time
    times: tuple[float, ...]  # one for each run of the benchmark
    megabytes: float  # with it
    memory: float
    same_bits: bool
    repeats: int

    @property
    def time(self) -> float:
        return min(self.times)


def case_of(row: Row) -> Case:
    return Case(**{name: row[name] for name in CASE_FIELDS if name in row})


def gains(rows: Iterable[Row]) -> dict[str, list[Gain]]:
    """The gains of each mechanism, the greatest gain in time first. Rows are compared within one run. Of several runs
    of a case the least gain counts: noise seldom repeats itself."""
    repeats: dict[tuple[int | None, Case, str | None], list[Row]] = {}
    for row in rows:
        if row["status"] == "ok":
            repeats.setdefault((row.get("run"), case_of(row), row["without"]), []).append(row)
    found: dict[str, dict[Case, Gain]] = {}
    for (run, case, without), some in repeats.items():
        whole = repeats.get((run, case, None))
        if without is not None and whole:
            of_case, new = found.setdefault(without, {}), gain(case, whole, some)
            of_case[case] = together(of_case[case], new) if case in of_case else new
    return {name: sorted(of_case.values(), key=lambda g: -g.time) for name, of_case in found.items()}


def gain(case: Case, whole: Sequence[Row], without: Sequence[Row]) -> Gain:
    metric = "cpu" if case.threads == 1 else "wall"
    seconds, seconds_without = median(whole, metric), median(without, metric)
    # The allocator causes differences of a megabyte.
    memory, memory_without = (median(some, "beyond_mb") + 1.0 for some in (whole, without))
    return Gain(
        case,
        seconds,
        (seconds_without / seconds,),
        memory - 1.0,
        memory_without / memory,
        {row["digest"] for row in whole} == {row["digest"] for row in without},
        min(len(whole), len(without)),
    )


def together(a: Gain, b: Gain) -> Gain:
    """Of two runs: the seconds and megabytes are those of the first."""
    return replace(
        a,
        times=a.times + b.times,
        memory=min(a.memory, b.memory),
        same_bits=a.same_bits and b.same_bits,
        repeats=min(a.repeats, b.repeats),
    )


def median(rows: Sequence[Row], metric: str) -> float:
    return statistics.median(row[metric] for row in rows)


def case_text(case: Case) -> str:
    what = case.method if case.task == "linkage" else case.task
    size = f"{case.rows:,} × {case.columns}"
    leaves = "" if case.task == "linkage" else f", ≤ {case.max_leaves:,} leaves"
    threads = "" if case.threads == 1 else f", {case.threads} threads"
    return f"{what}, {case.data} {size}{leaves}{threads}"


# -- the page

HOW = """Every mechanism that exists only for speed can be switched off in a build with `-DSILVERBIRCH_ABLATIONS=ON`.
`python -m benchmarks ablations` makes that build and measures each mechanism with and without it, in processes that
take turns, in the cases where it acts. A gain is the median without the mechanism over the median with it; `+12 %`
means that doing without costs 12 % more. Below are the greatest and the least gain in CPU time (with threads: wall
time) and the greatest in peak memory beyond the data. Medians of the same work differ by a tenth, some by a quarter,
from one run to the next. So what had gained little or seldom was measured in a second run: `+5 / +15 %` are the gains
of both runs, and the lesser one counts.

A mechanism was taken out if it gained less than 10 % in every case, with these exceptions. Checking values while they
are inserted, fetching rows ahead, searching fewer slots and testing absorption without a division first gain less than
10 % each. They were taken out with the others; trees then took 5 to 14 % longer than those of 0.1 (16-core machine,
medians of 11, the change to parts included), which was too much, and these four came back. What each of the four
contributes to that was not measured. Without the kd-order of ranges copied together, some linkages have other bits.
Collecting by all threads and memory that is not cleared serve many threads, but were measured with two. Distances of
four rows at once serve many columns; the case of 384 columns is still to be measured. Huge pages gain time in large
trees and take up to 40 % more memory."""


def page_part(rows: Sequence[Row]) -> list[str]:
    """The section of the page with a table of all measured mechanisms; empty without rows."""
    if not rows:
        return []
    found = gains(rows)
    lines = [table_line(mechanism, found[mechanism.name]) for mechanism in MECHANISMS if mechanism.name in found]
    m = rows[0]["machine"]
    repeats = min(gain.repeats for of_one in found.values() for gain in of_one)
    machine = f"{m['cpu']}, {m['cores']} cores, {m['instruction_set']} kernels"
    where = f"Measured on {machine}; medians of {repeats} repeats or more."
    head = ("mechanism", "lines", "most time", "in", "least time", "in", "most memory", "in", "")
    return ["## What each mechanism gains", f"{HOW}\n\n{where}", markdown_table(head, lines)]


def table_line(mechanism: Mechanism, of_one: Sequence[Gain]) -> list[str]:
    most, least, memory = of_one[0], of_one[-1], max(of_one, key=lambda g: g.memory)
    return [
        mechanism.what,
        str(mechanism.lines),
        percent(*most.times),
        case_text(most.case),
        percent(*least.times),
        case_text(least.case),
        percent(memory.memory),
        case_text(memory.case),
        "" if mechanism.kept else "taken out",
    ]


def percent(*ratios: float) -> str:
    return " / ".join(f"{100 * (ratio - 1):+.0f}" for ratio in ratios) + " %"

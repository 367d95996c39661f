"""What more threads gain: the table of the suites of cores."""

from __future__ import annotations

from collections.abc import Sequence

from .jobs import CORES, MACHINE_TASKS, Job
from .markdown import table
from .summary import Summary, select

INTRODUCTION = """The speed-up of 2, 4, … threads is the wall time with one thread over theirs; the runs take turns. The
first rows are the machine's own limits: as many processes of pure loops as threads, whose speed-up counts the loops
done, and copying an array. No work can gain more than the loops, and what waits for memory no more than the copy."""


def page_part(summaries: Sequence[Summary], measured_on: str) -> list[str]:
    """`measured_on` names the machine of these runs if others on the page ran elsewhere."""
    chosen = [s for s in summaries if s.job.suite in CORES]
    if not chosen:
        return []
    threads = sorted({s.job.threads for s in chosen} - {1})
    head = ["work", "one thread", *(f"{t} threads" for t in threads), "same result"]
    lines = [line(s, chosen, threads) for s in select(chosen, threads=1)]
    return ["## More threads", INTRODUCTION, measured_on, table(head, lines)]


def line(one: Summary, summaries: Sequence[Summary], threads: Sequence[int]) -> list[str]:
    if one.failure:
        return [work_text(one.job), one.failure, *("" for _ in threads), ""]
    others = [with_threads(one, summaries, t) for t in threads]
    gains = ["not measured" if s is None else s.failure or f"{gain(one, s):.1f} ×" for s in others]
    differences = [s.height_difference for s in others if s is not None and s.height_difference is not None]
    same = "" if not differences else "to the bit" if not any(differences) else f"{max(differences):.0e} apart"
    return [work_text(one.job), f"{one.median('wall'):.3g} s{rate_text(one)}", *gains, same]


def with_threads(one: Summary, summaries: Sequence[Summary], threads: int) -> Summary | None:
    same_name = (s for s in select(summaries, suite=one.job.suite, threads=threads) if s.job.name() == one.job.name())
    return next(same_name, None)


def gain(one: Summary, more: Summary) -> float:
    """How many times the work that one thread does in some time."""
    work = more.job.threads if more.job.task == "loops" else 1
    return work * one.median("wall") / more.median("wall")


def rate_text(one: Summary) -> str:
    """For the copy, the bytes read and written in a second."""
    if one.job.task != "copy":
        return ""
    return f" ({2 * 8 * one.job.rows * one.job.columns / one.median('wall') / 1e9:.0f} GB/s read and written)"


def work_text(job: Job) -> str:
    if job.task in MACHINE_TASKS:
        return {"loops": "processes of pure loops", "copy": f"copying {8 * job.rows * job.columns / 1e6:,.0f} MB"}[
            job.task
        ]
    what = {"linkage": job.method, "tree": "tree", "assign": "nearest leaf"}[job.task]
    leaves = f", ≤ {job.max_leaves:,} leaves" if job.task != "linkage" else ""
    return f"{what}, {job.data} {job.rows:,} × {job.columns}{leaves}"

"""Runs the jobs of all implementations in turn, each in a new process, and writes one raw row for each run."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from silverbirch.machine import usable_cores

from . import machine, raw_rows
from .jobs import WITH_LEAVES, Job, Suite
from .raw_rows import Row

RESULTS = Path(__file__).parent / "results"
ROOT = Path(__file__).parents[1]
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")


def run(suites: Iterable[Suite], folder: Path, repeats: int) -> None:
    """Runs the suites; overwrites folder/<suite>.jsonl."""
    folder.mkdir(parents=True, exist_ok=True)
    place = machine.describe()
    for suite in suites:
        print(f"{suite.name}: {suite.title}", flush=True)
        rows = (row | {"machine": place} for row in rows_of(suite, repeats))
        raw_rows.write(folder / f"{suite.name}.jsonl", rows, lambda row: print(f"  {one_line(row)}", flush=True))


def rows_of(suite: Suite, repeats: int) -> Iterable[Row]:
    """The raw rows: repeat 1 of all jobs, then repeat 2, so that a disturbance of the machine affects all alike."""
    jobs = list(suite.jobs())
    for implementation in sorted({job.implementation for job in jobs if not machine.installed(job.implementation)}):
        print(f"  {implementation} is not installed and left out: pip install '.[bench]'", flush=True)
        jobs = [job for job in jobs if job.implementation != implementation]
    if any(job.device != "cpu" for job in jobs) and machine.gpu() is None:
        print("  what runs on a GPU is left out: this machine has none", flush=True)
        jobs = [job for job in jobs if job.device == "cpu"]
    most = usable_cores()
    if any(job.threads > most for job in jobs):
        print(f"  more than {most} threads are left out: this machine has no more cores", flush=True)
        jobs = [job for job in jobs if job.threads <= most]
    with tempfile.TemporaryDirectory() as heights:
        for repeat in range(1, repeats + 1):
            again = []
            for job in jobs:
                row = run_job(job, Path(heights), suite.timeout)
                if row["status"] == "ok" and row["wall"] < suite.repeated_below:
                    again.append(job)
                yield job.as_dict() | {"repeat": repeat} | row
            jobs = again


def run_job(job: Job, heights: Path, timeout: float) -> Row:
    """The raw row of one run; a run that fails or takes too long gives a row too."""
    row: Row = {"started": datetime.now(UTC).isoformat(timespec="seconds"), "load": os.getloadavg()[0]}
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(job.threads))
    request = json.dumps({"job": job.as_dict(), "heights": str(heights)})
    command = [sys.executable, "-m", f"{__package__}.worker"]
    begin = time.perf_counter()
    try:
        done = subprocess.run(
            command, input=request, capture_output=True, text=True, timeout=timeout, env=environment, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return row | {"status": "timeout", "process_seconds": timeout}
    row["process_seconds"] = time.perf_counter() - begin
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["killed: out of memory?"])[-1]
        return row | {"status": "failed", "exit_code": done.returncode, "reason": reason[:300]}
    return row | {"status": "ok"} | json.loads(done.stdout.splitlines()[-1])


def one_line(row: Row) -> str:
    task = row["method"] if row["task"] == "linkage" else row["task"]
    if row["task"] in WITH_LEAVES:
        task += f" ≤ {row['max_leaves']:,} leaves"
    what = f"{task}, {row['data']} {row['rows']:,} × {row['columns']} {row['dtype']}"
    who = f"{row['implementation']}, {row['threads']} thread{'s' if row['threads'] > 1 else ''}"
    if row["status"] != "ok":
        return f"{row['repeat']}. {what}, {who}: {row['status']} {row.get('reason', '')}"
    detail = [f"{row['wall']:.4g} s (CPU {row['cpu']:.4g})", f"{row['beyond_mb']:.0f} MB"]
    detail += [f"{name} {row[name]:.4g}" for name in ("rmsd", "leaf_sse", "exact_share") if name in row]
    return f"{row['repeat']}. {what}, {who}: {', '.join(detail)}"

"""Runs the jobs that have no row yet, one after the other, each in its own process."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from silverbirch import __version__, _core
from silverbirch.checks import bytes_text
from silverbirch.machine import free_memory, processor

from .jobs import ClusterJob, Job, as_dict
from .raw_rows import RawRows, Row
from .worker import measure

TIMEOUT = 1_200.0
_ROOT = Path(__file__).parents[1]  # where Python finds this package
# A matrix that needs more than this share of the free memory is not computed.
_SHARE_OF_FREE_MEMORY = 0.7
_LARGE_MATRIX = 4_000_000_000
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def run(jobs: Iterable[Job], rows: RawRows, *, isolated: bool = True, say: Callable[[str], None] = print) -> None:
    """Measures the jobs that are not in `rows`; each row is written before the next job begins.

    isolated : run each job in its own process, so that its memory and time are its own
    """
    missing = in_turn(job for job in dict.fromkeys(jobs) if rows.good(job) is None)
    place = machine()
    for number, job in enumerate(missing, start=1):
        begin = time.perf_counter()
        measured = _refused(job) or (_in_own_process(job) if isolated else {"status": "ok"} | measure(job))
        row = rows.add(job, measured | {"date": datetime.now(UTC).date().isoformat()}, place)
        say(f"[{number}/{len(missing)}] {one_line(row)}  ({time.perf_counter() - begin:.1f} s)")


def in_turn(jobs: Iterable[Job]) -> list[Job]:
    """The jobs sorted by the order of the rows, so that a disturbance of the machine affects all methods alike.

    The largest matrices come last.
    """

    def turn(job: Job) -> tuple[bool, int]:
        return (job.matrix_bytes() > _LARGE_MATRIX, job.order) if isinstance(job, ClusterJob) else (False, 0)

    return sorted(jobs, key=turn)


def _in_own_process(job: Job) -> Row:
    """The row of a job that runs in its own process; a run that fails or takes too long gives a row too."""
    command = [sys.executable, "-m", f"{__package__}.worker"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(as_dict(job)),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            env=os.environ | _ONE_THREAD,
            cwd=_ROOT,
        )
    except subprocess.TimeoutExpired:
        return {"status": "failed", "reason": f"took longer than {TIMEOUT:.0f} s"}
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}: out of memory?"])[-1]
        return {"status": "failed", "reason": reason[:300]}
    measured: Row = json.loads(done.stdout.splitlines()[-1])
    return {"status": "ok"} | measured


def _refused(job: Job) -> Row | None:
    needed = job.matrix_bytes() if isinstance(job, ClusterJob) else 0
    free = free_memory()
    if free is None or needed <= _SHARE_OF_FREE_MEMORY * free:
        return None
    return {"status": "left out", "reason": f"needs {bytes_text(needed)} and {bytes_text(free)} are free"}


def machine() -> str:
    """The machine and the versions that rows are measured with."""
    import numpy

    return (
        f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, {_core.instruction_set()} "
        f"kernels; silverbirch {__version__}, numpy {numpy.__version__}, Python {platform.python_version()}"
    )


def one_line(row: Row) -> str:
    what = ", ".join(str(value) for value in row["job"].values())
    if row["status"] != "ok":
        return f"{what}: {row['status']}: {row['reason']}"
    found = ("cpu", "features", "rmsd", "rmsd_nearest", "rmsd_size_order", "leaves", "worst_error")
    return f"{what}: " + ", ".join(f"{name} {row[name]:.5g}" for name in found if row.get(name) is not None)

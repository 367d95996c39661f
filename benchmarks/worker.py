"""Measures one job in its own process: reads the job as JSON from stdin, prints a raw row as JSON on the last line."""

import contextlib
import ctypes
import gc
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from . import data, heights
from .jobs import Case, Job
from .work import Work

WARM_UP_ROWS = 200
WARM_UP_ROWS_OF_GPU = 20_000  # so many that all kernels are compiled
# Shorter work is repeated within the process; otherwise the clock and the first page faults would distort it.
SHORT = 0.2


def measure(job: Job, heights_folder: Path) -> dict[str, Any]:
    from .adapters import ADAPTERS

    X = data.make(job.data, 0 if job.task == "stream" else job.rows, job.columns, job.dtype)
    row = measure_work(ADAPTERS[job.task, job.implementation], X, job)
    if "chunk_mb" in row:
        row["beyond_chunk_mb"] = row["beyond_mb"] - row["chunk_mb"]
    if "heights" in row:
        row |= heights.compare(row.pop("heights"), heights_folder, job.name(), job.implementation)
    return row


def measure_work(adapter: Callable[[NDArray, Any], Work], X: NDArray, job: Case) -> dict[str, Any]:
    """Measures time and memory of the work that an adapter returns; adds its description of the result."""
    # The first call is not measured: libraries may load or compile code then.
    rows = WARM_UP_ROWS if job.device == "cpu" else WARM_UP_ROWS_OF_GPU
    if job.task != "first call":
        adapter(X if len(X) <= rows else X[:rows].copy(), replace(job, rows=rows)).run()
    work = adapter(X, job)
    _give_back_freed_memory()
    before = _memory("VmRSS")
    _forget_peak()
    row, result = _timed(work)
    row |= {"rss_before_mb": before, "rss_peak_mb": _memory("VmHWM")}
    row["beyond_mb"] = max(0.0, row["rss_peak_mb"] - before)
    return row | work.describe(result)


def _timed(work: Work) -> tuple[dict[str, Any], Any]:
    wall: list[float] = []
    cpu: list[float] = []
    result = None
    while not wall or (work.repeatable and sum(wall) < SHORT and len(wall) < 100):
        result = None  # otherwise the peak would include two results
        begin, begin_cpu = time.perf_counter(), time.process_time()
        result = work.run()
        cpu.append(time.process_time() - begin_cpu)
        wall.append(time.perf_counter() - begin)
    return {"wall": statistics.median(wall), "cpu": statistics.median(cpu), "loops": len(wall)}, result


def _memory(name: str) -> float:
    """Memory in MB. Without /proc it is the peak so far, which overestimates the memory before the work."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 1e6 if sys.platform == "darwin" else peak / 1e3
    return next(int(line.split()[1]) * 1.024e-3 for line in status.splitlines() if line.startswith(name))


def _forget_peak() -> None:
    """Resets the peak of resident memory (Linux: man proc, clear_refs)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _give_back_freed_memory() -> None:
    """Returns freed memory to the system: the work could reuse it, and its peak would look smaller."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # not every system has glibc
        ctypes.CDLL(None).malloc_trim(0)


def main() -> None:
    request = json.load(sys.stdin)
    row = measure(Job(**request["job"]), Path(request["heights"]))
    print(json.dumps(row))


if __name__ == "__main__":
    main()

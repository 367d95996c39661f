"""A real cluster of Dask on this machine: transfers, the scheduler, and whole runs."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.raw_rows import Row
from silverbirch.engines.partial import Partial
from silverbirch.engines.work import Reading, Work
from silverbirch.rows import RowSource

from . import costs

SMALL = 8  # bytes that take no time to move


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """A client of a cluster of processes, each with one thread."""
    from distributed import Client, LocalCluster

    settings = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with LocalCluster(**settings, silence_logs=logging.CRITICAL) as here, Client(here) as client:
        yield client


def measure(options: Namespace) -> Iterator[Row]:
    with cluster(2) as client:
        for repeat in range(options.repeats):
            for row in (*transfers(client, options.transfer_bytes), *scheduler(client, options.tasks)):
                yield {"repeat": repeat} | row
    with cluster(options.broadcast_workers) as client:
        yield broadcast(client, options.broadcast_workers, options.transfer_bytes // 32)
    yield from whole_runs(options)


# -- transfers


def transfers(client: Any, large: int) -> Iterator[Row]:
    """The seconds of a task in a chain of tasks, each of which takes the result of the one before and passes it on.

    The chain stays on one worker, or every task is the other worker's. A single task would tell little: the time until
    Dask has started one varies by more than the move of a few bytes takes.
    """
    here, there = client.scheduler_info()["workers"]
    for size, tasks in ((SMALL, 200), (large, 10)):
        for name, turns in (("stays", (here, here)), ("moves", (there, here))):
            last = client.submit(os.urandom, size, workers=[here], pure=False)
            _wait(last)
            begin = time.perf_counter()
            for task in range(tasks):
                last = client.submit(bytes, last, workers=[turns[task % 2]], pure=False)
            _wait(last)
            yield {"cost": name, "bytes": size, "tasks": tasks, "seconds": (time.perf_counter() - begin) / tasks}


def _wait(futures: Any) -> None:
    from distributed import wait

    done, _ = wait(futures)
    for future in done:
        if future.status == "error":
            future.result()


@dataclass(frozen=True)
class NoWork(Work):
    """Takes no time on the workers, so that what is left is the engine's own."""

    payload: bytes = b""
    seconds: float = 0.0

    def __call__(self, number: int, rows: Any, weight: Any = None) -> bytes:
        time.sleep(self.seconds)
        return b""

    def merged(self, sent: Sequence[bytes]) -> bytes:
        return b""

    def _done(self, source: RowSource) -> Partial:
        raise NotImplementedError

    def _merged(self, parts: Sequence[Partial]) -> Partial:
        raise NotImplementedError


@dataclass(frozen=True)
class ForAll(NoWork):
    """What every worker needs, told from other work by the name of its class."""


def scheduler(client: Any, counts: Sequence[int]) -> Iterator[Row]:
    """The graph of a pass over partitions that are files. CPU seconds are those of the scheduler and the client."""
    from dask.delayed import delayed

    from silverbirch.engines.dask import Partitions

    for partitions in counts:
        files = [delayed(f"{number}.parquet") for number in range(partitions)]
        _, found = costs.timed(partial(Partitions(files).run_on(client), NoWork(Reading())))
        yield {"cost": "scheduler", "partitions": partitions} | found


def broadcast(client: Any, workers: int, size: int) -> Row:
    """How what all workers need gets to them: of whom each has its copy."""
    from dask.delayed import delayed

    from silverbirch.engines.dask import Partitions

    def copies(dask_worker: Any) -> list[str]:
        log = dask_worker.transfer_incoming_log
        return [str(entry["who"]) for entry in log if any("ForAll" in str(key) for key in entry["keys"])]

    files = [delayed(str(number)) for number in range(4 * workers)]  # some are left for a worker that is late
    Partitions(files).run_on(client)(ForAll(Reading(), os.urandom(size), seconds=0.5))
    source = {worker: whom[0] for worker, whom in client.run(copies).items() if whom}

    def depth(worker: str) -> int:
        return 1 + depth(source[worker]) if worker in source else 0

    sent = [*source.values()]
    return {
        "cost": "broadcast",
        "workers": workers,
        "copies": len(sent),
        "depth": max(map(depth, source), default=0),
        "most_copies_of_one": max((sent.count(worker) for worker in sent), default=0),
    }


# -- whole runs


def whole_runs(options: Namespace) -> Iterator[Row]:
    """`fit` and `predict` with one and with two workers, in turn."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        paths = [
            costs.write_partition(Path(folder) / f"{part}.parquet", "uniform", options.rows, part)
            for part in range(options.partitions)
        ]
        for repeat in range(options.repeats):
            for workers in (1, 2):
                with cluster(workers) as client:
                    for refine in (0, 1):
                        for row in whole_run(client, paths, refine, options.max_leaves):
                            rows = options.rows * len(paths)
                            yield {"workers": workers, "refine": refine, "rows": rows, "repeat": repeat} | row


def whole_run(client: Any, paths: list[str], refine: int, max_leaves: int) -> Iterator[Row]:
    from dask.delayed import delayed

    from silverbirch.dask import Betula

    parts = [delayed(path) for path in paths]
    client.run(_start_timer)
    begin = time.perf_counter()
    model = Betula(costs.K, max_leaves=max_leaves, refine=refine, client=client).fit(parts)
    seconds = time.perf_counter() - begin
    trees = sum(client.run(_stop_timer).values())
    yield {"cost": "fit", "seconds": seconds, "tree_seconds": trees, "counted": model.counts_["rows"]}
    begin = time.perf_counter()
    _wait(client.compute(model.predict(parts)))
    yield {"cost": "predict", "seconds": time.perf_counter() - begin}


_timing: list[Any] = []  # on a worker: the timer and what ends it


def _start_timer() -> None:
    stack = contextlib.ExitStack()
    _timing[:] = [stack.enter_context(costs.timed_trees()), stack]


def _stop_timer() -> float:
    timer, stack = _timing
    stack.close()
    return float(timer.seconds)

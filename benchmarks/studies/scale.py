"""How `silverbirch.dask` scales: what it costs here, and what a model makes of that for up to 10 000 workers.

    python -m benchmarks.studies.scale measure    every cost of the model, and whole runs with one and two workers
    python -m benchmarks.studies.scale merges     the real merges of 1 000 sets of features
    python -m benchmarks.studies.scale render     docs/scale.md, from the raw rows that are there
    python -m benchmarks.studies.scale measure --rows 200000 --repeats 1 --output /tmp/trial.jsonl

`measure` needs Dask and takes about ten minutes; `merges` takes one or two minutes and 2 GB of memory. Raw rows are
appended to --output, and the page is made from those of the last run of each command. Times on other machines and with
other programs beside it differ: run both commands on a quiet machine.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import machine, raw_rows, runner
from benchmarks.raw_rows import Row
from benchmarks.scale import cluster, costs, merges, page

RESULTS = runner.RESULTS / "scale.jsonl"
# What Dask sets for its workers (distributed.nanny.pre-spawn-environ). By the first one, freed memory goes back to the
# system at once, and its pages are made anew for every chunk: a pass takes up to half as long again. The C library
# reads it when a process starts.
OF_WORKERS = {"MALLOC_TRIM_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def measure(options: argparse.Namespace) -> Iterator[Row]:
    yield from costs.measure(options)
    if not options.without_dask:
        yield from cluster.measure(options)


COMMANDS: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {"measure": measure, "merges": merges.measure}


def run(options: argparse.Namespace) -> Iterator[Row]:
    known = {"command": options.command, "started": datetime.now(UTC).isoformat(timespec="seconds")}
    known["as_a_worker"] = as_a_worker()
    place = machine.describe()
    for row in COMMANDS[options.command](options):
        yield known | row | {"load": os.getloadavg()[0], "machine": place}


def as_a_worker() -> bool:
    return all(os.environ.get(name) == value for name, value in OF_WORKERS.items())


def show(row: Row) -> None:
    hidden = ("command", "started", "as_a_worker", "machine", "load")
    print({name: _short(value) for name, value in row.items() if name not in hidden}, flush=True)


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return f"{sum(value):.4g} in {len(value)}"
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=[*COMMANDS, "render"])
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of a partition")
    parser.add_argument("--partitions", type=int, default=2, help="partitions of a whole run")
    parser.add_argument("--max-leaves", type=int, default=25_000)
    parser.add_argument("--data", nargs="+", choices=list(costs.DATA), default=list(costs.DATA))
    parser.add_argument("--repeats", type=int, default=5, help="how often each cost is measured")
    parser.add_argument("--sets", type=int, default=1000, help="sets of features that `merges` merges")
    parser.add_argument("--set-rows", type=int, default=200_000, help="rows of each set")
    parser.add_argument(
        "--sample-rows", type=int, default=2_000_000, help="rows of the tree that merges are compared with"
    )
    parser.add_argument("--tasks", type=int, nargs="+", default=[500, 2000], help="partitions of graphs without work")
    parser.add_argument("--transfer-bytes", type=int, default=64_000_000)
    parser.add_argument("--broadcast-workers", type=int, default=16)
    parser.add_argument("--without-dask", action="store_true", help="only what needs no Dask")
    parser.add_argument("--folder", type=Path, help="where temporary files go; at most 20 million rows at a time")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the raw rows")
    options = parser.parse_args()
    if options.command != "render":
        raw_rows.write(options.output, run(options), show, append=True)
    else:
        page.write(raw_rows.read(options.output))


if __name__ == "__main__":
    if not as_a_worker():
        command = [sys.executable, "-m", __spec__.name, *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | OF_WORKERS)
    main()

"""What cosine linkage costs by unit rows, and by the matrix of scipy and fastcluster.

    python -m benchmarks.studies.cosine --rows 2000 5000 --columns 384           random unit rows
    python -m benchmarks.studies.cosine --file embeddings.npy --rows 30000       the first rows of a file
    python -m benchmarks.studies.cosine --render                                 the table of the last run, again

Every measurement has its own process with one thread, and the libraries take turns. Seconds are CPU seconds, the median
of --repeats runs; MB is the most that the process held beyond the rows and the code. "height difference" is the largest
absolute difference from scipy's heights. The raw rows go to --output, and the table is made from them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import machine, markdown, raw_rows, runner

LIBRARIES = ("silverbirch", "scipy", "fastcluster")


def rows_of(file: str | None, rows: int, columns: int) -> NDArray[np.float64]:
    """The first rows of a file, or random directions."""
    if file is not None:
        return np.load(file, mmap_mode="r")[:rows].astype(np.float64)
    made = np.random.default_rng(0).normal(size=(rows, columns))
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def linkage_by(library: str, X: NDArray[np.float64], method: str, metric: str) -> NDArray[np.float64]:
    """`library` may name an algorithm of silverbirch: "silverbirch, nn_chain"."""
    if library.startswith("silverbirch"):
        import silverbirch as sb

        return sb.linkage(X, method, metric, algorithm=library.partition(", ")[2] or "auto")
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import pdist

    if library == "scipy":
        return hierarchy.linkage(pdist(X, metric), method)
    import fastcluster

    return fastcluster.linkage(pdist(X, metric), method, preserve_input=False)


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Runs one job in this process and writes its heights to a file."""
    from silverbirch.machine import memory_now, peak_memory

    X = rows_of(job["file"], job["rows"], job["columns"])
    linkage_by(job["library"], X[:20], job["method"], job["metric"])  # loads the libraries
    before, begin, cpu_begin = memory_now() or 0, time.perf_counter(), time.process_time()
    Z = linkage_by(job["library"], X, job["method"], job["metric"])
    measured = {"wall": time.perf_counter() - begin, "cpu": time.process_time() - cpu_begin}
    np.save(job["heights"], Z[:, 2])
    return measured | {"columns": X.shape[1], "memory": (peak_memory() or 0) - before}


def measure_apart(job: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.studies.cosine", "--one", json.dumps(job)]
    one_thread = dict.fromkeys(runner.THREAD_VARIABLES, "1")
    result = subprocess.run(command, env=os.environ | one_thread, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(result.stderr)
    return json.loads(result.stdout)


def run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The raw rows. All librarys run once, then again: a disturbance of the machine affects all alike."""
    libraries = [name for name in options.libraries if machine.installed(name.partition(", ")[0])]
    place = machine.describe()
    with tempfile.TemporaryDirectory() as folder:
        for rows in options.rows:
            for method in options.methods:
                for repeat in range(1, options.repeats + 1):
                    made = {}
                    for library in libraries:
                        job = {"library": library, "method": method, "metric": options.metric, "rows": rows}
                        job |= {"file": options.file, "columns": options.columns}
                        made[library] = measure_apart(job | {"heights": f"{folder}/{library}.npy"})
                        made[library] = job | made[library] | {"repeat": repeat, "machine": place}
                    expected = np.load(f"{folder}/scipy.npy") if "scipy" in made else np.nan
                    for library, row in made.items():
                        difference = np.abs(np.load(f"{folder}/{library}.npy") - expected).max()
                        name = Path(options.file).name if options.file else "random directions"
                        yield row | {"height_difference": float(difference), "file": name}


def rendered(rows: list[dict[str, Any]]) -> str:
    cases: dict[tuple[Any, ...], dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        case = (row["file"], f"{row['rows']:,} × {row['columns']}", row["metric"], row["method"])
        cases.setdefault(case, {}).setdefault(row["library"], []).append(row)
    lines = []
    for case, libraries in cases.items():
        seconds = {library: statistics.median(row["cpu"] for row in runs) for library, runs in libraries.items()}
        for library, runs in libraries.items():
            ratio = seconds[library] / next(iter(seconds.values()))
            memory = max(row["memory"] for row in runs)
            difference = max(row["height_difference"] for row in runs)
            measured = f"{seconds[library]:.3g}", f"{ratio:.2g}", f"{memory / 1e6:,.0f}", f"{difference:.1g}"
            lines.append([*case, library, *measured])
    head = ["data", "rows", "metric", "method", "library", "seconds", "ratio", "MB", "height difference"]
    return markdown.table(head, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000])
    parser.add_argument("--columns", type=int, default=384)
    parser.add_argument("--file", help="an .npy file of rows instead of random ones")
    parser.add_argument("--metric", choices=["cosine", "correlation"], default="cosine")
    parser.add_argument("--methods", nargs="+", default=["single", "complete", "average", "weighted"])
    parser.add_argument("--libraries", nargs="+", default=LIBRARIES, help='also "silverbirch, nn_chain" and the like')
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=runner.RESULTS / "cosine.jsonl", help="the raw rows")
    parser.add_argument("--append", action="store_true", help="keep the raw rows that are there")
    parser.add_argument("--render", action="store_true", help="only print the table of the raw rows")
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    if not options.render:
        raw_rows.write(options.output, run(options), append=options.append)
    print(rendered(raw_rows.read(options.output)))


if __name__ == "__main__":
    main()

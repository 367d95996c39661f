"""How fast the CF-tree is built, and how fine its leaves are.

    python -m benchmarks.studies.tree_quality peers [repeats]     silverbirch and betula-cluster on the same rows
    python -m benchmarks.studies.tree_quality settings [repeats]  the effect of branching and CF distances
    python -m benchmarks.studies.tree_quality uneven [repeats]    `peers` on data of uneven density; cities and flights
                                                                  are read from the folder $SILVERBIRCH_DATA

One thread. Every measurement has its own process, and the contestants take turns. Rows per second are per CPU second,
the median of the repeats. "leaf sse a row" is the sum of the sse of the leaves over the number of rows. "nearest leaf
mse" is the mean squared distance of a sample to its exactly nearest leaf. Compare only within one run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial

import numpy as np

import silverbirch as sb
from benchmarks.studies import sample_quality
from silverbirch.demo import gaussian_mixture


def uniform(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(0, 100, size=(rows, columns))


def mixture(rows: int) -> np.ndarray:
    return np.concatenate([chunk for chunk, _ in gaussian_mixture(rows, seed=0)])


def sorted_mixture(rows: int) -> np.ndarray:
    X = mixture(rows)
    return X[np.argsort(X[:, 0])]


def wide_mixture(rows: int, columns: int) -> np.ndarray:
    """500 Gaussians of deviation 4 with centres in a cube of side 100, float32."""
    random = np.random.default_rng(0)
    centers = random.uniform(0, 100, size=(500, columns))
    return (centers[random.integers(500, size=rows)] + 4 * random.normal(size=(rows, columns))).astype(np.float32)


def heavy_tails(rows: int) -> np.ndarray:
    """Student's t of two degrees of freedom."""
    return np.random.default_rng(0).standard_t(2, size=(rows, 3))


def shuffled(name: str) -> np.ndarray:
    return np.random.default_rng(0).permutation(sample_quality.DATA[name](300_000))


DATA = {
    "uniform, d = 5": partial(uniform, 1_000_000, 5),
    "Gaussian, d = 5": partial(mixture, 1_000_000),
    "Gaussian, sorted, d = 5": partial(sorted_mixture, 1_000_000),
    "Gaussian, d = 64, float32": partial(wide_mixture, 200_000, 64),
    "Gaussian, d = 384, float32": partial(wide_mixture, 60_000, 384),
}
UNEVEN = {
    "heavy tails, d = 3": partial(heavy_tails, 300_000),
    "Gaussian, Pareto shares, d = 5": partial(shuffled, "imbalanced"),
}
if sample_quality.DATA_FOLDER.is_dir():
    UNEVEN |= {
        "cities, d = 2": partial(shuffled, "cities"),
        "cities by country, d = 2": partial(sample_quality.DATA["cities"], 0),
        "flights, d = 13": partial(shuffled, "flights"),
    }
PEERS = [("silverbirch", {}), ("betula-cluster", {}), ("betula-cluster", {"distance": "ward", "absorb": "radius"})]
PEER_JOBS = [(name, m) for name in list(DATA)[:2] for m in (2_000, 10_000, 25_000)]
PEER_JOBS += [(name, m) for name in list(DATA)[3:] for m in (2_000, 10_000)]
UNEVEN_JOBS = [(name, m) for name in UNEVEN for m in (1_000, 2_000, 5_000, 10_000)]

PAIRS = [(d, a) for d in ("ward", "average", "centroid") for a in (d, "radius")]
SETTINGS = [("silverbirch", {"branching": b}) for b in (15, 31, 63, 127)]
SETTINGS += [("silverbirch", {"distance": d, "absorption": a}) for d, a in PAIRS]
SETTING_JOBS = [(name, m) for name in list(DATA)[:4] for m in (2_000, 25_000)]


def measure(data: str, max_leaves: int, package: str, options: dict) -> dict:
    """Builds one tree in this process and measures it."""
    X = (DATA | UNEVEN)[data]()
    begin = time.process_time()
    if package == "silverbirch":
        tree = sb.CFTree(max_leaves=max_leaves, **options).insert(X)
        seconds = time.process_time() - begin
        mean, sse, rebuilds = tree.features.mean, tree.features.sse.sum(), tree.n_rebuilds
    else:
        from betula_cluster import Betula

        model = Betula(n_clusters=2, feature="spherical", method="ward", max_leaves=max_leaves, **options)
        begin = time.process_time()
        model.partial_fit(X)
        seconds = time.process_time() - begin
        mean, rebuilds = model.microcluster_centers_, model.n_rebuilds_
        sse = (model.microcluster_weights_ * model.microcluster_radii_**2).sum()
    sample = X[:: max(1, len(X) // 20_000)].astype(np.float64)
    exact = sb.CFTree().insert(sb.ClusterFeatures(np.ones(len(mean)), mean, np.ones(len(mean))))
    squared = ((sample - exact.features.mean[exact.assign(sample)]) ** 2).sum(axis=1)
    return {
        "rows_per_second": len(X) / seconds,
        "leaves": len(mean),
        "rebuilds": int(rebuilds),
        "leaf_sse": float(sse) / len(X),
        "nearest_mse": float(squared.mean()),
    }


def measure_apart(*job: object) -> dict:
    """Calls `measure` in its own process, with one thread in numpy."""
    command = [sys.executable, "-m", "benchmarks.studies.tree_quality", "one", json.dumps(job)]
    result = subprocess.run(command, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(result.stderr)
    return json.loads(result.stdout)


def installed(package: str) -> bool:
    try:
        __import__(package.replace("-", "_"))
    except ImportError:
        return False
    return True


def compare(jobs: list[tuple[str, int]], contestants: list[tuple[str, dict]], repeats: int) -> None:
    print("| data | max_leaves | tree | M rows/s | ratio | leaves | rebuilds | leaf sse a row | nearest leaf mse |")
    print("|---|---|---|---|---|---|---|---|---|")
    contestants = [c for c in contestants if installed(c[0])]
    for data, max_leaves in jobs:
        runs = [[measure_apart(data, max_leaves, *c) for c in contestants] for _ in range(repeats)]
        speeds = [statistics.median(run[i]["rows_per_second"] for run in runs) for i in range(len(contestants))]
        for (package, options), speed, row in zip(contestants, speeds, runs[0], strict=True):
            text = ", ".join([package, *(f"{k} {v}" for k, v in options.items())])
            print(
                f"| {data} | {max_leaves:,} | {text} | {speed / 1e6:.2f} | {speeds[0] / speed:.2f} | {row['leaves']:,} "
                f"| {row['rebuilds']} | {row['leaf_sse']:.4g} | {row['nearest_mse']:.4g} |",
                flush=True,
            )


def main() -> None:
    studies = {"peers": (PEER_JOBS, PEERS), "settings": (SETTING_JOBS, SETTINGS), "uneven": (UNEVEN_JOBS, PEERS)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=[*studies, "one"], default="peers")
    parser.add_argument("argument", nargs="?", default="3", help="repeats; of `one`, a job as JSON")
    options = parser.parse_args()
    if options.what == "one":
        print(json.dumps(measure(*json.loads(options.argument))))
    else:
        compare(*studies[options.what], int(options.argument))


if __name__ == "__main__":
    main()

"""What threads do to the build and to the leaves.

    python -m benchmarks.studies.tree_threads [rows]

For each data set, n_jobs and limit of leaves: wall and cpu seconds (the least of three), and how much coarser the
leaves are than those of one thread *at the same number of leaves*. Trees end with somewhat different numbers of leaves,
so one thread is measured at several limits; a line through log(sse) against log(leaves) says what it would have had.
"""

import argparse
import time

import numpy as np

import silverbirch as sb
from silverbirch.demo import gaussian_mixture

LIMITS = [1_500, 2_000, 2_700, 18_000, 25_000, 33_000]
JOBS = [None, 2, 4]


def measured(X: np.ndarray, n_jobs: int | None, max_leaves: int) -> dict[str, float]:
    wall, cpu = [], []
    for _ in range(3):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        tree = sb.CFTree(max_leaves=max_leaves, n_jobs=n_jobs).insert(X)
        wall.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - begin_cpu)
    sample = X[:: max(1, len(X) // 100_000)]
    mse = ((sample - tree.features.mean[tree.assign(sample)]) ** 2).sum(axis=1).mean()
    return {
        "wall": min(wall), "cpu": min(cpu), "leaves": len(tree), "rebuilds": tree.n_rebuilds,
        "sse": tree.features.sse.sum() / len(X), "mse": mse,
    }  # fmt: skip


def datasets(rows: int) -> dict[str, np.ndarray]:
    gaussian = np.concatenate([chunk for chunk, _ in gaussian_mixture(rows, seed=0)])
    return {
        "uniform": np.random.default_rng(0).uniform(0, 100, size=(rows, 5)),
        "Gaussian": gaussian,
        "Gaussian, sorted": gaussian[np.argsort(gaussian[:, 0])],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    rows = parser.parse_args().rows
    print(
        "| data | n_jobs | max_leaves | wall s | cpu s | leaves | rebuilds | leaf sse, same leaves | nearest leaf mse |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, X in datasets(rows).items():
        for limits in (LIMITS[:3], LIMITS[3:]):
            runs = {(jobs, limit): measured(X, jobs, limit) for limit in limits for jobs in JOBS}
            one = [runs[None, limit] for limit in limits]
            for (jobs, limit), run in sorted(runs.items(), key=lambda item: (item[0][0] or 1, item[0][1])):
                excess = {}
                for quantity in ("sse", "mse"):
                    slope, level = np.polyfit(*np.log([[r["leaves"] for r in one], [r[quantity] for r in one]]), 1)
                    excess[quantity] = run[quantity] / np.exp(level + slope * np.log(run["leaves"])) - 1
                print(
                    f"| {name} | {jobs or 1} | {limit:,} | {run['wall']:.2f} | {run['cpu']:.2f} | {run['leaves']:,} "
                    f"| {run['rebuilds']} | {excess['sse']:+.1%} | {excess['mse']:+.1%} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()

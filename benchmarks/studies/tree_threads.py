"""What the parts of a CF-tree do to its leaves, and what threads do to the time it takes.

    python -m benchmarks.studies.tree_threads parts [rows]    quality by the number of parts; embeddings are read from
                                                              the folder $SILVERBIRCH_DATA
    python -m benchmarks.studies.tree_threads cost [rows]     CPU seconds by the number of parts, medians of seven
    python -m benchmarks.studies.tree_threads threads [rows]  seconds by n_jobs, the least of three

The number of parts is a property of the tree (`part_count_for` in cpp/silverbirch/tree/), here set by hand. Leaf sse a
row is the sum of the leaves' sse over the rows, as absorbed; nearest leaf mse is the mean squared distance of a sample
to its exactly nearest leaf; rmsd(500) is that of the Ward clustering of the leaves cut into 500. Trees end with
somewhat different numbers of leaves.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

import silverbirch as sb
from silverbirch.demo import gaussian_mixture

PARTS = [1, 4, 8, 16, 32, 64]
LIMITS = [2_000, 25_000]
JOBS = [1, 2, 4, 8, 16]


def tree_in_parts(max_leaves: int, parts: int) -> sb.CFTree:
    tree = sb.CFTree(max_leaves=max_leaves)
    chosen = tree._core_options
    tree._core_options = lambda *of: chosen(*of)._replace(parts=parts)
    return tree


def datasets(rows: int) -> dict[str, tuple[np.ndarray, list[int]]]:
    """Rows, and the limits of leaves to measure them at."""
    mixture = np.concatenate([chunk for chunk, _ in gaussian_mixture(rows, seed=0)])
    data = {
        "uniform, d = 5": (np.random.default_rng(0).uniform(0, 100, size=(rows, 5)), LIMITS),
        "mixture, d = 5": (mixture, LIMITS),
        "mixture, sorted": (mixture[np.argsort(mixture[:, 0])], LIMITS),
    }
    embeddings = Path(os.environ.get("SILVERBIRCH_DATA", "")) / "packages-minilm.npy"
    if embeddings.is_file():
        data["embeddings, d = 384"] = np.load(embeddings)[:30_000], [3_000]
    return data


def compare_parts(rows: int) -> None:
    print("| data | max_leaves | parts | leaves | rebuilds | leaf sse a row | nearest leaf mse | rmsd(500) |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (X, limits) in datasets(rows).items():
        sample = X[:: max(1, len(X) // 50_000)]
        for limit in limits:
            for parts in PARTS:
                tree = tree_in_parts(limit, parts).insert(X)
                features = tree.features
                mse = ((sample - features.mean[tree.assign(sample)]) ** 2).sum(axis=1).mean()
                rmsd = sb.Dendrogram(sb.linkage(features, "ward"), features).rmsd(500)
                print(
                    f"| {name} | {limit:,} | {parts} | {len(tree):,} | {tree.n_rebuilds} "
                    f"| {features.sse.sum() / len(X):.4g} | {mse:.4g} | {rmsd:.4g} |",
                    flush=True,
                )


def compare_cost(rows: int) -> None:
    print("| data | max_leaves, parts: | " + " | ".join(f"{parts}" for parts in PARTS) + " |")
    print("|---|---|" + "---|" * len(PARTS))
    for name, (X, limits) in datasets(rows).items():
        for limit in limits:
            seconds: dict[int, list[float]] = {parts: [] for parts in PARTS}
            for _ in range(7):
                for parts, some in seconds.items():
                    begin = time.process_time()
                    tree_in_parts(limit, parts).insert(X)
                    some.append(time.process_time() - begin)
            medians = " | ".join(f"{np.median(some):.3f}" for some in seconds.values())
            print(f"| {name} | {limit:,} | {medians} |", flush=True)


def compare_threads(rows: int) -> None:
    print("| data | max_leaves | n_jobs | wall s | cpu s |")
    print("|---|---|---|---|---|")
    for name, (X, limits) in datasets(rows).items():
        for limit in limits:
            for jobs in JOBS:
                wall, cpu = [], []
                for _ in range(3):
                    begin, begin_cpu = time.perf_counter(), time.process_time()
                    sb.CFTree(max_leaves=limit, n_jobs=jobs).insert(X)
                    wall.append(time.perf_counter() - begin)
                    cpu.append(time.process_time() - begin_cpu)
                print(f"| {name} | {limit:,} | {jobs} | {min(wall):.3f} | {min(cpu):.3f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("parts", "cost", "threads"), nargs="?", default="parts")
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    options = parser.parse_args()
    {"parts": compare_parts, "cost": compare_cost, "threads": compare_threads}[options.what](options.rows)


if __name__ == "__main__":
    main()

"""Aggregation against a random sample of the same size.

    python -m benchmarks.studies.sample_quality [data …] [--rows N]

The real data (cities.parquet, flights.parquet, packages-minilm.npy) is looked for in the folder $SILVERBIRCH_DATA.

Both are clustered by Ward linkage, cut into k clusters, and label all rows by the same step: the cluster of the exactly
nearest leaf (or sampled row), and then, in a second column, the nearest mean of those clusters. The figure is the root
mean squared distance of the rows to the mean of their cluster. Trees depend on the order of the rows and samples on
chance, so each figure is the mean of several runs, with the standard deviation of a run.

Raw rows go to benchmarks/results/sample_quality.csv; `--table` makes the Markdown table from them.
"""

import argparse
import csv
import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import silverbirch as sb
from silverbirch import _core
from silverbirch.demo import gaussian_mixture

Floats = NDArray[np.float64]
DATA_FOLDER = Path(os.environ.get("SILVERBIRCH_DATA", "data"))
RESULTS = Path(__file__).parents[1] / "results" / "sample_quality.csv"
CLUSTERS = [500, 50]
SIZES = {"embeddings": [1_000, 4_000]}  # of the others:
USUAL_SIZES = [2_000, 10_000, 25_000]
METHODS = ["tree", "tree, refined", "sample"]


# -- the data


def imbalanced(rows: int) -> Floats:
    """500 Gaussians of Pareto weights and unequal spread."""
    random = np.random.default_rng(0)
    centers, spreads = random.uniform(0, 100, size=(500, 5)), random.uniform(0.5, 3, size=500)
    shares = random.pareto(1, size=500) + 0.01
    component = random.choice(500, size=rows, p=shares / shares.sum())
    return centers[component] + spreads[component, None] * random.normal(size=(rows, 5))


def real_data(name: str) -> Path:
    path = DATA_FOLDER / name
    if not path.exists():
        raise SystemExit(f"{path} is not there: name other data, or set SILVERBIRCH_DATA to the folder that has it")
    return path


def parquet(name: str) -> Floats:
    import pandas

    return pandas.read_parquet(real_data(f"{name}.parquet")).select_dtypes("number").dropna().to_numpy(dtype=np.float64)


def flights(_: int) -> Floats:
    columns = parquet("flights")
    columns = columns[:, columns.std(axis=0) > 0]
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)


DATA = {
    "uniform": lambda rows: np.random.default_rng(0).uniform(0, 100, size=(rows, 5)),
    "Gaussian": lambda rows: np.concatenate([chunk for chunk, _ in gaussian_mixture(rows, seed=0)]),
    "imbalanced": imbalanced,
    "cities": lambda _: parquet("cities"),
    "flights": flights,
    "embeddings": lambda _: np.load(real_data("packages-minilm.npy")).astype(np.float64),
}


# -- one run


def nearest(means: Floats, X: Floats) -> NDArray[np.int64]:
    return _core.NearestIndex(means).nearest(X, 1, None)[0]


def summary(X: Floats, method: str, size: int, seed: int) -> sb.ClusterFeatures:
    random = np.random.default_rng(seed)
    if method == "sample":
        return sb.ClusterFeatures(1, X[random.choice(len(X), size, replace=False)], 0)
    shuffled = random.permutation(X)
    features = sb.CFTree(max_leaves=size).insert(shuffled).features
    return features.refined(shuffled) if method == "tree, refined" else features


def rmsd(X: Floats, labels: NDArray[np.int64], k: int) -> tuple[float, Floats]:
    clusters = _core.grouped(X, None, labels, k, None)
    return float(np.sqrt(clusters[2].sum() / len(X))), clusters[1]


def measured(name: str, X: Floats, method: str, size: int, seed: int) -> list[dict[str, object]]:
    begin = time.process_time()
    features = summary(X, method, size, seed)
    dendrogram = sb.Dendrogram(sb.linkage(features, "ward"), features)
    seconds = time.process_time() - begin
    leaf = nearest(features.mean, X)
    rows: list[dict[str, object]] = []
    for k, labels in zip(CLUSTERS, dendrogram.cut(n_clusters=CLUSTERS).T, strict=True):
        by_leaf, means = rmsd(X, labels[leaf], k)
        by_mean, _ = rmsd(X, nearest(means, X), k)
        rows.append({
            "data": name, "size": size, "k": k, "method": method, "seed": seed, "leaves": len(features),
            "cpu_seconds": round(seconds, 3), "estimate": dendrogram.rmsd(k), "leaf": by_leaf, "mean": by_mean,
        })  # fmt: skip
    return rows


# -- the table


def table() -> str:
    runs: dict[tuple[str, int, int, str], list[dict[str, str]]] = defaultdict(list)
    with RESULTS.open() as file:
        for row in csv.DictReader(file):
            runs[row["data"], int(row["size"]), int(row["k"]), row["method"]].append(row)
    columns = ["sample", "tree", "refined", "sample, then nearest mean", "tree", "refined"]
    lines = [f"| data | size | k | {' | '.join(columns)} |", "|---" * (len(columns) + 3) + "|"]
    for name, size, k in dict.fromkeys(key[:3] for key in runs):
        cells = []
        for quantity in ("leaf", "mean"):
            sample = np.mean([float(r[quantity]) for r in runs[name, size, k, "sample"]])
            for method in ("sample", "tree", "tree, refined"):
                values = np.array([float(r[quantity]) for r in runs[name, size, k, method]])
                excess = "" if method == "sample" else f" ({values.mean() / sample - 1:+.1%})"
                cells.append(f"{values.mean():.4g} ± {values.std():.1g}{excess}")
        lines.append(f"| {name} | {size:,} | {k} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", help=f"some of {', '.join(DATA)}; all by default")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the artificial data")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="*", help="of the summary, instead of the usual ones")
    parser.add_argument("--table", action="store_true", help="only print the table of what was measured")
    options = parser.parse_args()
    if not options.table:
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("a", newline="") as file:
            writer = None
            for name in options.data or DATA:
                X = DATA[name](options.rows)
                for size in options.sizes or SIZES.get(name, USUAL_SIZES):
                    for seed in range(options.runs):
                        for method in METHODS:
                            rows = measured(name, X, method, size, seed)
                            if writer is None:
                                writer = csv.DictWriter(file, list(rows[0]))
                                if file.tell() == 0:
                                    writer.writeheader()
                            writer.writerows(rows)
                            file.flush()
    print(table())


if __name__ == "__main__":
    main()

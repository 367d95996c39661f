"""How many labels stay when a few rows are left out, and how `Dendrogram.suggest` shows it.

    python -m benchmarks.studies.label_stability [data …] [--rows N] [--share 0.95] [--runs 3]

The embeddings (packages-minilm.npy) are looked for in the folder $SILVERBIRCH_DATA.

All rows are clustered by exact Ward linkage; so is a random share of them. Both dendrograms are cut into k clusters.
The labels of the rows in both are compared by the adjusted Rand index (ARI): 1 for the same clusters, 0 for chance. The
last columns are the stability that `suggest` estimates from resampled features, without another pass over the rows, and
that of its uniform reference.

Raw rows go to benchmarks/results/label_stability.csv; `--table` makes the Markdown table from them.
"""

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

import silverbirch as sb
from benchmarks.studies.sample_quality import Floats, real_data
from silverbirch.dendrogram.criteria import adjusted_rand_index

RESULTS = Path(__file__).parents[1] / "results" / "label_stability.csv"
CLUSTERS = [2, 5, 10, 20, 50]


def gaussians(rows: int) -> Floats:
    """20 well separated Gaussians."""
    random = np.random.default_rng(0)
    centers = 20 * random.normal(size=(20, 10))
    return centers[random.integers(0, 20, rows)] + random.normal(size=(rows, 10))


DATA = {
    "20 Gaussians": gaussians,
    "uniform": lambda rows: np.random.default_rng(0).uniform(size=(rows, 10)),
    "embeddings": lambda rows: np.load(real_data("packages-minilm.npy"))[:rows].astype(np.float64),
}


def measured(name: str, X: Floats, share: float, runs: int) -> list[dict[str, object]]:
    dendrogram = sb.Dendrogram(sb.linkage(X, "ward"), X)
    labels = dendrogram.cut(n_clusters=CLUSTERS)
    suggestion = dendrogram.suggest()
    rows: list[dict[str, object]] = []
    for seed in range(runs):
        kept = np.sort(np.random.default_rng(seed).choice(len(X), round(share * len(X)), replace=False))
        fewer = sb.Dendrogram(sb.linkage(X[kept], "ward")).cut(n_clusters=CLUSTERS)
        for i, k in enumerate(CLUSTERS):
            rows.append({
                "data": name, "rows": len(X), "share": share, "k": k, "seed": seed,
                "ari": adjusted_rand_index(labels[kept, i], fewer[:, i], np.ones(len(kept))),
                "stability": suggestion.scores["stability"][k - 1],
                "reference": suggestion.scores["reference stability"][k - 1],
                "suggested": suggestion.n_clusters,
            })  # fmt: skip
    return rows


def table() -> str:
    runs: dict[tuple[str, int, str, int], list[dict[str, str]]] = defaultdict(list)
    with RESULTS.open() as file:
        for row in csv.DictReader(file):
            runs[row["data"], int(row["rows"]), row["share"], int(row["k"])].append(row)
    lines = [
        "| data | rows | share | k | ARI of the rows in both | `suggest`: stability | of uniform data | suggested |"
    ]
    lines.append("|---" * 8 + "|")
    for (name, count, share, k), found in runs.items():
        ari = np.array([float(row["ari"]) for row in found])
        last = found[-1]
        lines.append(
            f"| {name} | {count:,} | {float(share):.0%} | {k} "
            f"| {ari.mean():.2f} ({ari.min():.2f} to {ari.max():.2f}) "
            f"| {float(last['stability']):.2f} | {float(last['reference']):.2f} | {last['suggested'] or 'none'} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", help=f"some of {', '.join(DATA)}; all by default")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.95, help="of the rows that are clustered again")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="only print the table of what was measured")
    options = parser.parse_args()
    if not options.table:
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("a", newline="") as file:
            for name in options.data or DATA:
                rows = measured(name, DATA[name](options.rows), options.share, options.runs)
                writer = csv.DictWriter(file, list(rows[0]))
                if file.tell() == 0:
                    writer.writeheader()
                writer.writerows(rows)
                file.flush()
    print(table())


if __name__ == "__main__":
    main()

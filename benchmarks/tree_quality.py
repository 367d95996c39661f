"""What branching and the CF distances do to the leaves: python benchmarks/tree_quality.py [rows]

For each setting: rows per second, leaves, rebuilds, leaf sse a row, mean squared distance to the nearest leaf. The data
are the uniform cube and Gaussian mixtures, one thread. Machines are noisy: compare within one run.
"""

import sys
import time

import numpy as np

import silverbirch as sb
from silverbirch.demo import gaussian_mixture

PAIRS = [(d, a) for d in ("ward", "average", "centroid") for a in (d, "radius")]
SETTINGS = [{"branching": b, "max_leaves": m} for b in (15, 31, 63) for m in (2_000, 25_000)]
SETTINGS += [{"distance": d, "absorption": a, "max_leaves": 2_000} for d, a in PAIRS]


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    data = {
        "uniform": np.random.default_rng(0).uniform(0, 100, size=(rows, 5)),
        "Gaussian": np.concatenate([chunk for chunk, _ in gaussian_mixture(rows, seed=0)]),
    }
    random = np.random.default_rng(0)
    data["Gaussian, 64 columns"] = random.uniform(0, 100, size=(500, 64))[random.integers(500, size=rows // 10)]
    data["Gaussian, 64 columns"] += 4 * random.normal(size=(rows // 10, 64))
    data["Gaussian, sorted"] = data["Gaussian"][np.argsort(data["Gaussian"][:, 0])]
    print("| data | setting | M rows/s | leaves | rebuilds | leaf sse a row | nearest leaf mse |")
    print("|---|---|---|---|---|---|---|")
    for name, X in data.items():
        for setting in SETTINGS:
            begin = time.perf_counter()
            tree = sb.CFTree(**setting).insert(X)
            speed = len(X) / (time.perf_counter() - begin) / 1e6
            features = tree.features
            sample = X[:: max(1, len(X) // 100_000)]
            mse = ((sample - features.mean[tree.assign(sample)]) ** 2).sum(axis=1).mean()
            text = ", ".join(f"{k} {v}" for k, v in setting.items())
            print(
                f"| {name} | {text} | {speed:.2f} | {len(tree):,} | {tree.n_rebuilds} "
                f"| {features.sse.sum() / len(X):.3f} | {mse:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

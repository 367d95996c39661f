"""How fast minimax linkage of points is, against scipy's complete linkage of the same points.

    python -m benchmarks.studies.minimax --rows 2000 4000 8000 --dimensions 384
    python -m benchmarks.studies.minimax --file embeddings.npy --rows 2000 4000 8000

Both compute the distances of all pairs first. It prints CPU seconds of one thread, the median of --repeats runs in
which the contestants take turns, and the ratio. Heights must be the radii of their prototypes.
"""

import argparse
import statistics
import time

import numpy as np
from scipy.cluster import hierarchy

import silverbirch as sb


def uniform(n, d, rng):
    return rng.uniform(size=(n, d))


def gaussian(n, d, rng):
    """Clusters of about 40 rows that overlap slightly."""
    return (3 * rng.normal(size=(n // 40, d)))[rng.integers(0, n // 40, n)] + rng.normal(size=(n, d))


def seconds(job, X):
    begin = time.process_time()
    Z = job(X)
    return time.process_time() - begin, Z


def check_radii(X, Z, merges=100):
    """Compares the last heights with the distance from the prototype to the farthest row of its cluster."""
    nodes = hierarchy.to_tree(Z, rd=True)[1]
    for merge in range(max(len(Z) - merges, 0), len(Z)):
        members = nodes[len(X) + merge].pre_order()
        radius = np.linalg.norm(X[members] - X[Z.prototypes[merge]], axis=1).max()
        np.testing.assert_allclose(Z[merge, 2], radius, rtol=1e-9)


def compare(name, X, repeats):
    contestants = {
        "minimax": lambda X: sb.linkage(X, "minimax"),
        "scipy complete": lambda X: hierarchy.linkage(X, "complete"),
    }
    taken = {contestant: [] for contestant in contestants}
    for repeat in range(repeats):
        for contestant, job in contestants.items():
            elapsed, Z = seconds(job, X)
            taken[contestant].append(elapsed)
            if repeat == 0 and contestant == "minimax":
                check_radii(X, Z)
    minimax, complete = (statistics.median(times) for times in taken.values())
    print(f"{name} | {len(X)} | {X.shape[1]} | {minimax:.2f} | {complete:.2f} | {minimax / complete:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 4_000])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[384])
    parser.add_argument("--file", help="an .npy file of rows instead of random ones")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("data | rows | dimensions | minimax | scipy's complete | ratio\n---|---|---|---|---|---")
    for n in options.rows:
        if options.file:
            X = np.load(options.file, mmap_mode="r")[:n].astype(np.float64)
            compare(options.file.split("/")[-1], X, options.repeats)
            continue
        for d in options.dimensions:
            for data in (uniform, gaussian):
                compare(data.__name__, data(n, d, np.random.default_rng(0)), options.repeats)


if __name__ == "__main__":
    main()

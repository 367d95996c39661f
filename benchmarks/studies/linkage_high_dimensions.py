"""How fast Ward linkage is in many dimensions: algorithm="blocked", "nn_chain" and, with --peers, fastcluster.

    python -m benchmarks.studies.linkage_high_dimensions --rows 1000 5000 10000 --dimensions 16 64 384 --peers
    python -m benchmarks.studies.linkage_high_dimensions --file embeddings.npy --rows 10000 --threads 1 2

It prints CPU seconds for one thread, wall seconds for more: the median of --repeats runs, in which the contestants take
turns. The heights must agree.
"""

import argparse
import statistics
import time

import numpy as np

import silverbirch as sb


def uniform(n, d, rng):
    return rng.uniform(size=(n, d))


def gaussian(n, d, rng):
    """500 clusters that overlap slightly."""
    return (3 * rng.normal(size=(500, d)))[rng.integers(0, 500, n)] + rng.normal(size=(n, d))


def contestants(threads, peers):
    yield "blocked", 1, lambda X: sb.linkage(X, "ward", algorithm="blocked")
    yield "nn_chain", 1, lambda X: sb.linkage(X, "ward", algorithm="nn_chain")
    for count in threads:
        yield (
            f"blocked, {count} threads",
            count,
            lambda X, n_jobs=count: sb.linkage(X, "ward", algorithm="blocked", n_jobs=n_jobs),
        )
    if peers:
        import fastcluster

        yield "fastcluster", 1, lambda X: fastcluster.linkage_vector(X, "ward")


def seconds(job, X, threads):
    clock = time.process_time if threads == 1 else time.perf_counter
    begin = clock()
    heights = job(X)[:, 2]
    return clock() - begin, heights


def compare(name, X, threads, peers, repeats):
    taken, first = {}, None
    for _ in range(repeats):
        for contestant, count, job in contestants(threads, peers):
            elapsed, heights = seconds(job, X, count)
            taken.setdefault(contestant, []).append(elapsed)
            first = heights if first is None else first
            np.testing.assert_allclose(heights, first, rtol=1e-12)
    base = statistics.median(taken["blocked"])
    for contestant, times in taken.items():
        median = statistics.median(times)
        print(f"{name} | {len(X)} | {X.shape[1]} | {contestant} | {median:.3f} | {median / base:.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 5_000])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[16, 64, 384])
    parser.add_argument("--file", help="an .npy file of rows instead of random ones")
    parser.add_argument("--threads", type=int, nargs="*", default=[], help="numbers of threads to measure too")
    parser.add_argument(
        "--peers", action="store_true", help="also fastcluster.linkage_vector: a minute for 10 000 rows"
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("data | rows | dimensions | contestant | seconds | of blocked\n---|---|---|---|---|---")
    for n in options.rows:
        if options.file:
            X = np.load(options.file, mmap_mode="r")[:n].astype(np.float32)
            compare(options.file.split("/")[-1], X, options.threads, options.peers, options.repeats)
            continue
        for d in options.dimensions:
            for data in (uniform, gaussian):
                X = data(n, d, np.random.default_rng(0)).astype(np.float32)
                compare(data.__name__, X, options.threads, options.peers, options.repeats)


if __name__ == "__main__":
    main()

"""What a random projection of TF-IDF rows costs, by the number of columns.

    python -m benchmarks.studies.projection_error packages.parquet --column description --truth section

For each number of columns k it prints the root mean square of the relative error of squared distances of random pairs:
what theory expects, √(2 / k); that of Betula(projection=k); and that of scikit-learn's SparseRandomProjection with its
own density, 1 / √d. Then the share of rows whose nearest row by cosine distance has the same value in --truth: of rows
with all columns, projected rows, and rows reduced by scikit-learn's TruncatedSVD.
"""

import argparse

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import NearestNeighbors
from sklearn.random_projection import SparseRandomProjection

from silverbirch.rows.projected_source import Projection

PAIRS = 20_000


def squared_distances(X, pairs):
    gap = X[pairs[0]] - X[pairs[1]]
    return np.asarray((gap.multiply(gap) if hasattr(gap, "multiply") else gap**2).sum(axis=1)).ravel()


def error(X, projected, pairs):
    before = squared_distances(X, pairs)
    ratio = squared_distances(projected, pairs)[before > 0] / before[before > 0]
    return np.sqrt(np.mean((ratio - 1) ** 2))


def same_as_nearest(X, truth):
    nearest = NearestNeighbors(n_neighbors=1, metric="cosine", algorithm="brute").fit(X)
    return np.mean(truth[nearest.kneighbors(return_distance=False)[:, 0]] == truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="a Parquet file with a column of texts")
    parser.add_argument("--column", default="description")
    parser.add_argument("--truth", default="section", help="a column to compare neighbours by")
    parser.add_argument("--rows", type=int, default=5000, help="how many rows to compare neighbours of")
    parser.add_argument("--columns", type=int, nargs="*", default=[64, 128, 256, 512, 1024])
    options = parser.parse_args()
    import pyarrow.parquet as parquet

    table = parquet.read_table(options.file, columns=[options.column, options.truth])
    X = TfidfVectorizer().fit_transform(table[options.column].to_pylist())
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, X.shape[0], PAIRS), rng.integers(0, X.shape[0], PAIRS)
    few = rng.choice(X.shape[0], min(options.rows, X.shape[0]), replace=False)
    truth = np.array(table[options.truth].to_pylist())[few]
    print(f"{X.shape[0]:,} rows of {X.shape[1]:,} columns, {X.nnz / X.shape[0]:.1f} values a row")
    print(f"nearest row has the same {options.truth}, all columns: {same_as_nearest(X[few], truth):.3f}")
    print("columns | √(2/k) | error | error, density 1/√d | same, projected | same, SVD\n---|---|---|---|---|---")
    for k in options.columns:
        ours = Projection(k).apply(X)
        sparser = SparseRandomProjection(k, random_state=0).fit_transform(X)
        reduced = TruncatedSVD(k, random_state=0).fit_transform(X[few])
        print(
            f"{k} | {np.sqrt(2 / k):.3f} | {error(X, ours, pairs):.3f} | {error(X, sparser, pairs):.3f} | "
            f"{same_as_nearest(ours[few], truth):.3f} | {same_as_nearest(reduced, truth):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

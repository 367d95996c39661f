"""Data moved away from the origin, compared with exact arithmetic: the reason for BETULA's features.

A classic feature keeps (N, LS, SS): count, linear sum and sum of squares. Its variance SS/N - (LS/N)² is the difference
of two large numbers where the mean is far from the origin (Lang & Schubert 2020). BETULA keeps (n, mean, SSE).
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from silverbirch import _core
from silverbirch.checks import Floats
from silverbirch.dendrogram import Dendrogram
from silverbirch.features import ClusterFeatures
from silverbirch.linkage import linkage
from silverbirch.tree import CFTree

from .data_sets import DEVIATION, DIMENSIONS, MIXTURE_SIDE, DataSet
from .jobs import MovedTreeJob, VarianceErrorJob

ROWS_OF_GROUP = 40
# Of a leaf's radius; a whole Gaussian has 3.35.
THRESHOLD = 2.0
BRANCHING = 50

Groups = NDArray[Any]  # (groups, rows of a group, dimensions)


# -- the variance of single features


def classic(groups: Groups) -> Groups:
    """(N, LS, SS), a row at a time, in the precision of the rows."""
    linear, squares = np.zeros_like(groups[:, 0]), np.zeros_like(groups[:, 0, 0])
    for row in np.moveaxis(groups, 1, 0):
        linear += row
        squares += (row * row).sum(axis=1)
    count = groups.dtype.type(groups.shape[1])
    variance: Groups = squares / count - ((linear / count) ** 2).sum(axis=1)
    return variance


def betula(groups: Groups) -> Groups:
    """(n, mean, SSE) by the paper's update equations, a row at a time, in the precision of the rows."""
    mean, sse = groups[:, 0].copy(), np.zeros_like(groups[:, 0, 0])
    for count, row in enumerate(np.moveaxis(groups, 1, 0)[1:], start=2):
        before = row - mean
        mean += before / groups.dtype.type(count)
        sse += (before * (row - mean)).sum(axis=1)
    variance: Groups = sse / groups.dtype.type(groups.shape[1])
    return variance


def silverbirch(groups: Groups) -> Floats:
    """The features of this package, a row at a time; their sums are always float64."""
    features = ClusterFeatures(1, groups[:, 0], 0)
    for row in np.moveaxis(groups, 1, 0)[1:]:
        features = features.merged_with(ClusterFeatures(1, row, 0))
    return features.sse / features.weight


FEATURES = {
    "classic, float32": (classic, "float32"),
    "classic, float64": (classic, "float64"),
    "BETULA, float32": (betula, "float32"),
    "silverbirch, float32 rows": (silverbirch, "float32"),
    "silverbirch, float64 rows": (silverbirch, "float64"),
}


def measure_variance_error(job: VarianceErrorJob) -> dict[str, Any]:
    kept, dtype = FEATURES[job.features]
    groups = _moved_groups(job.rows // ROWS_OF_GROUP, job.offset, dtype)
    exact = [_exact_variance(group) for group in groups]
    pairs = [(value, true) for value, true in zip(kept(groups).tolist(), exact, strict=True) if true > 0]
    if not pairs:  # rounding to that precision left no spread in any group
        return {"worst_error": None, "groups": 0}
    return {
        "worst_error": max(float(abs(Fraction(value) - true) / true) for value, true in pairs),
        "groups": len(pairs),
    }


def _moved_groups(count: int, offset: float, dtype: str) -> Groups:
    random = np.random.default_rng(0)
    centers = random.uniform(0, MIXTURE_SIDE, size=(count, 1, DIMENSIONS))
    groups = centers + DEVIATION * random.normal(size=(count, ROWS_OF_GROUP, DIMENSIONS)) + offset
    return groups.astype(dtype)


def _exact_variance(group: Groups) -> Fraction:
    """The exact variance of the rounded rows: the best that features can store."""
    total = Fraction(0)
    for column in group.T.tolist():
        values = [Fraction(value) for value in column]
        total += sum((value * value for value in values), Fraction(0)) - sum(values, Fraction(0)) ** 2 / len(values)
    return total / len(group)


# -- whole trees


def _silverbirch_tree(X: Groups, k: int) -> tuple[int, NDArray[np.int64]]:
    """The tree with the criteria of scikit-learn: rows descend by the distance of means, the radius is bounded."""
    tree = CFTree(threshold=THRESHOLD, distance="centroid", absorption="radius", branching=BRANCHING).insert(X)
    labels = _cut(linkage(tree.features, "ward"), k)
    return tree.n_leaves, labels[tree.assign(X)]


def _birch_tree(X: Groups, k: int) -> tuple[int, NDArray[np.int64]]:
    """scikit-learn's tree of (N, LS, SS) features; it labels rows by its nearest subcluster."""
    from sklearn.cluster import Birch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from square roots of negative variances
        model = Birch(threshold=THRESHOLD, branching_factor=BRANCHING, n_clusters=None).fit(X)
    centers = np.asarray(model.subcluster_centers_, dtype=np.float64)
    labels = _cut(linkage(centers, "ward"), k) if len(centers) > 1 else np.zeros(1, dtype=np.int64)
    return len(centers), labels[model.labels_]


def _no_tree(X: Groups, k: int) -> tuple[int, NDArray[np.int64]]:
    """All rows without a tree: the quality that rounding of the rows alone leaves."""
    return len(np.unique(X, axis=0)), _cut(linkage(X, "ward"), k)


def _cut(Z: Floats, k: int) -> NDArray[np.int64]:
    return Dendrogram(Z).cut(n_clusters=min(k, len(Z) + 1))


TREES = {"silverbirch": _silverbirch_tree, "scikit-learn Birch": _birch_tree, "all rows": _no_tree}


def measure_moved_tree(job: MovedTreeJob) -> dict[str, Any]:
    X = DataSet("Gaussian", job.rows, job.k).make()
    leaves, labels = TREES[job.tree](np.ascontiguousarray((X + job.offset).astype(job.dtype)), job.k)
    clusters, labels = np.unique(labels, return_inverse=True)
    # The quality of the partition is computed on the rows before the move.
    sse = _core.grouped(X, None, labels.astype(np.int64), len(clusters), None)[2]
    return {"leaves": leaves, "clusters": len(clusters), "rmsd": float(np.sqrt(sse.sum() / len(X)))}

"""The quality of a partition, computed by numpy and scipy alone: the same code for all libraries."""

import numpy as np
from numpy.typing import NDArray


def rmsd(X: NDArray, labels: NDArray) -> float:
    """Root of the mean squared distance of a row to the mean of its cluster."""
    labels = np.asarray(labels)
    count = np.bincount(labels)
    squared = 0.0
    for x in X.T:
        x = x.astype(np.float64)
        mean = np.bincount(labels, weights=x) / np.maximum(count, 1)
        x -= mean[labels]
        squared += float(x @ x)
    return float(np.sqrt(squared / len(X)))


def cut(merges: NDArray, leaves: int, clusters: int) -> NDArray[np.int64]:
    """The labels of the leaves after the first `leaves - clusters` merges.

    As in Z, merge i joins the nodes in columns 0 and 1 into the node leaves + i.
    """
    made = leaves - clusters
    top = np.arange(leaves + made)
    for column in (0, 1):
        top[np.asarray(merges[:made, column], dtype=np.int64)] = np.arange(leaves, leaves + made)
    while not np.array_equal(above := top[top], top):  # each round doubles the number of levels climbed
        top = above
    is_top = np.zeros(len(top), dtype=np.int64)
    is_top[top[:leaves]] = 1
    return (np.cumsum(is_top) - 1)[top[:leaves]]


def cut_spanning_tree(edges: NDArray, leaves: int, clusters: int) -> NDArray[np.int32]:
    """Like `cut`, for the edges of a minimum spanning tree, shortest first."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    made = np.asarray(edges)[: leaves - clusters]
    graph = coo_matrix((np.ones(len(made), dtype=bool), (made[:, 0], made[:, 1])), shape=(leaves, leaves))
    return connected_components(graph, directed=False)[1]


def nearest_leaf(X: NDArray, centers: NDArray, sample: int = 2_000) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Evenly spaced rows, and the exactly nearest center of each, by brute force."""
    chosen = np.linspace(0, len(X) - 1, min(sample, len(X))).astype(np.int64)
    centers = np.asarray(centers, dtype=np.float64)
    nearest = [int(np.argmin(((centers - x) ** 2).sum(axis=1))) for x in X[chosen].astype(np.float64)]
    return chosen, np.array(nearest)


def nearest_mse(X: NDArray, centers: NDArray, sample: int = 20_000) -> float:
    """Mean squared distance of rows to their nearest center, over evenly spaced rows."""
    centers = np.asarray(centers, dtype=np.float64)
    rows = X[np.linspace(0, len(X) - 1, min(sample, len(X))).astype(np.int64)].astype(np.float64)
    if X.shape[1] <= 16:
        from scipy.spatial import cKDTree

        return float((cKDTree(centers).query(rows)[0] ** 2).mean())
    rows = rows[::10]
    origin = rows.mean(axis=0)
    # The product only chooses the center; the distance itself is then computed without cancellation.
    scores = (rows - origin) @ (centers - origin).T - ((centers - origin) ** 2).sum(axis=1) / 2
    return float(((rows - centers[scores.argmax(axis=1)]) ** 2).sum(axis=1).mean())


def rmsd_of_features(weight: NDArray, mean: NDArray, sse: NDArray, labels: NDArray) -> float:
    """rmsd of the points behind weighted features."""
    total = np.bincount(labels, weights=weight)
    squared = float(sse.sum())
    for x in mean.T:
        gap = x - (np.bincount(labels, weights=weight * x) / total)[labels]
        squared += float(weight @ gap**2)
    return float(np.sqrt(squared / weight.sum()))

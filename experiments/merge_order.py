"""Reorders the merges of a dendrogram: a cut into k clusters undoes the last k - 1 of them."""

from __future__ import annotations

import numpy as np

from silverbirch.checks import Floats


def size_before_height(Z: Floats, size: Floats) -> Floats:
    """Z with its rows ordered by the size of the merged cluster, then by height.

    ELKI used this order for NN-chain from March 2022 to April 2026 (`ClusterMergeHistoryBuilder.optimizeOrder`). A cut
    then undoes the merges of the largest clusters instead of the highest merges.

    size : the number of points in the merged cluster of each row
    """
    order = np.lexsort((np.arange(len(Z)), Z[:, 2], size))  # a child is smaller than its parent, so it comes first
    new_row = np.empty(len(Z), dtype=np.int64)
    new_row[order] = np.arange(len(Z))
    leaves = len(Z) + 1
    ordered = Z[order].copy()
    nodes = ordered[:, :2].astype(np.int64)
    merged = nodes >= leaves
    nodes[merged] = leaves + new_row[nodes[merged] - leaves]
    ordered[:, :2] = np.sort(nodes, axis=1)
    return ordered

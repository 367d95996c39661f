"""The same merges in another order: what a cut into k clusters undoes are the last k - 1 of them."""

from __future__ import annotations

import numpy as np

from silverbirch.checks import Floats


def size_before_height(Z: Floats, size: Floats) -> Floats:
    """Z with its rows ordered by the size of the cluster they make, then by height.

    ELKI ordered the merges of NN-chain so from March 2022 to April 2026 (`ClusterMergeHistoryBuilder.optimizeOrder`).
    A cut then undoes the merges that made the largest clusters, instead of the highest ones.

    size : of the cluster each row makes, in points
    """
    order = np.lexsort((np.arange(len(Z)), Z[:, 2], size))  # a part is smaller than the whole, so it stays before it
    new_row = np.empty(len(Z), dtype=np.int64)
    new_row[order] = np.arange(len(Z))
    leaves = len(Z) + 1
    ordered = Z[order].copy()
    nodes = ordered[:, :2].astype(np.int64)
    merged = nodes >= leaves
    nodes[merged] = leaves + new_row[nodes[merged] - leaves]
    ordered[:, :2] = np.sort(nodes, axis=1)
    return ordered

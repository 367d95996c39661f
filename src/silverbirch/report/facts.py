"""The means of the uppermost nodes, which say what a branch is about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import Floats
from ..dendrogram import Dendrogram
from ..dendrogram.nodes import Nodes
from ..features import ClusterFeatures
from ..model.cluster_table import column_deviation, standardised
from .clusters import MOST_COLUMNS, Clusters, Original, are_embedding, decimals_of, units_of
from .packing import Packed
from .payload import Payload
from .squares import ROUNDED_FROM, rounded

_FEWEST_NODES = 1_000  # whose means are on the page, even where they exceed the usual size
_USUAL_BYTES, _MOST_BYTES = 1_000_000, 6_000_000  # of the means in base64
_BYTES_BESIDE_MANY_LEAVES = 300_000
_BITS = 13  # of means, where the page shows three digits of them


@dataclass(frozen=True)
class Columns:
    """The columns as a page shows them.

    convert : takes means to the units of the page; None if these are the units that were clustered
    """

    names: list[str]
    mean: Floats
    deviation: Floats
    convert: Original | None = None

    @property
    def are_embedding(self) -> bool:
        return are_embedding(self.names)

    def described(self) -> list[dict[str, object]]:
        return [
            {
                "name": name,
                "mean": mean,
                "deviation": deviation,
                "decimals": decimals_of(deviation, len(self.names)),
            }
            for name, mean, deviation in zip(self.names, self.mean.tolist(), self.deviation.tolist(), strict=True)
        ]

    def standardised(self, means: Floats) -> Floats:
        shown = means if self.convert is None else np.asarray(self.convert(means), dtype=np.float64)
        return standardised(shown, self.mean, self.deviation)


def columns_of_clusters(clusters: Clusters, original: Original | None) -> Columns:
    return Columns(clusters.names, clusters.table.mean, clusters.table.deviation, original)


def columns_of_features(features: ClusterFeatures, names: list[str] | None) -> Columns:
    width, mean = features.n_dimensions, features.total().mean[0]
    if names is not None and len(names) != width:
        raise ValueError(f"{len(names)} column names but the features have {width} columns: one for each is needed")
    return Columns(names or [f"column {i}" for i in range(width)], mean, column_deviation(features, mean))


def add_facts(payload: Payload, dendrogram: Dendrogram, absorbed: Dendrogram, columns: Columns) -> Nodes:
    """Adds the columns and the means of the uppermost nodes; returns these nodes, the root first.

    absorbed : the dendrogram with the means of a node to which no row is labelled
    """
    width = len(columns.names)
    few = width <= MOST_COLUMNS
    bytes_of_node = 4 + 4 / 3 * width * (3.7 if few else 2.5)  # as measured, compressed
    usual = _USUAL_BYTES if dendrogram.n_leaves <= ROUNDED_FROM else _BYTES_BESIDE_MANY_LEAVES
    wanted = max(_FEWEST_NODES, usual / bytes_of_node)
    k = int(min(wanted, _MOST_BYTES / bytes_of_node)) // 2 + 1
    k = min(k, dendrogram.n_leaves)
    nodes = uppermost_nodes(dendrogram, k)
    means = np.where(dendrogram.weights[nodes, None] > 0, means_of(dendrogram, nodes), means_of(absorbed, nodes))
    z = columns.standardised(means).astype(np.float32)
    payload.arrays["fact_node"] = Packed(nodes.astype(np.uint32))
    payload.arrays["fact_z"] = Packed(z if few else rounded(z, _BITS))
    payload.header |= {
        "columns": columns.described(),
        "embedding": columns.are_embedding,
        "units": f"Means are {units_of(columns.convert)}.",
        "facts": {"nodes": len(nodes), "complete_to": k},
    }
    return nodes


def uppermost_nodes(dendrogram: Dendrogram, k: int) -> Nodes:
    """All nodes that are clusters of a cut into k or fewer: the root, then the children of the last merges."""
    children = dendrogram._hierarchy.children[dendrogram.n_leaves - k :]
    return np.concatenate([[dendrogram._hierarchy.root], children[::-1].ravel()])


def means_of(dendrogram: Dendrogram, nodes: Nodes) -> Floats:
    """The mean of each node."""
    features, n = dendrogram._known_features(), dendrogram.n_leaves
    means = np.empty((len(nodes), features.n_dimensions))
    leaf = nodes < n
    means[leaf] = features.mean[nodes[leaf]]
    means[~leaf] = dendrogram.merged_features.mean[nodes[~leaf] - n]
    return means

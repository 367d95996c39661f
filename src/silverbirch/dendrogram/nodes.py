"""The nodes of a dendrogram: their leaves, the parts below and above a node, and their names. Nothing recurses."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats

Nodes = NDArray[np.int64]


class NodePath(NamedTuple):
    """The nodes from a leaf up to the root, with the height and the weight of each."""

    nodes: Nodes
    heights: Floats
    weights: Floats


class Hierarchy:
    """The nodes of a linkage matrix of m leaves: 0 … m-1 are the leaves, and m + i is row i.

    In `leaf_order` the leaves below every node are neighbours: those of node v are
    `leaf_order[first[v] : first[v] + count[v]]`.
    """

    def __init__(self, Z: Floats) -> None:
        self.n_leaves = len(Z) + 1
        self.children = Z[:, :2].astype(np.int64)
        self.count = np.concatenate([np.ones(self.n_leaves), Z[:, 3]]).astype(np.int64)

    @property
    def root(self) -> int:
        return 2 * self.n_leaves - 2

    @cached_property
    def parents(self) -> Nodes:
        """The parent of each node; the root is its own."""
        parents = np.arange(2 * self.n_leaves - 1)
        parents[self.children] = self.n_leaves + np.arange(len(self.children))[:, None]
        return parents

    @cached_property
    def first(self) -> Nodes:
        """The place of the first leaf below each node in `leaf_order`."""
        # The leaves of a right child begin after those of its sibling; such gaps add up along the path from the root.
        # Each round doubles the part of the path that is summed up, so chains take few rounds too.
        first, above = np.zeros(self.root + 1, dtype=np.int64), self.parents
        first[self.children[:, 1]] = self.count[self.children[:, 0]]
        while (above != self.root).any():
            first += first[above]
            above = above[above]
        return first

    @cached_property
    def leaf_order(self) -> Nodes:
        order = np.empty(self.n_leaves, dtype=np.int64)
        order[self.first[: self.n_leaves]] = np.arange(self.n_leaves)
        return order

    def leaves_below(self, node: int) -> Nodes:
        """The leaves below a node, ascending."""
        begin = self.first[node]
        return np.sort(self.leaf_order[begin : begin + self.count[node]])

    def labels_of(self, nodes: Nodes) -> NDArray[np.int64]:
        """Label i for the leaves below nodes[i], -1 for all other leaves; no node may be below another."""
        lengths = self.count[nodes]
        begins = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(self.first[nodes] - begins, lengths)
        labels = np.full(self.n_leaves, -1, dtype=np.int64)
        labels[self.leaf_order[places]] = np.repeat(np.arange(len(nodes)), lengths)
        return labels

    def nodes_of(self, labels: Any) -> Nodes:
        """The node whose leaves are exactly those of each cluster 0, 1, …; leaves of negative labels are in none."""
        labels = np.asarray(labels)
        if labels.shape != (self.n_leaves,) or labels.dtype.kind not in "iu":
            raise ValueError(
                f"labels are {labels.dtype} of shape {labels.shape}: one whole number for each of the {self.n_leaves} "
                "leaves is needed"
            )
        if labels.max() >= self.n_leaves:
            raise ValueError(
                f"label {labels.max()} of {self.n_leaves} leaves: clusters are numbered from 0 without a gap"
            )
        in_order = labels[self.leaf_order].astype(np.int64)
        places = np.flatnonzero(in_order >= 0)
        sizes = np.bincount(in_order[places])
        if not sizes.all():
            raise ValueError(f"label {np.argmin(sizes)} is missing: clusters are numbered from 0 without a gap")
        begin, end = np.full(len(sizes), self.n_leaves), np.zeros(len(sizes), dtype=np.int64)
        np.minimum.at(begin, in_order[places], places)
        np.maximum.at(end, in_order[places], places + 1)
        nodes = np.full(len(sizes), -1)
        candidates = np.flatnonzero(in_order[self.first] >= 0)
        cluster, first = in_order[self.first[candidates]], self.first[candidates]
        same = (first == begin[cluster]) & (first + self.count[candidates] == end[cluster])
        nodes[cluster[same]] = candidates[same]
        nodes[sizes != end - begin] = -1  # leaves of other clusters lie between
        if (nodes < 0).any():
            raise ValueError(
                f"cluster {np.argmin(nodes)} is not a whole branch of the dendrogram, so no node stands for it: take "
                "the labels of a cut, with noise=True if it has a min_size"
            )
        return nodes

    def below(self, Z: Floats, node: int) -> tuple[Nodes, Nodes, Floats]:
        """The leaves and the rows below a node, both ascending, and the linkage matrix of these leaves alone."""
        leaves = self.leaves_below(node)
        inside = (self.first >= self.first[node]) & (self.first + self.count <= self.first[node] + self.count[node])
        rows = np.flatnonzero(inside[self.n_leaves :])
        nodes = np.concatenate([leaves, self.n_leaves + rows])
        return leaves, rows, np.column_stack([np.searchsorted(nodes, self.children[rows]), Z[rows, 2:]])


def above(Z: Floats, n_tips: int) -> tuple[Nodes, Floats]:
    """The n_tips branches that the last merges join, ascending, and the linkage matrix of these branches."""
    rows = Z[len(Z) + 1 - n_tips :]
    first_inner = 2 * len(Z) + 2 - n_tips
    children = rows[:, :2].astype(np.int64)
    tips = np.sort(children[children < first_inner])
    renumbered = np.where(children < first_inner, np.searchsorted(tips, children), children - first_inner + n_tips)
    top = np.column_stack([renumbered, rows[:, 2], np.zeros(len(rows))])
    top[:, 3] = _core.leaf_counts(top)
    return tips, top


def as_node(value: Any, name: str, n_nodes: int, what: str = "nodes") -> int:
    try:
        node = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}: the number of a node is needed") from None
    if not 0 <= node < n_nodes:
        raise IndexError(f"{name}={value!r} does not exist: {what} are numbered 0 to {n_nodes - 1}")
    return node


def as_names(names: Any, n_leaves: int) -> dict[int, str]:
    """The name of each named node, from a list of one name for each leaf or from {node: name}."""
    if names is None:
        return {}
    if isinstance(names, Mapping):
        return {as_node(node, "names: node", 2 * n_leaves - 1): str(name) for node, name in names.items()}
    if isinstance(names, str) or len(names) != n_leaves:
        raise ValueError(f"{len(names)} names but {n_leaves} leaves: give one name for each leaf, or {{node: name}}")
    return {leaf: str(name) for leaf, name in enumerate(names)}

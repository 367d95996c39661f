"""Which part of a dendrogram is drawn, and in which order. Nothing recurses, so chains of any depth are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import _core
from ..checks import Floats
from ..dendrogram.nodes import Hierarchy, Nodes


@dataclass(frozen=True)
class Layout:
    """The drawn part of a dendrogram, as a tree of its own: 0 … t-1 are its tips, t + i is its i-th merge.

    The tips are leaves, or branches whose inside is not drawn.
    """

    nodes: Nodes  # the node of the dendrogram that each tip and each merge is
    children: Nodes  # (t - 1, 2): the left and the right child of each merge

    @property
    def n_tips(self) -> int:
        return len(self.children) + 1

    @cached_property
    def _hierarchy(self) -> Hierarchy:
        merges = np.column_stack([self.children, np.zeros((len(self.children), 2))])
        merges[:, 3] = _core.leaf_counts(merges)
        return Hierarchy(merges)

    @property
    def count(self) -> Nodes:
        """The number of tips below each node."""
        return self._hierarchy.count

    @property
    def first(self) -> Nodes:
        """The place of the leftmost tip below each node."""
        return self._hierarchy.first

    @property
    def tips(self) -> Nodes:
        """The nodes of the dendrogram at the tips, from left to right."""
        return self.nodes[self._hierarchy.leaf_order]

    def heights(self, Z: Floats) -> Floats:
        """The height of each node; leaves are at 0."""
        return np.concatenate([np.zeros(len(Z) + 1), Z[:, 2]])[self.nodes]

    def positions(self, places: Floats | None = None) -> Floats:
        """Where each node is drawn: merges halfway between their children, the tips at `places` from left to right."""
        first = self.first[: self.n_tips]
        x = (first.astype(np.float64) if places is None else places[first]).tolist()
        for left, right in zip(*self.children.T.tolist(), strict=True):
            x.append((x[left] + x[right]) / 2)
        return np.array(x)


def layout(children: Nodes, drawn: Nodes) -> Layout:
    """The layout of some merges of a dendrogram.

    children : (m - 1, 2), the left and the right child of each row
    drawn : the rows that are drawn, ascending; if the row of a node is drawn, so is that of its parent
    """
    m = len(children) + 1
    if not len(drawn):
        return Layout(np.array([2 * m - 2]), np.empty((0, 2), dtype=np.int64))
    inner = np.zeros(2 * m - 1, dtype=bool)
    inner[m + drawn] = True
    below = children[drawn]
    tips = np.sort(below[~inner[below]])
    nodes = np.concatenate([tips, m + drawn])
    number = np.empty(2 * m - 1, dtype=np.int64)
    number[nodes] = np.arange(len(nodes))
    return Layout(nodes, number[below])


def uppermost(children: Nodes, n_tips: int) -> Nodes:
    """The rows of the last merges, which join `n_tips` branches."""
    return np.arange(len(children) - (n_tips - 1), len(children))


def with_clusters(hierarchy: Hierarchy, clusters: Nodes, n_tips: int) -> Nodes:
    """The rows to draw so that no tip holds more than one cluster, and then the uppermost rows up to `n_tips` tips.

    If that takes more tips, these are the uppermost rows alone.
    """
    m, parents = hierarchy.n_leaves, hierarchy.parents
    drawn = np.zeros(m - 1, dtype=bool)
    room = n_tips - 1
    for node in parents[clusters[clusters != hierarchy.root]].tolist():
        while not drawn[node - m]:
            if not room:
                return uppermost(hierarchy.children, n_tips)
            drawn[node - m] = True
            room -= 1
            node = int(parents[node])
    others = np.flatnonzero(~drawn)
    drawn[others[max(len(others) - room, 0) :]] = True
    return np.flatnonzero(drawn)

"""Reading a dendrogram: cutting, measuring, drawing and exporting it."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .checks import Floats, as_count, as_rows
from .features import ClusterFeatures

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Dendrogram:
    """The dendrogram Z of m leaves, with the cluster features of those leaves where they are known.

    Parameters
    ----------
    Z : a linkage matrix, from `silverbirch.linkage` or scipy
    features : the ClusterFeatures, or the points (m, d), that Z is the dendrogram of

    Nodes are numbered as in scipy: 0 … m-1 are the leaves, m + i is row i of Z.
    """

    def __init__(self, Z: Any, features: Any = None) -> None:
        self.Z = _checked_z(Z)
        self.prototypes: NDArray[np.int64] | None = getattr(Z, "prototypes", None)
        if features is not None and not isinstance(features, ClusterFeatures):
            features = ClusterFeatures(1, as_rows(features, name="features"), 0)
        if features is not None and len(features) != self.n_leaves:
            raise ValueError(
                f"Z has {self.n_leaves} leaves but there are {len(features)} features: they must belong together"
            )
        self.features: ClusterFeatures | None = features

    @property
    def n_leaves(self) -> int:
        return len(self.Z) + 1

    def __repr__(self) -> str:
        return f"Dendrogram({self.n_leaves} leaves, height {self.Z[:, 2].max(initial=0.0):.4g})"

    # -- cutting

    def cut(self, n_clusters: Any = None, height: Any = None) -> NDArray[np.int64]:
        """A label for each leaf. Clusters are numbered by weight: the heaviest is 0, ties by the lowest leaf.

        n_clusters : undo the last merges until there are exactly that many clusters
        height : keep the merges up to that height, as scipy's `fcluster(Z, height, "distance")` does

        For a list of numbers or of heights the labels are (m, how many): a column for each. Without features every leaf
        has weight 1.
        """
        if (n_clusters is None) == (height is None):
            raise ValueError("cut takes either n_clusters or height")
        if height is None:
            counts = [self._checked_count(count) for count in _as_list(n_clusters, "n_clusters")]
            level_of_row, levels = np.arange(len(self.Z), dtype=np.float64), self.n_leaves - 1.0 - np.array(counts)
        else:
            level_of_row, levels = self._subtree_heights, np.array([float(h) for h in _as_list(height, "height")])
            if np.isnan(levels).any():
                raise ValueError("height=nan: must be a number")
        labels = _core.cut(self.Z, level_of_row, levels)
        weight = np.ones(self.n_leaves) if self.features is None else self.features.weight
        for column in labels.T:
            column[:] = numbered_by_weight(column, weight)
        return labels[:, 0] if np.ndim(n_clusters if height is None else height) == 0 else labels

    @cached_property
    def _subtree_heights(self) -> Floats:
        return _core.subtree_heights(self.Z)

    def _checked_count(self, n_clusters: Any) -> int:
        count = as_count(n_clusters, "n_clusters")
        if count > self.n_leaves:
            raise ValueError(
                f"n_clusters={count} but there are {self.n_leaves} leaves: raise max_leaves or lower n_clusters"
            )
        return count

    # -- measuring

    @property
    def weights(self) -> Floats:
        """The mass of each node in points: m leaves, then the m-1 rows of Z. Leaves of unknown features count one."""
        if self.features is None:
            return np.concatenate([np.ones(self.n_leaves), self.Z[:, 3]])
        return np.concatenate([self.features.weight, self.merged_features.weight])

    @cached_property
    def merged_features(self) -> ClusterFeatures:
        """The cluster feature of each row of Z."""
        return ClusterFeatures._adopt(*_core.merged_features(self.Z, *self._known_features().arrays()))

    @cached_property
    def _sse_by_merges(self) -> Floats:
        """Entry i: the sum of squares within clusters after the first i rows of Z."""
        leaves, merged = self._known_features(), self.merged_features
        sse = np.concatenate([leaves.sse, merged.sse])
        parts = self.Z[:, :2].astype(np.int64)
        increase = merged.sse - sse[parts[:, 0]] - sse[parts[:, 1]]
        return np.concatenate([[leaves.sse.sum()], leaves.sse.sum() + np.cumsum(increase)])

    def sse(self, k: Any) -> Any:
        """Sum of squared distances to the own cluster's mean when cut into k clusters; k may be an array.

        From the features alone, exact for the points as they were absorbed by the leaves. Rows labelled by their
        nearest leaf lie closer, so it is a close upper estimate for them.
        """
        counts = np.asarray(k) if np.size(k) else np.empty(0, dtype=np.int64)
        for count in counts.ravel():
            self._checked_count(count)
        result = self._sse_by_merges[self.n_leaves - counts.astype(np.int64)]
        return float(result) if counts.ndim == 0 else result

    def rmsd(self, k: Any) -> Any:
        """Root mean squared distance to the own cluster's mean when cut into k clusters; k may be an array."""
        result = np.sqrt(self.sse(k) / self._known_features().weight.sum())
        return float(result) if np.ndim(k) == 0 else result

    def cophenetic(self, i: Any = None, j: Any = None) -> Any:
        """The height at which leaves i and j come together, for numbers or arrays of them; with neither, for all pairs.

        All pairs come as a condensed vector, as from scipy's `cophenet`.
        """
        if (i is None) != (j is None):
            raise ValueError("cophenetic takes both i and j, or neither for all pairs")
        if i is None:
            from scipy.cluster.hierarchy import cophenet

            return cophenet(self.Z) if len(self.Z) else np.empty(0)
        a, b = np.broadcast_arrays(i, j)
        if a.size and (a.dtype.kind not in "iu" or b.dtype.kind not in "iu"):
            raise TypeError("leaves are named by whole numbers")
        a, b = a.astype(np.int64), b.astype(np.int64)
        if a.size and not (min(a.min(), b.min()) >= 0 and max(a.max(), b.max()) < self.n_leaves):
            raise IndexError(f"leaves are numbered 0 to {self.n_leaves - 1}")
        heights = np.concatenate([np.zeros(self.n_leaves), self.Z[:, 2]])
        a, b = np.atleast_1d(a), np.atleast_1d(b)
        while (apart := a != b).any():  # nodes are numbered upwards, so the smaller one is never above the other
            a, b = np.where(apart, self._parents[np.minimum(a, b)], a), np.maximum(a, b)
        result = heights[a]
        return float(result[0]) if np.ndim(i) == np.ndim(j) == 0 else result

    @cached_property
    def _parents(self) -> NDArray[np.int64]:
        parents = np.arange(2 * self.n_leaves - 1)
        parents[self.Z[:, :2].astype(np.int64)] = self.n_leaves + np.arange(len(self.Z))[:, None]
        return parents

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes Z, with the features and the prototypes where they are known, to a file for `load`."""
        from .storage.loading import save

        save(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dendrogram:
        """The dendrogram in a file, or that of the model in it."""
        from .storage.loading import load_as

        dendrogram: Dendrogram = load_as(cls, path)
        return dendrogram

    # -- exporting and drawing

    def to_newick(self, names: Any = None) -> str:
        """The tree in Newick format; branch lengths are differences of heights. `names` has one for each leaf."""
        if names is not None and len(names) != self.n_leaves:
            raise ValueError(f"{len(names)} names but {self.n_leaves} leaves: one name for each leaf is needed")
        labels = [_newick_name(str(name)) for name in (range(self.n_leaves) if names is None else names)]
        heights = [0.0] * self.n_leaves + self.Z[:, 2].tolist()
        # Written from the root with a stack, because a chain of merges may be as deep as there are leaves.
        parts: list[str] = []
        stack: list[int | str] = [2 * self.n_leaves - 2]
        children = self.Z[:, :2].astype(np.int64)
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                parts.append(item)
            elif item < self.n_leaves:
                parts.append(labels[item])
            else:
                left, right = (int(c) for c in children[item - self.n_leaves])
                height = heights[item]
                stack += [f":{height - heights[right]:.17g})", right, f":{height - heights[left]:.17g},", left, "("]
        return "".join(parts) + ";"

    def to_networkx(self) -> Any:
        """A networkx.DiGraph from the root to the leaves; nodes carry `height` and `weight`."""
        try:
            import networkx
        except ImportError:
            raise ImportError("to_networkx needs networkx: pip install networkx") from None
        graph = networkx.DiGraph()
        heights = np.concatenate([np.zeros(self.n_leaves), self.Z[:, 2]])
        for node, (height, weight) in enumerate(zip(heights, self.weights, strict=True)):
            graph.add_node(node, height=float(height), weight=float(weight))
        for row, parts in enumerate(self.Z[:, :2].astype(np.int64).tolist()):
            graph.add_edges_from((self.n_leaves + row, part) for part in parts)
        return graph

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_leaves: int = 40,
        n_clusters: int | None = None,
        labels: Any = None,
        **style: Any,
    ) -> Axes:
        """Draws the upper part of the tree, down to `max_leaves` branches; each is labelled with the points below it.

        n_clusters : colour the branches by the cut into that many clusters
        labels : a name for each leaf, for the branches that end in a single one
        style : passed to matplotlib's LineCollection
        """
        from .plot import draw_dendrogram

        count = 1 if n_clusters is None else self._checked_count(n_clusters)
        names = None if labels is None else [str(label) for label in labels]
        if names is not None and len(names) != self.n_leaves:
            raise ValueError(f"{len(names)} labels but {self.n_leaves} leaves: one label for each leaf is needed")
        return draw_dendrogram(self, ax, as_count(max_leaves, "max_leaves", least=2), count, names, style)

    def to_html(self, path: str | os.PathLike[str], *, title: str = "silverbirch dendrogram") -> None:
        """Writes a page with the dendrogram and, where features are known, the rmsd curve; it needs no other file."""
        from .report import dendrogram_page

        Path(path).write_text(dendrogram_page(self, title), encoding="utf-8")

    def _known_features(self) -> ClusterFeatures:
        if self.features is None:
            raise ValueError("this needs the features of the leaves: Dendrogram(Z, features)")
        return self.features


def numbered_by_weight(labels: NDArray[np.int64], weight: Floats) -> NDArray[np.int64]:
    """The same clusters of leaves, which are 0, 1, … in any order: now the heaviest is 0, ties by the lowest leaf."""
    mass = np.bincount(labels, weight)
    lowest_leaf, number = np.empty((2, len(mass)), dtype=np.int64)
    lowest_leaf[labels[::-1]] = np.arange(len(labels))[::-1]  # backwards: the lowest leaf is written last
    number[np.lexsort((lowest_leaf, -mass))] = np.arange(len(mass))
    return number[labels]


def _as_list(values: Any, name: str) -> list[Any]:
    """One number or a list of them, as a list."""
    if np.ndim(values) > 1:
        raise ValueError(f"{name} has shape {np.shape(values)}: must be a number or a list of numbers")
    return [values] if np.ndim(values) == 0 else list(values)


def _checked_z(Z: Any) -> Floats:
    array = np.array(Z, dtype=np.float64, order="C")
    if array.ndim != 2 or array.shape[1] != 4:
        raise ValueError(f"Z has shape {array.shape}: a linkage matrix has four columns")
    merges = len(array)
    nodes = array[:, :2]
    limits = merges + 1 + np.arange(merges)[:, None]
    if not (
        np.isfinite(array).all() and (nodes == np.floor(nodes)).all() and (nodes >= 0).all() and (nodes < limits).all()
    ):
        raise ValueError("Z is not a linkage matrix: each row must refer to leaves or to rows above it")
    if len(np.unique(nodes)) != 2 * merges:
        raise ValueError("Z is not a linkage matrix: each cluster must be merged exactly once")
    if not np.array_equal(array[:, 3], _core.leaf_counts(array)):
        raise ValueError("Z is not a linkage matrix: column 4 must count the leaves below each row")
    return array


def _newick_name(name: str) -> str:
    if name and not set(name) & set(" _()[]{}/\\,;:=*'\"`+-<>\t\n\r"):
        return name
    return "'" + name.replace("'", "''") + "'"

"""Reading a dendrogram: cutting, measuring, drawing and exporting it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from . import _core
from .checks import Floats, as_count, as_rows
from .features import ClusterFeatures

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes

Numbers: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]


class Dendrogram:
    """The dendrogram Z of m leaves, optionally with the cluster features of the leaves.

    Nodes are numbered as in scipy: 0 … m-1 are the leaves, and m + i is row i of Z.

    Parameters
    ----------
    Z : array (m - 1, 4)
        A linkage matrix from `silverbirch.linkage` or scipy.
    features : ClusterFeatures or array (m, d), default None
        The features or points that were clustered, in the same order. `sse`, `rmsd` and `merged_features` need them.

    Attributes
    ----------
    Z : float64 array (m - 1, 4)
        A copy of the linkage matrix.
    features : ClusterFeatures or None
        The features of the leaves.
    prototypes : int64 array (m - 1,) or None
        The leaf that represents the cluster of each row of Z; for minimax and medoid linkage.

    Raises
    ------
    ValueError
        Z is not a linkage matrix, or the number of features is not the number of leaves.

    Examples
    --------
    >>> import silverbirch as sb
    >>> X = [[0.0], [1.0], [5.0], [7.0], [8.0]]
    >>> dendrogram = sb.Dendrogram(sb.linkage(X, "ward"), X)
    >>> dendrogram.cut(n_clusters=2).tolist()
    [1, 1, 0, 0, 0]
    >>> dendrogram.sse([1, 2, 5]).round(2).tolist()
    [50.8, 5.17, 0.0]
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
        """The number of leaves m."""
        return len(self.Z) + 1

    def __repr__(self) -> str:
        return f"Dendrogram({self.n_leaves} leaves, height {self.Z[:, 2].max(initial=0.0):.4g})"

    def _repr_html_(self) -> str:
        from .report.notebook import dendrogram_html

        return dendrogram_html(self)

    # -- cutting

    def cut(self, n_clusters: Any = None, height: Any = None) -> NDArray[np.int64]:
        """Returns a label for each leaf: the dendrogram cut into a number of clusters or at a height.

        Clusters are numbered by weight: the heaviest is 0, and of equal weights the one with the lowest leaf comes
        first. Without features every leaf has weight 1. A cut takes time linear in the number of leaves.

        Parameters
        ----------
        n_clusters : int or list of int, default None
            Undo the last merges until there are exactly this many clusters.
        height : float or list of float, default None
            Keep the merges up to this height, as scipy's `fcluster(Z, height, "distance")` does.

        Returns
        -------
        int64 array (m,), or (m, k) for a list of k numbers
            The labels; column i belongs to number i of the list.

        Raises
        ------
        ValueError
            Neither or both are given, or n_clusters exceeds the number of leaves.
        """
        if (n_clusters is None) == (height is None):
            raise ValueError("cut takes either n_clusters or height: give exactly one of them")
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
        """The weight of each node: the m leaves, then the m-1 rows of Z. Without features each leaf has weight 1."""
        if self.features is None:
            return np.concatenate([np.ones(self.n_leaves), self.Z[:, 3]])
        return np.concatenate([self.features.weight, self.merged_features.weight])

    @cached_property
    def merged_features(self) -> ClusterFeatures:
        """The cluster feature of each row of Z; needs the features of the leaves."""
        return ClusterFeatures._adopt(*_core.merged_features(self.Z, *self._known_features().arrays()))

    @cached_property
    def _sse_by_merges(self) -> Floats:
        """Entry i is the sum of squares within clusters after the first i merges."""
        leaves, merged = self._known_features(), self.merged_features
        sse = np.concatenate([leaves.sse, merged.sse])
        parts = self.Z[:, :2].astype(np.int64)
        increase = merged.sse - sse[parts[:, 0]] - sse[parts[:, 1]]
        return np.concatenate([[leaves.sse.sum()], leaves.sse.sum() + np.cumsum(increase)])

    @overload
    def sse(self, k: int) -> float: ...
    @overload
    def sse(self, k: Numbers) -> Floats: ...
    def sse(self, k: int | Numbers) -> float | Floats:
        """Returns the sum of squared distances of all points to the mean of their cluster, for k clusters.

        It is computed from the features, and is exact if each point belongs to the leaf that absorbed it. For rows
        that are labelled by their nearest leaf it is a close upper estimate.

        Parameters
        ----------
        k : int or array of int
            The number of clusters.

        Returns
        -------
        float or float64 array
            The sum for each k.

        Raises
        ------
        ValueError
            The features are not known, or k exceeds the number of leaves.
        """
        counts = np.asarray(k) if np.size(k) else np.empty(0, dtype=np.int64)
        for count in counts.ravel():
            self._checked_count(count)
        result = self._sse_by_merges[self.n_leaves - counts.astype(np.int64)]
        return float(result) if counts.ndim == 0 else result

    @overload
    def rmsd(self, k: int) -> float: ...
    @overload
    def rmsd(self, k: Numbers) -> Floats: ...
    def rmsd(self, k: int | Numbers) -> float | Floats:
        """Returns the root mean squared distance of all points to the mean of their cluster, for k clusters.

        Parameters
        ----------
        k : int or array of int
            The number of clusters.

        Returns
        -------
        float or float64 array
            The square root of `sse(k)` divided by the total weight.

        Raises
        ------
        ValueError
            The features are not known, or k exceeds the number of leaves.
        """
        result = np.sqrt(self.sse(k) / self._known_features().weight.sum())
        return float(result) if np.ndim(k) == 0 else result

    @overload
    def cophenetic(self, i: int, j: int) -> float: ...
    @overload
    def cophenetic(self, i: int | Numbers | None = None, j: int | Numbers | None = None) -> float | Floats: ...
    def cophenetic(self, i: int | Numbers | None = None, j: int | Numbers | None = None) -> float | Floats:
        """Returns the height at which leaves i and j are first in one cluster.

        Parameters
        ----------
        i, j : int or array of int, default None
            Numbers of leaves. Without both, all pairs are computed.

        Returns
        -------
        float or float64 array
            The height of each pair. All pairs come as a condensed vector, as from scipy's `cophenet`; it takes 8 bytes
            for each pair.

        Raises
        ------
        IndexError
            There is no such leaf.
        """
        if (i is None) != (j is None):
            raise ValueError("cophenetic takes both i and j, or neither for all pairs")
        if i is None or j is None:
            from scipy.cluster.hierarchy import cophenet

            return cophenet(self.Z) if len(self.Z) else np.empty(0)
        a, b = np.broadcast_arrays(i, j)
        if a.size and (a.dtype.kind not in "iu" or b.dtype.kind not in "iu"):
            raise TypeError("i and j must be whole numbers: they are numbers of leaves")
        a, b = a.astype(np.int64), b.astype(np.int64)
        if a.size and not (min(a.min(), b.min()) >= 0 and max(a.max(), b.max()) < self.n_leaves):
            raise IndexError(f"i or j is not a leaf: leaves are numbered 0 to {self.n_leaves - 1}")
        heights = np.concatenate([np.zeros(self.n_leaves), self.Z[:, 2]])
        a, b = np.atleast_1d(a), np.atleast_1d(b)
        while (apart := a != b).any():  # a parent has a greater number than its children
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
        """Writes Z to a file, with the features and the prototypes where they are known.

        Parameters
        ----------
        path : str or path
            The file to write; an existing file is replaced once the new one is complete.
        """
        from .storage.loading import save

        save(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dendrogram:
        """Returns the dendrogram that a file holds, or the dendrogram of the model that it holds.

        Parameters
        ----------
        path : str or path
            A file that `save` or the command line wrote.

        Returns
        -------
        Dendrogram
            The dendrogram.

        Raises
        ------
        ModelFileError
            The file is damaged or holds no dendrogram.
        """
        from .storage.loading import load_as

        dendrogram: Dendrogram = load_as(cls, path)
        return dendrogram

    # -- exporting and drawing

    def to_newick(self, names: Any = None) -> str:
        """Returns the dendrogram in Newick format; the length of a branch is the difference of the heights.

        Parameters
        ----------
        names : list of str, default None
            A name for each leaf; None takes the numbers of the leaves.

        Returns
        -------
        str
            One line that ends in ";".
        """
        if names is not None and len(names) != self.n_leaves:
            raise ValueError(f"{len(names)} names but {self.n_leaves} leaves: one name for each leaf is needed")
        labels = [_newick_name(str(name)) for name in (range(self.n_leaves) if names is None else names)]
        heights = [0.0] * self.n_leaves + self.Z[:, 2].tolist()
        # A stack instead of recursion: the dendrogram can be as deep as its number of leaves.
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

    def to_networkx(self) -> networkx.DiGraph:
        """Returns a networkx.DiGraph with edges from the root to the leaves.

        Returns
        -------
        networkx.DiGraph
            Each node has the attributes `height` and `weight`.

        Raises
        ------
        ImportError
            networkx is not installed.
        """
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
        """Draws the top of the dendrogram with matplotlib, down to `max_leaves` branches.

        Each branch is labelled with the number of points below it.

        Parameters
        ----------
        ax : matplotlib Axes, default None
            Where to draw; None makes a new figure.
        max_leaves : int, default 40
            The number of branches to draw.
        n_clusters : int, default None
            Colour the branches by the cut into this many clusters; None uses one colour.
        labels : list of str, default None
            A name for each leaf, written below the branches that end in a single leaf.
        **style : optional
            Passed to matplotlib's LineCollection.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        from .plot import draw_dendrogram

        count = 1 if n_clusters is None else self._checked_count(n_clusters)
        names = None if labels is None else [str(label) for label in labels]
        if names is not None and len(names) != self.n_leaves:
            raise ValueError(f"{len(names)} labels but {self.n_leaves} leaves: one label for each leaf is needed")
        return draw_dendrogram(self, ax, as_count(max_leaves, "max_leaves", least=2), count, names, style)

    def to_html(self, path: str | os.PathLike[str], *, title: str = "silverbirch dendrogram") -> None:
        """Writes one HTML file with the dendrogram and, if the features are known, the rmsd curve.

        Parameters
        ----------
        path : str or path
            The file to write.
        title : str, default "silverbirch dendrogram"
            The heading of the page.

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        from .report import dendrogram_page

        Path(path).write_text(dendrogram_page(self, title), encoding="utf-8")

    def _known_features(self) -> ClusterFeatures:
        if self.features is None:
            raise ValueError("the features of the leaves are not known: make the dendrogram by Dendrogram(Z, features)")
        return self.features


def numbered_by_weight(labels: NDArray[np.int64], weight: Floats) -> NDArray[np.int64]:
    """Renumbers the clusters 0, 1, …: the heaviest becomes 0, and of equal weights the lowest leaf comes first."""
    mass = np.bincount(labels, weight)
    lowest_leaf, number = np.empty((2, len(mass)), dtype=np.int64)
    lowest_leaf[labels[::-1]] = np.arange(len(labels))[::-1]  # reversed: the write of the lowest leaf is the last
    number[np.lexsort((lowest_leaf, -mass))] = np.arange(len(mass))
    return number[labels]


def _as_list(values: Any, name: str) -> list[Any]:
    """A number becomes a list of one number."""
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

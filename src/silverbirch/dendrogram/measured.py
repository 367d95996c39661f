"""A dendrogram with the features of its leaves: checked, and measured."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats, as_count, as_rows
from ..features import ClusterFeatures
from ..linkage.matrix import checked_z as checked_z
from ..wording import parameter
from .nodes import Hierarchy

Numbers: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]


class MeasuredTree:
    """A linkage matrix and, where they are known, the features of its leaves."""

    def __init__(self, Z: Any, features: Any) -> None:
        self.Z = checked_z(Z)
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

    @cached_property
    def _hierarchy(self) -> Hierarchy:
        return Hierarchy(self.Z)

    @cached_property
    def _subtree_heights(self) -> Floats:
        return _core.subtree_heights(self.Z)

    def _checked_count(self, n_clusters: Any, name: str = "n_clusters") -> int:
        """A number of clusters that there can be; `name` is the parameter's, for messages."""
        count = as_count(n_clusters, name)
        if count > self.n_leaves:
            aggregated = self.features is not None and self.features.sse.any()
            remedy = f"raise {parameter('max_leaves')} or lower" if aggregated else "lower"
            raise ValueError(
                f"{parameter(name, count)} but there are {self.n_leaves} leaves: {remedy} {parameter(name)}"
            )
        return count

    def _heights_of(self, n_clusters: int) -> tuple[float, float]:
        """The height of the last merge that a cut into n_clusters keeps, and of the first that it undoes.

        Heights between them cut into as many clusters, if the first is the lower one: inversions may swap them.
        """
        kept = self.n_leaves - n_clusters
        return float(self.Z[:kept, 2].max(initial=0.0)), float(self.Z[kept:, 2].min(initial=np.inf))

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
            a, b = np.where(apart, self._hierarchy.parents[np.minimum(a, b)], a), np.maximum(a, b)
        result = heights[a]
        return float(result[0]) if np.ndim(i) == np.ndim(j) == 0 else result

    def _known_features(self) -> ClusterFeatures:
        if self.features is None:
            raise ValueError("the features of the leaves are not known: make the dendrogram by Dendrogram(Z, features)")
        return self.features

"""What a fitted model says of its clusters: centres, the table, rows that stand for a cluster, names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import Floats, as_count
from .cluster_table import ClusterTable, merged_by_label, table_of
from .dendrogram import Dendrogram
from .features import ClusterFeatures
from .labelled import LabelledLeaves
from .representatives import NearestRows, Representatives
from .rows import RowSource, source_of


class ClusterResults(ABC):
    """The part of a model that describes its clusters.

    Centres, sizes and deviations are those of the labelled rows where they are known, else of the rows as the leaves
    absorbed them. Clusters are numbered by the absorbed weight in both cases.
    """

    n_features_in_: int
    _labelled: LabelledLeaves | None
    _clusters: ClusterFeatures | None
    _table: ClusterTable | None

    @property
    @abstractmethod
    def features_(self) -> ClusterFeatures: ...

    @property
    @abstractmethod
    def dendrogram_(self) -> Dendrogram: ...

    @property
    @abstractmethod
    def subcluster_labels_(self) -> NDArray[np.int64]: ...

    @abstractmethod
    def _source(self, X: Any, sample_weight: Any = None, *, reset: bool = False) -> RowSource: ...

    @abstractmethod
    def _leaf_of(self, source: RowSource) -> NDArray[np.int64]: ...

    @property
    def n_clusters_(self) -> int:
        """The number of clusters, without noise."""
        return int(self.subcluster_labels_.max(initial=-1)) + 1

    @property
    def cluster_centers_(self) -> Floats:
        """The mean of each cluster, (n_clusters_, d)."""
        return self._cluster_features().mean

    @property
    def clusters_(self) -> ClusterTable:
        """The table of the clusters: sizes, centres, neighbours, names and distinguishing columns."""
        features, labels = self._cluster_features(), self.subcluster_labels_
        if self._table is None:
            rows = None
            if self._labelled is not None:
                in_cluster = labels >= 0
                rows = np.bincount(labels[in_cluster], self._labelled.rows[in_cluster], len(features)).astype(np.int64)
            self._table = table_of(features, self._leaves(), rows, {}, self._column_names())
        return self._table

    def _leaves(self) -> ClusterFeatures:
        """The features of the rows labelled to each leaf, or of those that it absorbed."""
        return self.features_ if self._labelled is None else self._labelled.features

    def _cluster_features(self) -> ClusterFeatures:
        """The feature of each cluster, computed on first use."""
        labels, count = self.subcluster_labels_, self.n_clusters_
        if self._clusters is None:
            self._clusters = merged_by_label(self._leaves(), labels, count)
            empty = self._clusters.weight == 0
            if empty.any():  # no row was labelled to them
                absorbed = merged_by_label(self.features_, labels, count).mean
                weight, mean, sse = self._clusters.arrays()
                self._clusters = ClusterFeatures._adopt(weight, np.where(empty[:, None], absorbed, mean), sse)
        return self._clusters

    def _column_names(self) -> tuple[str, ...]:
        known = getattr(self, "feature_names_in_", None)
        names = [f"column {i}" for i in range(self.n_features_in_)] if known is None else known
        return tuple(map(str, names))

    def representatives(self, X: Any, n: int = 3) -> Representatives:
        """Returns the rows nearest to the centre of each cluster, among the rows of that cluster.

        One pass over the rows. It keeps n rows of each cluster, so memory does not grow with the number of rows.

        Parameters
        ----------
        X : array (n, d), data frame, path or stream
            The rows, as `fit` takes them. Usually those given to `fit`, but any rows with the same columns.
        n : int, default 3
            How many rows to find for each cluster.

        Returns
        -------
        Representatives
            `index` (k, n), the numbers of the rows; `distance` (k, n); `rows` (k, n, d).

        Raises
        ------
        ValueError
            A value is not finite, or the columns differ from those given to `fit`.
        """
        labels, nearest = self.subcluster_labels_, NearestRows(self.cluster_centers_, as_count(n, "n"))
        source = self._source(X)
        for chunk in map(source.checked, source.chunks()):
            nearest.add(chunk.rows, labels[self._leaf_of(source_of(chunk))])
        return nearest.result()

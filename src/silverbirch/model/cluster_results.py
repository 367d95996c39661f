"""What a fitted model says of its clusters: centres, the table, rows that stand for a cluster, names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats, as_count
from ..dendrogram import Dendrogram
from ..features import ClusterFeatures
from ..names import Algorithm, Method, Mode
from ..progress import Report, reporter
from ..rows import RowSource, source_of
from ..rows.passes import reported
from .cluster_table import ClusterTable, merged_by_label, table_of
from .labelled import LabelledLeaves
from .representatives import NearestRows, Representatives

if TYPE_CHECKING:
    from ..dendrogram.suggestion import Suggestion


class ClusterResults(ABC):
    """The part of a model that describes its clusters.

    Centres, sizes and deviations are those of the labelled rows where they are known, else of the rows as the leaves
    absorbed them. Clusters are numbered by the absorbed weight in both cases.
    """

    progress: bool
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
    def _made_by(self) -> tuple[Method, Mode, Algorithm]:
        """What the dendrogram was made by; `set_params` may have changed the parameters since."""

    @property
    @abstractmethod
    def subcluster_labels_(self) -> NDArray[np.int64]: ...

    @abstractmethod
    def _source(self, X: Any, sample_weight: Any = None, *, reset: bool = False) -> RowSource: ...

    @abstractmethod
    def _directed(self, source: RowSource) -> RowSource: ...

    @abstractmethod
    def _leaf_of(self, source: RowSource, report: Report | None = None) -> NDArray[np.int64]: ...

    @property
    def n_clusters_(self) -> int:
        """The number of clusters, without noise."""
        return int(self.subcluster_labels_.max(initial=-1)) + 1

    @property
    def cluster_centers_(self) -> Floats:
        """The mean of each cluster, (`n_clusters_`, d)."""
        return self._cluster_features().mean

    @property
    def clusters_(self) -> ClusterTable:
        """The table of the clusters: sizes, centres, neighbours, names and distinguishing columns."""
        names = self._names_of_clusters()
        if self._table is None:
            self._table = table_of(
                self._cluster_features(),
                self._leaves(),
                self._rows_of_clusters(),
                names,
                self._column_names(),
                self._order_of_clusters(),
            )
        elif names != self._table.name:
            self._table = replace(self._table, name=names)
        return self._table

    def _rows_of_clusters(self) -> NDArray[np.int64] | None:
        """The number of rows labelled to each cluster, if it is known."""
        if self._labelled is None:
            return None
        labels = self.subcluster_labels_
        inside = labels >= 0
        return np.bincount(labels[inside], self._labelled.rows[inside], self.n_clusters_).astype(np.int64)

    def _order_of_clusters(self) -> NDArray[np.int64]:
        """The clusters from left to right, by their first leaf in the order of the dendrogram."""
        in_order = self.subcluster_labels_[self.dendrogram_._hierarchy.leaf_order]
        clusters, first = np.unique(in_order[in_order >= 0], return_index=True)
        return clusters[np.argsort(first)]

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
        width, known = self.features_.n_dimensions, getattr(self, "feature_names_in_", None)
        if width != self.n_features_in_:  # each is a mixture of the columns of the rows
            return tuple(f"projection {i}" for i in range(width))
        if known is None:
            return tuple(f"column {i}" for i in range(width))
        return tuple(map(str, known))

    def _names_of_clusters(self) -> tuple[str, ...]:
        """The name of each cluster; "" if no node with a name stands for it."""
        names, unnamed = self.dendrogram_.names, ("",) * self.n_clusters_
        if not names:
            return unnamed
        try:
            nodes = self.dendrogram_.nodes(self.subcluster_labels_)
        except ValueError:  # other leaves joined the clusters of an adaptive cut
            return unnamed
        return tuple(names.get(node, "") for node in nodes.tolist())

    def name_clusters(self, names: Mapping[int, str] | Sequence[str]) -> Self:
        """Gives names to the current clusters. Tables, reports, plots and files show them.

        The names belong to nodes of the dendrogram, so a cluster that is there again after another cut has its name.
        They go when rows are added.

        Parameters
        ----------
        names : dict of int to str, or list of str
            The names of some clusters by their number, or a name for each cluster.

        Returns
        -------
        Self
            The model itself.

        Raises
        ------
        ValueError
            There are more or fewer names than clusters, or a cluster is not a whole branch of the dendrogram.
        IndexError
            There is no such cluster.
        """
        self.dendrogram_.name_clusters(names, labels=self.subcluster_labels_)
        return self

    def choose_k(self, k_max: int = 50, **options: Any) -> Suggestion:
        """Returns the number of clusters that most criteria agree on, or None with the reason.

        It is computed from the features alone, without another pass over the rows, and leaves the model as it is:
        `recut(n_clusters=…)` takes the number over.

        Parameters
        ----------
        k_max : int, default 50
            The largest number of clusters to consider.
        **options : optional
            `n_draws` and `random_state`, see `Dendrogram.suggest`.

        Returns
        -------
        Suggestion
            `n_clusters` (int or None), `reason`, `votes`, and the scores of each k, as a table and as a plot.
        """
        method, mode, _ = self._made_by
        return self.dendrogram_.suggest(k_max, method=method, mode=mode, **options)

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
        source = self._directed(self._source(X))
        with reporter(self.progress, "nearest leaves") as report:
            for chunk, inner in reported(source, map(source.checked, source.chunks()), report):
                nearest.add(chunk.rows, labels[self._leaf_of(source_of(chunk), inner)])
        return nearest.result()

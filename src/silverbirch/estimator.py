"""The scikit-learn estimator: aggregate any number of rows, cluster the aggregate, label the rows."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .checks import as_threads
from .features import ClusterFeatures
from .model import AggregateModel, Refined, labels_in_place
from .progress import reporter
from .rows.memory_source import MemorySource
from .validation import rows_for


class Betula(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator, AggregateModel):  # type: ignore[misc]  # fmt: skip
    """Hierarchical clustering of any number of rows, by way of a bounded number of cluster features.

    Parameters
    ----------
    n_clusters : cut the dendrogram into this many clusters
    distance_threshold : or cut it at this height. With neither, the dendrogram is not cut: all labels are 0
    linkage : "ward", "average", "weighted", "centroid", "median", and approximately (on the means of the features)
        "single", "complete", "minimax", "medoid"; with mode="aggregation" any CF distance
    max_leaves : the number of cluster features at most; None for no limit
    max_memory : bytes, or a string like "256MB"; limits the leaves too (the smaller limit holds), and a clustering that
        would pass it is refused
    threshold : how large a leaf may grow before there are too many; 0 keeps all different rows apart until then
    distance : the CF distance rows go down the tree by; None for the one that matches the linkage
    absorption : which size of a leaf `threshold` bounds, see CFTree; None for "radius"
    mode : "linkage", "centers" or "aggregation", see `silverbirch.linkage`
    algorithm : see `silverbirch.linkage`
    refine : how often `fit` goes over the rows again to make the leaves finer: each row is counted where the leaf is
        exactly the nearest (`ClusterFeatures.refined`). `partial_fit` cannot: it does not keep the rows
    n_jobs : threads for the tree, labels and distances; None is one, -1 all. They change the time and nothing else
    progress : show progress on stderr

    Attributes
    ----------
    labels_ : (n,) cluster of each row given to `fit`; the heaviest cluster is 0, ties by the lowest leaf
    n_clusters_ : number of clusters
    features_ : the leaves, as ClusterFeatures
    linkage_matrix_ : scipy's Z of the leaves
    dendrogram_ : Dendrogram of the leaves
    subcluster_centers_, subcluster_labels_ : mean and cluster of each leaf
    cluster_centers_ : (n_clusters_, d) mean of each cluster
    threshold_ : the tree's threshold at the end
    tree_ : the CFTree; `tree_.assign(X)` gives the leaf of each row (of the leaves before they were refined)
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    After `partial_fit` the leaves are clustered when a result is first asked for; there are no `labels_` then, because
    the rows are gone: use `predict`.

    Examples
    --------
    >>> import numpy as np, silverbirch as sb
    >>> group = np.array([2, 0, 1, 0, 1, 0])[np.arange(60_000) % 6]  # half of the rows, a third, a sixth
    >>> X = np.random.default_rng(0).normal(size=(60_000, 3)) + 10 * np.eye(3)[group]
    >>> model = sb.Betula(n_clusters=3, max_leaves=500).fit(X)
    >>> model.labels_[:6].tolist(), model.n_clusters_
    ([2, 0, 1, 0, 1, 0], 3)
    """

    def _require_fitted(self) -> None:
        check_is_fitted(self, "tree_")

    # -- fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Aggregates the rows, clusters the aggregate and labels the rows. `y` is ignored.

        X : an array, a data frame, or whatever `silverbirch.read_chunks` takes: paths, Arrow tables and streams,
            iterators of chunks. Files are read again for the labels; what comes by only once leaves no `labels_`
        """
        with self._unchanged_by_failure():
            tree = self._new_tree()
            source = rows_for(self, X, sample_weight, reset=True)
            if self.refine and not source.repeatable:
                raise ValueError(
                    f"refine={self.refine} reads the rows again, but they come only once: write them to a file"
                )
            self._insert(tree, source)
            for _ in range(self.refine):
                report = reporter(self.progress, "finer leaves")
                unlimited = self.max_memory is None
                leaves = self.features_._refined(source, as_threads(self.n_jobs), report, may_list=unlimited)
                self._refined = Refined(leaves, may_list=unlimited)
            if source.repeatable:
                self._labels = labels_in_place(self.subcluster_labels_, self._nearest_leaf(source))
        return self

    def partial_fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Adds a chunk of rows to the tree. Chunks one after the other give the same tree as all rows at once. X is as
        in `fit`, or ClusterFeatures.

        With no X, the leaves are clustered again by the parameters as they are now: n_clusters, distance_threshold,
        linkage, mode and algorithm. Those of the tree stay as they were when it was begun.
        """
        self._check_parameters()
        if X is None:
            return self.cluster_again()
        if isinstance(X, ClusterFeatures):
            if sample_weight is not None:
                raise ValueError("cluster features have weights of their own: leave sample_weight out")
            return self.insert(X)
        if hasattr(self, "tree_"):
            self._insert(self.tree_, rows_for(self, X, sample_weight, reset=False))
        else:
            with self._unchanged_by_failure():
                self._insert(self._new_tree(), rows_for(self, X, sample_weight, reset=True))
        return self

    @property
    def labels_(self) -> NDArray[np.int64]:
        self._require_fitted()
        if self._labels is None:
            raise AttributeError(
                "there are no labels_ after partial_fit, which does not keep the rows, after load, and after fit of a "
                "stream that comes by only once: use predict"
            )
        return self._labels

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    # -- using the result

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The cluster of each row's exactly nearest leaf. X is as in `fit`."""
        self._require_fitted()
        source = rows_for(self, X, reset=False)
        return labels_in_place(self.subcluster_labels_, self._nearest_leaf(source))

    def transform(self, X: Any) -> NDArray[Any]:
        """The distance of each row to each cluster's mean; for arrays and data frames."""
        from scipy.spatial.distance import cdist

        self._require_fitted()
        source = rows_for(self, X, reset=False)
        if not (isinstance(source, MemorySource) or isinstance(X, np.ndarray)):
            raise TypeError(
                "transform gives a number for each row and cluster, too many for a file or stream: pass it chunk by "
                "chunk, for rows in read_chunks(…): model.transform(rows)"
            )
        rows = np.concatenate(list(source))
        distances: NDArray[Any] = cdist(rows, self.cluster_centers_).astype(rows.dtype, copy=False)
        return distances

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of squared distances of the rows to their cluster's mean: greater is better. `y` is ignored."""
        self._require_fitted()
        centers = self.cluster_centers_
        total = 0.0
        source = rows_for(self, X, sample_weight, reset=False)
        for chunk in map(source.checked, source.chunks()):
            squared = ((chunk.rows - centers[self.labels_of(chunk)]) ** 2).sum(axis=1, dtype=np.float64)
            total += float(squared.sum() if chunk.weight is None else chunk.weight @ squared)
        return -total

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted model to a file for `load`: its parameters, tree and dendrogram.

        The `labels_` of the rows are not stored: there may be billions. `predict` gives them again.
        """
        from .storage.loading import save

        save(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The model in a file. It predicts the same labels, cuts its dendrogram without clustering again
        (`set_params(n_clusters=…).partial_fit()`), and goes on with `partial_fit` to the same bits."""
        from .storage.loading import load_as

        model: Self = load_as(cls, path)
        return model

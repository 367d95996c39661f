"""The scikit-learn estimator: aggregate any number of rows, cluster the aggregate, label the rows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core, estimator_file, files
from .batches import Batch, Batches, batches_of_rows, gathered, reported
from .checks import (
    ALGORITHMS,
    MODES,
    Floats,
    as_bytes,
    as_choice,
    as_count,
    as_flag,
    as_method,
    as_threads,
    as_threshold,
)
from .dendrogram import Dendrogram
from .estimator_input import checked_array, checked_batches
from .features import ClusterFeatures
from .kinds import load_as
from .linkage import cluster_features
from .progress import Report, reporter
from .readers import is_stream
from .tree import CFTree

# The CF distance that goes with a linkage (table 2 of the paper); the others see means only: the tree's default.
_MATCHING_DISTANCE = {"average": "average", "weighted": "average", "centroid": "centroid", "median": "centroid"}
_FIRST_ROWS = 10_000


@dataclass(frozen=True)
class _Clustering:
    """What follows from the leaves and the parameters."""

    dendrogram: Dendrogram
    made_by: tuple[str, str, str]  # linkage, mode, algorithm
    leaf_labels: NDArray[np.int64]
    centers: Floats


class _Refined:
    """Leaves that no longer are those of the tree, and where rows find the nearest of them."""

    def __init__(self, features: ClusterFeatures) -> None:
        self.features = features
        self._index: _core.NearestIndex | None = None

    def _assign_batches(self, batches: Batches, threads: int, report: Report | None) -> NDArray[np.int64]:
        index = self._index = self._index or _core.NearestIndex(self.features.mean)
        return gathered(batches, lambda rows, inner: index.nearest(rows, threads, inner), report)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_index": None}


class Betula(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
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
    absorption : the CF distance `threshold` bounds; None for "radius"
    mode : "linkage", "centers" or "aggregation", see `silverbirch.linkage`
    algorithm : see `silverbirch.linkage`
    refine : how often `fit` goes over the rows again to make the leaves finer: each row is counted where the leaf is
        exactly the nearest (`ClusterFeatures.refined`). `partial_fit` cannot: it does not keep the rows
    n_jobs : threads for the tree, labels and distances; None is one, -1 all. The tree of several threads is another one
        than that of one, and as good; see CFTree
    progress : show progress on stderr

    Attributes
    ----------
    labels_ : (n,) cluster of each row given to `fit`, numbered by the first row it occurs in
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
    >>> X = np.random.default_rng(0).normal(size=(100_000, 3)) + 10 * np.eye(3)[np.arange(100_000) % 3]
    >>> model = sb.Betula(n_clusters=3, max_leaves=500).fit(X)
    >>> model.labels_[:6].tolist(), model.n_clusters_
    ([0, 1, 2, 0, 1, 2], 3)
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        linkage: str = "ward",
        max_leaves: int | None = 25_000,
        max_memory: int | str | None = None,
        threshold: float = 0.0,
        distance: str | None = None,
        absorption: str | None = None,
        mode: str = "linkage",
        algorithm: str = "auto",
        refine: int = 0,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.linkage = linkage
        self.max_leaves = max_leaves
        self.max_memory = max_memory
        self.threshold = threshold
        self.distance = distance
        self.absorption = absorption
        self.mode = mode
        self.algorithm = algorithm
        self.refine = refine
        self.n_jobs = n_jobs
        self.progress = progress

    _clustering: _Clustering | None
    _labels: NDArray[np.int64] | None
    _refined: _Refined | None

    # -- fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Aggregates the rows, clusters the aggregate and labels the rows. `y` is ignored.

        X : an array, a data frame, or whatever `silverbirch.read_chunks` takes: paths, Arrow tables and streams,
            iterators of chunks. Files are read again for the labels; what comes by only once leaves no `labels_`
        """
        with self._unchanged_by_failure():
            tree = self._new_tree()
            batches = checked_batches(self, X, sample_weight, reset=True)
            if self.refine and not batches.repeatable:
                raise ValueError(
                    f"refine={self.refine} reads the rows again, but they come only once: write them to a file"
                )
            self._insert(tree, batches, None)
            for _ in range(self.refine):
                report = reporter(self.progress, "finer leaves")
                self._refined = _Refined(self.features_._refined(batches, as_threads(self.n_jobs), report))
            if batches.repeatable:
                leaf_of_row = self._nearest_leaf(batches)
                self._clustering = self._cluster(leaf_of_row)
                self._labels = self._clustering.leaf_labels[leaf_of_row]
        return self

    def partial_fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Adds a chunk of rows to the tree. Chunks one after the other give the same tree as all rows at once; with
        n_jobs, one that depends on the chunks. X is as in `fit`.

        With no X, the leaves are clustered again by the parameters as they are now: n_clusters, distance_threshold,
        linkage, mode and algorithm. Those of the tree stay as they were when it was begun.
        """
        self._check_parameters()
        if X is None:
            check_is_fitted(self, "tree_")
            with self._unchanged_by_failure():
                known, refined = self._clustering, self._refined
                self._take(self.tree_, self._first_rows)
                self._refined = refined
                self._cluster_now(known)
            return self
        if hasattr(self, "tree_"):
            self._insert(self.tree_, checked_batches(self, X, sample_weight, reset=False), self._first_rows)
        else:
            with self._unchanged_by_failure():
                batches = checked_batches(self, X, sample_weight, reset=True)
                self._insert(self._new_tree(), batches, None)
        return self

    @contextlib.contextmanager
    def _unchanged_by_failure(self) -> Iterator[None]:
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _insert(self, tree: CFTree, batches: Batches, first_rows: NDArray[Any] | None) -> None:
        taken = tree._undone_by_failure(self._taken(tree, batches, first_rows))
        for batch, report in reported(taken, reporter(self.progress, "tree")):
            tree.insert(batch.rows, batch.weight, progress=report)
        if tree.n_leaves == 0:
            raise ValueError("sample_weight is zero for all rows: at least one row has to count")

    def _taken(self, tree: CFTree, batches: Batches, first: NDArray[Any] | None) -> Iterator[Batch]:
        """The batches, while the first rows are kept; what was known is dropped before each, because an interrupt
        leaves the rows up to then in the tree. An error raised in here is one of reading: all is as it was."""
        before = self.__dict__.copy()
        try:
            for batch in batches:
                first = self._first_of_stream(tree, batch.rows[:0] if first is None else first, batch.rows)
                self._take(tree, first)
                yield batch
        except Exception:
            self.__dict__ = before
            raise

    def _take(self, tree: CFTree, first_rows: NDArray[Any]) -> None:
        self.tree_ = tree
        self._first_rows = first_rows
        self._clustering = None
        self._labels = None
        self._refined = None

    def _nearest_leaf(self, batches: Batches) -> NDArray[np.int64]:
        leaves = self._refined or self.tree_
        return leaves._assign_batches(batches, as_threads(self.n_jobs), reporter(self.progress, "nearest leaves"))

    def _first_of_stream(self, tree: CFTree, first: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        """Clusters are numbered by the first row they occur in. A stream does not come back, so as many of its first
        rows are kept as there may be leaves, or ten thousand where memory is no concern."""
        leaves = tree.leaf_limit(rows.shape[1])
        limit = leaves if leaves is not None and self.max_memory is not None else max(leaves or 0, _FIRST_ROWS)
        return first if len(first) >= limit else np.concatenate([first, rows[: limit - len(first)]])

    def _new_tree(self) -> CFTree:
        self._check_parameters()
        return CFTree(
            threshold=self.threshold,
            max_leaves=self.max_leaves,
            max_memory=self.max_memory,
            distance=_MATCHING_DISTANCE.get(self.linkage, "ward") if self.distance is None else self.distance,
            absorption="radius" if self.absorption is None else self.absorption,
            n_jobs=self.n_jobs,
        )

    def _check_parameters(self) -> None:
        """What can be known to be wrong before the rows are read; the tree checks its own parameters."""
        mode = as_choice(self.mode, "mode", MODES)
        as_method(self.linkage, mode, "linkage")
        as_choice(self.algorithm, "algorithm", ALGORITHMS)
        as_threads(self.n_jobs)
        as_count(self.refine, "refine", least=0)
        as_flag(self.progress, "progress")
        if self.n_clusters is not None:
            as_count(self.n_clusters, "n_clusters")
        if self.n_clusters is not None and self.distance_threshold is not None:
            raise ValueError("n_clusters and distance_threshold both say where to cut: set one of them to None")
        if self.distance_threshold is not None:
            as_threshold(self.distance_threshold, "distance_threshold")

    # -- clustering the leaves

    def _cluster(self, leaf_of_row: NDArray[np.int64], known: _Clustering | None = None) -> _Clustering:
        """Clusters the leaves and cuts; a dendrogram that is known, of the same leaves and linkage, is cut again."""
        made_by = (self.linkage, self.mode, self.algorithm)
        usable = known is not None and known.made_by == made_by
        dendrogram = known.dendrogram if known is not None and usable else self._new_dendrogram()
        if self.distance_threshold is not None:
            labels = dendrogram.cut(height=self.distance_threshold)
        else:
            labels = dendrogram.cut(n_clusters=1 if self.n_clusters is None else self.n_clusters)
        labels = _numbered_by_first_row(labels, leaf_of_row)
        return _Clustering(dendrogram, made_by, labels, _means_of_groups(self.features_, labels))

    def _new_dendrogram(self) -> Dendrogram:
        features = self.features_
        left = None if self.max_memory is None else max(0, as_bytes(self.max_memory) - self.tree_.memory_bytes)
        Z = cluster_features(
            features,
            self.linkage,
            self.mode,
            self.algorithm,
            n_jobs=self.n_jobs,
            progress=self.progress,
            max_memory=left,
        )
        return Dendrogram(Z, features)

    def _cluster_now(self, known: _Clustering | None = None) -> _Clustering:
        """The clustering of the leaves as they are; computed when first asked for after `partial_fit`."""
        check_is_fitted(self, "tree_")
        if self._clustering is None:
            first_rows = batches_of_rows(self._first_rows, None, "")
            self._clustering = self._cluster(self._nearest_leaf(first_rows), known)
        return self._clustering

    @property
    def labels_(self) -> NDArray[np.int64]:
        check_is_fitted(self, "tree_")
        if self._labels is None:
            raise AttributeError(
                "there are no labels_ after partial_fit, which does not keep the rows, nor after fit of a stream that "
                "comes by only once: use predict"
            )
        return self._labels

    @property
    def features_(self) -> ClusterFeatures:
        check_is_fitted(self, "tree_")
        return (self._refined or self.tree_).features

    @property
    def threshold_(self) -> float:
        check_is_fitted(self, "tree_")
        return self.tree_.threshold

    @property
    def subcluster_centers_(self) -> Floats:
        return self.features_.mean

    @property
    def dendrogram_(self) -> Dendrogram:
        return self._cluster_now().dendrogram

    @property
    def linkage_matrix_(self) -> Floats:
        return self.dendrogram_.Z

    @property
    def subcluster_labels_(self) -> NDArray[np.int64]:
        return self._cluster_now().leaf_labels

    @property
    def cluster_centers_(self) -> Floats:
        return self._cluster_now().centers

    @property
    def n_clusters_(self) -> int:
        return len(self.cluster_centers_)

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    # -- using the result

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The cluster of each row's exactly nearest leaf. X is as in `fit`."""
        check_is_fitted(self, "tree_")
        batches = checked_batches(self, X, None, reset=False)
        labels: NDArray[np.int64] = self.subcluster_labels_[self._nearest_leaf(batches)]
        return labels

    def transform(self, X: Any) -> NDArray[Any]:
        """The distance of each row to each cluster's mean; for arrays and data frames."""
        from scipy.spatial.distance import cdist

        check_is_fitted(self, "tree_")
        if is_stream(X) and not isinstance(X, np.ndarray):
            raise TypeError(
                "transform gives a number for each row and cluster, too many for a file or stream: pass it chunk by "
                "chunk, for rows in read_chunks(…): model.transform(rows)"
            )
        rows = checked_array(self, X, reset=False)
        distances: NDArray[Any] = cdist(rows, self.cluster_centers_).astype(rows.dtype, copy=False)
        return distances

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of squared distances of the rows to their cluster's mean: greater is better. `y` is ignored."""
        check_is_fitted(self, "tree_")
        centers, leaf_labels = self.cluster_centers_, self.subcluster_labels_
        total = 0.0
        for batch in checked_batches(self, X, sample_weight, reset=False):
            labels = leaf_labels[self._nearest_leaf(batches_of_rows(batch.rows, None, ""))]
            squared = ((batch.rows - centers[labels]) ** 2).sum(axis=1, dtype=np.float64)
            total += float(squared.sum() if batch.weight is None else batch.weight @ squared)
        return -total

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted model to a file for `load`: its parameters, tree, first rows and dendrogram.

        The `labels_` of the rows are not stored: there may be billions. `predict` gives them again.
        """
        files.write(path, "model", *self._to_file())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The model in a file. It predicts the same labels, cuts its dendrogram without clustering again
        (`set_params(n_clusters=…).partial_fit()`), and goes on with `partial_fit` to the same bits."""
        model: Self = load_as(cls, "model", path)
        return model

    def _to_file(self) -> tuple[dict[str, Any], files.Arrays]:
        return estimator_file.stored(self)

    @classmethod
    def _from_file(cls, state: dict[str, Any], arrays: files.Arrays) -> Self:
        return estimator_file.restored(cls, state, arrays)


def _numbered_by_first_row(leaf_labels: NDArray[np.int64], leaf_of_row: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same clusters, numbered by the first row they occur in; those no row falls into come last."""
    row_labels = leaf_labels[leaf_of_row]
    seen, first = np.unique(row_labels, return_index=True)
    unseen = np.setdiff1d(leaf_labels, seen)
    order = np.concatenate([seen[np.argsort(first)], unseen])
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return number[leaf_labels]


def _means_of_groups(features: ClusterFeatures, labels: NDArray[np.int64]) -> Floats:
    """The mean of each cluster, summed relative to a point of the data so that a far origin costs no digits."""
    weight = np.bincount(labels, features.weight)
    origin = features.mean[0]
    sums = [np.bincount(labels, features.weight * column) for column in (features.mean - origin).T]
    means: Floats = origin + np.stack(sums, axis=1) / weight[:, None]
    return means

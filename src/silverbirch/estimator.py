"""The scikit-learn estimator: aggregates any number of rows, clusters the features, labels the rows."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .directions import cancelled
from .features import ClusterFeatures
from .model.labelled import LeafCounter
from .model.row_labels import ModelOfRows
from .rows import RowSource, source_of
from .saved import Saved
from .validation import rows_for


class Betula(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator, ModelOfRows, Saved):  # type: ignore[misc]  # fmt: skip
    """Clusters any number of rows hierarchically: aggregates them into cluster features, then clusters the features.

    Parameters
    ----------
    n_clusters : int, default None
        Cut the dendrogram into this many clusters.
    distance_threshold : float, default None
        Cut the dendrogram at this height. With neither `n_clusters` nor `distance_threshold`, all labels are 0.
    linkage : str, default "ward"
        "ward", "average", "weighted", "centroid" or "median". "single", "complete", "minimax" and "medoid" are
        approximate, because they use only the means of the features. With mode="aggregation", any CF distance.
    metric : {"euclidean", "cosine", "correlation"}, default "euclidean"
        How rows are compared. For "cosine" each row is scaled to unit length, for "correlation" it is centred first.
        Heights of single, complete, average, weighted and minimax linkage are then cosine or correlation distances, as
        in scipy; those of ward, centroid and median are Euclidean distances of the unit rows. `cluster_centers_`,
        `score` and `features_` are those of the unit rows.
    projection : int, default None
        Project the rows to this many columns at random before anything else; needed for sparse matrices of scipy, such
        as TF-IDF, and possible for all rows. Squared distances then have an expected relative error of about
        √(2 / projection). `cluster_centers_`, `score` and `features_` are those of the projected rows.
    max_leaves : int, default 25_000
        The largest number of cluster features; None for no limit.
    max_memory : int or str, default None
        Bytes, or a string like "256MB", for the tree and the clustering. It also limits the number of features; the
        smaller limit holds. A clustering that would need more is refused.
    threshold : float, default 0.0
        The size up to which a feature absorbs rows from the start. It grows when there are more than `max_leaves`
        features. With 0 only equal rows share a feature until then.
    distance : str, default None
        The CF distance by which a row descends the tree, see `CFTree`; None for the one that matches the linkage.
    absorption : str, default None
        Which size of a feature `threshold` bounds, see `CFTree`; None for "radius".
    mode : {"linkage", "centers", "aggregation"}, default "linkage"
        How the linkage treats cluster features, see `linkage`.
    algorithm : str, default "auto"
        The algorithm of the linkage, see `linkage`.
    refine : int, default 0
        How many more passes `fit` makes over the rows to improve the features: each pass counts every row in its
        nearest feature, see `ClusterFeatures.refined`. `partial_fit` does not refine, because it keeps no rows.
    forget : float, default None
        The share of the weight of all earlier rows that each `partial_fit` forgets, 0 ≤ forget < 1, see `CFTree.decay`:
        clusters follow a stream that changes. None keeps every row at its full weight.
    n_jobs : int, default None
        Number of threads; None is one, -1 is one for each physical core that this process may use.
        It changes the time and nothing else.
    progress : bool, default False
        Whether to show a progress bar for each phase.
    device : str or torch.device, default None
        Where features are clustered and labels are found: "cpu", "cuda" for a GPU of NVIDIA, or "cuda:1" for one of
        several. With None, rows that are on a GPU get their labels there, and all else is done on the CPU. The tree is
        always built on the CPU. Files do not store it.

    Attributes
    ----------
    labels_ : int64 array (n,)
        The cluster of each row given to `fit`, or of the last rows given to `partial_fit`. Clusters are numbered by
        weight: the heaviest is 0, and of equal weights the one with the lowest leaf comes first. Rows of a stream are
        not kept, nor are rows in files of models; use `predict` for them.
    n_clusters_ : int
        The number of clusters.
    clusters_ : ClusterTable
        The table of the clusters: rows, weight, rmsd, centre, nearest other cluster, name, distinguishing columns.
    features_ : ClusterFeatures
        The cluster features: the leaves of the tree.
    linkage_matrix_ : float64 array (m - 1, 4)
        The dendrogram of the features, as scipy's Z.
    dendrogram_ : Dendrogram
        The dendrogram of the features.
    subcluster_centers_ : float64 array (m, d)
        The mean of each feature.
    subcluster_labels_ : int64 array (m,)
        The cluster of each feature.
    cluster_centers_ : float64 array (`n_clusters_`, d)
        The mean of each cluster: of the rows that `fit` labelled, or else of the rows as the features absorbed them.
    threshold_ : float
        The final threshold of the tree.
    tree_ : CFTree
        The tree. With `refine`, `features_` are no longer its leaves.
    n_features_in_ : int
        The number of columns, before the projection.
    projection_error_ : float
        The expected relative error of a squared distance by the projection: √(2 / projection), 0 without one.
    feature_names_in_ : array of str
        The names of the columns, where they have names.

    Notes
    -----
    Memory is O(max_leaves · d) for the tree, whatever the number of rows. The clustering takes as much for ward,
    average, weighted, centroid, median, single and medoid. Minimax, complete in many dimensions, and medoid with
    cosine or correlation take 8 bytes for each pair of features. `fit` reads the rows twice: once for the tree, once
    for the labels.

    The model keeps the feature of each row given to `fit`, 4 bytes a row, and `labels_` once they are used, 8 bytes a
    row. Another cut needs no more: `recut` and `cut` look the labels up. `fit` also keeps weight, mean and sse of the
    rows labelled to each feature, as much memory as the features themselves.

    After `partial_fit` the features are clustered when a result is first used, and a copy of the last rows is kept for
    `labels_` if they were in memory and `max_memory` is None.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.projection is not None
        return tags

    def _source(self, X: Any, sample_weight: Any = None, *, reset: bool = False) -> RowSource:
        return rows_for(self, X, sample_weight, reset=reset)

    @property
    def projection_error_(self) -> float:
        """The expected relative error of a squared distance by the projection: √(2 / projection), 0 without one."""
        self._require_fitted()
        return 0.0 if self._projection is None else float(np.sqrt(2 / self._projection.n_components))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """What a notebook shows: scikit-learn's diagram and, once fitted, what is known of the rows and clusters."""
        from .report.notebook import model_html

        known = copy.copy(self)
        if getattr(self, "_clustering", None) is None:
            # scikit-learn reads all attributes. Without these there is nothing to cluster and to label.
            known.__dict__ |= {"_batch": None, "_leaf_of_row": None}
            known.__dict__.pop("_clustering", None)
        shown: dict[str, str] = super(Betula, known)._repr_mimebundle_(**options)
        if "text/html" in shown and hasattr(self, "tree_"):
            shown["text/html"] += model_html(self)
        return shown

    # -- fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Aggregates the rows, clusters the features and labels the rows.

        Parameters
        ----------
        X : array (n, d), data frame, path or stream
            The rows: anything that `read_chunks` takes, arrays on a GPU, and with `projection` also sparse matrices.
            Files are read a second time for the labels. A stream can be read only once, so there are no `labels_` for
            it.
        y : ignored
            For compatibility with scikit-learn.
        sample_weight : array (n,) or float, default None
            How often each row counts; None counts each row once.

        Returns
        -------
        Betula
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter or a value of X is not allowed. The estimator is left as it was before the call.
        """
        with self._unchanged_by_failure():
            tree = self._new_tree()
            source = self._source(X, sample_weight, reset=True)
            self._check_can_refine(source)
            self._adaptive = None
            self._insert(tree, source)
            self._refine(source)
            if source.repeatable:
                self._cluster_now()
                counter = LeafCounter(self.features_)
                self._find_leaves(self._directed(source), counter)
                self._count_labelled(counter)
                self._cluster_features()  # scikit-learn requires that methods like `transform` change no attribute
        return self

    def partial_fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Adds a chunk of rows to the tree.

        The tree does not depend on how the rows are divided into chunks, unless `forget` is set: then all earlier rows
        lose that share of their weight first. `labels_` are those of the last chunk. They are computed when they are
        first used, from a copy of the chunk if it is in memory.

        Parameters
        ----------
        X : array (n, d), data frame, path, stream or ClusterFeatures, default None
            The rows, as `fit` takes them, or cluster features: of unit rows for cosine and correlation, of projected
            rows with `projection`. None adds no rows, and is the same as `recut()`. The parameters of the tree are
            fixed by the first chunk.
        y : ignored
            For compatibility with scikit-learn.
        sample_weight : array (n,) or float, default None
            How often each row counts; None counts each row once.

        Returns
        -------
        Betula
            The estimator itself.

        Raises
        ------
        ValueError
            A parameter or a value of X is not allowed. The estimator is left as it was before the call.
        """
        self._check_parameters()
        if X is None:
            return self.recut()
        if isinstance(X, ClusterFeatures):
            if sample_weight is not None:
                raise ValueError("cluster features have weights of their own: leave sample_weight out")
            with self._next_batch():
                return self.insert(X)
        first = not hasattr(self, "tree_")
        with self._next_batch():
            source = self._source(X, sample_weight, reset=first)
            self._insert(self._new_tree() if first else self.tree_, source)
        self._batch = self._kept(X, self._directed(source))
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    # -- using the result

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Returns the cluster of each row: the cluster of its exactly nearest feature.

        Parameters
        ----------
        X : array (n, d), data frame, path or stream
            The rows, as `fit` takes them.

        Returns
        -------
        int64 array (n,)
            The labels.

        Raises
        ------
        ValueError
            A value is not finite, a row has no direction ("cosine", "correlation"), or the columns differ from those
            given to `fit`.
        """
        self._require_fitted()
        return self._labels_of(self._source(X))

    def transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """Returns the distance of each row to the mean of each cluster, by the metric of the model.

        Parameters
        ----------
        X : array (n, d) or data frame
            The rows.

        Returns
        -------
        array (n, `n_clusters_`)
            The distances, in the precision of X. The cosine distance to a mean of 0, which has no direction, is 1.

        Raises
        ------
        TypeError
            X is a file or a stream: the result might not fit into memory.
        ValueError
            A value is not finite, a row has no direction ("cosine", "correlation"), or the columns differ from those
            given to `fit`.
        """
        from scipy.spatial.distance import cdist

        self._require_fitted()
        source = self._source(X)
        if not source.in_memory:
            raise TypeError(
                "transform returns a number for each row and cluster, too many for a file or stream: pass it chunk by "
                "chunk, for rows in read_chunks(…): model.transform(rows)"
            )
        rows, centers = np.concatenate(list(self._directed(source))), self.cluster_centers_
        if self._metric != "euclidean":
            centers = np.where(cancelled(centers)[:, None], 0, centers)
        distances = cdist(rows, centers, self._metric)
        finite: NDArray[np.floating[Any]] = np.nan_to_num(distances, nan=1.0, copy=False).astype(rows.dtype, copy=False)
        return finite

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Returns minus the sum of squared Euclidean distances of the rows to the mean of their cluster.

        With more clusters each row has a nearer centre, new rows too. So `GridSearchCV` over `n_clusters` takes the
        largest number of its grid, or nearly so. Choose the number by `choose_k`, and use the score to compare models
        with the same number of clusters, such as other linkages or `max_leaves`. Noise is not counted.

        Parameters
        ----------
        X : array (n, d), data frame, path or stream
            The rows, as `fit` takes them.
        y : ignored
            For compatibility with scikit-learn.
        sample_weight : array (n,) or float, default None
            How often each row counts; None counts each row once.

        Returns
        -------
        float
            The score.
        """
        self._require_fitted()
        centers = self.cluster_centers_
        total = 0.0
        source = self._directed(self._source(X, sample_weight))
        for chunk in map(source.checked, source.chunks()):
            labels = self.subcluster_labels_[self._leaf_of(source_of(chunk))]
            rows, weight = chunk.rows, chunk.weight
            if (noise := labels < 0).any():
                rows, labels, weight = rows[~noise], labels[~noise], None if weight is None else weight[~noise]
            squared = ((rows - centers[labels]) ** 2).sum(axis=1, dtype=np.float64)
            total += float(squared.sum() if weight is None else weight @ squared)
        return -total

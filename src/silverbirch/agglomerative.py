"""Scikit-learn's AgglomerativeClustering with the parameters and attributes of the original, over `linkage`."""

from __future__ import annotations

import heapq
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_array, check_memory, validate_data

from . import _core
from .checks import LINKAGES, Floats, as_count, as_flag, as_method, as_threshold
from .linkage import linkage
from .linkage.sparse_rows import SPARSE_METRICS
from .names import LinkageName
from .rows import is_table
from .validation import rows_for

_SCIPY_NAMES = {"l1": "cityblock", "manhattan": "cityblock", "l2": "euclidean"}


class AgglomerativeClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters points hierarchically and exactly, as scikit-learn's class of this name does.

    Parameters
    ----------
    n_clusters : int or None, default 2
        The number of clusters; None if `distance_threshold` is set.
    metric : str or function, default "euclidean"
        Any metric of `linkage`, or "l1", "l2", "manhattan", or "precomputed" if X is a square matrix of distances, of
        which the upper triangle is read. A function takes X and returns such a matrix. Ward, centroid and median need
        "euclidean" or "l2".
    memory : str or joblib.Memory, default None
        The folder in which dendrograms are stored and looked up; None stores none.
    connectivity : None
        Not supported: scikit-learn's class takes it.
    compute_full_tree : "auto" or bool, default "auto"
        For compatibility with scikit-learn: the full tree is always computed.
    linkage : str, default "ward"
        "ward", "single", "complete", "average", "weighted", "centroid", "median", "minimax" or "medoid".
    distance_threshold : float, default None
        Clusters at this distance or farther apart are not merged.
    compute_distances : bool, default False
        Whether to set `distances_` where `distance_threshold` is None.
    n_jobs : int, default None
        Number of threads; None is one, -1 is one for each physical core that this process may use.
        It changes the time and nothing else.
    progress : bool, default False
        Whether to show a progress bar.

    Attributes
    ----------
    labels_ : int array (n,)
        The cluster of each row, numbered as scikit-learn numbers them. For single linkage the numbers may differ,
        because scikit-learn leaves its children unsorted.
    children_ : int array (n - 1, 2)
        The two nodes that each merge joins. Nodes 0 … n-1 are the rows, and n + i is merge i.
    distances_ : float64 array (n - 1,)
        The height of each merge; set if `distance_threshold` or `compute_distances` is.
    linkage_matrix_ : float64 array (n - 1, 4)
        The dendrogram as scipy's Z, for `Dendrogram` and for scipy.
    n_clusters_ : int
        The number of clusters.
    n_leaves_ : int
        The number of rows.
    n_connected_components_ : int
        Always 1, because there is no `connectivity`.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str
        The names of the columns, where they have names.

    Notes
    -----
    Time and memory are those of `linkage`. For more rows than it can take, use `Betula`.

    Examples
    --------
    >>> import silverbirch as sb
    >>> model = sb.AgglomerativeClustering(n_clusters=2, compute_distances=True).fit([[0.0], [1.0], [5.0], [7.0]])
    >>> model.labels_.tolist(), model.children_.tolist()
    ([1, 1, 0, 0], [[0, 1], [2, 3], [4, 5]])
    >>> model.distances_.round(2).tolist()
    [1.0, 2.0, 7.78]
    """

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Any = "euclidean",
        memory: Any = None,
        connectivity: None = None,
        compute_full_tree: bool | Literal["auto"] = "auto",
        linkage: LinkageName = "ward",
        distance_threshold: float | None = None,
        compute_distances: bool = False,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances
        self.n_jobs = n_jobs
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        name = _SCIPY_NAMES.get(self.metric, self.metric) if isinstance(self.metric, str) else None
        tags.input_tags.pairwise = name == "precomputed"
        tags.input_tags.sparse = name in SPARSE_METRICS
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Computes the dendrogram of the rows and cuts it.

        Parameters
        ----------
        X : array (n, d), data frame, column of lists or sparse matrix (n, d)
            The rows, at least two; with metric="precomputed" the distances (n, n). Sparse rows need the metric
            "euclidean", "l2", "sqeuclidean", "cosine" or "correlation".
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        AgglomerativeClustering
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter or a value of X is not allowed.
        MemoryLimitError
            The distances of all pairs would need more memory than there is.
        """
        self._check_parameters()
        X = self._rows(X)
        if self.n_clusters is not None and self.n_clusters > X.shape[0]:
            raise ValueError(f"n_clusters={self.n_clusters} but there are {X.shape[0]} rows: lower n_clusters")
        objects, metric = self._objects(X)
        cached = check_memory(self.memory).cache(linkage)
        Z: Floats = cached(objects, self.linkage, metric, n_jobs=self.n_jobs, progress=self.progress)
        split = self._undone_merges(Z)
        self.linkage_matrix_ = Z
        self.children_: NDArray[np.intp] = np.asarray(Z[:, :2]).astype(np.intp)
        self.n_leaves_ = len(Z) + 1
        self.n_connected_components_ = 1
        self.n_clusters_ = int(split.sum()) + 1
        self.labels_ = _labels(np.asarray(Z), self.children_, split)
        self.__dict__.pop("distances_", None)
        if self.distance_threshold is not None or self.compute_distances:
            self.distances_: Floats = np.array(Z[:, 2])
        return self

    def _check_parameters(self) -> None:
        if self.connectivity is not None:
            raise ValueError(
                "connectivity must be None: for clusters of connected rows use sklearn.cluster.AgglomerativeClustering"
            )
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                "Exactly one of n_clusters and distance_threshold says where to cut: set the other one to None"
            )
        if self.n_clusters is not None:
            as_count(self.n_clusters, "n_clusters")
        if self.distance_threshold is not None:
            as_threshold(self.distance_threshold, "distance_threshold")
            if not self.compute_full_tree:
                raise ValueError("compute_full_tree must be True if distance_threshold is set: leave it out")
        as_flag(self.progress, "progress")
        as_method(self.linkage, "linkage", "linkage")
        if LINKAGES[self.linkage].squared and not (isinstance(self.metric, str) and self.metric in ("euclidean", "l2")):
            raise ValueError(
                f"metric={self.metric!r} with linkage={self.linkage!r}: only 'euclidean' and 'l2' are defined there; "
                "choose linkage='average', 'complete' or 'single'"
            )

    def _rows(self, X: Any) -> Any:
        """The rows, checked, as a dense array or in CSR format."""
        if is_table(X):  # columns of lists are rows too, and errors name the row and the column
            return check_array(
                np.concatenate(list(rows_for(self, X, reset=True))), ensure_min_samples=2, estimator=self
            )
        sparse = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        return validate_data(self, X, accept_sparse=sparse, ensure_min_samples=2)

    def _objects(self, X: Any) -> tuple[Any, str]:
        """The rows or the condensed distances, and the metric for `linkage`."""
        if isinstance(self.metric, str) and self.metric != "precomputed":
            return X, _SCIPY_NAMES.get(self.metric, self.metric)
        distances = np.asarray(self.metric(X)) if callable(self.metric) else X
        n = X.shape[0]
        if distances.shape != (n, n):
            raise ValueError(
                f"Distance matrix should be square, got matrix of shape {distances.shape}: a distance for each pair "
                "of rows is needed"
            )
        return distances[np.triu_indices(n, k=1)], "euclidean"

    def _undone_merges(self, Z: Floats) -> NDArray[np.bool_]:
        """Whether the cut undoes each merge."""
        if self.distance_threshold is not None:  # a merge within an undone merge may be higher: an inversion
            undone: NDArray[np.bool_] = _core.subtree_heights(np.asarray(Z)) >= self.distance_threshold
            return undone
        assert self.n_clusters is not None
        return np.arange(len(Z)) >= len(Z) + 1 - self.n_clusters


def _labels(Z: Floats, children: NDArray[np.intp], split: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The cluster of each leaf, if the merges of `split` are undone."""
    labels = _core.cut(Z, split.astype(np.float64), np.zeros(1))[:, 0]
    number = np.empty(split.sum() + 1, dtype=np.intp)
    for i, node in enumerate(_tops(children, split)):
        while node > len(children):
            node = children[node - len(children) - 1, 0]
        number[labels[node]] = i
    return number[labels]


def _tops(children: NDArray[np.intp], split: NDArray[np.bool_]) -> list[int]:
    """The top node of each cluster, in scikit-learn's order.

    Its order is that of a binary heap from which the last merge is taken again and again, and replaced by its parts.
    """
    n_leaves = len(children) + 1
    heap, done = [-(n_leaves + len(children) - 1)], []
    for _ in range(int(split.sum())):
        while not split[-heap[0] - n_leaves]:  # only where inversions let an earlier merge be higher
            done.append(heapq.heappop(heap))
        left, right = children[-heap[0] - n_leaves].tolist()
        heapq.heappush(heap, -left)
        heapq.heappushpop(heap, -right)
    return [-node for node in (*heap, *done)]

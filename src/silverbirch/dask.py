"""silverbirch on Dask: `aggregate` and `Betula` for dask arrays, data frames, bags and delayed chunks."""

from __future__ import annotations

import copy
import os
from dataclasses import replace
from typing import Any, Self

from sklearn.pipeline import Pipeline

from . import estimator
from .engines.dask import Partitions, distances, labels, score
from .engines.job import aggregated, fitted
from .engines.work import Reading, packed_model, reading_for
from .features import ClusterFeatures
from .model import AggregateModel
from .names import Absorption, Algorithm, CFDistance, Method, Mode, ModelMetric
from .pipeline.aggregation import Counts
from .pipeline.model_file import model_content, model_in
from .pipeline.preparation import Preparation
from .pipeline.provenance import RunState
from .pipeline.transformer import prepared_model
from .rows import RowSource
from .storage import container

__all__ = ["Betula", "aggregate"]


def aggregate(
    collection: Any,
    *,
    sample_weight: Any = None,
    max_leaves: int | None = 25_000,
    threshold: float = 0.0,
    distance: CFDistance = "ward",
    absorption: Absorption = "radius",
    metric: ModelMetric = "euclidean",
    refine: int = 1,
    missing: str = "error",
    scale: str = "none",
    client: Any = None,
) -> ClusterFeatures:
    """Returns the cluster features of all rows of a Dask collection.

    Each worker aggregates its partitions, and workers merge what others send, in the order of the partitions. Only the
    merged features come back.

    Parameters
    ----------
    collection : dask array, data frame or bag, or list of Delayed
        The rows. An array is divided by rows. The items of a bag are rows: lists of numbers, or dictionaries. A Delayed
        is anything that `read_chunks` takes: an array, a data frame, the path of a file.
    sample_weight : dask array or series, list of Delayed, or float, default None
        How often each row counts, with the same partitions; None counts each row once.
    max_leaves : int, default 25_000
        The largest number of cluster features; None for no limit.
    threshold, distance, absorption
        As in `CFTree`.
    metric : {"euclidean", "cosine", "correlation"}, default "euclidean"
        For "cosine" and "correlation", the features are those of unit rows.
    refine : int, default 1
        How many more passes over the rows improve the features: each counts every row in its nearest feature. The
        features of different partitions overlap, and one pass makes up for it; 0 spares it.
    missing : {"error", "drop", "mean"}, default "error"
        Rows with a missing value raise an error, are left out, or get the mean of the column.
    scale : {"none", "standard", "minmax"}, default "none"
        Scale columns to mean 0 and standard deviation 1, or to the range from 0 to 1. This and missing="mean" need
        another pass over the rows, for exact statistics of all partitions.
    client : distributed.Client, default None
        The cluster to use; None for the default client, or Dask's own threads if there is none.

    Returns
    -------
    ClusterFeatures
        The features.

    Raises
    ------
    ValueError
        A parameter or a value is not allowed; the message names the partition.
    TypeError
        The collection is none of Dask's.

    Examples
    --------
    >>> import dask.array, silverbirch.dask
    >>> X = dask.array.random.default_rng(0).normal(size=(100_000, 3), chunks=(10_000, 3))
    >>> features = silverbirch.dask.aggregate(X, max_leaves=1000)
    >>> len(features) <= 1000, features.weight.sum()
    (True, np.float64(100000.0))
    """
    model = AggregateModel(
        max_leaves=max_leaves,
        threshold=threshold,
        distance=distance,
        absorption=absorption,
        metric=metric,
        refine=refine,
    )
    reading = Reading(preparation=Preparation(missing, scale))
    fitted(model, reading, Partitions(collection, sample_weight).run_on(client))
    return model.features_


# Without automatic wrapping: for transform_output="pandas" scikit-learn would compute the distances of all rows here.
class Betula(estimator.Betula, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Clusters the rows of a Dask collection: `silverbirch.Betula` with workers that aggregate and label.

    It has the parameters and fitted attributes of `silverbirch.Betula`. `labels_`, `predict` and `transform` are lazy,
    with the partitions of the rows. Sizes and centres of clusters are those of the features, because `fit` makes no
    pass for the labels.

    Parameters
    ----------
    n_clusters, distance_threshold, linkage, metric, projection, max_leaves, max_memory, threshold, distance, absorption
        As in `silverbirch.Betula`; `max_memory` is for each tree.
    mode, algorithm, forget, n_jobs, progress, device
        As in `silverbirch.Betula`; `n_jobs` and `device` are for the clustering, and each worker takes one thread of
        its CPU for a task.
    refine : int, default 1
        How many more passes over the rows improve the features: each counts every row in its nearest feature. The
        features of different partitions overlap, and one pass makes up for it; 0 spares it.
    missing : {"error", "drop", "mean"}, default "error"
        Rows with a missing value raise an error, are left out, or get the mean of the column.
    scale : {"none", "standard", "minmax"}, default "none"
        Scale columns to mean 0 and standard deviation 1, or to the range from 0 to 1. This and missing="mean" need
        another pass over the rows, for exact statistics of all partitions.
    client : distributed.Client, default None
        The cluster to use; None for the default client, or Dask's own threads if there is none.

    Attributes
    ----------
    labels_ : dask array or series, bag, or list of Delayed
        The cluster of each row given to `fit`, lazy.
    features_, linkage_matrix_, dendrogram_, clusters_, cluster_centers_, n_clusters_, subcluster_centers_
        As in `silverbirch.Betula`, in memory here; of scaled rows if `scale` is set.
    subcluster_labels_, threshold_, tree_, n_features_in_, feature_names_in_, projection_error_
        As in `silverbirch.Betula`.
    counts_ : dict
        The numbers of rows read, of rows left out, and of missing values that were filled.

    Examples
    --------
    >>> import dask.array, silverbirch.dask
    >>> X = dask.array.random.default_rng(0).normal(size=(100_000, 3), chunks=(10_000, 3))
    >>> model = silverbirch.dask.Betula(n_clusters=5, max_leaves=1000).fit(X)
    >>> model.labels_
    dask.array<_labels_of_block, shape=(100000,), dtype=int64, chunksize=(10000,), chunktype=numpy.ndarray>
    >>> model.to_local()
    Betula(max_leaves=1000, n_clusters=5, refine=1)
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        linkage: Method = "ward",
        metric: ModelMetric = "euclidean",
        projection: int | None = None,
        max_leaves: int | None = 25_000,
        max_memory: int | str | None = None,
        threshold: float = 0.0,
        distance: CFDistance | None = None,
        absorption: Absorption | None = None,
        mode: Mode = "linkage",
        algorithm: Algorithm = "auto",
        refine: int = 1,
        forget: float | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
        device: Any = None,
        missing: str = "error",
        scale: str = "none",
        client: Any = None,
    ) -> None:
        super().__init__(
            n_clusters,
            distance_threshold=distance_threshold,
            linkage=linkage,
            metric=metric,
            projection=projection,
            max_leaves=max_leaves,
            max_memory=max_memory,
            threshold=threshold,
            distance=distance,
            absorption=absorption,
            mode=mode,
            algorithm=algorithm,
            refine=refine,
            forget=forget,
            n_jobs=n_jobs,
            progress=progress,
            device=device,
        )
        self.missing = missing
        self.scale = scale
        self.client = client

    _rows: Any = None  # the collection given to `fit`
    _run_state: RunState

    def _local(self) -> estimator.Betula:
        """The model without Dask."""
        local = estimator.Betula(**AggregateModel.get_params(self))
        own = {"missing", "scale", "client", "counts_", "_rows", "_run_state"}
        local.__dict__ |= {name: value for name, value in self.__dict__.items() if name not in own}
        return local

    def to_local(self) -> estimator.Betula | Pipeline:
        """Returns a copy of the fitted model without Dask, for rows in memory and files.

        Returns
        -------
        silverbirch.Betula or sklearn.pipeline.Pipeline
            The model; with a step that prepares rows before it, if rows are scaled or filled.
        """
        self._require_fitted()
        return prepared_model(copy.deepcopy(self._local()), self._run_state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model and the preparation of its rows to a file, for `silverbirch.load` and the command line.

        Parameters
        ----------
        path : str or path
            The file to write; an existing file is replaced once the new one is complete.
        """
        self._require_fitted()
        container.write(path, *model_content(self._local(), self._run_state))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Returns the model in a file, with the preparation of its rows, to label Dask collections.

        Parameters
        ----------
        path : str or path
            A file of a model that `save` or the command line wrote.

        Returns
        -------
        Betula
            The model. Its `counts_` begin at 0.

        Raises
        ------
        ModelFileError
            The file is damaged, or does not hold a model.
        """
        model, state = model_in(path, container.read(path), cls)
        model._run_state, model.counts_ = state, dict(vars(Counts()))
        model.missing, model.scale = state.preparation.missing, state.preparation.scale
        return model

    def _source(self, X: Any, sample_weight: Any = None, *, reset: bool = False) -> RowSource:
        raise TypeError(
            "this needs rows in memory or in files: use to_local(); a Dask collection is taken by fit, partial_fit, "
            "predict, transform and score"
        )

    # -- fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Aggregates the rows on the workers, merges the features there, and clusters them here.

        Parameters
        ----------
        X : dask array, data frame or bag, or list of Delayed
            The rows, as `aggregate` takes them.
        y : ignored
            For compatibility with scikit-learn.
        sample_weight : dask array or series, list of Delayed, or float, default None
            How often each row counts, with the same partitions; None counts each row once.

        Returns
        -------
        Betula
            The fitted estimator itself.

        Raises
        ------
        ValueError
            A parameter or a value is not allowed; the message names the partition. The estimator is left as it was.
        """
        local = estimator.Betula(**AggregateModel.get_params(self))
        reading = Reading(preparation=Preparation(self.missing, self.scale))
        state, counts = fitted(local, reading, Partitions(X, sample_weight).run_on(self.client))
        local._cluster_now()
        self.__dict__.pop("feature_names_in_", None)  # of earlier rows; these may have none
        self.__dict__ |= local.__dict__
        self._adaptive = None
        self._run_state, self.counts_, self._rows = state, dict(vars(counts)), X
        return self

    def partial_fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Adds the rows of another collection to the tree.

        Parameters
        ----------
        X : dask array, data frame or bag, or list of Delayed, default None
            More rows, as `aggregate` takes them. None adds no rows, and is the same as `recut()`.
        y : ignored
            For compatibility with scikit-learn.
        sample_weight : dask array or series, list of Delayed, or float, default None
            How often each row counts, with the same partitions; None counts each row once.

        Returns
        -------
        Betula
            The estimator itself.

        Raises
        ------
        ValueError
            A parameter or a value is not allowed. The estimator is left as it was before the call.
        """
        if X is None:
            return self.recut()
        if not hasattr(self, "tree_"):
            return self.fit(X, sample_weight=sample_weight)
        reading = replace(reading_for(self._run_state), preparation=self._run_state.preparation)
        part, _ = aggregated(self._local(), reading, Partitions(X, sample_weight).run_on(self.client))
        assert part.features is not None
        assert part.columns is not None
        if part.columns.count != self.n_features_in_:  # projected features all have the same width
            raise ValueError(
                f"X has {part.columns.count} columns but the model has {self.n_features_in_}: pass the same columns"
            )
        super().partial_fit(part.features)
        self.counts_ = {name: self.counts_[name] + more for name, more in vars(part.counts).items()}
        self._rows = X
        return self

    # -- using the result

    @property
    def labels_(self) -> Any:
        """The cluster of each row given to `fit` or last given to `partial_fit`, lazy."""
        self._require_fitted()
        if self._rows is None:
            raise AttributeError("there are no labels_ after load: use predict(X)")
        return self.predict(self._rows)

    def predict(self, X: Any) -> Any:
        """Returns the cluster of each row, lazily: the cluster of its exactly nearest feature.

        Parameters
        ----------
        X : dask array, data frame or bag, or list of Delayed
            The rows, as `fit` takes them. A data frame may have more columns than those of `fit`.

        Returns
        -------
        dask array or series, bag, or list of Delayed
            The labels, with the partitions of X. Rows that are left out (missing="drop") have no label: null in a
            series and a bag, -2 in an array.
        """
        self._require_fitted()
        self._cluster_now()
        return labels(X, self._sent(), nulls=self._run_state.preparation.missing == "drop")

    def transform(self, X: Any) -> Any:
        """Returns the distance of each row to the mean of each cluster, lazily.

        Parameters
        ----------
        X : dask array or data frame, or list of Delayed
            The rows, as `fit` takes them, without missing values unless they are filled.

        Returns
        -------
        dask array (n, `n_clusters_`) or data frame, or list of Delayed
            The distances, with the partitions of X.
        """
        self._require_fitted()
        return distances(X, self._sent(), [str(name) for name in self.get_feature_names_out()])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Returns minus the sum of squared distances of the rows to the mean of their cluster.

        Parameters
        ----------
        X : dask array, data frame or bag, or list of Delayed
            The rows, as `fit` takes them. Rows that are left out (missing="drop") are not counted.
        y : ignored
            For compatibility with scikit-learn.
        sample_weight : dask array or series, list of Delayed, or float, default None
            How often each row counts, with the same partitions; None counts each row once.

        Returns
        -------
        float
            The score.
        """
        self._require_fitted()
        return score(Partitions(X, sample_weight), self._sent(), self.client)

    def cut(self, *args: Any, **kwargs: Any) -> Any:
        """Not for collections: `recut` and `predict` give the labels of another cut."""
        raise TypeError("cut labels rows in memory: use recut(…), then predict(X)")

    def _sent(self) -> bytes:
        """The model in the form in which it is sent to the workers."""
        return packed_model(self._local(), self._run_state)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_rows": None, "client": None}

    def __sklearn_clone__(self) -> Self:
        """A new estimator with the same parameters; the client cannot be copied, so both use the same."""
        cloned: Self = super(Betula, copy.copy(self)).__sklearn_clone__()
        cloned.client = self.client
        return cloned

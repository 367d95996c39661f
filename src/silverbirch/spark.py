"""silverbirch on Spark: `aggregate` for data frames, and `Betula` and `BetulaModel` for pipelines of pyspark.ml."""

# ruff: noqa: I001, because engines.spark says what to install and is imported before pyspark

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from . import estimator
from .checks import Floats
from .engines.job import fitted
from .engines.spark import Partitions, labels, store_bytes, stored_bytes, whole_columns
from .engines.work import Reading, packed_model
from .features import ClusterFeatures
from .model import AggregateModel
from .names import Absorption, CFDistance, ModelMetric
from .pipeline.aggregation import Counts
from .pipeline.model_file import model_in
from .pipeline.preparation import Preparation
from .pipeline.provenance import RunState
from .pipeline.transformer import prepared_model
from .storage import container
from .wording import in_python, spelled_in_task

from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params
from pyspark.ml.param.shared import HasFeaturesCol, HasInputCols, HasPredictionCol, HasWeightCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import DataFrame

__all__ = ["Betula", "BetulaModel", "aggregate"]

_FILE = "model.sb"  # in the folder of a stored stage


def aggregate(
    frame: DataFrame,
    inputCols: Sequence[str] | None = None,
    *,
    featuresCol: str = "features",
    weightCol: str | None = None,
    max_leaves: int | None = 25_000,
    threshold: float = 0.0,
    distance: CFDistance = "ward",
    absorption: Absorption = "radius",
    metric: ModelMetric = "euclidean",
    refine: int = 1,
    missing: str = "error",
    scale: str = "none",
) -> ClusterFeatures:
    """Returns the cluster features of all rows of a Spark data frame.

    Each task aggregates its partition, and executors merge what others send, in the order of the partitions. The driver
    gets the merged features alone.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows.
    inputCols : list of str, default None
        The columns to cluster: numbers, arrays of numbers, or vectors. None for the column `featuresCol`.
    featuresCol : str, default "features"
        A column of vectors or arrays.
    weightCol : str, default None
        A column that says how often each row counts; None counts each row once.
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

    Returns
    -------
    ClusterFeatures
        The features.

    Raises
    ------
    ValueError
        A parameter or a value is not allowed; the message names the partition.
    TypeError
        The rows are no data frame of Spark, or a column does not hold numbers.

    Examples
    --------
    With a session of Spark named `spark`:

    >>> import silverbirch.spark
    >>> frame = spark.range(10_000).selectExpr("id % 7 AS x", "id % 3 AS y")
    >>> features = silverbirch.spark.aggregate(frame, ["x", "y"], max_leaves=1000)
    >>> len(features), features.weight.sum()
    (21, np.float64(10000.0))
    """
    model = AggregateModel(
        max_leaves=max_leaves,
        threshold=threshold,
        distance=distance,
        absorption=absorption,
        metric=metric,
        refine=refine,
    )
    parts = Partitions(frame, [featuresCol] if inputCols is None else inputCols, weightCol)
    _fitted(model, parts, Preparation(missing, scale))
    return model.features_


def _fitted(model: AggregateModel, parts: Partitions, preparation: Preparation) -> tuple[RunState, Counts]:
    """Fits the model to the rows. Errors name parameters as they are called here."""
    with spelled_in_task(_spelling):
        return fitted(model, Reading(parts.arguments, preparation), parts.run)


def _spelling(name: str, *value: Any) -> str:
    return in_python("weightCol" if name == "weight_column" else name, *value)


def _param(name: str, doc: str) -> Param[Any]:
    """A parameter. Numbers of numpy become Python's, which a stored stage can hold."""
    return Param(Params._dummy(), name, doc, lambda value: value.item() if isinstance(value, np.generic) else value)


class _BetulaParams(HasInputCols, HasFeaturesCol, HasPredictionCol, HasWeightCol):
    """The parameters of `silverbirch.Betula`, and the columns of a data frame."""

    n_clusters: Any = _param("n_clusters", "cut the dendrogram into this many clusters")
    distance_threshold: Any = _param("distance_threshold", "cut the dendrogram at this height")
    linkage: Any = _param("linkage", "the linkage, such as ward")
    metric: Any = _param("metric", "euclidean, cosine or correlation")
    projection: Any = _param("projection", "project the rows to this many columns")
    max_leaves: Any = _param("max_leaves", "the largest number of cluster features")
    max_memory: Any = _param("max_memory", "bytes for each tree")
    threshold: Any = _param("threshold", "the size up to which a feature absorbs rows")
    distance: Any = _param("distance", "the CF distance by which a row descends the tree")
    absorption: Any = _param("absorption", "which size of a feature the threshold bounds")
    mode: Any = _param("mode", "how the linkage treats cluster features")
    algorithm: Any = _param("algorithm", "the algorithm of the linkage")
    refine: Any = _param("refine", "more passes over the rows, which improve the features")
    n_jobs: Any = _param("n_jobs", "threads of the driver, for the clustering")
    missing: Any = _param("missing", "rows with a missing value: error, drop, or mean (fill)")
    scale: Any = _param("scale", "none, standard or minmax")

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(
            n_clusters=None,
            distance_threshold=None,
            linkage="ward",
            metric="euclidean",
            projection=None,
            max_leaves=25_000,
            max_memory=None,
            threshold=0.0,
            distance=None,
            absorption=None,
            mode="linkage",
            algorithm="auto",
            refine=1,
            n_jobs=None,
            missing="error",
            scale="none",
        )

    def _columns(self) -> list[str]:
        """The columns to cluster."""
        chosen = self.getInputCols() if self.isDefined(self.inputCols) else None  # None, too, if it was set to None
        return [self.getFeaturesCol()] if chosen is None else list(chosen)

    def _weight(self) -> str | None:
        return self.getWeightCol() if self.isDefined(self.weightCol) else None

    def setInputCols(self, value: Sequence[str]) -> Self:
        """Sets the columns to cluster."""
        return self._set(inputCols=value)

    def setFeaturesCol(self, value: str) -> Self:
        """Sets the column of vectors or arrays, which is used if there are no input columns."""
        return self._set(featuresCol=value)

    def setPredictionCol(self, value: str) -> Self:
        """Sets the name of the column of labels."""
        return self._set(predictionCol=value)

    def setWeightCol(self, value: str) -> Self:
        """Sets the column of weights."""
        return self._set(weightCol=value)


class Betula(Estimator, _BetulaParams, DefaultParamsReadable, DefaultParamsWritable):
    """Clusters the rows of a Spark data frame: an estimator of pyspark.ml over `silverbirch.Betula`.

    Tasks aggregate the partitions, executors merge the features in the order of the partitions, and the driver clusters
    the one set that is left. `fit(df)` returns a `BetulaModel`, whose `transform(df)` adds a column of labels.

    Parameters
    ----------
    inputCols : list of str, default None
        The columns to cluster: numbers, arrays of numbers, or vectors. None for the column `featuresCol`.
    featuresCol : str, default "features"
        A column of vectors or arrays.
    predictionCol : str, default "prediction"
        The column of labels that `transform` adds.
    weightCol : str, default None
        A column that says how often each row counts; None counts each row once.
    n_clusters, distance_threshold, linkage, metric, projection, max_leaves, max_memory, threshold, distance, absorption
        As in `silverbirch.Betula`; `max_memory` is for each tree.
    mode, algorithm, n_jobs
        As in `silverbirch.Betula`; `n_jobs` is for the clustering on the driver.
    refine : int, default 1
        How many more passes over the rows improve the features: each counts every row in its nearest feature. The
        features of different partitions overlap, and one pass makes up for it; 0 spares it.
    missing : {"error", "drop", "mean"}, default "error"
        Rows with a missing value raise an error, are left out (their label is null), or get the mean of the column.
    scale : {"none", "standard", "minmax"}, default "none"
        Scale columns to mean 0 and standard deviation 1, or to the range from 0 to 1. This and missing="mean" need
        another pass over the rows, for exact statistics of all partitions.

    Examples
    --------
    With a session of Spark named `spark`:

    >>> import silverbirch.spark
    >>> frame = spark.range(10_000).selectExpr("id % 7 AS x", "id % 3 AS y")
    >>> model = silverbirch.spark.Betula(inputCols=["x", "y"], n_clusters=3).fit(frame)
    >>> model.transform(frame).columns
    ['x', 'y', 'prediction']
    """

    @keyword_only
    def __init__(
        self,
        *,
        inputCols: Sequence[str] | None = None,
        featuresCol: str = "features",
        predictionCol: str = "prediction",
        weightCol: str | None = None,
        n_clusters: int | None = None,
        distance_threshold: float | None = None,
        linkage: str = "ward",
        metric: str = "euclidean",
        projection: int | None = None,
        max_leaves: int | None = 25_000,
        max_memory: int | str | None = None,
        threshold: float = 0.0,
        distance: str | None = None,
        absorption: str | None = None,
        mode: str = "linkage",
        algorithm: str = "auto",
        refine: int = 1,
        n_jobs: int | None = None,
        missing: str = "error",
        scale: str = "none",
    ) -> None:
        super().__init__()
        self._set(**self._input_kwargs)

    @keyword_only
    def setParams(self, **parameters: Any) -> Self:
        """Sets parameters by name."""
        return self._set(**parameters)

    def _fit(self, dataset: DataFrame) -> BetulaModel:
        own = {name: self.getOrDefault(name) for name in _OWN}
        local = estimator.Betula(**{name: value for name, value in own.items() if name not in ("missing", "scale")})
        parts = Partitions(dataset, self._columns(), self._weight())
        state, counts = _fitted(local, parts, Preparation(own["missing"], own["scale"]))
        local._cluster_now()
        return self._copyValues(BetulaModel(local, state, dict(vars(counts))))


_OWN = [param.name for param in _BetulaParams().params if not param.name.endswith(("Col", "Cols"))]


class BetulaModel(Model, _BetulaParams, MLReadable, MLWritable):
    """A fitted model: `transform` labels the rows of a data frame by their exactly nearest feature.

    `save` and `load` follow pyspark.ml: a folder, which pipelines of Spark store and load too, with the model in the
    file model.sb. A path that ends in .sb is the file alone, as `silverbirch.load` and the command line read and write
    it, so a model made anywhere labels rows here.

    Attributes
    ----------
    counts_ : dict
        The numbers of rows read, of rows left out, and of missing values that were filled; 0 after `load`.

    Examples
    --------
    With a session of Spark named `spark`:

    >>> import silverbirch.spark
    >>> frame = spark.range(10_000).selectExpr("id % 7 AS x", "id % 3 AS y")
    >>> model = silverbirch.spark.Betula(inputCols=["x", "y"], n_clusters=3).fit(frame)
    >>> model.to_local().n_clusters_, model.counts_
    (3, {'rows': 10000, 'dropped': 0, 'filled': 0})
    """

    def __init__(
        self, local: estimator.Betula | None = None, state: RunState | None = None, counts: dict[str, int] | None = None
    ) -> None:
        super().__init__()
        if local is not None and state is not None:
            self._local, self._state = local, state
        self.counts_ = dict(vars(Counts())) if counts is None else counts

    _local: estimator.Betula
    _state: RunState

    def to_local(self) -> estimator.Betula | Pipeline:
        """Returns a copy of the model without Spark, for rows in memory and files.

        Returns
        -------
        silverbirch.Betula or sklearn.pipeline.Pipeline
            The model; with a step that prepares rows before it, if rows are scaled or filled.
        """
        return prepared_model(copy.deepcopy(self._local), self._state)

    def clusterCenters(self) -> list[Floats]:
        """Returns the mean of each cluster, of the rows as they were prepared."""
        return list(self._local.cluster_centers_)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        return labels(dataset, self._columns(), packed_model(self._local, self._state), self.getPredictionCol())

    def write(self) -> MLWriter:
        """Returns the writer of pyspark.ml: `write().overwrite().save(path)`."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[Any]:
        """Returns the reader of pyspark.ml: `read().load(path)`."""
        return _Reader()

    def _filled(self, data: bytes, path: str) -> Self:
        """Takes over the model in the bytes of a file."""
        self._local, self._state = model_in(path, container.unpacked(data, path), estimator.Betula)
        return self


class _Writer(DefaultParamsWriter):
    def _handleOverwrite(self, path: str) -> None:
        if not path.endswith(".sb"):  # a file is replaced when the new one is complete
            super()._handleOverwrite(path)

    def saveImpl(self, path: str) -> None:
        data = packed_model(self.instance._local, self.instance._state)
        if path.endswith(".sb"):
            store_bytes(self.sparkSession, path, data, overwrite=self.shouldOverwrite)
        else:
            super().saveImpl(path)
            store_bytes(self.sparkSession, os.path.join(path, _FILE), data)


class _Reader(MLReader[Any]):
    def load(self, path: str) -> BetulaModel:
        if not path.endswith(".sb"):
            data = stored_bytes(self.sparkSession, os.path.join(path, _FILE))
            metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
            model = BetulaModel()
            model._resetUid(metadata["uid"])
            DefaultParamsReader.getAndSetParams(model, metadata)
            return model._filled(data, path)
        model = BetulaModel()._filled(stored_bytes(self.sparkSession, path), path)
        for name, value in AggregateModel.get_params(model._local).items():
            if name in _OWN:
                model._set(**{name: value})
        how = model._state.preparation
        model._set(missing=how.missing, scale=how.scale)
        if model._state.columns is not None:
            model._set(inputCols=whole_columns(model._state.columns))
        return model

"""A tree and the clustering of its leaves: `Betula` and the command line share it. It needs numpy alone."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import (
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
    is_sparse,
    refused_sparse,
)
from ..dendrogram import Dendrogram
from ..dendrogram.cuts import CutMethod, adaptive_options
from ..directions import METRICS
from ..features import ClusterFeatures
from ..gpu.device import chosen_device
from ..gpu.nearest import NearestOnDevice
from ..linkage import check_algorithm, cluster_features, matching_distance
from ..linkage.on_gpu import require_on_gpu
from ..linkage.unit_features import require_unit_rows
from ..names import Absorption, Algorithm, CFDistance, Method, Mode, ModelMetric
from ..progress import Report, reporter
from ..rows import Chunk, RowSource, source_of
from ..rows.direction_source import DirectionSource
from ..rows.passes import ForEachChunk, gathered
from ..rows.projected_source import ProjectedSource, Projection
from ..tree import CFTree
from ..wording import parameter
from .cluster_results import ClusterResults
from .labelled import LabelledLeaves, LeafCounter


@dataclass(frozen=True)
class Clustering:
    """The dendrogram of the leaves and its cut."""

    dendrogram: Dendrogram
    made_by: tuple[Method, Mode, Algorithm]
    leaf_labels: NDArray[np.int64]  # -1 for noise


@dataclass(frozen=True)
class AdaptiveCut:
    """The options of a cut by more than a number or a height, and the parameters it was made with."""

    n_clusters: int | None
    distance_threshold: float | None
    options: dict[str, Any]


class Refined:
    """Refined leaves, which replace the leaves of the tree, and the index for their nearest-leaf queries."""

    def __init__(self, features: ClusterFeatures, *, may_list: bool) -> None:
        self.features = features
        self._may_list = may_list
        self._index: _core.NearestIndex | None = None

    def _assign(
        self, source: RowSource, threads: int, report: Report | None, also: ForEachChunk | None = None
    ) -> NDArray[np.int64]:
        index = self._index or _core.NearestIndex(self.features.mean, threads, may_list=self._may_list)
        self._index = index

        def nearest(chunk: Chunk, inner: Report | None) -> NDArray[np.int64]:
            return source.nearest(index, chunk, threads, inner)

        return gathered(source, nearest, report, also)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_index": None}


class AggregateModel(ClusterResults):
    """A tree and the clustering of its leaves, with the parameters of `Betula`.

    The leaves are clustered when a result is first used.
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
        refine: int = 0,
        forget: float | None = None,
        n_jobs: int | None = None,
        progress: bool = False,
        device: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distance_threshold = distance_threshold
        self.linkage = linkage
        self.metric = metric
        self.projection = projection
        self.max_leaves = max_leaves
        self.max_memory = max_memory
        self.threshold = threshold
        self.distance = distance
        self.absorption = absorption
        self.mode = mode
        self.algorithm = algorithm
        self.refine = refine
        self.forget = forget
        self.n_jobs = n_jobs
        self.progress = progress
        self.device = device

    tree_: CFTree
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _metric: str  # of the rows in the tree
    _projection: Projection | None  # of the rows in the tree
    _clustering: Clustering | None
    _refined: Refined | None
    _on_device: NearestOnDevice | None = None
    _adaptive: AdaptiveCut | None = None  # lasts until `fit`, another cut, or a change of its parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        names = list(inspect.signature(AggregateModel.__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **parameters: Any) -> Self:
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def _require_fitted(self) -> None:
        if not hasattr(self, "tree_"):
            raise ValueError("the model is empty: insert rows first")

    # -- filling the tree

    def insert(self, X: Any) -> Self:
        """Adds rows or cluster features to the tree.

        Parameters
        ----------
        X : array (n, d), data frame, path, stream or ClusterFeatures
            The rows, as `CFTree.insert` takes them, or cluster features: of rows as the tree takes them.

        Returns
        -------
        Self
            The model itself.
        """
        source = X if isinstance(X, ClusterFeatures) else self._source(X)
        tree = self.tree_ if hasattr(self, "tree_") else self._new_tree()
        projection = self._projection if isinstance(X, ClusterFeatures) else None
        if not hasattr(self, "tree_"):
            if projection is not None:
                raise ValueError("cluster features do not say how many columns the rows have: insert rows first")
            self.n_features_in_ = source.n_dimensions
        columns = self.n_features_in_ if projection is None else projection.n_components
        if source.n_dimensions != columns:
            raise ValueError(f"X has {source.n_dimensions} columns but the model has {columns}: pass the same columns")
        if isinstance(X, ClusterFeatures) and self._metric != "euclidean":
            require_unit_rows(X, self._metric)
        self._insert(tree, source)
        return self

    @contextlib.contextmanager
    def _unchanged_by_failure(self) -> Iterator[None]:
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    @contextlib.contextmanager
    def _next_batch(self) -> Iterator[None]:
        """Before a batch is inserted, the tree forgets a share of its weight.

        A failure leaves the model as it was. So does an interrupt of the first batch, and of any batch with `forget`.
        """
        if not hasattr(self, "tree_"):
            with self._unchanged_by_failure():
                yield
        elif self.forget:
            with self._unchanged_by_failure(), self.tree_._unchanged_by_failure():
                self.tree_.decay(1 - self.forget)
                yield
        else:
            yield

    def _insert(self, tree: CFTree, source: RowSource | ClusterFeatures) -> None:
        before = tree.n_points, tree.n_leaves
        if not isinstance(source, ClusterFeatures):
            self._device_for(source)  # an error about the device comes before the work
        try:
            rows = source if isinstance(source, ClusterFeatures) else self._directed(source)
            tree.insert(rows, progress=self.progress)
        except BaseException:
            if (tree.n_points, tree.n_leaves) != before:  # an interrupt keeps the rows inserted so far
                self._take(tree)
            raise
        if tree.n_leaves == 0:
            weight = "weight" if isinstance(source, ClusterFeatures) else "sample_weight"
            raise ValueError(f"{parameter(weight)} is zero for all rows: at least one row needs a positive weight")
        self._take(tree)

    def _take(self, tree: CFTree) -> None:
        """Sets the tree and drops what was computed from earlier leaves."""
        self.tree_ = tree
        tree.n_jobs = self.n_jobs
        self._refined = None
        self._labelled = None
        self._set_clustering(None)

    def _set_clustering(self, clustering: Clustering | None) -> None:
        """Sets the clustering and drops what was computed from an earlier one."""
        self._clustering = clustering
        self._clusters = None
        self._table = None

    def _source(self, X: Any, sample_weight: Any = None, *, reset: bool = False) -> RowSource:
        """The rows of X. With `reset`, the model takes over their width and names."""
        if self.projection is None and isinstance(X, Chunk) and is_sparse(X.rows):
            raise refused_sparse(X.rows, "X")
        return source_of(X, sample_weight)

    def _leaf_of(
        self, source: RowSource, report: Report | None = None, also: ForEachChunk | None = None
    ) -> NDArray[np.int64]:
        """The nearest leaf of each row, for rows as the tree takes them.

        `also` is called with each chunk and its leaves.
        """
        device = self._device_for(source)
        if device is None:
            return (self._refined or self.tree_)._assign(source, as_threads(self.n_jobs), report, also)
        index, leaves = self._on_device, self.features_.mean
        if index is None or index.points is not leaves or index.device != device:
            index = self._on_device = NearestOnDevice(leaves, device)

        def nearest(chunk: Chunk, inner: Report | None) -> NDArray[np.int64]:
            return index.nearest(source.checked(chunk).rows, inner)

        return gathered(source, nearest, report, also)

    def _device_for(self, source: RowSource) -> Any:
        """The GPU that labels the rows, or None for the CPU: that of the parameter, or else the one that holds them."""
        return chosen_device(source.device if self.device is None else self.device)

    def _labels_of(self, source: RowSource, also: ForEachChunk | None = None) -> NDArray[np.int64]:
        """The cluster of each row: that of its exactly nearest leaf."""
        with reporter(self.progress, "nearest leaves") as report:
            leaves = self._leaf_of(self._directed(source), report, also)
        _core.rename(leaves, self.subcluster_labels_, as_threads(self.n_jobs))  # in place: a copy would take time
        return leaves

    def _count_labelled(self, counter: LeafCounter) -> None:
        self._set_labelled(counter.result())

    def _set_labelled(self, leaves: LabelledLeaves) -> None:
        """Takes over the rows labelled to each leaf; tables and centres are those of these rows from now on."""
        self._labelled = leaves
        self._clusters = None
        self._table = None

    def _directed(self, source: RowSource) -> RowSource:
        """The rows as the tree takes them: projected, and of unit length if the metric compares directions."""
        source = self._projected(source)
        return source if self._metric == "euclidean" else DirectionSource(source, self._metric)

    def _projected(self, source: RowSource) -> RowSource:
        return source if self._projection is None else ProjectedSource(source, self._projection)

    def _new_tree(self) -> CFTree:
        self._check_parameters()
        self._metric = self.metric
        self._projection = None if self.projection is None else Projection(int(self.projection))
        return CFTree(
            threshold=self.threshold,
            max_leaves=self.max_leaves,
            max_memory=self.max_memory,
            distance=matching_distance(self.linkage) if self.distance is None else self.distance,
            absorption="radius" if self.absorption is None else self.absorption,
            n_jobs=self.n_jobs,
        )

    def _check_parameters(self) -> None:
        """Checks the parameters before any row is read; the tree checks its own."""
        mode = as_choice(self.mode, "mode", MODES)
        as_method(self.linkage, mode, "linkage")
        as_choice(self.metric, "metric", METRICS)
        if self.projection is not None:
            as_count(self.projection, "projection")
            if self.metric == "correlation":
                raise ValueError(
                    f"{parameter('projection')} with {parameter('metric', 'correlation')}: projected rows cannot be "
                    f"centred by their columns; centre the rows first and use {parameter('metric', 'cosine')}"
                )
        algorithm = as_choice(self.algorithm, "algorithm", ALGORITHMS)
        check_algorithm(self.linkage, mode, algorithm, self.metric)
        if chosen_device(self.device) is not None:
            require_on_gpu(self.linkage, mode, algorithm, name="linkage")
        if self.forget is not None and not 0 <= as_threshold(self.forget, "forget") < 1:
            raise ValueError(
                f"{parameter('forget', self.forget)}: must be at least 0 and less than 1, the share to forget"
            )
        as_threads(self.n_jobs)
        as_count(self.refine, "refine", least=0)
        as_flag(self.progress, "progress")
        if self.n_clusters is not None:
            as_count(self.n_clusters, "n_clusters")
        if self.n_clusters is not None and self.distance_threshold is not None:
            raise ValueError(
                f"{parameter('n_clusters')} and {parameter('distance_threshold')} both say where to cut: set one of "
                "them to None"
            )
        if self.distance_threshold is not None:
            as_threshold(self.distance_threshold, "distance_threshold")

    # -- refining the leaves

    def _check_can_refine(self, source: RowSource) -> None:
        if self.refine and not source.repeatable:
            raise ValueError(
                f"{parameter('refine', self.refine)} reads the rows again, but a stream can be read only once: write "
                "it to a file"
            )

    def _refine(self, source: RowSource) -> None:
        """Makes the passes of `refine` over the rows that are in the tree."""
        for _ in range(self.refine):
            unlimited = self.max_memory is None
            with reporter(self.progress, "finer leaves") as report:
                leaves = self.features_._refined(
                    self._directed(source), as_threads(self.n_jobs), report, may_list=unlimited
                )
            self._refined = Refined(leaves, may_list=unlimited)

    # -- clustering the leaves

    @property
    def _is_cut(self) -> bool:
        """Whether the parameters say where to cut; if not, all leaves are one cluster."""
        return self.n_clusters is not None or self.distance_threshold is not None or bool(self._cut_options)

    def _cluster(self, known: Clustering | None) -> Clustering:
        """Clusters the leaves and cuts the dendrogram; a known dendrogram of the same linkage is only cut."""
        made_by = (self.linkage, self.mode, self.algorithm)
        usable = known is not None and known.made_by == made_by
        dendrogram = known.dendrogram if known is not None and usable else self._new_dendrogram()
        return Clustering(dendrogram, made_by, self._cut(dendrogram))

    def _cut(self, dendrogram: Dendrogram) -> NDArray[np.int64]:
        options = self._cut_options
        if self.distance_threshold is not None:
            return dendrogram.cut(height=self.distance_threshold, **options)
        self._check_enough_leaves(dendrogram.n_leaves)
        uncut = 1 if self.n_clusters is None and not options else self.n_clusters
        return dendrogram.cut(n_clusters=uncut, **options)

    def _check_enough_leaves(self, leaves: int) -> None:
        """Raises ValueError with the remedy that helps, if there are fewer leaves than clusters asked for."""
        if self.n_clusters is None or self.n_clusters <= leaves:
            return
        asked, lower = parameter("n_clusters", self.n_clusters), f"lower {parameter('n_clusters')}"
        if not self.features_.sse.any():  # no leaf holds different rows
            rows = "is only 1 different row" if leaves == 1 else f"are only {leaves} different rows"
            raise ValueError(f"{asked} but there {rows}: {lower}")
        finer = f"raise {parameter('max_leaves')}"
        if 0 < self.tree_.threshold <= self.tree_._initial_threshold:
            finer = f"lower {parameter('threshold')}"
        elif self.max_leaves is None:
            finer = f"raise {parameter('max_memory')}"
        raise ValueError(f"{asked} but there are {leaves} leaves: {finer} or {lower}")

    @property
    def _cut_options(self) -> dict[str, Any]:
        """The options of an adaptive cut; none if the parameters were set anew since."""
        cut = self._adaptive
        now = (self.n_clusters, self.distance_threshold)
        return {} if cut is None or (cut.n_clusters, cut.distance_threshold) != now else cut.options

    def _new_dendrogram(self) -> Dendrogram:
        features = self.features_
        left = None if self.max_memory is None else max(0, as_bytes(self.max_memory) - self.tree_.memory_bytes)
        Z = cluster_features(
            features,
            self.linkage,
            self.mode,
            self.algorithm,
            metric=self._metric,
            n_jobs=self.n_jobs,
            progress=self.progress,
            max_memory=left,
            device=self.device,
        )
        return Dendrogram(Z, features)

    def _cluster_now(self, known: Clustering | None = None) -> Clustering:
        """The clustering of the current leaves, computed on first use."""
        self._require_fitted()
        if self._clustering is None:
            self._set_clustering(self._cluster(known))
        assert self._clustering is not None
        return self._clustering

    def recut(
        self,
        n_clusters: int | None = None,
        *,
        distance_threshold: float | None = None,
        height: float | None = None,
        method: CutMethod = "level",
        min_size: float | None = None,
        max_size: float | None = None,
        noise: bool = False,
    ) -> Self:
        """Cuts the dendrogram elsewhere: labels, centres and tables change at once.

        Nothing is clustered again, unless `set_params` changed `linkage`, `mode` or `algorithm` before. The parameters
        `n_clusters` and `distance_threshold` become those of the new cut. It takes time linear in the number of leaves
        and, if `labels_` are used, of rows.

        Parameters
        ----------
        n_clusters : int, default None
            Cut into this many clusters.
        distance_threshold : float, default None
            Cut at this height.
        height : float, default None
            Another name of `distance_threshold`, as in `Dendrogram.cut`.
        method : {"level", "eom", "dynamic"}, default "level"
            How branches end, see `Dendrogram.cut`.
        min_size, max_size : float, default None
            The least and the largest weight of a cluster.
        noise : bool, default False
            Whether rows that fit no cluster get the label -1 instead of joining one. The model and its file remember
            these four until `fit`, another cut, or another value of `n_clusters` or `distance_threshold`.

        Returns
        -------
        Self
            The model itself. Without any argument it is cut as its parameters say.

        Raises
        ------
        ValueError
            There is no such cut. The model is left as it was before the call.
        """
        if height is not None and distance_threshold is not None:
            raise ValueError("height is another name of distance_threshold: give only one of them")
        threshold = height if distance_threshold is None else distance_threshold
        options = adaptive_options(method, min_size, max_size, noise)
        with self._unchanged_by_failure():
            if options or n_clusters is not None or threshold is not None:
                self.n_clusters, self.distance_threshold = n_clusters, threshold
                self._adaptive = AdaptiveCut(n_clusters, threshold, options) if options else None
            self._check_parameters()
            self._require_fitted()
            self.tree_.n_jobs = self.n_jobs
            known = self._clustering
            self._set_clustering(None)
            self._cluster_now(known)
        return self

    @property
    def features_(self) -> ClusterFeatures:
        """The cluster features: the leaves of the tree, refined if `refine` is set."""
        self._require_fitted()
        return (self._refined or self.tree_).features

    @property
    def threshold_(self) -> float:
        """The current threshold of the tree."""
        self._require_fitted()
        return self.tree_.threshold

    @property
    def subcluster_centers_(self) -> Floats:
        """The mean of each feature, (m, d)."""
        return self.features_.mean

    @property
    def dendrogram_(self) -> Dendrogram:
        """The dendrogram of the features, computed on first use."""
        return self._cluster_now().dendrogram

    @property
    def _made_by(self) -> tuple[Method, Mode, Algorithm]:
        return self._cluster_now().made_by

    @property
    def linkage_matrix_(self) -> Floats:
        """The dendrogram of the features as scipy's Z, (m - 1, 4)."""
        return self.dendrogram_.Z

    @property
    def subcluster_labels_(self) -> NDArray[np.int64]:
        """The cluster of each feature, (m,); the heaviest cluster is 0, and noise is -1."""
        return self._cluster_now().leaf_labels


AggregateModel.__init__.__qualname__ = "Betula.__init__"  # the name in the error for a wrong parameter

"""A model that knows the leaf of each row, so that every cut of its dendrogram labels the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dendrogram.cuts import CutMethod
from ..progress import reporter
from ..rows import START, Chunk, Position, RowSource, source_of
from ..tree import CFTree
from .aggregate_model import AggregateModel, Clustering
from .labelled import LeafCounter

_BLOCK = 1 << 20  # rows whose labels are looked up at once: numpy converts their leaves to 64 bits


class ModelOfRows(AggregateModel):
    """A model with the labels of the rows given to `fit`, or of the last rows given to `partial_fit`."""

    _leaf_of_row: NDArray[np.int32 | np.int64] | None  # of the rows given to `fit`, or of the last batch
    _batch: RowSource | None  # the rows of the last `partial_fit`; their leaves are computed on first use
    _labels: NDArray[np.int64] | None

    def _take(self, tree: CFTree) -> None:
        super()._take(tree)
        self._leaf_of_row = None
        self._batch = None

    def _set_clustering(self, clustering: Clustering | None) -> None:
        super()._set_clustering(clustering)
        self._labels = None

    def _find_leaves(self, source: RowSource, counter: LeafCounter | None = None) -> None:
        """Finds the leaf of each row, for rows as the tree takes them, and sums up the rows of each leaf on the way."""
        with reporter(self.progress, "nearest leaves") as report:
            leaves = self._leaf_of(source, report, None if counter is None else counter.add)
        fits = len(self.features_) <= np.iinfo(np.int32).max
        self._leaf_of_row = leaves.astype(np.int32) if fits else leaves

    def _kept(self, X: Any, source: RowSource) -> RowSource | None:
        """A source of the same rows for later: a copy if they are in memory; None if they cannot be read again."""
        if not source.in_memory or _is_mapped(X):
            return source if source.repeatable else None
        if self.max_memory is not None:
            return None
        copy: Any = np.concatenate([chunk.rows for chunk in source.chunks()])
        kept = source_of(Chunk(copy, START, Position(1, 0), checked=True))
        kept.device = source.device
        return kept

    def __getstate__(self) -> dict[str, Any]:
        if self.__dict__.get("_batch") is None:
            return self.__dict__
        return self.__dict__ | {"_batch": None, "_leaf_of_row": None, "_labels": None}  # those of a batch are not kept

    @property
    def labels_(self) -> NDArray[np.int64]:
        """The cluster of each row given to `fit`, or of the last rows given to `partial_fit`."""
        leaves = self._known_leaves(AttributeError, "use predict(X)")
        if self._labels is None:
            self._labels = _labels_of_rows(self.subcluster_labels_, leaves)
        return self._labels

    def _known_leaves(self, error: type[Exception], remedy: str) -> NDArray[np.int32 | np.int64]:
        """The leaf of each row; raises the error if the rows are not known."""
        self._require_fitted()
        if self._leaf_of_row is None and self._batch is not None:
            self._find_leaves(self._batch)
        if self._leaf_of_row is None:
            raise error(
                "there are no labels_ after load, after fit or partial_fit of a stream, because the rows are not kept, "
                f"after partial_fit of cluster features, and after partial_fit with max_memory: {remedy}"
            )
        return self._leaf_of_row

    def cut(
        self,
        n_clusters: Any = None,
        height: Any = None,
        *,
        X: Any = None,
        method: CutMethod = "level",
        min_size: float | None = None,
        max_size: float | None = None,
        noise: bool = False,
    ) -> NDArray[np.int64]:
        """Returns a label for each row: the dendrogram cut into other numbers of clusters, or at other heights.

        The model stays as it is; `recut` changes it. A cut takes time linear in the number of leaves and of rows.

        Parameters
        ----------
        n_clusters : int or list of int, default None
            Cut into this many clusters.
        height : float or list of float, default None
            Cut at this height.
        X : array (n, d), data frame, path or stream, default None
            The rows, as `fit` takes them. None takes the rows of `labels_`, without another search.
        method : {"level", "eom", "dynamic"}, default "level"
            How branches end, see `Dendrogram.cut`.
        min_size, max_size : float, default None
            The least and the largest weight of a cluster.
        noise : bool, default False
            Whether rows that fit no cluster get the label -1 instead of joining one.

        Returns
        -------
        int64 array (n,), or (n, k) for a list of k numbers
            The labels of the rows; column i belongs to number i of the list.

        Raises
        ------
        ValueError
            There is no such cut, or X is None and there are no `labels_`.
        """
        self._require_fitted()
        labels = self.dendrogram_.cut(
            n_clusters, height, method=method, min_size=min_size, max_size=max_size, noise=noise
        )
        if X is None:
            return _labels_of_rows(labels, self._known_leaves(ValueError, "give the rows by cut(…, X=X)"))
        with reporter(self.progress, "nearest leaves") as report:
            leaves = self._leaf_of(self._directed(self._source(X)), report)
        return _labels_of_rows(labels, leaves)


def _labels_of_rows(leaf_labels: NDArray[np.int64], leaf_of_row: NDArray[np.int32 | np.int64]) -> NDArray[np.int64]:
    """The label of each row, or its labels if `leaf_labels` has several columns."""
    labels = np.empty((len(leaf_of_row), *leaf_labels.shape[1:]), dtype=np.int64)
    for begin in range(0, len(labels), _BLOCK):
        some = slice(begin, begin + _BLOCK)
        np.take(leaf_labels, leaf_of_row[some], axis=0, out=labels[some], mode="clip")
    return labels


def _is_mapped(rows: Any) -> bool:
    """Whether the rows are part of a file, which is not copied as a whole."""
    return isinstance(rows, np.memmap) or (isinstance(rows, np.ndarray) and _is_mapped(rows.base))

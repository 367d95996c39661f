"""What a worker does with a partition, and how what the workers send is merged.

Gather      statistics of the columns, for scaling and filling
Aggregate   the cluster features of the rows
Count       the rows of each leaf of a model: to refine its leaves, and for the sizes of clusters
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import is_sparse
from ..errors import MemoryLimitError, ModelFileError
from ..features import ClusterFeatures
from ..model import AggregateModel
from ..model.labelled import LeafCounter
from ..pipeline.aggregation import Aggregation, Counts
from ..pipeline.gathering import Gathering
from ..pipeline.labelling import labels_of, nearest_leaves
from ..pipeline.model_file import model_content, model_in
from ..pipeline.preparation import Preparation
from ..pipeline.provenance import RunState
from ..rows import Chunk, NoRowsError, RowSource, read_chunks, source_of
from ..rows.projected_source import SparseSource
from ..rows.table_source import NoListsError
from ..storage import container
from ..wording import parameter
from .partial import Columns, Partial, counted_together, merged_by_leaf, merged_in_tree

SENT_MODEL = "the model sent to a worker"  # in errors


@dataclass(frozen=True)
class Reading:
    """How a worker reads its rows: the arguments of `read_chunks`, and the preparation."""

    arguments: dict[str, Any] = field(default_factory=dict)
    preparation: Preparation = field(default_factory=Preparation)

    def source(self, rows: Any, weight: Any = None) -> RowSource:
        """The source of a partition: anything that `read_chunks` takes. Raises NoRowsError if it has no rows."""
        shape = rows.shape if hasattr(rows, "shape") else (len(rows),) if hasattr(rows, "__len__") else ()
        if tuple(shape[:1]) == (0,):  # its columns may have no type yet
            raise NoRowsError("the partition has no rows")
        source = _sparse_source(rows) if is_sparse(rows) else read_chunks(rows, **self.arguments)
        return source_of(source, weight, weight_name="sample_weight")


def _sparse_source(rows: Any) -> RowSource:
    """The source of sparse rows, for a model that projects them."""
    from sklearn.utils.validation import check_array  # 100 MB, which the command line does not need

    return SparseSource(check_array(rows.tocsr(), accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X"))


@dataclass(frozen=True)
class Work(ABC):
    """What is done with each partition. An engine sends it to the workers."""

    reading: Reading

    def __call__(self, number: int, rows: Any, weight: Any = None) -> bytes:
        """The bytes that a worker sends for partition `number`. Its rows may be none."""
        with in_partition(number):
            try:
                return self._done(self.reading.source(rows, weight)).to_bytes()
            except NoRowsError:
                return self.nothing()
            except NoListsError as error:
                if self.reading.preparation.missing == "error":
                    remedy = f"drop such rows or fill in the column's mean ({parameter('missing')})"
                    raise ValueError(f"column {error.column!r} is missing in all {error.rows} rows: {remedy}") from None
                return Partial(counts=Counts(rows=error.rows, dropped=error.rows)).to_bytes()

    def nothing(self) -> bytes:
        """The bytes for no rows."""
        return Partial().to_bytes()

    def merged(self, sent: Sequence[bytes]) -> bytes:
        """The bytes for several partitions together, in the order of their numbers."""
        return self._merged([Partial.from_bytes(data) for data in sent]).to_bytes()

    @abstractmethod
    def _done(self, source: RowSource) -> Partial: ...

    @abstractmethod
    def _merged(self, parts: Sequence[Partial]) -> Partial: ...


@dataclass(frozen=True)
class Gather(Work):
    def _done(self, source: RowSource) -> Partial:
        gathering = Gathering(source, self.reading.preparation)
        gathering.run(lambda _: None)
        return Partial(Columns.of(source), Counts(rows=gathering.rows), statistics=gathering.statistics)

    def _merged(self, parts: Sequence[Partial]) -> Partial:
        return counted_together(parts)


@dataclass(frozen=True)
class Aggregate(Work):
    """`parameters` are those of the model. Threads are for the engine to share out, so each worker takes one."""

    parameters: dict[str, Any]

    def _done(self, source: RowSource) -> Partial:
        aggregation = Aggregation(source, self._model(), self.reading.preparation)
        for _ in aggregation.inserted():
            pass
        part, tree = Partial(Columns.of(source), aggregation.counts), aggregation.tree
        if tree is None:  # all rows were left out
            return part
        return Partial(part.columns, part.counts, tree.features, tree.threshold)

    def _merged(self, parts: Sequence[Partial]) -> Partial:
        return merged_in_tree(parts, self._model()._new_tree())

    def _model(self) -> AggregateModel:
        return AggregateModel(**self.parameters | {"n_jobs": None, "progress": False, "device": None})


@dataclass(frozen=True)
class Count(Work):
    """`model` is one as `packed_model` returns it."""

    model: bytes

    def _done(self, source: RowSource) -> Partial:
        return self._counted(source)

    def _counted(self, source: RowSource, write: Callable[[NDArray[np.int64], Any], None] | None = None) -> Partial:
        """The rows of each leaf. `write` is called with the labels of each chunk and with its kept columns."""
        model, state = unpacked_model(self.model)
        counter, counts = LeafCounter(model.features_), Counts()
        for chunk in source.chunks(with_ids=write is not None):
            leaves = nearest_leaves(chunk, source, state.preparation, model, counter.add)
            if write is not None:
                write(labels_of(leaves, model.subcluster_labels_), chunk.kept)
            counts.rows += len(leaves)
            counts.dropped += int(np.count_nonzero(leaves < 0))
        sums = counter.sums()
        features = ClusterFeatures._adopt(sums["weight"], sums["mean"], sums["sse"])
        return Partial(Columns.of(source), counts, features, leaf_rows=sums["rows"])

    def _merged(self, parts: Sequence[Partial]) -> Partial:
        return merged_by_leaf(parts)


def packed_model(model: AggregateModel, state: RunState) -> bytes:
    """The model with its preparation, as the bytes of a model file."""
    return container.packed(*model_content(model, state))


@lru_cache(maxsize=2)  # a worker labels many partitions by one model, which has an index of its leaves to build
def unpacked_model(data: bytes) -> tuple[AggregateModel, RunState]:
    model, state = model_in(SENT_MODEL, container.unpacked(data, SENT_MODEL), AggregateModel)
    return model.set_params(n_jobs=None), state


def reading_for(state: RunState) -> Reading:
    """How the rows for a model are read: its columns only, if they have names."""
    return Reading({"columns": state.to_read, "times": state.times})


def labelled(rows: Any, model: bytes, before: int = 0) -> Iterator[tuple[Chunk, NDArray[np.int64]]]:
    """Each chunk of the rows with their labels; LEFT_OUT for rows that are left out.

    `rows` are anything that `read_chunks` takes. Errors number them from `before` on.
    """
    local, state = unpacked_model(model)
    reading = reading_for(state)
    try:
        source = reading.source(rows)
    except NoListsError as error:  # how long they would be, the model knows
        source = reading.source(np.full((error.rows, local.n_features_in_), np.nan))
    for chunk in source.chunks():
        chunk = replace(chunk, begin=chunk.begin._replace(row=before + chunk.begin.row))
        yield chunk, labels_of(nearest_leaves(chunk, source, state.preparation, local), local.subcluster_labels_)


_OWN_ERRORS = (ValueError, TypeError, MemoryLimitError, ModelFileError)


@contextlib.contextmanager
def in_partition(number: int) -> Iterator[None]:
    """Adds the number of the partition to errors about its rows."""
    try:
        yield
    except _OWN_ERRORS as error:
        if type(error) not in _OWN_ERRORS:
            raise
        raise type(error)(f"partition {number}: {error}") from error

"""The second pass: every row gets the label of its exactly nearest leaf, in input order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import AggregateModel
from ..model.labelled import LeafCounter
from ..rows import Chunk, Position, RowSource
from ..rows.passes import ForEachChunk
from ..storage import container
from ..storage.journal import Journal
from .aggregation import Aggregation
from .labels import LEFT_OUT, LabelWriter
from .preparation import Preparation

NOISE = -1  # the label of rows in no cluster
_NO_LEAF = -1  # of a row that was left out


class Labelling:
    """The state of the pass. Stored between two chunks and resumed, it gives the same labels.

    journal : the leaf of each row so far; None if the pass is not stored
    warn : called if the journal cannot be written; the pass goes on without it

    To find the nearest leaf of a row is what takes long. So a resumed pass reads the rows again from the first on and
    writes all labels, but takes the leaves from the journal as far as it goes. The bytes of every format are those of
    an undisturbed run then, and the cut may be another one.
    """

    def __init__(self, journal: Journal | None = None, warn: Callable[[str], None] = lambda text: None) -> None:
        self._journal = journal
        self._warn = warn
        self._leaves: str | None = None  # whose numbers the journal holds; None before the pass begins
        self._counter: LeafCounter | None = None
        self._stored: tuple[dict[str, Any], container.Arrays] | None = None  # the state to resume

    def run(
        self,
        source: RowSource,
        preparation: Preparation,
        model: AggregateModel,
        writer: LabelWriter,
        *,
        after_chunk: Callable[[int, Position], None],
        counter: LeafCounter | None = None,
    ) -> dict[str, int]:
        """Returns the numbers of rows with a label and of rows left out; with noise, of rows in no cluster too.

        Calls `after_chunk(rows so far, position)`. `counter` sums up the rows of each leaf in the same pass.
        """
        self._begin(model, preparation, counter)
        labels_of_leaves = model.subcluster_labels_
        rows = unlabelled = noise = 0
        for chunk in source.chunks(with_ids=True):
            leaves = self._leaves_of(chunk, source, preparation, model)
            labels = labels_of(leaves, labels_of_leaves)
            unlabelled += int(np.count_nonzero(labels == LEFT_OUT))
            noise += int(np.count_nonzero(labels == NOISE))
            writer.write(labels, chunk.kept, chunk.begin.file)
            rows += len(labels)
            after_chunk(rows, chunk.end)
        counts = {"labelled": rows - unlabelled, "unlabelled": unlabelled}
        return counts | {"noise": noise} if (labels_of_leaves == NOISE).any() else counts

    def _begin(self, model: AggregateModel, preparation: Preparation, counter: LeafCounter | None) -> None:
        self._counter = counter
        if self._journal is None:
            return
        self._leaves = leaves_digest(model, preparation)
        stored, self._stored = self._stored, None
        with self._going_on():
            if stored is None or stored[0]["leaves"] != self._leaves or not self._journal.resume(stored[0]["journal"]):
                self._journal.begin()
            elif counter is not None:
                counter.restore(stored[1])

    def _leaves_of(
        self, chunk: Chunk, source: RowSource, preparation: Preparation, model: AggregateModel
    ) -> NDArray[np.int64]:
        """The nearest leaf of each row, or _NO_LEAF: from the journal, or else found now."""
        known = None if self._journal is None else self._journal.taken(len(chunk))
        if known is not None:
            return known
        leaves = nearest_leaves(chunk, source, preparation, model, None if self._counter is None else self._counter.add)
        if self._journal is not None:
            with self._going_on():
                self._journal.append(leaves)
        return leaves

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """Goes on without the journal after an error of the disk: what it holds may be incomplete."""
        try:
            yield
        except OSError as error:
            self._journal = None
            self._warn(f"the labels are not in the checkpoint, the run goes on: {error.strerror or error}")

    # -- in checkpoints

    def to_state(self) -> tuple[dict[str, Any], container.Arrays]:
        if self._journal is None or self._leaves is None:
            return self._stored or ({}, {})
        with self._going_on():
            state = {"leaves": self._leaves, "journal": self._journal.state()}
            return state, {} if self._counter is None else self._counter.sums()
        return {}, {}

    @property
    def progress(self) -> str:
        return f"the label of row {self.rows:,}"

    @property
    def rows(self) -> int:
        """The number of rows whose leaves are known."""
        if self._stored is not None:
            return int(self._stored[0]["journal"]["count"])
        return 0 if self._journal is None else self._journal.count

    def resume(self, state: dict[str, Any], arrays: container.Arrays) -> None:
        if "leaves" in state:  # not if the journal could not be written
            self._stored = ({"leaves": state["leaves"], "journal": Journal.checked(state["journal"])}, arrays)


class BothPasses:
    """The aggregation and the labelling of one run, as a checkpoint stores them."""

    def __init__(self, aggregation: Aggregation, labelling: Labelling) -> None:
        self._aggregation, self._labelling = aggregation, labelling

    @property
    def progress(self) -> str:
        return self._labelling.progress if self._labelling.rows else self._aggregation.progress

    def to_state(self) -> tuple[dict[str, Any], container.Arrays]:
        state, arrays = self._aggregation.to_state()
        labelling, sums = self._labelling.to_state()
        return state | {"labelling": labelling}, arrays | container.prefixed("labelling", sums)

    def resume(self, state: dict[str, Any], arrays: container.Arrays) -> None:
        self._aggregation.resume(state, arrays)
        self._labelling.resume(state.get("labelling", {}), container.under("labelling", arrays))


def nearest_leaves(
    chunk: Chunk,
    source: RowSource,
    preparation: Preparation,
    model: AggregateModel,
    also: ForEachChunk | None = None,
) -> NDArray[np.int64]:
    """The nearest leaf of each row of a chunk of the source, _NO_LEAF for a row that is left out.

    `also` is called with the chunk as the tree takes it, and its leaves.
    """
    prepared = preparation.apply(chunk, source)
    leaves = model._leaf_of(model._directed(model._source(prepared)), also=also)
    if prepared.left_out is not None:
        leaves[prepared.left_out] = _NO_LEAF
    return leaves


def labels_of(leaves: NDArray[np.int64], labels_of_leaves: NDArray[np.int64]) -> NDArray[np.int64]:
    """The label of each row by its leaf, LEFT_OUT for a row that is left out."""
    return np.where(leaves == _NO_LEAF, LEFT_OUT, labels_of_leaves[leaves])


def leaves_digest(model: AggregateModel, preparation: Preparation) -> str:
    """The same for two models that find the same leaf for every row, whatever their cuts."""
    how, columns = preparation.to_state()
    digest = hashlib.sha256(repr(how).encode())
    for array in (model.features_.mean, *columns.values()):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()

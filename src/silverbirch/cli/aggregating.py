"""The part that `cluster` and `aggregate` share: inserts the rows of files into the tree of a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..machine import give_back_free_memory
from ..model import AggregateModel
from ..model.labelled import LeafCounter
from ..pipeline.aggregation import Aggregation
from ..pipeline.budget import stay_within
from ..pipeline.labelling import BothPasses, Labelling
from ..pipeline.preparation import Preparation
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from ..rows import RowSource, read_chunks
from ..storage.tree import parameters_of
from .console import Voice
from .options import Choosing, Parsing, Resuming
from .outputs import Outputs, input_names
from .progress import pass_progress
from .results import write_labels
from .storing import StoredWork


@dataclass(frozen=True)
class Reading:
    """Which rows are read, and how they are prepared."""

    inputs: list[str]
    choosing: Choosing = field(default_factory=Choosing)
    preparation: Preparation = field(default_factory=Preparation)
    parsing: Parsing = field(default_factory=Parsing)
    keep: tuple[str, ...] = ()

    def chosen(self) -> tuple[str, ...] | None:
        names = self.choosing.columns
        return None if names is None else tuple(name.strip() for name in names.split(","))

    def open(self) -> RowSource:
        choice = asdict(self.choosing) | {"columns": self.chosen(), "keep": self.keep}
        return read_chunks(self.inputs, **choice, **asdict(self.parsing))

    def parameters(self) -> dict[str, Any]:
        """What decides the rows, for the record; of the options for parsing those that were given."""
        given = {name: value for name, value in asdict(self.parsing).items() if value != getattr(Parsing, name)}
        kept = {"keep": list(self.keep)} if self.keep else {}
        return asdict(self.choosing) | given | kept | self.preparation.to_state()[0]


@dataclass
class Job:
    """One run over files: its input, model, outputs, record and messages."""

    reading: Reading
    model: AggregateModel
    outputs: Outputs
    record: Record
    voice: Voice
    resuming: Resuming
    _labelling: Labelling = field(init=False)
    _stored: StoredWork | None = None  # the passes over rows; the merge of features is not stored

    def aggregate(self) -> Aggregation:
        source = self.reading.open()
        self.record.input = source.fingerprint() or []
        stay_within(self.model.max_memory, source, self.model)
        aggregation = Aggregation(source, self.model, self.reading.preparation)
        self._labelling = Labelling(self.resuming.journal(), self.voice.warn)
        passes = BothPasses(aggregation, self._labelling)
        self._stored = stored = StoredWork(passes, self.resuming, self.outputs, self._identity(), self.voice)
        stored.begin(input_names(source))
        self.outputs.check_types(source)
        with self.record.phase("aggregate"):
            self._pass(aggregation, stored)
        self.model = aggregation.model
        give_back_free_memory()
        stored.store_now()  # the outputs are written from here on
        tree = self.model.tree_
        self.record.counts |= asdict(aggregation.counts) | {
            "columns": tree.features.n_dimensions,
            "features": tree.n_leaves,
            "rebuilds": tree.n_rebuilds,
            "threshold": tree.threshold,
        }
        return aggregation

    def _pass(self, aggregation: Aggregation, stored: StoredWork) -> None:
        with pass_progress(self.voice.shows_progress, aggregation.source) as progress:

            def after_chunk(now: Aggregation) -> None:
                progress.update(now.stage, now.rows, now.position, now.tree)
                stored.store()

            aggregation.run(after_chunk)

    def label(self, aggregation: Aggregation, counter: LeafCounter) -> dict[str, int]:
        """Labels the rows that were aggregated; returns their counts."""
        assert self._stored is not None
        return write_labels(
            self._labelling, aggregation.source, aggregation.preparation, self.model, self._stored, self.voice, counter
        )

    def _identity(self) -> dict[str, Any]:
        """What decides the tree; the cut and the linkage may change, and the columns beside the labels."""
        preparation = self.reading.parameters()
        for beside in ("id_column", "keep"):
            preparation.pop(beside, None)
        return {
            "input": self.record.input,
            "preparation": preparation,
            "tree": parameters_of(self.model._new_tree()),
        }

    def run_state(self, aggregation: Aggregation) -> RunState:
        names = aggregation.source.names
        return RunState(
            columns=names,
            numbers=self.reading.chosen() if names is None else None,
            id_column=self.reading.choosing.id_column,
            preparation=aggregation.preparation,
            record=self.record.result(),
        )

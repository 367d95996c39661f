"""The part that commands share: makes the tree of a model from the rows of files, or from features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from ..machine import give_back_free_memory
from ..model import AggregateModel
from ..model.labelled import LeafCounter
from ..pipeline.aggregation import Aggregation
from ..pipeline.budget import memory_for_features, stay_within
from ..pipeline.labelling import BothPasses, Labelling
from ..pipeline.merging import FeatureFiles, Merging
from ..pipeline.prepared_source import PreparedSource
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from ..pipeline.sources import abridged
from ..rows import Position
from ..storage.checkpoint import Resumable
from ..storage.tree import parameters_of
from ..tree import CFTree
from .console import Voice
from .groups import Resuming
from .outputs import Outputs, input_names
from .progress import Divided, model_progress, pass_progress
from .reading import Reading, feature_files
from .results import write_labels
from .storing import StoredWork


class Pass(Resumable, Protocol):
    """One pass over an input, in steps."""

    @property
    def source(self) -> Divided: ...

    @property
    def stage(self) -> str: ...

    @property
    def position(self) -> Position: ...

    @property
    def rows(self) -> int: ...

    @property
    def tree(self) -> CFTree | None: ...

    def run(self, after_step: Callable[[Any], Any], /) -> None:
        """Continues from the current position; calls `after_step(self)` after each step."""


def go_through(work: Pass, stored: StoredWork, voice: Voice) -> None:
    """Runs the pass to its end, with progress, and stores it from time to time."""
    with pass_progress(voice.shows_progress, work.source) as progress:

        def after_step(now: Any) -> None:
            progress.update(now.stage, now.rows, now.position, now.tree)
            stored.store()

        work.run(after_step)
    stored.store_now()  # the outputs are written from here on


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
    _stored: StoredWork | None = None  # both passes over rows

    def aggregate(self) -> Aggregation:
        source = self.reading.open()
        self.record.input = self.reading.fingerprint(source)
        self.model._check_can_refine(source)
        stay_within(self.model.max_memory, source, self.model)
        aggregation = Aggregation(source, self.model, self.reading.preparation)
        self._labelling = Labelling(self.resuming.journal(), self.voice.warn)
        passes = BothPasses(aggregation, self._labelling)
        self._stored = stored = StoredWork(passes, self.resuming, self.outputs, self._identity(), self.voice)
        stored.begin(input_names(source), self.reading.also_read)
        self.outputs.check_kept(source)
        with self.record.phase("aggregate"):
            go_through(aggregation, stored, self.voice)
        self.model = aggregation.model
        if self.model.refine:
            with self.record.phase("refine"), model_progress(self.voice.shows_progress, self.model):
                self.model._refine(PreparedSource(source, aggregation.preparation))
        give_back_free_memory()
        tree = self.model.tree_
        weight = {} if source.weight_column is None else {"weight": tree.n_points}
        self.record.counts |= (
            asdict(aggregation.counts)
            | weight
            | {
                "columns": self.model.n_features_in_,
                "features": len(self.model.features_),
                "rebuilds": tree.n_rebuilds,
                "threshold": tree.threshold,
            }
        )
        return aggregation

    def merge(self) -> RunState:
        """Merges files of features; returns what they share."""
        files = FeatureFiles(feature_files(self.reading.inputs), allow_overlap=self.reading.allow_overlap)
        self.record.input = files.fingerprint
        limit = memory_for_features(self.model.max_memory, files.paths)
        self.model.set_params(metric=files.state.preparation.metric, max_memory=limit)
        merging = Merging(files, self.model)
        identity = {"input": abridged(self.record.input)} | self._tree()
        stored = StoredWork(merging, self.resuming, self.outputs, identity, self.voice)
        stored.begin(files.paths)
        with self.record.phase("merge"):
            go_through(merging, stored, self.voice)
        self.model = merging.model
        self.record.counts |= {"rows": self.model.tree_.n_points, "features": self.model.tree_.n_leaves}
        return files.state

    def label(self, aggregation: Aggregation, counter: LeafCounter) -> dict[str, int]:
        """Labels the rows that were aggregated; returns their counts."""
        assert self._stored is not None
        return write_labels(
            self._labelling, aggregation.source, aggregation.preparation, self.model, self._stored, self.voice, counter
        )

    def _identity(self) -> dict[str, Any]:
        return {"input": abridged(self.record.input), "preparation": self.reading.identity()} | self._tree()

    def _tree(self) -> dict[str, Any]:
        """What decides the tree, apart from the rows; the cut and the linkage may change."""
        more = {"projection": self.model.projection, "refine": self.model.refine}
        return {"tree": parameters_of(self.model._new_tree()) | more}

    def run_state(self, aggregation: Aggregation) -> RunState:
        choosing = self.reading.choosing
        return RunState(
            columns=aggregation.source.names,
            numbers=aggregation.source.numbers,
            id_column=choosing.id_column,
            weight_column=choosing.weight_column,
            times=choosing.times,
            preparation=aggregation.preparation,
            record=self.record.result(),
            made_of=tuple(self.record.input),
        )

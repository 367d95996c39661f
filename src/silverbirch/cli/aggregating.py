"""The part that `cluster` and `aggregate` share: inserts the rows of files into the tree of a model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..model import AggregateModel
from ..pipeline.aggregation import Aggregation
from ..pipeline.labels import check_labels
from ..pipeline.preparation import Preparation
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from ..plot import check_drawing
from ..rows import RowSource, read_chunks
from ..storage.atomic import check_free, remove_leftovers
from ..storage.checkpoint import Checkpoint
from ..storage.locks import one_run_only
from ..storage.tree import parameters_of
from .console import Voice
from .options import Choosing, Parsing, Resuming
from .progress import pass_progress


@dataclass(frozen=True)
class Reading:
    """Which rows are read, and how they are prepared."""

    inputs: list[str]
    choosing: Choosing = field(default_factory=Choosing)
    preparation: Preparation = field(default_factory=Preparation)
    parsing: Parsing = field(default_factory=Parsing)

    def open(self) -> RowSource:
        return read_chunks(self.inputs, **asdict(self.choosing), **asdict(self.parsing))

    def parameters(self) -> dict[str, Any]:
        """What decides the rows, for the record; of the options for parsing those that were given."""
        given = {name: value for name, value in asdict(self.parsing).items() if value != getattr(Parsing, name)}
        return asdict(self.choosing) | given | self.preparation.to_state()[0]


@dataclass(frozen=True)
class Outputs:
    """The files to write, by purpose; None for files that are not requested.

    Raises ValueError if a name does not fit what the file is to hold.
    """

    paths: dict[str, Path | None]
    force: bool
    id_column: str | None = None

    def __post_init__(self) -> None:
        if (labels := self.paths.get("labels")) is not None:
            check_labels(labels, self.id_column)
        if (page := self.paths.get("report")) is not None and page.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"cannot write a report to {page}: a report is HTML, so the name must end in .html")

    def wanted(self) -> dict[str, str]:
        return {name: str(path) for name, path in self.paths.items() if path is not None}

    def check(self, read: Iterable[str], *, own: Sequence[str] = (), checkpoint: Path | None = None) -> None:
        """Checks all outputs before any work.

        No file may be both read and written, or written for two purposes, not even with --force. A resumed run may
        overwrite `own`, the outputs of its first part.
        """
        purposes = {os.path.realpath(path): "an input" for path in read}
        written = self.wanted()
        if checkpoint is not None:
            check_free(checkpoint, force=True)
            written["checkpoint"] = str(checkpoint)
        for name, path in written.items():
            if (before := purposes.setdefault(os.path.realpath(path), f"the {name}")) != f"the {name}":
                raise ValueError(f"{path} is {before} and would also be the {name}: give each file its own name")
        for path in self.wanted().values():
            check_free(path, self.force or path in own)
        if self.paths.get("report") is not None:
            check_drawing()


@dataclass
class Job:
    """One run over files: its input, model, outputs, record and messages."""

    reading: Reading
    model: AggregateModel
    outputs: Outputs
    record: Record
    voice: Voice
    resuming: Resuming

    @contextmanager
    def resumable(self) -> Iterator[None]:
        """Refuses a second run on the same checkpoint; removes the checkpoint when all outputs are written."""
        path = self.resuming.checkpoint
        if path is None:
            yield
            return
        check_free(path, force=True)
        with one_run_only(path):
            yield
            path.unlink(missing_ok=True)

    def aggregate(self) -> Aggregation:
        source = self.reading.open()
        self.record.input = source.fingerprint() or []
        aggregation = Aggregation(source, self.model, self.reading.preparation)
        checkpoint = self._checkpoint()
        own = [] if checkpoint is None else checkpoint.resume(aggregation)
        self.outputs.check((file["name"] for file in self.record.input), own=own, checkpoint=self.resuming.checkpoint)
        if checkpoint is not None:  # left by a killed run
            for path in (str(checkpoint.path), *checkpoint.outputs):
                remove_leftovers(path)
        if aggregation.rows:
            self.voice.say(f"resuming after {aggregation.progress}, from {self.resuming.checkpoint}")
        with self.record.phase("aggregate"):
            self._pass(aggregation, checkpoint)
        self.model = aggregation.model
        if checkpoint is not None:  # the outputs are written from here on
            checkpoint.write(aggregation)
        tree = self.model.tree_
        if source.weight_column is not None:
            self.record.counts["weight"] = tree.n_points
        self.record.counts |= asdict(aggregation.counts) | {
            "columns": tree.features.n_dimensions,
            "features": tree.n_leaves,
            "rebuilds": tree.n_rebuilds,
            "threshold": tree.threshold,
        }
        return aggregation

    def _pass(self, aggregation: Aggregation, checkpoint: Checkpoint | None) -> None:
        with pass_progress(self.voice.shows_progress, aggregation.source) as progress:

            def after_chunk(now: Aggregation) -> None:
                progress.update(now.stage, now.rows, now.position, now.tree)
                if checkpoint is not None:
                    checkpoint(now)

            aggregation.run(after_chunk)

    def _checkpoint(self) -> Checkpoint | None:
        """The checkpoint. Its identity holds what decides the tree; the cut and the linkage may change."""
        if self.resuming.checkpoint is None:
            return None
        identity = {
            "input": self.record.input,
            "preparation": {name: value for name, value in self.reading.parameters().items() if name != "id_column"},
            "tree": parameters_of(self.model._new_tree()),
        }
        outputs = list(self.outputs.wanted().values())
        return Checkpoint(
            self.resuming.checkpoint, self.resuming.checkpoint_every, identity, outputs, warn=self.voice.warn
        )

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
        )

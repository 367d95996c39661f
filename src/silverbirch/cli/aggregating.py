"""The part that commands share: what they read, what they write, and how a pass is resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from ..model import AggregateModel
from ..pipeline.aggregation import Aggregation
from ..pipeline.labels import check_labels
from ..pipeline.merging import FeatureFiles, Merging
from ..pipeline.preparation import Preparation
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from ..pipeline.shared_preparation import SharedPreparation
from ..pipeline.sources import content_of, with_contents
from ..plot import check_drawing
from ..rows import Position, RowSource, read_chunks
from ..rows.paths import files_with, is_folder_with
from ..storage.atomic import check_free, remove_leftovers
from ..storage.checkpoint import Checkpoint, Resumable
from ..storage.locks import one_run_only
from ..storage.tree import parameters_of
from ..tree import CFTree
from .console import Voice, usage
from .options import Choosing, Parsing, Preparing, Resuming
from .progress import Divided, pass_progress

FEATURES = ".sb"  # the end of the names of features and preparations, where an input may also be rows


def is_features(name: str) -> bool:
    """Whether an input is a file, a pattern or a folder of files of this package, not of rows."""
    return name.endswith(FEATURES) or is_folder_with(FEATURES, name)


@dataclass(frozen=True)
class Reading:
    """Which rows are read, and how they are prepared.

    shared : the file that decides the columns and their preparation; None if the options do
    """

    inputs: list[str]
    choosing: Choosing = field(default_factory=Choosing)
    preparing: Preparing = field(default_factory=Preparing)
    parsing: Parsing = field(default_factory=Parsing)
    allow_overlap: bool = False
    shared: SharedFile | None = None

    @classmethod
    def of(
        cls,
        inputs: list[str],
        choosing: Choosing,
        parsing: Parsing,
        preparing: Preparing,
        prepare: Path | None,
        allow_overlap: bool,
    ) -> Reading:
        reading = cls(inputs, choosing, preparing, parsing, allow_overlap)
        if prepare is None:
            return reading
        shared = SharedFile.read(prepare)
        with usage():
            shared.check(reading.chosen(), preparing)
        return replace(reading, shared=shared)

    @property
    def preparation(self) -> Preparation:
        return Preparation(**self.preparing.given()) if self.shared is None else self.shared.preparation

    @property
    def is_plain(self) -> bool:
        """Whether no option says which columns are read, or how they are prepared."""
        return self.shared is None and replace(self, allow_overlap=False) == Reading(self.inputs)

    def chosen(self) -> tuple[str, ...] | None:
        if self.shared is not None:
            return self.shared.content.state.to_read
        names = self.choosing.columns
        return None if names is None else tuple(name.strip() for name in names.split(","))

    def open(self) -> RowSource:
        chosen = asdict(self.choosing) | {"columns": self.chosen()}
        source = read_chunks(self.inputs, **chosen, **asdict(self.parsing))
        if self.shared is not None:
            self.shared.check_names(source)
        return source

    def parameters(self) -> dict[str, Any]:
        """What decides the rows, for the record; of the options for parsing those that were given."""
        given = {name: value for name, value in asdict(self.parsing).items() if value != getattr(Parsing, name)}
        shared = {} if self.shared is None else {"prepare": self.shared.path}
        return asdict(self.choosing) | given | self.preparation.to_state()[0] | shared

    def identity(self) -> dict[str, Any]:
        """What decides the prepared rows, apart from the input."""
        known = {name: value for name, value in self.parameters().items() if name != "id_column"}
        return known if self.shared is None else known | {"prepare": content_of(self.shared.path)}


@dataclass(frozen=True)
class SharedFile:
    """The file of --prepare."""

    path: str
    content: SharedPreparation
    preparation: Preparation

    @classmethod
    def read(cls, path: Path) -> SharedFile:
        content = SharedPreparation.read(path)
        return cls(str(path), content, content.completed())

    def check(self, columns: tuple[str, ...] | None, preparing: Preparing) -> None:
        """Raises ValueError if an option contradicts the file."""
        state = self.content.state
        how = asdict(state.preparation)
        if columns is not None and columns != state.to_read:
            raise ValueError(f"--columns is not as in {self.path}: leave it out, or prepare those columns")
        for name, value in preparing.given().items():
            if value != how[name]:
                raise ValueError(
                    f"--{name} {value} but {self.path} has --{name} {how[name]}: leave it out, or give it to "
                    "`silverbirch prepare`"
                )

    def check_names(self, source: RowSource) -> None:
        """Raises ValueError if the file or the rows have names of columns, but not both."""
        known = self.content.state.columns
        if (source.names is None) != (known is None) or source.n_dimensions != self.content.statistics.n_columns:
            there = f"{source.n_dimensions} columns with{'out' if source.names is None else ''} names"
            here = f"{self.content.statistics.n_columns} columns with{'out' if known is None else ''} names"
            raise ValueError(f"the input has {there} but {self.path} is for {here}: prepare the same columns")


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


@dataclass
class Run:
    """What every run has: outputs, record, messages and a checkpoint."""

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

    def go_through(self, work: Pass, phase: str, identity: dict[str, Any], also_read: Iterable[str] = ()) -> None:
        """Runs a pass over the input of the record, or resumes it. The identity holds what decides its result."""
        checkpoint = self._checkpoint({"input": self.record.input} | identity)
        own = [] if checkpoint is None else checkpoint.resume(work)
        read = [*(file["name"] for file in self.record.input), *also_read]
        self.outputs.check(read, own=own, checkpoint=self.resuming.checkpoint)
        if checkpoint is not None:  # left by a killed run
            for path in (str(checkpoint.path), *checkpoint.outputs):
                remove_leftovers(path)
        if work.rows:
            self.voice.say(f"resuming after {work.progress}, from {self.resuming.checkpoint}")
        with self.record.phase(phase), pass_progress(self.voice.shows_progress, work.source) as progress:

            def after_step(now: Any) -> None:
                progress.update(now.stage, now.rows, now.position, now.tree)
                if checkpoint is not None:
                    checkpoint(now)

            work.run(after_step)
        if checkpoint is not None:  # the outputs are written from here on
            checkpoint.write(work)

    def _checkpoint(self, identity: dict[str, Any]) -> Checkpoint | None:
        if self.resuming.checkpoint is None:
            return None
        outputs = list(self.outputs.wanted().values())
        return Checkpoint(
            self.resuming.checkpoint, self.resuming.checkpoint_every, identity, outputs, warn=self.voice.warn
        )


@dataclass
class Job(Run):
    """A run that makes a tree: of rows, or of features."""

    reading: Reading
    model: AggregateModel

    def aggregate(self) -> Aggregation:
        source = self.reading.open()
        self.record.input = with_contents(source.fingerprint() or [], allow_overlap=self.reading.allow_overlap)
        aggregation = Aggregation(source, self.model, self.reading.preparation)
        shared = [] if self.reading.shared is None else [self.reading.shared.path]
        self.go_through(aggregation, "aggregate", {"preparation": self.reading.identity()} | self._tree(), shared)
        self.model = aggregation.model
        tree = self.model.tree_
        self.record.counts |= asdict(aggregation.counts) | {
            "columns": tree.features.n_dimensions,
            "features": tree.n_leaves,
            "rebuilds": tree.n_rebuilds,
            "threshold": tree.threshold,
        }
        return aggregation

    def merge(self) -> RunState:
        """Merges files of features; returns what they share."""
        paths = [str(path) for path in files_with(FEATURES, self.reading.inputs)]
        files = FeatureFiles(paths, allow_overlap=self.reading.allow_overlap)
        self.record.input = files.fingerprint
        self.model.set_params(metric=files.state.preparation.metric)
        merging = Merging(files, self.model)
        self.go_through(merging, "merge", self._tree())
        self.model = merging.model
        self.record.counts |= {"rows": self.model.tree_.n_points, "features": self.model.tree_.n_leaves}
        return files.state

    def _tree(self) -> dict[str, Any]:
        """The identity of the tree; the cut and the linkage may change."""
        return {"tree": parameters_of(self.model._new_tree())}

    def run_state(self, aggregation: Aggregation) -> RunState:
        names = aggregation.source.names
        return RunState(
            columns=names,
            numbers=self.reading.chosen() if names is None else None,
            id_column=self.reading.choosing.id_column,
            preparation=aggregation.preparation,
            record=self.record.result(),
            made_of=tuple(self.record.input),
        )

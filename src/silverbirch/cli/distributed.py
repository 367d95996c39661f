"""`silverbirch cluster --dask` and `--spark`: the workers of an engine do the job, a file at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..engines.files import WriteLabels, on_files
from ..engines.job import Run, fitted, labelled_leaves
from ..engines.partial import Partial
from ..engines.work import Reading, packed_model
from ..pipeline.aggregation import Counts
from ..pipeline.labelling import NOISE
from ..pipeline.labels import LabelFolder
from ..pipeline.provenance import RunState
from ..remote import is_remote
from ..rows import RowSource
from ..storage.atomic import remove_leftovers
from . import groups
from .aggregating import Job
from .outputs import input_names
from .reading import is_features

_SCHEDULER = re.compile(r"local|inproc://.+|(\w+://)?[^/]+:\d+/?")


def check_options(
    machines: groups.Machines,
    inputs: Sequence[str],
    labelling: groups.Labelling,
    aggregating: groups.Aggregating,
    resuming: groups.Resuming,
) -> None:
    """Raises ValueError before anything is read, if the options are not for many machines."""
    option = f"--{machines.engine[0]}"
    if "-" in inputs:
        raise ValueError(f"{option} divides files among workers, and the standard input is none: name files")
    if any(map(is_features, inputs)):
        raise ValueError(f"{option} is for rows: features are merged here, leave it out")
    if machines.dask is not None and not _SCHEDULER.fullmatch(machines.dask):
        raise ValueError(f"--dask {machines.dask}: it must be local, or an address such as tcp://host:8786")
    if resuming.checkpoint is not None:
        raise ValueError(f"{option} repeats the work of a lost worker itself: leave --checkpoint out")
    if aggregating.max_memory is not None:
        raise ValueError(f"--max-memory is for this process: limit the workers where {option[2:].title()} is set up")
    if labelling.labels is not None and not isinstance(labelling.target(inputs), LabelFolder):
        raise ValueError(
            f"{option} writes a label file for each input file: name a folder, whose name ends in /, by --labels"
        )


@dataclass(frozen=True)
class Distributed:
    """A job over the files of a source, each of them a partition."""

    job: Job
    source: RowSource
    run: Run

    @classmethod
    @contextmanager
    def over_files(cls, job: Job, engine: str, address: str) -> Iterator[Distributed]:
        source = job.reading.open()
        job.record.input = job.reading.fingerprint(source)
        files = input_names(source)
        job.outputs.check(files, job.reading.also_read)
        job.outputs.check_kept(source)
        _refuse_files_of_several_kinds(source)
        shown = job.voice.shows_progress
        with on_files(engine, address, list(map(_from_anywhere, files)), shows_progress=shown) as run:
            yield cls(job, source, run)

    def aggregate(self) -> tuple[RunState, Counts]:
        job, source = self.job, self.source
        preparation = job.reading.preparation.from_metadata(source)
        with job.record.phase("aggregate"):
            state, counts = fitted(job.model, self._reading(RunState(None, preparation=preparation)), self.run)
            source.refuse_changes()  # a worker sees those within its own pass only
        weight = {} if source.weight_column is None else {"weight": job.model.tree_.n_points}
        columns = {"columns": job.model.n_features_in_, "features": len(job.model.features_)}
        job.record.counts |= asdict(counts) | weight | columns
        state = replace(
            state,
            numbers=source.numbers,
            id_column=job.reading.choosing.id_column,
            weight_column=job.reading.choosing.weight_column,
            times=job.reading.choosing.times,
            made_of=tuple(job.record.input),
        )
        return state, counts

    def label(self, state: RunState, counted: Counts) -> dict[str, int]:
        """Writes a label for every row; returns how many have one. `counted` is what the first pass counted."""
        target, model = self.job.outputs.labels, self.job.model
        assert target is not None
        paths = tuple(_from_anywhere(str(path)) for path in target.paths(input_names(self.source)))
        kept = self.source.kept
        first = next(self.source.chunks(with_ids=True)).kept if kept else None
        no_rows = None if first is None else first.slice(0, 0)
        work = WriteLabels(self._reading(state, labels=True), packed_model(model, state), paths, kept, no_rows)
        self.source.refuse_changes()
        try:
            whole = Partial.from_bytes(self.run(work))
        finally:
            remove_leftovers(paths)  # of workers that were killed
        self.source.refuse_changes()
        leaves = labelled_leaves(model, whole, counted)
        model._set_labelled(leaves)
        counts = {"labelled": whole.counts.rows - whole.counts.dropped, "unlabelled": whole.counts.dropped}
        noise = model.subcluster_labels_ == NOISE
        return counts | {"noise": int(np.sum(leaves.rows[noise]))} if noise.any() else counts

    def _reading(self, state: RunState, *, labels: bool = False) -> Reading:
        """How a worker reads its file: the columns that all files together have."""
        reading, source = self.job.reading, self.source
        chosen: dict[str, Any] = asdict(reading.choosing) | asdict(reading.parsing)
        chosen |= {"columns": source.names or source.numbers, "numeric_only": False}
        chosen |= {"keep": reading.keep} if labels else {"id_column": None}
        return Reading(chosen, state.preparation)


def _from_anywhere(path: str) -> str:
    """A path that means the same to a worker, whatever its working folder."""
    return path if is_remote(path) else os.path.abspath(path)


def _refuse_files_of_several_kinds(source: RowSource) -> None:
    """Raises ValueError if a worker that sees one file would read a kept column as another type than all files have."""
    if several := sorted(source.of_several_types):
        raise ValueError(
            f"column {several[0]!r} does not have the same type in all files: give it one type, or run it without "
            "--dask or --spark"
        )

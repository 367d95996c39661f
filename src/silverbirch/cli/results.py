"""Writes the results of a run: labels, model, report, record."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from ..model import AggregateModel
from ..model.labelled import LeafCounter
from ..pipeline.labelling import Labelling
from ..pipeline.model_file import model_content
from ..pipeline.preparation import Preparation
from ..pipeline.prepared_source import PreparedSource
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from ..remote import Place, place
from ..rows import Position, RowSource, read_chunks
from ..storage import container
from ..storage.atomic import new_file
from . import groups
from .console import Voice
from .outputs import input_names
from .progress import pass_progress
from .storing import StoredWork


def write_labels(
    labelling: Labelling,
    source: RowSource,
    preparation: Preparation,
    model: AggregateModel,
    stored: StoredWork,
    voice: Voice,
    counter: LeafCounter | None = None,
) -> dict[str, int]:
    """Labels the rows in a second pass; returns the counts of `Labelling.run`.

    `stored` holds the pass after each chunk. `counter` sums up the rows of each leaf.
    """
    target = stored.outputs.labels
    assert target is not None
    with (
        target.opened(input_names(source), source.kept) as writer,
        pass_progress(voice.shows_progress, source) as progress,
    ):

        def after_chunk(rows: int, position: Position) -> None:
            progress.update("labels", rows, position)
            stored.store()

        return labelling.run(source, preparation, model, writer, after_chunk=after_chunk, counter=counter)


def write_model(path: Place, model: AggregateModel, state: RunState) -> None:
    container.write(path, *model_content(model, state))


@dataclass(frozen=True)
class RowsToShow:
    """The files of the rows, and the columns of them that a report shows."""

    inputs: list[str]
    columns: list[str]
    parsing: groups.Parsing

    def __post_init__(self) -> None:
        if "-" in self.inputs:
            raise ValueError("--rows reads the rows twice, but the standard input can be read only once: give files")

    def prepared(self, state: RunState) -> RowSource:
        """The rows as the model takes them."""
        chosen: dict[str, Any] = {"columns": state.to_read, "times": state.times, "keep": self.columns or None}
        return PreparedSource(read_chunks(self.inputs, **chosen, **asdict(self.parsing)), state.preparation)


def write_page(
    path: Place, model: AggregateModel, state: RunState, record: dict[str, object], shown: RowsToShow | None = None
) -> None:
    from ..report import write_report

    how, projected = state.preparation, model._projection is not None  # columns that are mixtures have no names
    rows = None if shown is None else shown.prepared(state)
    write_report(
        path,
        model,
        title=_title(state),
        record=record,
        column_names=None if projected else state.columns,
        inverse_transform=how.undo if how.can_be_undone and not projected else None,
        rows=rows,
        show=None if rows is None or not rows.kept else list(rows.kept),
        force=True,
    )


def _title(state: RunState) -> str:
    files = state.record.get("input", [])
    if not files:
        return "silverbirch report"
    more = sum(int(file.get("files", 1)) for file in files) - 1  # an entry may stand for many files
    return place(str(files[0].get("name"))).name + (f" and {more:,} more files" if more else "")


def write_record(path: Place, record: Record) -> None:
    with new_file(path, force=True) as file:
        file.write((json.dumps(record.measured(), indent=2) + "\n").encode())

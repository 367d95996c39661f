"""Writing what a run gives: labels, model, page, record."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .. import files
from ..model import AggregateModel
from ..pipeline.labelling import label_rows
from ..pipeline.record import Record
from ..pipeline.run_state import RunState
from ..readers import Position, RowSource
from ..writers import label_writer, new_file
from .console import Voice
from .progress import pass_progress


def write_labels(path: Path, source: RowSource, state: RunState, model: AggregateModel, voice: Voice) -> int:
    """A second pass over the rows; returns their number."""
    with_ids = state.id_column is not None
    with (
        label_writer(path, id_name=state.id_column, force=True) as writer,
        pass_progress(voice.shows_progress, source) as progress,
    ):

        def after_chunk(rows: int, position: Position) -> None:
            progress.update("labels", rows, position)

        return label_rows(source, state.preparation, model, writer, with_ids=with_ids, after_chunk=after_chunk)


def write_model(path: Path, model: AggregateModel, state: RunState) -> None:
    if state.columns is not None:
        model.feature_names_in_ = np.array(state.columns, dtype=object)
    files.write(path, "model", *state.added_to(*model._to_file()))


def write_page(path: Path, model: AggregateModel, state: RunState, record: dict[str, object]) -> None:
    from ..report import write_report

    write_report(path, model, record=record, column_names=state.columns, force=True)


def write_record(path: Path, record: Record) -> None:
    with new_file(path, force=True) as file:
        file.write((json.dumps(record.measured(), indent=2) + "\n").encode())

"""`silverbirch cut`, `silverbirch report` and `silverbirch info`: the commands for model files."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from ..dendrogram.suggestion import Suggestion
from ..model import AggregateModel
from ..pipeline.budget import stay_within_to_label
from ..pipeline.labelling import Labelling, leaves_digest
from ..pipeline.labels import LabelTarget
from ..pipeline.model_file import read_model
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from ..pipeline.sources import abridged
from ..remote import Place, same_place
from ..rows import RowSource, read_chunks
from . import groups, options
from .console import Voice, usage
from .cutting import CUTS, Cutting
from .facts import file_facts
from .outputs import Outputs, columns_beside, input_names
from .results import RowsToShow, write_labels, write_model, write_page, write_record
from .storing import StoredWork, resumable
from .summary import add_cut, listed, say_clusters, say_suggestion

ModelFile = Annotated[
    Place,
    typer.Argument(metavar="MODEL", parser=options.as_place, help="A file that `silverbirch cluster --model` wrote."),
]
Rows = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT", help="The rows to label. Without them, --labels has a label for each feature of the model."
    ),
]


def cut(
    model: ModelFile,
    cutting: Cutting,
    parsing: groups.Parsing,
    labelling: groups.Labelling,
    resuming: groups.Resuming,
    talking: groups.Talking,
    inputs: Rows = None,
    id_column: options.IdColumn = None,
    no_ids: Annotated[
        bool, typer.Option("--no-ids", rich_help_panel=options.INPUT, help="Do not read the id column of the model.")
    ] = False,
    new_model: Annotated[
        Place | None,
        typer.Option(
            "--model",
            metavar="FILE",
            parser=options.as_place,
            rich_help_panel=options.OUTPUT,
            help="Write the model with the new cut.",
        ),
    ] = None,
    page: options.Page = None,
    record: options.RecordFile = None,
    force: options.Force = False,
    max_memory: options.MaxMemoryToLabel = None,
    jobs: options.Jobs = 1,
) -> None:
    """Cut the dendrogram of a model at another level and label rows. Nothing is clustered again.

    The columns of the model and its id column are read, and the rows are prepared as the rows of the model were. New
    rows can be labelled too.

    Examples:

      silverbirch cut run.sb -k 20 rows.parquet --labels coarse.parquet

      silverbirch cut run.sb --height 3.5 --labels leaves.csv    # of features
    """
    with usage():
        cutting.check(labelling.labels)
        labelling.check(talking.as_json)
        if not cutting.is_given:
            raise ValueError(f"no cut is given: give {CUTS}")
        if no_ids and id_column is not None:
            raise ValueError("--no-ids and --id-column contradict each other: give only one of them")
        _check_rows(bool(inputs), parsing, labelling)
        paths = {"model": new_model, "report": page, "record": record}
        outputs = Outputs(paths, force, labelling.target(inputs or []), columns_beside(id_column, labelling.kept))
    voice = Voice(talking, to_stderr=labelling.to_stdout)
    estimator, state = read_model(model)
    id_column = None if no_ids else id_column or state.id_column
    source = _rows_for(state, inputs, id_column, parsing, labelling.kept) if inputs else None
    if source is not None:
        stay_within_to_label(max_memory, source, estimator)
    whole = Record("cut", cutting.parameters(), [{"name": str(model)}, *({"name": name} for name in inputs or [])])
    with resumable(resuming):
        labels = Labelling(resuming.journal(), voice.warn)
        stored = StoredWork(labels, resuming, outputs, _identity(source, parsing, estimator, state), voice)
        # --model may name the model file itself, which has been read already.
        overwritten = new_model is not None and _same_file(new_model, model)
        stored.begin(input_names(source), [] if overwritten else [str(model)])
        if source is not None:
            outputs.check_kept(source)
        _cut(estimator.set_params(n_jobs=jobs), cutting, whole, voice)
        whole.outputs = outputs.wanted()
        if new_model is not None:
            write_model(new_model, estimator, state)
        if page is not None:
            write_page(page, estimator, state, state.record)
        if outputs.labels is not None:
            with whole.phase("label"):
                if source is None:
                    _label_features(outputs.labels, estimator)
                else:
                    whole.counts |= write_labels(labels, source, state.preparation, estimator, stored, voice)
        if record is not None:
            write_record(record, whole)
    say_clusters(voice, whole, state, estimator)


def report(
    model: ModelFile,
    out: options.Out,
    cutting: Cutting,
    parsing: groups.Parsing,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            metavar="INPUT",
            rich_help_panel=options.INPUT,
            help="The rows of the model, to show some of each branch. Can be given several times.",
        ),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,…",
            rich_help_panel=options.INPUT,
            help="Columns of --rows to show, of any type: texts, images, ids. Can be given several times.",
        ),
    ] = None,
    record: Annotated[
        Place | None,
        typer.Option(
            metavar="FILE",
            parser=options.as_place,
            rich_help_panel=options.INPUT,
            help="The file of `cluster --record`; adds times and memory to the report.",
        ),
    ] = None,
    force: options.Force = False,
) -> None:
    """Write a report as one interactive HTML file: the whole dendrogram, the clusters of any cut, how they were made.

    Examples:

      silverbirch report run.sb -o run.html

      silverbirch report run.sb --rows rows.parquet --show title -o run.html
    """
    with usage():
        cutting.check(None)
        outputs = Outputs({"report": out}, force)
        if (show or parsing.given) and not rows:
            raise ValueError("--show and the options that say how to read files are about rows: add --rows")
        shown = RowsToShow(rows, show or [], parsing) if rows else None
    outputs.check(rows or [], [str(model)] if record is None else [str(model), str(record)])
    estimator, state = read_model(model)
    if cutting.is_given:
        _require_number(cutting.apply(estimator))
    write_page(out, estimator, state, state.record if record is None else _read_record(record), shown)


def info(
    file: Annotated[
        Place,
        typer.Argument(
            metavar="FILE",
            parser=options.as_place,
            help="A file of a model, features, a tree, a dendrogram, a preparation or a checkpoint.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Print what a file holds.

    Example: silverbirch info run.sb
    """
    voice = Voice(groups.Talking(as_json=as_json))
    facts = file_facts(file)
    voice.table([(name, "not cut" if value is None else _text(value)) for name, value in facts.items()])
    voice.give(facts)


def _require_number(suggestion: Suggestion | None) -> None:
    if suggestion is not None and suggestion.n_clusters is None:
        raise ValueError(f"there is no clear number of clusters: {suggestion.reason}; give -k or --height")


def _check_rows(are_given: bool, parsing: groups.Parsing, labelling: groups.Labelling) -> None:
    """Raises ValueError for rows without labels, and for options about rows without rows."""
    if are_given and labelling.labels is None:
        raise ValueError("rows are given but no file for their labels: add --labels")
    if labelling.keep and not are_given:
        raise ValueError("--keep names columns of rows, but no rows are given: name their files after the model")
    if parsing.given and not are_given:
        raise ValueError("no rows are given, but options that say how to read them: name files of rows")


def _rows_for(
    state: RunState, inputs: list[str], id_column: str | None, parsing: groups.Parsing, kept: tuple[str, ...]
) -> RowSource:
    """The rows, with the columns that the model is of."""
    chosen: dict[str, Any] = {"columns": state.to_read, "id_column": id_column, "times": state.times, "keep": kept}
    return read_chunks(inputs, **chosen, **asdict(parsing))


def _cut(model: AggregateModel, cutting: Cutting, record: Record, voice: Voice) -> None:
    with record.phase("cut"):
        suggestion = cutting.apply(model)
    say_suggestion(voice, suggestion)
    _require_number(suggestion)
    record.counts |= {"rows": model.tree_.n_points, "features": len(model.features_)}
    add_cut(record, model, suggestion)


def _label_features(target: LabelTarget, model: AggregateModel) -> None:
    with target.opened((), ()) as writer:
        writer.write(model.subcluster_labels_)


def _identity(
    source: RowSource | None, parsing: groups.Parsing, model: AggregateModel, state: RunState
) -> dict[str, Any]:
    """What decides the leaf of each row; the cut may change, and the columns beside the labels."""
    read = [] if source is None else source.fingerprint() or []
    columns = None if state.to_read is None else list(state.to_read)
    rows = parsing.given | {"columns": columns, "times": state.times}
    return {"input": abridged(read), "rows": rows, "model": leaves_digest(model, state.preparation)}


def _same_file(path: Place, other: Place) -> bool:
    return same_place(path) == same_place(other)


def _read_record(path: Place) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not a record of a run: {error}") from None
    if not isinstance(record, dict):
        raise ValueError(f"{path} is not a record of a run: give the file that `cluster --record` wrote")
    return record


def _text(value: Any) -> str:
    if isinstance(value, float | int) and not isinstance(value, bool):
        return f"{value:,.12g}"
    return listed(list(map(_text, value))) if isinstance(value, list) else str(value)

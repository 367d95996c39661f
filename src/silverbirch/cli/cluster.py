"""`silverbirch cluster`: clusters files, or features from many machines; writes labels, a model and a report."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace

from ..model import AggregateModel
from ..model.labelled import LeafCounter
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from . import groups, options
from .aggregating import Job
from .console import Voice, usage
from .cutting import Cutting
from .distributed import Distributed, check_options
from .grouping import words_of
from .outputs import Outputs, columns_beside
from .progress import model_progress
from .reading import Reading, is_features
from .results import write_model, write_page, write_record
from .storing import resumable
from .summary import add_cut, say_clusters, say_suggestion, say_uncut

_MOST_INPUTS = 3  # that a line on how to cut names


def cluster(
    inputs: options.Inputs,
    cutting: Cutting,
    choosing: groups.Choosing,
    parsing: groups.Parsing,
    preparing: groups.Preparing,
    aggregating: groups.Aggregating,
    linking: groups.Linking,
    labelling: groups.Labelling,
    resuming: groups.Resuming,
    talking: groups.Talking,
    machines: groups.Machines,
    prepare: options.Prepare = None,
    allow_overlap: options.AllowOverlap = False,
    model: options.Model = None,
    page: options.Page = None,
    record: options.RecordFile = None,
    force: options.Force = False,
    jobs: options.Jobs = 1,
    projection: options.Projection = None,
) -> None:
    """Cluster the rows of files; write a label for every row, a model file and a report.

    A first pass aggregates the rows into at most --max-leaves cluster features. Their exact dendrogram is computed and
    cut. A second pass gives every row the label of its exactly nearest feature. Memory does not grow with the number of
    rows. Without a cut (-k, --height, …), the command shows what cuts would give; `cut` makes them later.

    Examples:

      silverbirch cluster rows.parquet -k 500 --labels labels.parquet

      silverbirch cluster day-*.csv -k 20 --scale standard --labels labels.csv

      grep -v test rows.csv | silverbirch cluster - --format csv -k 20 --model run.sb

      silverbirch cluster all.sb -k 500 --model run.sb    # features of `merge`

      silverbirch cluster s3://bucket/rows/ --dask tcp://host:8786 -k 500 --labels s3://bucket/labels/
    """
    with usage():
        cutting.check(labelling.labels)
        labelling.check(talking.as_json)
        if machines.are_given:
            check_options(machines, inputs, labelling, aggregating, resuming)
        paths = {"model": model, "report": page, "record": record}
        kept = columns_beside(choosing.id_column, labelling.kept)
        outputs = Outputs(paths, force, labelling.target(inputs), kept)
    reading = Reading.of(inputs, choosing, parsing, preparing, prepare, allow_overlap, labelling.kept)
    with usage():
        if cutting.clusters is not None and cutting.clusters > aggregating.max_leaves:
            raise ValueError(f"-k {cutting.clusters} but at most {aggregating.max_leaves} features: raise --max-leaves")
        tree = aggregating.parameters(on_machines=machines.are_given)
        parameters = tree | asdict(linking) | {"metric": reading.preparation.metric}
        estimator = AggregateModel(
            cutting.clusters,
            distance_threshold=cutting.height,
            projection=projection,
            n_jobs=jobs,
            **parameters,
        )
        estimator._new_tree()  # checks the parameters before anything is read
    parameters = estimator.get_params() | cutting.parameters()
    whole = Record("cluster", parameters | reading.parameters(), outputs=outputs.wanted())
    job = Job(reading, estimator, outputs, whole, Voice(talking, to_stderr=labelling.to_stdout), resuming)
    of_features = any(map(is_features, inputs))
    with resumable(resuming):
        rows = inputs if len(inputs) <= _MOST_INPUTS and "-" not in inputs and not of_features else ["INPUT"]
        cut = words_of(cutting) if cutting.is_given and not cutting.choose_k else ["-k", "K"]
        later = [*rows, *cut, *words_of(parsing), *words_of(replace(labelling, labels="FILE", labels_format=None))]
        if machines.are_given:
            state = _cluster_on_machines(job, cutting, machines, later)
        else:
            state = _cluster_features(job, cutting) if of_features else _cluster_rows(job, cutting, later)
    if job.model._is_cut:
        say_clusters(job.voice, job.record, state, job.model)
    else:
        say_uncut(job.voice, job.record, state, _how_to_cut(job, later))


def _cluster_rows(job: Job, cutting: Cutting, later: list[str]) -> RunState:
    """`later`: the words after `silverbirch cut MODEL` that label the rows."""
    aggregation = job.aggregate()
    _cluster(job, cutting)
    state = job.run_state(aggregation)
    _write(job, state, job.outputs.first())  # before the labels, which are large: a full disk does not lose the model
    if job.outputs.labels is not None:
        counter = LeafCounter(job.model.features_)
        with job.record.phase("label"), _saying_how_to_label(job, later):
            _require_cut(job)
            job.record.counts |= job.label(aggregation, counter)
        job.model._count_labelled(counter)
        _write(job, state, job.outputs.paths)  # again, with what is known of the labelled rows
    return state


def _cluster_on_machines(job: Job, cutting: Cutting, machines: groups.Machines, later: list[str]) -> RunState:
    with Distributed.over_files(job, *machines.engine) as distributed:
        state, counted = distributed.aggregate()
        _cluster(job, cutting)
        state = replace(state, record=job.record.result())
        _write(job, state, job.outputs.first())
        if job.outputs.labels is not None:
            with job.record.phase("label"), _saying_how_to_label(job, later):
                _require_cut(job)
                job.record.counts |= distributed.label(state, counted)
            _write(job, state, job.outputs.paths)
    return state


def _require_cut(job: Job) -> None:
    if not job.model._is_cut:
        reason = job.record.found["suggestion"]["reason"]
        raise ValueError(f"no labels are written, because there is no clear number of clusters: {reason}")


@contextmanager
def _saying_how_to_label(job: Job, later: list[str]) -> Iterator[None]:
    """Adds to an error what is written already, and the command that labels the rows by it."""
    try:
        yield
    except Exception as error:
        paths, first = job.outputs.paths, job.outputs.first()
        if first:
            error.add_note(f"written: {', '.join(str(paths[name]) for name in first)}")
        if "model" in first:
            error.add_note(f"label later: {shlex.join(['silverbirch', 'cut', str(paths['model']), *later])}")
        raise


def _how_to_cut(job: Job, later: list[str]) -> str:
    model = job.outputs.paths["model"]
    if model is None:
        return (
            "To cut: add -k, --height or --choose-k, or write a --model and `silverbirch cut` it as often as you like."
        )
    return f"To cut: {shlex.join(['silverbirch', 'cut', str(model), *later])}"


def _cluster_features(job: Job, cutting: Cutting) -> RunState:
    with usage():
        if not all(map(is_features, job.reading.inputs)):
            raise ValueError(
                "some inputs are features, some are rows: aggregate the rows first, then give features only"
            )
        if job.outputs.labels is not None:
            raise ValueError("features have no rows to label: write a --model, then `silverbirch cut` it on the rows")
        if not job.reading.is_plain:
            raise ValueError("the rows were chosen and prepared when they were aggregated: leave those options out")
        if job.model.refine or job.model.projection is not None:
            raise ValueError(
                "--refine and --projection need the rows: features do not have them; leave the options out"
            )
    state = job.merge()
    _cluster(job, cutting)
    state = replace(state, record=job.record.result())
    _write(job, state, job.outputs.paths)
    return state


def _cluster(job: Job, cutting: Cutting) -> None:
    with job.record.phase("cluster"), model_progress(job.voice.shows_progress, job.model):
        suggestion = cutting.apply(job.model)
        add_cut(job.record, job.model, suggestion)
    say_suggestion(job.voice, suggestion)


def _write(job: Job, state: RunState, purposes: Iterable[str]) -> None:
    """Writes the model, report and record, as far as `purposes` names them; overwrites those of an earlier call."""
    paths = {name: job.outputs.paths[name] for name in purposes}
    with job.record.phase("write"):
        if (model := paths.get("model")) is not None:
            write_model(model, job.model, state)
        if (page := paths.get("report")) is not None:
            write_page(page, job.model, state, job.record.measured())
    if (record := paths.get("record")) is not None:
        write_record(record, job.record)

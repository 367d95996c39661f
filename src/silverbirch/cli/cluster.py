"""`silverbirch cluster`: clusters files, or features from many machines; writes labels, a model and a report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace

from ..model import AggregateModel
from ..model.labelled import LeafCounter
from ..pipeline.budget import memory_for_features
from ..pipeline.preparation import Preparation
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from . import options
from .aggregating import Job, Reading
from .console import Voice, usage
from .cutting import Cutting
from .features import insert_features, read_features
from .outputs import Outputs, columns_beside
from .results import write_model, write_page, write_record
from .storing import resumable
from .summary import say_clusters

_FEATURES = ".sb"


def cluster(
    inputs: options.Inputs,
    cutting: Cutting,
    choosing: options.Choosing,
    parsing: options.Parsing,
    preparing: options.Preparing,
    aggregating: options.Aggregating,
    linking: options.Linking,
    labelling: options.Labelling,
    resuming: options.Resuming,
    talking: options.Talking,
    model: options.Model = None,
    page: options.Page = None,
    record: options.RecordFile = None,
    force: options.Force = False,
    jobs: options.Jobs = 1,
) -> None:
    """Cluster the rows of files; write a label for every row, a model file and a report.

    A first pass aggregates the rows into at most MAX-LEAVES cluster features. Their exact dendrogram is computed and
    cut. A second pass gives every row the label of its exactly nearest feature. Memory does not grow with the number of
    rows.

    Examples:

      silverbirch cluster rows.parquet -k 500 --labels labels.parquet

      silverbirch cluster day-*.csv -k 20 --columns x,y,z --id-column id --scale standard --labels labels.csv

      zcat day-*.csv.gz | silverbirch cluster - --format csv -k 20 --model run.sb

      silverbirch cluster all.sb -k 500 --model run.sb      # features from `aggregate` and `merge`
    """
    with usage():
        cutting.check(labelling.labels)
        labelling.check(talking.as_json)
        if cutting.clusters is not None and cutting.clusters > aggregating.max_leaves:
            raise ValueError(f"-k {cutting.clusters} but at most {aggregating.max_leaves} features: raise --max-leaves")
        parameters = asdict(aggregating) | asdict(linking) | {"metric": preparing.metric}
        estimator = AggregateModel(
            cutting.clusters,
            distance_threshold=cutting.height,
            n_jobs=jobs,
            **parameters,
        )
        estimator._new_tree()  # checks the parameters before anything is read
        paths = {"model": model, "report": page, "record": record}
        kept = columns_beside(choosing.id_column, labelling.kept)
        outputs = Outputs(paths, force, labelling.target(inputs), kept)
    reading = Reading(inputs, choosing, Preparation(**asdict(preparing)), parsing, labelling.kept)
    parameters = estimator.get_params() | cutting.options
    whole = Record("cluster", parameters | reading.parameters(), outputs=outputs.wanted())
    job = Job(reading, estimator, outputs, whole, Voice(talking, to_stderr=labelling.to_stdout), resuming)
    of_features = any(name.endswith(_FEATURES) for name in inputs)
    with resumable(resuming):
        state = _cluster_features(job, cutting) if of_features else _cluster_rows(job, cutting)
    say_clusters(job.voice, job.record, state, job.model)


def _cluster_rows(job: Job, cutting: Cutting) -> RunState:
    aggregation = job.aggregate()
    _cluster(job, cutting)
    state = job.run_state(aggregation)
    _write(job, state)  # before the labels, which are large: a full disk does not lose the model
    if job.outputs.labels is not None:
        counter = LeafCounter(job.model.features_)
        with job.record.phase("label"), _saying_how_to_label_later(job, cutting):
            job.record.counts |= job.label(aggregation, counter)
        job.model._count_labelled(counter)
        _write(job, state)  # again, with what is known of the labelled rows
    return state


@contextmanager
def _saying_how_to_label_later(job: Job, cutting: Cutting) -> Iterator[None]:
    """Adds to an error what is written already, and the command that labels the rows by it."""
    try:
        yield
    except Exception as error:
        paths = job.outputs.paths
        if written := [str(path) for path in paths.values() if path is not None]:
            error.add_note(f"written: {', '.join(written)}")
        if (model := paths["model"]) is not None:
            command = ["silverbirch", "cut", str(model), *job.reading.inputs, *cutting.words(), "--labels", "FILE"]
            error.add_note(f"label later: {shlex.join(command)}")
        if job.resuming.checkpoint is not None:
            error.add_note(f"or run the same command again, which continues from {job.resuming.checkpoint}")
        raise


def _cluster_features(job: Job, cutting: Cutting) -> RunState:
    with usage():
        if not all(name.endswith(_FEATURES) for name in job.reading.inputs):
            raise ValueError(
                "some inputs are features, some are rows: aggregate the rows first, then give features only"
            )
        if job.outputs.labels is not None:
            raise ValueError("features have no rows to label: write a --model, then `silverbirch cut` it on the rows")
        if job.resuming.checkpoint is not None or job.reading != Reading(job.reading.inputs):
            raise ValueError("the rows were chosen and prepared when they were aggregated: leave those options out")
    job.outputs.check(job.reading.inputs)
    job.record.input = [{"name": name} for name in job.reading.inputs]
    limit = memory_for_features(job.model.max_memory, job.reading.inputs)
    job.model.set_params(metric=read_features(job.reading.inputs[0])[1].preparation.metric, max_memory=limit)
    with job.record.phase("merge"):
        state = insert_features(job.reading.inputs, job.model.insert)
    job.record.counts |= {"rows": job.model.tree_.n_points, "features": job.model.tree_.n_leaves}
    _cluster(job, cutting)
    state = replace(state, record=job.record.result())
    _write(job, state)
    return state


def _cluster(job: Job, cutting: Cutting) -> None:
    job.model.progress = job.voice.shows_progress
    with job.record.phase("cluster"):
        if cutting.options:
            cutting.apply(job.model)
        job.record.counts["clusters"] = job.model.n_clusters_
    job.model.progress = False


def _write(job: Job, state: RunState) -> None:
    """Writes everything but the labels; replaces what an earlier call wrote."""
    paths = job.outputs.paths
    with job.record.phase("write"):
        if (model := paths["model"]) is not None:
            write_model(model, job.model, state)
        if (page := paths["report"]) is not None:
            write_page(page, job.model, state, job.record.measured())
    if (record := paths["record"]) is not None:
        write_record(record, job.record)

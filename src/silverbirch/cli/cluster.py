"""`silverbirch cluster`: files, or features from many machines, to a dendrogram, labels, a model and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ..estimator import Betula
from ..pipeline.budget import model_memory
from ..pipeline.preparation import Preparation
from ..pipeline.record import Record
from ..pipeline.run_state import RunState
from ..readers import RowSource
from . import options
from .aggregating import Job, Outputs, Reading
from .console import Voice, failing_cleanly, usage
from .features import merged_features, reads_features
from .results import write_labels, write_model, write_page, write_record
from .summary import run_summary


@failing_cleanly
def cluster(
    inputs: options.Inputs,
    clusters: options.Clusters = None,
    height: options.Height = None,
    columns: options.Columns = None,
    numeric_only: options.NumericOnly = False,
    id_column: options.IdColumn = None,
    missing: options.Missing = "error",
    scale: options.Scale = "none",
    metric: options.Metric = "euclidean",
    max_leaves: options.MaxLeaves = 25_000,
    max_memory: options.MaxMemory = None,
    threshold: options.Threshold = 0.0,
    distance: options.Distance = None,
    absorption: options.Absorption = None,
    linkage: options.Linkage = "ward",
    mode: options.Mode = "linkage",
    algorithm: options.Algorithm = "auto",
    labels: options.Labels = None,
    model: options.Model = None,
    page: options.Page = None,
    record: options.RecordFile = None,
    force: options.Force = False,
    checkpoint: options.CheckpointFile = None,
    checkpoint_every: options.CheckpointEvery = 60.0,
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Cluster the rows of files: labels for every row, the dendrogram, a model file, a page to read.

    The rows go once through a tree into at most MAX-LEAVES cluster features, whatever their number; the exact dendrogram
    of the features is built and cut; a second pass gives every row the label of its exactly nearest feature. Memory stays
    flat.

    Examples:

      silverbirch cluster rows.parquet -k 500 --labels labels.parquet

      silverbirch cluster day-*.csv -k 20 --columns x,y,z --id-column id --scale standard --labels l.csv --report run.html

      silverbirch cluster all.sb -k 500 --model run.sb      # features from `aggregate` and `merge`
    """
    with usage():
        _check_cut(clusters, height, labels)
        estimator = Betula(
            clusters,
            distance_threshold=height,
            linkage=linkage,
            mode=mode,
            algorithm=algorithm,
            max_leaves=max_leaves,
            max_memory=model_memory(max_memory),
            threshold=threshold,
            distance=distance,
            absorption=absorption,
            n_jobs=jobs,
        )
        estimator._new_tree()  # checks the parameters before anything is read
    reading = Reading(inputs, columns, numeric_only, id_column, Preparation(missing, scale, metric))
    outputs = Outputs({"labels": labels, "model": model, "report": page, "record": record}, force)
    job = Job(
        reading,
        estimator,
        outputs,
        Record("cluster", parameters=estimator.get_params() | reading.parameters()),
        Voice(quiet, as_json),
        checkpoint,
        checkpoint_every,
    )
    if reads_features(inputs):
        _run_on_features(job)
    else:
        _run_on_rows(job)


def _check_cut(clusters: int | None, height: float | None, labels: Path | None) -> None:
    if clusters is not None and height is not None:
        raise ValueError("-k and --height both say where to cut: give one of them")
    if clusters is None and height is None and labels is not None:
        raise ValueError("labels need a cut: give -k or --height")


def _run_on_rows(job: Job) -> None:
    aggregation = job.aggregate()
    job.model = aggregation.model
    _cluster(job)
    state = job.run_state(aggregation)
    if job.outputs.paths["labels"] is not None:
        with job.record.phase("label"):
            write_labels(job.outputs.paths["labels"], aggregation.source, state, job.model, job.voice)
    _write(job, state)


def _run_on_features(job: Job) -> None:
    with usage():
        if job.outputs.paths["labels"] is not None:
            raise ValueError("features have no rows to label: write a --model, then `silverbirch cut` it on the rows")
        if job.checkpoint_path is not None or job.reading != Reading(job.reading.inputs):
            raise ValueError("the rows were chosen and prepared when they were aggregated: leave those options out")
    job.outputs.check(own=[])
    with job.record.phase("aggregate"):
        features, state = merged_features(job.reading.inputs)
        job.model.partial_fit(features)
    job.record.input = [{"name": name} for name in job.reading.inputs]
    job.record.counts |= {"rows": float(features.weight.sum()), "features": job.model.tree_.n_leaves}
    _cluster(job)
    _write(job, RunState(state.columns, state.id_column, state.preparation, job.record.result()))


def _cluster(job: Job) -> None:
    with job.record.phase("cluster"):
        job.record.counts["clusters"] = job.model.n_clusters_

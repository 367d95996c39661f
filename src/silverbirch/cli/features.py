"""`silverbirch aggregate` and `silverbirch merge`: make features on many machines and merge them on one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from ..errors import ModelFileError
from ..features import ClusterFeatures
from ..model import AggregateModel
from ..pipeline.budget import memory_for_features
from ..pipeline.preparation import Preparation
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from ..storage import container
from ..storage import features as features_in_file
from ..storage.tree import parameters_of
from ..tree import CFTree
from . import options
from .aggregating import Job, Reading
from .console import Voice, usage
from .outputs import Outputs
from .results import write_record
from .storing import resumable
from .summary import say_run

FeatureFiles = Annotated[
    list[str], typer.Argument(metavar="FEATURES…", help="Files that `silverbirch aggregate` or `merge` wrote.")
]


def aggregate(
    inputs: options.Inputs,
    out: options.Out,
    choosing: options.Choosing,
    parsing: options.Parsing,
    preparing: options.Preparing,
    aggregating: options.Aggregating,
    resuming: options.Resuming,
    talking: options.Talking,
    record: options.RecordFile = None,
    force: options.Force = False,
    jobs: options.Jobs = 1,
) -> None:
    """Aggregate the rows of files into a file of cluster features.

    The file takes a few megabytes, whatever the number of rows. `merge` merges the files of many machines, and
    `cluster` takes them in place of rows. --scale uses the rows read here only, and features of differently scaled rows
    cannot be merged: to merge, scale the rows beforehand or not at all.

    Examples:

      silverbirch aggregate part-07.parquet --max-leaves 100000 -o part-07.sb

      silverbirch merge part-*.sb -o all.sb
    """
    with usage():
        model = AggregateModel(n_jobs=jobs, **asdict(aggregating), metric=preparing.metric)
        tree = model._new_tree()  # checks the parameters before anything is read
    reading = Reading(inputs, choosing, Preparation(**asdict(preparing)), parsing)
    outputs = Outputs({"features": out, "record": record}, force)
    parameters = parameters_of(tree) | {"max_memory": aggregating.max_memory} | reading.parameters()
    job = Job(reading, model, outputs, Record("aggregate", parameters), Voice(talking), resuming)
    with resumable(resuming):
        aggregation = job.aggregate()
        job.record.outputs = outputs.wanted()
        state = job.run_state(aggregation)
        with job.record.phase("write"):
            _write(str(out), job.model.features_, state)
        if record is not None:
            write_record(record, job.record)
    say_run(job.voice, job.record, state)


def merge(
    inputs: FeatureFiles,
    out: options.Out,
    talking: options.Talking,
    max_leaves: options.MaxLeaves = 25_000,
    max_memory: options.MaxMemory = None,
    force: options.Force = False,
) -> None:
    """Merge the cluster features of several files into one file.

    All files must have the same columns, prepared in the same way. If they have more than MAX-LEAVES features together,
    the nearest features are merged.

    Example: silverbirch merge part-*.sb -o all.sb
    """
    voice, outputs = Voice(talking), Outputs({"features": out}, force)
    with usage():
        tree = CFTree(max_leaves=max_leaves, max_memory=memory_for_features(max_memory, inputs))
    outputs.check(inputs)
    record = Record("merge", {"max_leaves": max_leaves, "max_memory": max_memory}, [{"name": name} for name in inputs])
    with record.phase("merge"):
        state = insert_features(inputs, tree.insert)
    record.counts |= {"rows": tree.n_points, "features": tree.n_leaves}
    record.outputs = outputs.wanted()
    _write(str(out), tree.features, replace(state, record=record.result()))
    say_run(voice, record, state)


def insert_features(paths: list[str], insert: Callable[[ClusterFeatures], Any]) -> RunState:
    """Calls `insert` with the features of each file; returns the columns and preparation that all files share."""
    first: RunState | None = None
    for path in paths:
        features, state = read_features(path)
        first = first or state
        if state.to_read != first.to_read:
            raise ModelFileError(
                f"{path} has other columns than {paths[0]}: aggregate the same columns in the same order"
            )
        if not state.prepares_like(first):
            raise ModelFileError(
                f"{path} has other scales than {paths[0]}, or another metric: aggregate by the same metric, and scale "
                "the rows alike beforehand or not at all"
            )
        insert(features)
    assert first is not None  # there is at least one path
    return first


def read_features(path: str) -> tuple[ClusterFeatures, RunState]:
    """The features in a file of features, a tree, a dendrogram or a model, and the state of its run."""
    features = ClusterFeatures.load(path)
    _, state, arrays = container.read(path)
    if "projection" in arrays:
        raise ModelFileError(
            f"{path} holds a model of projected rows, not features: `silverbirch cut` and silverbirch.load take it"
        )
    return features, RunState.of_file(path, state, arrays, features.n_dimensions)


def _write(path: str, features: ClusterFeatures, state: RunState) -> None:
    container.write(path, "features", *state.added_to(*features_in_file.to_file(features)))

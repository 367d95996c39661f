"""`silverbirch aggregate` and `silverbirch merge`: make features on many machines and merge them on one."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ..features import ClusterFeatures
from ..model import AggregateModel
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from ..storage import container
from ..storage import features as features_in_file
from ..storage.tree import parameters_of
from . import groups, options
from .aggregating import Job
from .console import Voice, usage
from .outputs import Outputs
from .reading import Reading
from .results import write_record
from .storing import resumable
from .summary import say_run

FeatureFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="FEATURES", help="Files that `silverbirch aggregate` or `merge` wrote, or folders of them (.sb)."
    ),
]


def aggregate(
    inputs: options.Inputs,
    out: options.Out,
    choosing: groups.Choosing,
    parsing: groups.Parsing,
    preparing: groups.Preparing,
    aggregating: groups.Aggregating,
    resuming: groups.Resuming,
    talking: groups.Talking,
    prepare: options.Prepare = None,
    allow_overlap: options.AllowOverlap = False,
    record: options.RecordFile = None,
    force: options.Force = False,
    jobs: options.Jobs = 1,
) -> None:
    """Aggregate the rows of files into a file of cluster features.

    The file takes a few megabytes, whatever the number of rows. `merge` merges the files of many machines, and
    `cluster` takes them in place of rows. --scale and --missing mean use the rows read here only, and features of rows
    that were prepared differently cannot be merged: to merge, `prepare` all rows first and give the file to --prepare.

    Examples:

      silverbirch aggregate part-07.parquet --max-leaves 100000 -o part-07.sb

      silverbirch merge part-*.sb -o all.sb
    """
    reading = Reading.of(inputs, choosing, parsing, preparing, prepare, allow_overlap)
    with usage():
        model = AggregateModel(n_jobs=jobs, **aggregating.parameters() | {"metric": reading.preparation.metric})
        tree = model._new_tree()  # checks the parameters before anything is read
    outputs = Outputs({"features": out, "record": record}, force)
    parameters = (
        parameters_of(tree) | {"max_memory": aggregating.max_memory, "refine": model.refine} | reading.parameters()
    )
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
    resuming: groups.Resuming,
    talking: groups.Talking,
    max_leaves: options.MaxLeaves = 25_000,
    max_memory: options.MaxMemory = None,
    allow_overlap: options.AllowOverlap = False,
    record: options.RecordFile = None,
    force: options.Force = False,
) -> None:
    """Merge the cluster features of several files into one file.

    All files must have the same columns, prepared in the same way, and be made of different rows. If they have more
    than --max-leaves features together, the nearest features are merged.

    Example: silverbirch merge parts -o all.sb
    """
    with usage():
        model = AggregateModel(max_leaves=max_leaves, max_memory=max_memory)
        model._new_tree()  # checks the parameters before anything is read
    outputs = Outputs({"features": out, "record": record}, force)
    whole = Record("merge", {"max_leaves": max_leaves, "max_memory": max_memory}, outputs=outputs.wanted())
    job = Job(Reading(inputs, allow_overlap=allow_overlap), model, outputs, whole, Voice(talking), resuming)
    with resumable(resuming):
        state = replace(job.merge(), record=whole.result())
        with whole.phase("write"):
            _write(str(out), job.model.features_, state)
        if record is not None:
            write_record(record, whole)
    say_run(job.voice, whole, state)


def _write(path: str, features: ClusterFeatures, state: RunState) -> None:
    container.write(path, "features", *state.added_to(*features_in_file.to_file(features)))

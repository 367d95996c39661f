"""`silverbirch prepare`: the statistics for scaling and filling, shared by parts and machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ..pipeline.gathering import Gathering
from ..pipeline.provenance import RunState
from ..pipeline.record import Record
from ..pipeline.shared_preparation import SharedPreparation, joined
from ..pipeline.sources import abridged, fingerprint_of
from . import groups, options
from .aggregating import go_through
from .console import Voice, usage
from .outputs import Outputs, input_names
from .reading import Reading, feature_files, is_features
from .results import write_record
from .storing import StoredWork, resumable
from .summary import say_preparation

RowsOrPreparations = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT", help="Files or folders of rows, as `cluster` takes them; or of what `prepare` wrote (.sb)."
    ),
]


def prepare(
    inputs: RowsOrPreparations,
    out: options.Out,
    choosing: groups.Choosing,
    parsing: groups.Parsing,
    preparing: groups.Preparing,
    resuming: groups.Resuming,
    talking: groups.Talking,
    allow_overlap: options.AllowOverlap = False,
    record: options.RecordFile = None,
    force: options.Force = False,
) -> None:
    """Gather the counts, means, deviations and ranges of columns, so that all parts of the rows are prepared alike.

    The file says how rows are prepared: which columns, --missing, --scale and --metric. `aggregate --prepare` and
    `cluster --prepare` follow it, on any machine. Sums are exact, so files of parts join to the file of the whole, to
    the bit.

    Examples:

      silverbirch prepare rows --scale standard --missing mean -o prep.sb

      silverbirch prepare prep-1.sb prep-2.sb -o prep.sb      # of two machines

      silverbirch aggregate rows/part-07.parquet --prepare prep.sb -o part-07.sb
    """
    reading = Reading.of(inputs, choosing, parsing, preparing, None, allow_overlap)
    outputs, voice = Outputs({"preparation": out, "record": record}, force), Voice(talking)
    of_files = any(map(is_features, inputs))
    whole = Record("prepare", {} if of_files else reading.parameters(), outputs=outputs.wanted())
    with resumable(resuming):
        if of_files:
            shared = _join(reading, outputs, whole, resuming)
        else:
            shared = _gather(reading, outputs, whole, resuming, voice)
        whole.counts |= {"rows": shared.statistics.rows, "columns": shared.statistics.n_columns}
        shared = replace(shared, state=replace(shared.state, record=whole.result()))
        shared.write(out)
        if record is not None:
            write_record(record, whole)
    say_preparation(voice, whole, shared)


def _gather(
    reading: Reading, outputs: Outputs, record: Record, resuming: groups.Resuming, voice: Voice
) -> SharedPreparation:
    source = reading.open()
    record.input = reading.fingerprint(source)
    gathering = Gathering(source, reading.preparation)
    identity = {"input": abridged(record.input), "preparation": reading.identity()}
    stored = StoredWork(gathering, resuming, outputs, identity, voice)
    stored.begin(input_names(source))
    with record.phase("prepare"):
        go_through(gathering, stored, voice)
    assert gathering.statistics is not None  # a source has a chunk, or it raises an error
    state = RunState(
        source.names,
        source.numbers,
        weight_column=reading.choosing.weight_column,
        times=reading.choosing.times,
        preparation=reading.preparation,
        made_of=tuple(record.input),
    )
    return SharedPreparation(state, gathering.statistics)


def _join(reading: Reading, outputs: Outputs, record: Record, resuming: groups.Resuming) -> SharedPreparation:
    with usage():
        if not all(map(is_features, reading.inputs)):
            raise ValueError("some inputs are preparations, some are rows: prepare the rows first, then join the files")
        if not reading.is_plain:
            raise ValueError("the files say how rows are prepared: leave those options out")
        if resuming.checkpoint is not None:
            raise ValueError("files of `prepare` are joined at once: leave --checkpoint out")
    paths = feature_files(reading.inputs)
    outputs.check(paths)
    record.input = [fingerprint_of(path) for path in paths]
    with record.phase("join"):
        return joined(paths, allow_overlap=reading.allow_overlap)

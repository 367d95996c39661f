"""Spark: how to do some work on all partitions of a data frame and merge it, and how to label them.

Both passes are `mapInArrow`: a task gets the record batches of its partition one after the other. Merges are
`applyInArrow` over groups of what the tasks sent, so they run on the executors, and the driver sees one merged set.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import secrets
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from ..errors import MemoryLimitError, ModelFileError
from ..pipeline.labels import LEFT_OUT
from .job import FAN_IN, LOST_WORKERS, Run, rounds_of_merges
from .work import Work, in_partition, labelled, unpacked_model

try:
    from py4j.java_gateway import is_instance_of
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkConf, SparkContext, TaskContext
    from pyspark.errors import PythonException
    from pyspark.java_gateway import launch_gateway
    from pyspark.ml.functions import vector_to_array
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as sql
    from pyspark.sql.types import (
        ArrayType,
        BooleanType,
        DatetimeType,
        DayTimeIntervalType,
        IntegerType,
        NullType,
        NumericType,
        StructField,
        StructType,
    )
except ImportError:
    raise ImportError("silverbirch.spark needs PySpark 4: pip install 'silverbirch[spark]', and Java 17") from None

_NUMBERS = NumericType | BooleanType | NullType
_SENT = "number int, data binary"  # the number of a partition or of a group of them, and what a worker sent
_RAISED = (
    *(ValueError, TypeError, MemoryLimitError, ModelFileError, MemoryError, ImportError, ModuleNotFoundError),
    *(OSError, FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError),
    *(ConnectionError, TimeoutError),
)


class Partitions:
    """The partitions of a data frame: the columns to cluster, and the column of weights."""

    def __init__(self, frame: DataFrame, columns: Sequence[str], weight: str | None = None) -> None:
        _check_frame(frame)
        if isinstance(columns, str):
            raise TypeError(f"inputCols={columns!r} is a text: pass a list of names")
        self.columns, self.weight = list(columns), weight
        if not self.columns:
            raise ValueError("inputCols is empty: name at least one column, or leave it out for featuresCol")
        if twice := [name for name in columns if self.columns.count(name) > 1]:
            raise ValueError(f"inputCols names {twice[0]!r} twice: name each column once")
        if weight in self.columns:
            raise ValueError(
                f"weightCol={weight!r} is also in inputCols: a weight is not clustered; leave it out there"
            )
        self._read = {name: _as_numbers(frame, name) for name in columns}
        if weight is not None:
            self._read[weight] = _column(frame, weight)
            if not isinstance(kind := frame.schema[weight].dataType, _NUMBERS):
                raise TypeError(f"weightCol={weight!r} holds {kind.simpleString()}: weights are numbers; cast it")
        self._frame = frame.select(
            *(column.alias(name) for name, column in zip(_plain(self._read), self._read.values(), strict=True))
        )

    @property
    def arguments(self) -> dict[str, Any]:
        """How a worker reads the rows: the arguments of `read_chunks`."""
        return {"columns": self.columns, "weight_column": self.weight}

    def run(self, work: Work) -> bytes:
        """Does the work on all partitions and merges what it gives."""
        names = list(self._read)
        return _run(self._frame, work, lambda _, batches: _stream(names, batches))


@contextlib.contextmanager
def on_files(master: str, files: Sequence[str], *, shows_progress: bool = False) -> Iterator[Run]:
    """How to do some work on files, each of them a partition, in a session of Spark that ends with the block."""
    session = _session(master, shows_progress)
    names = list(files)
    try:
        session.sparkContext.setLogLevel("OFF")  # an error of a task is raised here
        frame = session.range(0, len(names), 1, len(names))

        def name_of(number, batches):  # type: ignore[no-untyped-def]
            for _ in batches:  # Spark ends a worker that leaves some of its input
                pass
            return names[number]

        def run(work: Work) -> bytes:
            try:
                return _run(frame, work, name_of)
            except Py4JJavaError as error:  # its second line has the message, and then comes a trace
                line = str(error).splitlines()[1]
                reason = line.partition("Exception: ")[2] or line
                raise OSError(f"Spark gave up: {reason}; if workers died, {LOST_WORKERS}") from error

        yield run
    finally:
        session.stop()


def _session(master: str, shows_progress: bool) -> SparkSession:
    """A new session. Java prints on the standard error, from warnings at its start to a progress bar, or nothing."""
    if master.startswith("local"):  # executors on this machine run this Python
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setMaster(master).setAppName("silverbirch")
    conf.set("spark.ui.showConsoleProgress", str(shows_progress).lower())
    with tempfile.TemporaryFile() as said:
        try:
            if not shows_progress and SparkContext._gateway is None:
                SparkContext._ensure_initialized(gateway=launch_gateway(conf, {"stderr": said}))
            with _same_interrupts():
                SparkContext.getOrCreate(conf)
            return SparkSession.builder.config(conf=conf).getOrCreate()
        except Exception as error:
            raise OSError(f"Spark does not start at {master}: {_reason(error, said, master)}") from error


@contextlib.contextmanager
def _same_interrupts() -> Iterator[None]:
    """Puts the handler of Ctrl-C back after the block. That of a new SparkContext calls Java amid another call."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


def _reason(error: Exception, said: Any, master: str) -> str:
    """Why Spark does not start, in one line: from an error, and from the file of what Java said."""
    lines = str(error).splitlines()
    said.seek(0)
    lines += said.read().decode(errors="replace").strip().splitlines()
    thrown = [line.rpartition("Exception: ")[2] for line in lines if "Exception: " in line]
    if master.startswith("spark://") and any("stopped SparkContext" in line for line in thrown):
        return "nobody answers there: check that a master of Spark runs, and its host and port"
    return thrown[0] if thrown else f"{lines[-1] if lines else type(error).__name__}; it needs Java 17"


def _run(frame: DataFrame, work: Work, rows_of: Callable[[int, Iterator[Any]], Any]) -> bytes:
    """`rows_of(number, batches)` are the rows of a partition."""

    # Without annotations: Spark takes a function's own for those of a UDF.
    def done(batches):  # type: ignore[no-untyped-def]
        return _done(work, rows_of, batches)

    def merged(table):  # type: ignore[no-untyped-def]
        return _merged(work, table)

    with _own_errors():
        first = sent = frame.mapInArrow(done, _SENT).persist()
        try:
            most = cast(Any, first.agg(sql.max("number")).first())[0]
            for _ in rounds_of_merges(1 + (most or 0)):
                group = sql.floor(sql.col("number") / FAN_IN).cast("int")
                sent = sent.groupBy(group.alias("group")).applyInArrow(merged, _SENT)
            found = sent.select("data").collect()
        finally:
            first.unpersist()
    return bytes(found[0]["data"]) if found else work.nothing()


def labels(frame: DataFrame, columns: Sequence[str], model: bytes, prediction: str) -> DataFrame:
    """The data frame with a column of labels; rows that are left out have a null."""
    _check_frame(frame)
    cased = frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    if same := [
        name for name in frame.columns if name == prediction or (not cased and name.lower() == prediction.lower())
    ]:
        raise ValueError(f"the data frame has a column {same[0]!r} already: choose another predictionCol")
    state = unpacked_model(model)[1]
    names = {name: name for name in columns} if state.to_read is None else _read_as(state.to_read, columns, frame)
    if missing := [name for name in names if name not in frame.columns]:
        raise ValueError(f"the data frame has no column {missing[0]!r}: the model is of {', '.join(names.values())}")
    columns = list(names)
    times = (DatetimeType, DayTimeIntervalType) if state.times else ()
    arrays, own = {name: _as_numbers(frame, name, times) for name in columns}, len(frame.columns)
    vectors = [name for name in columns if isinstance(frame.schema[name].dataType, VectorUDT)]
    wide = frame.select("*", *(arrays[name] for name in vectors))
    wide = wide.toDF(*_plain(wide.columns))
    places = {names[name]: frame.columns.index(name) for name in columns}
    places |= {names[name]: number for number, name in enumerate(vectors, own)}
    schema = StructType([*frame.schema.fields, StructField(prediction, IntegerType())])

    def labelled_batches(batches):  # type: ignore[no-untyped-def]
        return _labelled(places, own, model, batches)

    with _own_errors():
        return wide.mapInArrow(labelled_batches, schema)


def _read_as(of_model: Sequence[str], columns: Sequence[str], frame: DataFrame) -> dict[str, str]:
    """The columns of the data frame to read for a model, each with the name that the model has for it."""
    own = whole_columns(of_model)  # "e[0]" may be a column, or a part of arrays "e"
    if set(columns) in (set(own), set(of_model)):
        found = of_model if set(of_model) <= set(frame.columns) else columns
        return {name: name for name in found}
    for known in (own, of_model):
        if len(columns) == len(known):  # other columns are chosen in their place, in the same order
            return dict(zip(columns, known, strict=True))
    raise ValueError(f"the model is of {', '.join(own)}: choose {len(own)} columns in their place, not {len(columns)}")


def whole_columns(names: Sequence[str]) -> list[str]:
    """The columns of a data frame: "e[0]", "e[1]", … are the column "e" of arrays."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(re.sub(r"\[\d+\]$", "", name), []).append(name)
    return [
        column
        for whole, parts in found.items()
        for column in ([whole] if parts == [f"{whole}[{i}]" for i in range(len(parts))] else parts)
    ]


def store_bytes(session: SparkSession, path: str, data: bytes, *, overwrite: bool = False) -> None:
    """Writes a file to a path of Spark, on whatever file system that is. It has another name until it is complete."""
    files, place = _file_system(session, path)
    if files.exists(place) and not overwrite:
        raise FileExistsError(f"{path} exists: give another name, or overwrite it by write().overwrite().save(path)")
    if files.exists(place) and files.getFileStatus(place).isDirectory():
        raise IsADirectoryError(f"cannot write {path}: it is a folder; give the name of a file")
    part = place.suffix(f".{secrets.token_hex(4)}.part")
    try:
        stream = files.create(part)
        try:
            stream.write(bytearray(data))
        finally:
            stream.close()
    except BaseException:
        files.delete(part, False)
        raise
    if files.getUri().getScheme() != "file":  # where renaming replaces no file
        files.delete(place, False)
    if not files.rename(part, place):  # nothing else may hold a model now
        raise OSError(f"cannot write {path}: {part.getName()} beside it is complete, but could not be renamed")


def stored_bytes(session: SparkSession, path: str) -> bytes:
    """The content of a file at a path of Spark."""
    files, place = _file_system(session, path)
    if not files.exists(place):
        raise FileNotFoundError(f"{path}: there is no such file")
    stream = files.open(place)
    try:
        return bytes(stream.readAllBytes())
    finally:
        stream.close()


def _file_system(session: SparkSession, path: str) -> tuple[Any, Any]:
    """Hadoop's file system for a path, and the path.

    That of this machine writes no checksums beside a file: a model has its own, and whoever replaces it without Hadoop
    would leave the old ones, which refuse it.
    """
    spark = cast(Any, session)
    place = spark._jvm.org.apache.hadoop.fs.Path(path)
    files = place.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    writes_checksums = is_instance_of(spark.sparkContext._gateway, files, "org.apache.hadoop.fs.ChecksumFileSystem")
    return files.getRawFileSystem() if writes_checksums else files, place


def _as_numbers(frame: DataFrame, name: str, also: Any = ()) -> Any:
    """A column; vectors of pyspark.ml as arrays. Raises TypeError if it holds neither numbers nor one of `also`."""
    column, kind = _column(frame, name), frame.schema[name].dataType
    if isinstance(kind, VectorUDT):
        return sql.when(column.isNotNull(), vector_to_array(column))  # it fails for a null
    item = kind.elementType if isinstance(kind, ArrayType) else kind
    if not isinstance(item, _NUMBERS) and not isinstance(kind, also):
        raise TypeError(
            f"column {name!r} holds {kind.simpleString()}: only numbers, arrays of numbers and vectors are clustered; "
            "cast it, or choose other inputCols"
        )
    return column


def _plain(names: Collection[str]) -> list[str]:
    """As many other names: `mapInArrow` fails if a name has a dot or a backtick, or if two columns have the same."""
    return [f"c{number}" for number in range(len(names))]


def _check_frame(frame: Any) -> None:
    if not isinstance(frame, DataFrame):
        kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        raise TypeError(
            f"the rows are a {kind}, no data frame of Spark: silverbirch.Betula takes rows in memory and in files"
        )


def _column(frame: DataFrame, name: str) -> Any:
    if (count := frame.columns.count(name)) != 1:
        found = "no column" if count == 0 else f"{count} columns"
        raise ValueError(f"the data frame has {found} {name!r}: it has {', '.join(frame.columns)}")
    return frame[f"`{name.replace('`', '``')}`"]


@contextlib.contextmanager
def _own_errors() -> Iterator[None]:
    """Raises our error where a task raised it, and not Spark's with a trace of the task.

    No warning of PySpark that it does not know the installed version of pandas: none is used here.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        try:
            yield
        except PythonException as error:
            kind, _, text = str(error).strip().splitlines()[-1].partition(": ")
            own = next((known for known in _RAISED if known.__name__ == kind.rpartition(".")[2]), None)
            if own is None:
                raise
            raise own(text) from error


# -- what runs on the executors


def _stream(names: list[str], batches: Iterator[Any]) -> Any:
    """The batches as one stream of Arrow with these names of columns, whose rows are numbered through."""
    import pyarrow as pa

    named = (batch.rename_columns(names) for batch in batches if batch.num_rows > 0)
    first = next(named, None)
    if first is None:
        return pa.table({name: [] for name in names})
    return pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], named))


def _done(work: Work, rows_of: Callable[[int, Iterator[Any]], Any], batches: Iterable[Any]) -> Iterator[Any]:
    number = cast(Any, TaskContext.get()).partitionId()
    yield _sent(number, work(number, rows_of(number, iter(batches))))


def _merged(work: Work, table: Any) -> Any:
    import pyarrow as pa

    table = table.sort_by("number")
    number = table["number"][0].as_py() // FAN_IN
    merged = pa.Table.from_batches([_sent(number, work.merged(table["data"].to_pylist()))])
    return merged.cast(table.schema)  # large_binary, if Spark is set to useLargeVarTypes


def _sent(number: int, data: bytes) -> Any:
    import pyarrow as pa

    return pa.record_batch({"number": pa.array([number], pa.int32()), "data": pa.array([data], pa.binary())})


def _labelled(places: dict[str, int], own: int, model: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """The first `own` columns of each batch, and the labels of its columns at these places."""
    import pyarrow as pa

    number, before = cast(Any, TaskContext.get()).partitionId(), 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        rows = pa.record_batch({name: batch.column(place) for name, place in places.items()})
        with in_partition(number):
            found = np.concatenate([labels for _, labels in labelled(rows, model, before)])
        before += len(found)
        label = pa.array(found, pa.int32(), mask=found == LEFT_OUT)
        yield pa.RecordBatch.from_arrays([*batch.columns[:own], label], names=[*batch.schema.names[:own], "label"])

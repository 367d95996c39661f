"""Dask: how to do some work on all partitions of a collection and merge it, and how to label them."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .. import estimator
from ..pipeline.labels import LEFT_OUT
from ..pipeline.model_file import model_in
from ..rows import Chunk, NoRowsError, RowSource
from ..rows.formats.frames import is_frame
from ..storage import container
from ..wording import InOptions, in_python, spelled_in_task
from .job import LOST_WORKERS, Run, rounds_of_merges
from .work import SENT_MODEL, Work, in_partition, labelled, reading_for, unpacked_model

try:
    import dask
    import dask.bag
    from dask.delayed import Delayed, delayed
except ImportError:
    raise ImportError("silverbirch.dask needs Dask: pip install 'silverbirch[dask]'") from None

_CONNECT_SECONDS = 10

# A cluster on this machine gives up a worker that died, by default if none has replaced it after 15 seconds. With the
# last one given up, it would wait for ever.
_KEEP_WORKERS = {"distributed.deploy.lost-worker-timeout": "1000 days"}


# -- partitions


class Partitions:
    """The partitions of a collection, each with the weights of its rows."""

    def __init__(self, X: Any, sample_weight: Any = None) -> None:
        self.rows = _chunks_of(X)
        if not self.rows:
            raise ValueError("the collection has no partitions: at least one row is needed")
        self.weights = self._weights_of(X, sample_weight)

    def _weights_of(self, X: Any, weight: Any) -> Sequence[Any]:
        if weight is None or (not dask.is_dask_collection(weight) and np.ndim(weight) == 0):
            return [weight] * len(self.rows)
        if _kind_of(weight, "sample_weight") == "array":
            weight = _weights_as(X, weight)
            parts = list(weight.to_delayed().ravel())
        else:
            parts = _chunks_of(weight)
        if len(parts) != len(self.rows):
            raise ValueError(
                f"sample_weight has {len(parts)} partitions but X has {len(self.rows)}: give it the same partitions"
            )
        return parts

    def run_on(self, client: Any) -> Run:
        """How to do some work on all partitions and merge what it gives."""
        return lambda work: _run(work, self.rows, self.weights, client)


def _weights_as(X: Any, weight: Any) -> Any:
    """An array of weights; with the blocks of X if the lengths of all blocks are known."""
    if weight.ndim != 1:
        raise ValueError(f"sample_weight is {weight.ndim}-D: one weight for each row is a 1-D array; use ravel()")
    if _kind_of(X) != "array" or np.isnan(X.shape[0] + weight.shape[0]):
        return weight
    if len(weight) != len(X):
        raise ValueError(f"sample_weight has {len(weight)} weights but X has {len(X)} rows: give one for each row")
    return weight.rechunk((X.chunks[0],))


def _run(work: Work, partitions: Sequence[Any], weights: Sequence[Any], client: Any) -> bytes:
    sent = delayed(work, traverse=False)
    done = [
        delayed(_done)(sent, number, rows, weight)
        for number, (rows, weight) in enumerate(zip(partitions, weights, strict=True))
    ]
    for groups in rounds_of_merges(len(done)):
        done = [delayed(_merged)(sent, [done[i] for i in group]) for group in groups]
    return cast(bytes, computed(done[0], client))


@contextmanager
def on_files(scheduler: str, files: Sequence[str], *, shows_progress: bool = False) -> Iterator[Run]:
    """How to do some work on files, each of them a partition. The scheduler "local" starts a cluster here.

    Progress is not shown: Dask has a page of its own for it.
    """
    try:
        from distributed import Client, KilledWorker
        from distributed.utils import silence_logging_cmgr
    except ImportError:
        raise ImportError("a cluster of Dask needs distributed: pip install 'silverbirch[dask]'") from None
    if scheduler == "local":  # a process that watches the others warns of what they leave when a signal ends all
        sys.warnoptions.append("ignore::UserWarning:multiprocessing.resource_tracker")
    try:
        here = {"silence_logs": logging.CRITICAL, "dashboard_address": ":0"}
        client = Client(**here) if scheduler == "local" else Client(scheduler, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise OSError(
            f"--dask {scheduler} cannot be reached ({error}): start a scheduler there, correct the address, or start "
            "one here by --dask local"
        ) from error

    def run(work: Work) -> bytes:
        try:
            return _run(work, files, [None] * len(files), client)
        except KilledWorker as error:
            raise OSError(
                f"Dask gave up: {error.allowed_failures + 1} workers died of one task; {LOST_WORKERS}"
            ) from error
        except CancelledError as error:
            raise ConnectionError(
                f"Dask gave up: {scheduler} cancelled the work, or its scheduler ended; see its log, and run it again"
            ) from error

    with dask.config.set(_KEEP_WORKERS), silence_logging_cmgr(logging.CRITICAL), client:  # an error is raised here
        yield run


def computed(value: Delayed, client: Any) -> Any:
    if not (client is None or hasattr(client, "compute")):
        raise TypeError(f"client={client!r}: a distributed.Client is needed, such as Client('tcp://host:8786')")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # it holds the model, which every worker needs
        return value.compute() if client is None else client.compute(value).result()


def _kind_of(X: Any, name: str = "X") -> str:
    """The kind of a collection: "array", "frame", "bag", or "chunks" for what is delayed."""
    if dask.is_dask_collection(X) and not isinstance(X, Delayed):
        if hasattr(X, "divisions"):
            return "frame"
        return "array" if hasattr(X, "chunks") else "bag"
    if isinstance(X, Delayed) or (isinstance(X, list | tuple) and X and all(isinstance(chunk, Delayed) for chunk in X)):
        return "chunks"
    remedy = (
        "silverbirch.Betula takes rows in memory and in files; workers read files given as [dask.delayed(path), …]"
        if name == "X"
        else "give it the partitions of X"
    )
    raise TypeError(f"{name} is a {type(X).__name__}, no collection of Dask: {remedy}")


def _chunks_of(X: Any) -> list[Delayed]:
    """The partitions of a collection, each of them something that `read_chunks` takes."""
    kind = _kind_of(X)
    if kind == "array":
        if X.ndim != 2:
            raise ValueError(f"X is {X.ndim}-D: rows need a 2-D array of (rows, columns)")
        return list(X.rechunk({1: -1}).to_delayed().ravel())
    if kind == "bag":
        return [delayed(_rows_of_part)(number, items) for number, items in enumerate(X.to_delayed())]
    if kind == "frame":
        # All of Dask's optimizations would join small files, as many as the columns allow: others for the weights.
        return list(X.simplify().to_delayed(optimize_graph=False))
    return [X] if isinstance(X, Delayed) else list(X)


# -- lazy results with the partitions of the rows


def labels(X: Any, model: bytes, *, nulls: bool) -> Any:
    """The label of each row. With `nulls`, rows may be left out: they have no label."""
    sent, kind = delayed(model, traverse=False), _kind_of(X)
    if kind == "array":
        none: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        return _by_rows(X, model).map_blocks(_labels_of_block, model=sent, dtype=none.dtype, drop_axis=1, meta=none)
    if kind == "frame":
        return X.map_partitions(_labels_of_frame, sent, nulls, meta=_labels_of_frame(X._meta, None, nulls))
    if kind == "bag":
        numbers = dask.bag.from_sequence(range(X.npartitions), npartitions=X.npartitions)
        return X.map_partitions(_labels_of_items, numbers, model=sent)
    return [delayed(_labels_of_chunk)(number, chunk, sent) for number, chunk in enumerate(_chunks_of(X))]


def distances(X: Any, model: bytes, names: list[str]) -> Any:
    """The distances of each row to the clusters of these names."""
    sent, kind = delayed(model, traverse=False), _kind_of(X)
    if kind == "array":
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        chunks, meta = (X.chunks[0], (len(names),)), np.empty((0, len(names)), dtype=dtype)
        return _by_rows(X, model).map_blocks(
            _distances_of_block, model=sent, columns=len(names), dtype=dtype, chunks=chunks, meta=meta
        )
    if kind == "frame":
        return X.map_partitions(_distances_of_frame, sent, names, meta=dict.fromkeys(names, np.float64))
    if kind == "bag":
        raise TypeError("transform takes no bag: make it a data frame by its to_dataframe()")
    return [delayed(_distances_of_chunk)(i, chunk, sent, len(names)) for i, chunk in enumerate(_chunks_of(X))]


def score(parts: Partitions, model: bytes, client: Any) -> float:
    sent = delayed(model, traverse=False)
    both = zip(parts.rows, parts.weights, strict=True)
    scores = [delayed(_score_of)(number, rows, weight, sent) for number, (rows, weight) in enumerate(both)]
    return float(computed(delayed(sum)(scores), client))


def _by_rows(X: Any, model: bytes) -> Any:
    """The array divided by rows only; raises ValueError if it does not have the columns of the model."""
    local, state = unpacked_model(model)
    if state.to_read is not None:
        raise ValueError(
            f"X is an array without names, and the model has the columns {', '.join(state.to_read)}: pass a data frame"
        )
    columns = local.n_features_in_
    if X.ndim != 2 or X.shape[1] != columns:
        raise ValueError(f"X has shape {X.shape} but the model has {columns} columns: pass the same columns")
    return X.rechunk({1: -1})


# -- what runs on the workers


# How an error says what to choose: columns of a data frame, or what `read_chunks` reads on a worker.
_OF_FRAME = InOptions({"read_chunks().columns": "X[[…]]", "read_chunks().numeric_only": "X.select_dtypes('number')"})


def _on_worker(name: str, *value: Any) -> str:
    return in_python(name, *value).replace("read_chunks(", "dask.delayed(read_chunks)(")


def _spelled_for(rows: Any) -> AbstractContextManager[None]:
    """Errors say what to do about these rows on Dask."""
    return spelled_in_task(_OF_FRAME if is_frame(rows) else _on_worker)


@contextmanager
def _partition(number: int, rows: Any) -> Iterator[None]:
    """Errors name the partition, too."""
    with in_partition(number), _spelled_for(rows):
        yield


def _done(work: Work, number: int, rows: Any, weight: Any) -> bytes:
    with _spelled_for(rows):
        return work(number, rows, weight)


def _merged(work: Work, sent: list[bytes]) -> bytes:
    return work.merged(sent)


def _rows_of_part(number: int, items: Any) -> Any:
    with in_partition(number):
        return _rows_of_items(items)


def _rows_of_items(items: Any, columns: Sequence[str] | None = None) -> Any:
    """The items of a partition of a bag as a table or an array. The columns of a table are in the order of names."""
    found = list(items)
    dictionaries = [isinstance(item, dict) for item in found]
    if any(dictionaries):
        import pyarrow as pa

        if not all(dictionaries):
            other = found[dictionaries.index(False)]
            raise TypeError(
                f"an item of the bag is a {type(other).__name__}, others are dictionaries: leave it out by filter"
            )

        # An item may lack a key: its value is missing.
        found = [{str(name): value for name, value in item.items()} for item in found]
        names = sorted({name for item in found for name in item}) if columns is None else columns
        return pa.table({name: [item.get(name) for item in found] for name in names})
    try:
        return np.array(found) if found else np.empty((0, 1))
    except ValueError:
        lengths = sorted({np.size(item) for item in found})
        raise ValueError(
            f"the items of the bag have {lengths[0]} to {lengths[-1]} values: each one is a row, so all need as many; "
            "leave the others out by filter, or pass dictionaries, where a missing value may be left out"
        ) from None


def _labels_of(rows: Any, model: bytes) -> NDArray[np.int64]:
    try:
        return np.concatenate([labels for _, labels in labelled(rows, model)])
    except NoRowsError:
        return np.empty(0, dtype=np.int64)


def _labels_of_block(block: Any, model: bytes, block_info: Any = None) -> Any:
    with _partition(_number(block_info), block):
        return _labels_of(block, model)


def _number(block_info: Any) -> int:
    return block_info[0]["chunk-location"][0] if block_info else 0


# Dask numbers the partitions of a frame after it has joined small files: the numbers are not named in errors.
def _labels_of_frame(part: Any, model: bytes | None, nulls: bool) -> Any:
    import pandas as pd

    labels = np.empty(0, dtype=np.int64) if model is None else _labels_of(part, model)
    found = pd.Series(labels, index=part.index, name="label")
    return found.astype("Int64").mask(labels == LEFT_OUT) if nulls else found


def _labels_of_items(items: Any, numbers: Any, model: bytes) -> list[int | None]:
    with in_partition(*numbers):
        labels = _labels_of(_rows_of_items(items, unpacked_model(model)[1].to_read), model).tolist()
    return [None if label == LEFT_OUT else label for label in labels]


def _labels_of_chunk(number: int, chunk: Any, model: bytes) -> Any:
    with _partition(number, chunk):
        return _labels_of(chunk, model)


def _prepared(rows: Any, weight: Any, model: bytes) -> Iterator[tuple[estimator.Betula, RowSource, Chunk]]:
    """The model, the source and each of its chunks of rows as the model takes them; nothing without rows.

    Rows are read as for the labels, so that all methods take the same rows.
    """
    whole, state = model_in(SENT_MODEL, container.unpacked(model, SENT_MODEL), estimator.Betula)
    whole.n_jobs = None  # threads are for the engine to share out
    whole.__dict__.pop("feature_names_in_", None)  # prepared rows have no names
    try:
        source = reading_for(state).source(rows, weight)
        for chunk in source.chunks():
            yield whole, source, state.preparation.apply(chunk, source)
    except NoRowsError:
        return


def _distances_of(rows: Any, model: bytes, columns: int) -> NDArray[np.floating[Any]]:
    dtype = np.float32 if getattr(rows, "dtype", None) == np.float32 else np.float64
    found: list[NDArray[np.floating[Any]]] = [np.empty((0, columns), dtype=dtype)]
    for whole, source, chunk in _prepared(rows, None, model):
        if chunk.left_out is not None:
            at = source.place_in(chunk, int(np.argmax(chunk.left_out)))
            raise ValueError(f"a value is missing in {at}: drop such rows before, as fit did")
        found.append(whole.transform(chunk.rows))
    return np.concatenate(found)


def _distances_of_block(block: Any, model: bytes, columns: int, block_info: Any = None) -> Any:
    return _distances_of_chunk(_number(block_info), block, model, columns)


def _distances_of_chunk(number: int, chunk: Any, model: bytes, columns: int) -> Any:
    with _partition(number, chunk):
        return _distances_of(chunk, model, columns)


def _distances_of_frame(part: Any, model: bytes, names: list[str]) -> Any:
    import pandas as pd

    found = _distances_of(part, model, len(names)).astype(np.float64, copy=False)
    return pd.DataFrame(found, columns=names, index=part.index)


def _score_of(number: int, rows: Any, weight: Any, model: bytes) -> float:
    total = 0.0
    with _partition(number, rows):
        for whole, _, chunk in _prepared(rows, weight, model):
            kept = np.ones(len(chunk), dtype=bool) if chunk.left_out is None else ~chunk.left_out
            if kept.any():
                weights = None if chunk.weight is None else chunk.weight[kept]
                total += whole.score(chunk.rows[kept], sample_weight=weights)
    return total

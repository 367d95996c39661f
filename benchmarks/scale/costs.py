"""What a worker and the client do, each alone in one process."""

from __future__ import annotations

import statistics
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.raw_rows import Row
from benchmarks.studies.merge_quality import run_here
from silverbirch import _core
from silverbirch.demo import COMPONENTS, DIMENSIONS
from silverbirch.engines.job import FAN_IN, fitted, take
from silverbirch.engines.partial import Partial
from silverbirch.engines.work import Aggregate, Count, Reading, labelled, packed_model, unpacked_model
from silverbirch.model import AggregateModel
from silverbirch.rows import read_chunks, source_of

Floats = NDArray[np.float64]
K = 500
CHUNK = 500_000


# -- rows


def uniform(rows: int, part: int) -> Floats:
    return np.random.default_rng([1, part]).uniform(0, 100, size=(rows, DIMENSIONS))


def mixture(rows: int, part: int) -> Floats:
    """Rows of the demonstration's mixture: 500 Gaussians, the same ones for every part."""
    common, random = np.random.default_rng(0), np.random.default_rng([2, part])
    centers = common.uniform(0, 100, size=(COMPONENTS, DIMENSIONS))
    shares = common.uniform(0.05, 1, size=COMPONENTS)
    component = random.choice(COMPONENTS, size=rows, p=shares / shares.sum())
    return centers[component] + DEVIATION * random.normal(size=(rows, DIMENSIONS))


DEVIATION = 1.5
DATA: dict[str, Callable[[int, int], Floats]] = {"uniform": uniform, "mixture": mixture}


def write_partition(path: Path, data: str, rows: int, part: int) -> str:
    """Writes a Parquet file of float64 columns."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"c{number}" for number in range(DIMENSIONS)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with parquet.ParquetWriter(path, schema) as writer:
        for number, begin in enumerate(range(0, rows, CHUNK)):
            X = DATA[data](min(CHUNK, rows - begin), 1000 * part + number)
            writer.write_table(pa.table(list(X.T), schema=schema))
    return str(path)


# -- times


class Timer:
    """Sums up wall and CPU seconds of what runs within it. CPU seconds are those of all threads."""

    def __init__(self) -> None:
        self.seconds = self.cpu = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.seconds += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    timer = Timer()
    with timer.running():
        result = work()
    return result, {"seconds": timer.seconds, "cpu": timer.cpu}


@contextmanager
def timed_trees() -> Iterator[Timer]:
    """Times the insertion of rows into trees, without reading them."""
    timer, insert = Timer(), AggregateModel.insert

    def timed_insert(self: AggregateModel, X: Any) -> AggregateModel:
        with timer.running():
            return insert(self, X)

    AggregateModel.insert = timed_insert  # type: ignore[method-assign]
    try:
        yield timer
    finally:
        AggregateModel.insert = insert  # type: ignore[method-assign]


# -- the costs


def measure(options: Namespace) -> Iterator[Row]:
    """All costs of all data, then all again."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        cases = [Case(Path(folder), data, options) for data in options.data]
        for repeat in range(options.repeats):
            for case in cases:
                for row in case.costs():
                    yield {"data": case.data, "repeat": repeat} | row


class Case:
    """A partition in a file, a model of it, and sets of features of the same kind of rows."""

    def __init__(self, folder: Path, data: str, options: Namespace) -> None:
        self.data, self.rows = data, options.rows
        self.path = write_partition(folder / f"{data}.parquet", data, self.rows, 0)
        self.model = AggregateModel(K, max_leaves=options.max_leaves, refine=0)
        self.aggregate = Aggregate(Reading(), AggregateModel.get_params(self.model))
        self.state, _ = fitted(self.model, Reading(), run_here([self.path]))
        self.sets = [self.aggregate(part, DATA[data](options.set_rows, part)) for part in range(FAN_IN)]

    def costs(self) -> Iterator[Row]:
        yield from self._passes()
        yield from self._merges()
        yield from self._of_the_model()

    def _passes(self) -> Iterator[Row]:
        yield self._a_row("read", timed(lambda: [len(chunk) for chunk in read_chunks(self.path)])[1])
        with timed_trees() as trees:
            sent, found = timed(lambda: self.aggregate(0, self.path))
        yield self._a_row("aggregate", found)
        yield self._a_row("tree", {"seconds": trees.seconds, "cpu": trees.cpu})
        yield {"cost": "set bytes", "value": len(sent), "features": len(Partial.from_bytes(sent).features or ())}

        self.model._set_clustering(None)  # as it is between two passes
        packed, found = timed(lambda: packed_model(self.model, self.state))
        yield {"cost": "pack counted model"} | found
        yield {"cost": "counted model bytes", "value": len(packed)}
        unpacked_model(packed)
        self.counts, found = timed(lambda: Count(Reading(), packed)(0, self.path))
        yield self._a_row("count", found)
        yield {"cost": "counts bytes", "value": len(self.counts)}

    def _merges(self) -> Iterator[Row]:
        parts = [Partial.from_bytes(data) for data in self.sets]
        features = sum(len(part.features or ()) for part in parts)
        yield {"cost": "pack set"} | timed(lambda: parts[0].to_bytes())[1]
        yield {"cost": "unpack set"} | timed(lambda: Partial.from_bytes(self.sets[0]))[1]
        yield {"cost": "merge", "features": features} | timed(lambda: self.aggregate.merged(self.sets))[1]
        counts, fresh = Count(Reading(), b""), AggregateModel(**AggregateModel.get_params(self.model))
        yield {"cost": "take"} | timed(lambda: take(fresh, parts[0]))[1]
        yield {"cost": "merge counts"} | timed(lambda: counts.merged([self.counts] * FAN_IN))[1]

    def _of_the_model(self) -> Iterator[Row]:
        features = self.model.features_
        yield {"cost": "linkage", "features": len(features)} | timed(self.model._cluster_now)[1]
        packed, found = timed(lambda: packed_model(self.model, self.state))
        yield {"cost": "pack model"} | found
        yield {"cost": "model bytes", "value": len(packed)}
        unpacked_model.cache_clear()
        yield {"cost": "unpack model"} | timed(lambda: unpacked_model(packed))[1]
        yield {"cost": "index"} | timed(lambda: _core.NearestIndex(features.mean))[1]
        rows = source_of(read_chunks(self.path))
        yield self._a_row("label", timed(lambda: np.concatenate([labels for _, labels in labelled(rows, packed)]))[1])

    def _a_row(self, cost: str, found: dict[str, float]) -> Row:
        return {"cost": cost, "rows": self.rows} | {name: value / self.rows for name, value in found.items()}


def median_of(rows: list[Row], cost: str, data: str | None = None) -> float:
    """The median of what was measured. Of seconds, the larger of wall and CPU time: there is a worker on each core."""
    chosen = [row for row in rows if row.get("cost") == cost and data in (None, row.get("data"))]
    if not chosen:
        raise SystemExit(f"no raw row has the cost {cost!r}: run `python -m benchmarks.studies.scale measure`")
    return statistics.median(
        row["value"] if "value" in row else max(row["seconds"], row.get("cpu", 0)) for row in chosen
    )

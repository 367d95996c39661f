"""The time of `fit` and of the labels for any number of workers, from measured costs.

Terms are added, as if nothing happened at the same time. In a real run, merges start while partitions are still being
built, and the scheduler works meanwhile. Nothing proves the sum a bound, so the page compares it with whole runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.raw_rows import Row
from silverbirch.engines.job import FAN_IN, rounds_of_merges

from .cluster import SMALL
from .costs import DATA, median_of

WORKERS = (1, 10, 100, 1_000, 10_000)
PARTITION = 10_000_000
MOST_WORKERS = 1 << 20
Terms = dict[str, float]
WORK = ("aggregate", "refine", "label")  # the terms that more workers share


@dataclass(frozen=True)
class Costs:
    """Seconds and bytes. Those of a row and of merges are of the slower one of the data sets."""

    aggregate: float  # of a row: read it and insert it into the tree
    count: float  # of a row: read it, find its nearest feature and count it there
    label: float  # of a row: read it, and find its nearest feature
    merge: float  # of FAN_IN sets of features; unpacked before, packed after
    merge_counts: float
    set_bytes: float
    counts_bytes: float
    counted_model_bytes: float
    model_bytes: float
    pack_model: float
    open_model: float  # unpack it and build its index
    take: float  # the client makes features the leaves of a model
    linkage: float
    next_task: float  # from a task to the next one, on another worker: all that does not grow with the bytes
    bytes_a_second: float
    partition: float  # the scheduler's time for a partition, in each pass

    @classmethod
    def of(cls, rows: list[Row]) -> Costs:
        present = [data for data in DATA if any(row.get("data") == data for row in rows)]

        def slower(cost: str) -> float:
            return max(median_of(rows, cost, data) for data in present)

        return cls(
            aggregate=slower("aggregate"),
            count=slower("count"),
            label=slower("label"),
            merge=slower("merge"),
            merge_counts=slower("merge counts"),
            set_bytes=slower("set bytes"),
            counts_bytes=slower("counts bytes"),
            counted_model_bytes=slower("counted model bytes"),
            model_bytes=slower("model bytes"),
            pack_model=slower("pack model"),
            open_model=slower("unpack model") + slower("index"),
            take=slower("take"),
            linkage=slower("linkage"),
            next_task=in_chain(rows, "moves", SMALL),
            bytes_a_second=_bytes_a_second(rows),
            partition=_a_partition(rows),
        )

    def sent(self, size: float) -> float:
        """The seconds to send so many bytes."""
        return self.next_task + size / self.bytes_a_second


def in_chain(rows: list[Row], cost: str, size: int) -> float:
    """The seconds of a task in a chain whose results of so many bytes move from worker to worker, or stay."""
    return median_of([row for row in rows if row.get("bytes") == size], cost)


def _bytes_a_second(rows: list[Row]) -> float:
    large = max(row["bytes"] for row in rows if row.get("cost") == "moves")
    return (large - SMALL) / max(1e-9, in_chain(rows, "moves", large) - in_chain(rows, "moves", SMALL))


def largest_graph(rows: list[Row]) -> list[Row]:
    graphs = [row for row in rows if row.get("cost") == "scheduler"]
    return [row for row in graphs if row["partitions"] == max(graph["partitions"] for graph in graphs)]


def _a_partition(rows: list[Row]) -> float:
    graphs = largest_graph(rows)
    return median_of(graphs, "scheduler") / graphs[0]["partitions"]


@lru_cache(maxsize=4096)
def merges_in_turn(partitions: int, workers: int) -> tuple[float, int]:
    """The merges of FAN_IN sets that the busiest worker makes one after another, and the number of their sets."""
    sets = sum(math.ceil(len(groups) / workers) * len(groups[0]) for groups in rounds_of_merges(partitions))
    return sets / FAN_IN, sets


def partitions_of(workers: int, rows: int, partition: int) -> int:
    """`rows` are those of each worker."""
    return workers * math.ceil(rows / partition)


def spread(costs: Costs, workers: int, size: float) -> float:
    """To the scheduler, to a first worker, and from there to every other one."""
    return 3 * costs.next_task + (1 + workers) * size / costs.bytes_a_second


def fit(costs: Costs, workers: int, rows: int = PARTITION, partition: int = PARTITION) -> Terms:
    """The seconds of `fit` with refine=1, by what takes them. `rows` are those of each worker."""
    partitions = partitions_of(workers, rows, partition)
    merges, sets = merges_in_turn(partitions, workers)
    transfers = (sets + 1) * (costs.sent(costs.set_bytes) + costs.sent(costs.counts_bytes))  # 1: to the client
    model = costs.pack_model + costs.open_model + spread(costs, workers, costs.counted_model_bytes)
    return {
        "aggregate": rows * costs.aggregate,
        "refine": rows * costs.count,
        "merges": merges * (costs.merge + costs.merge_counts),
        "transfers": transfers,
        "scheduler": 2 * partitions * costs.partition,
        "model": model,
        "client": costs.take + costs.linkage,
    }


def label(costs: Costs, workers: int, rows: int = PARTITION, partition: int = PARTITION) -> Terms:
    """The seconds of the labels of all rows, which stay where they are."""
    return {
        "label": rows * costs.label,
        "scheduler": partitions_of(workers, rows, partition) * costs.partition,
        "model": costs.pack_model + costs.open_model + spread(costs, workers, costs.model_bytes),
    }


def total(terms: Terms) -> float:
    return sum(terms.values())


def overhead(terms: Terms) -> float:
    """The share of the time in which more workers do not help."""
    return 1 - sum(terms.get(name, 0) for name in WORK) / total(terms)


def workers_at(share: float, terms_of: Callable[[int], Terms]) -> int | None:
    """The least number of workers with this overhead, to a percent; None if it is beyond MOST_WORKERS."""
    workers = 1
    while overhead(terms_of(workers)) <= share:
        workers = max(workers + 1, int(1.01 * workers))
        if workers > MOST_WORKERS:
            return None
    return workers

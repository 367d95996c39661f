"""The jobs, each of which gives one raw row, and the sizes of the experiments."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from silverbirch.linkage import matching_distance

from .data_sets import MIXTURE_SIDE, DataSet

# The paper's names of what is clustered, and the alternatives.
FULL, CENTERS, LINKAGE, AGGREGATION = "full data", "CF centers", "CF linkage", "CF aggregation"
SAMPLE, KMEANS, BIRCH = "random sample", "MiniBatchKMeans", "scikit-learn Birch"
MODES = {CENTERS: "centers", LINKAGE: "linkage", AGGREGATION: "aggregation"}


@dataclass(frozen=True)
class ClusterJob:
    """Clusters rows; measures the time and the quality of the cut into k clusters."""

    data: str
    rows: int
    input: str
    linkage: str
    k: int
    algorithm: str = "auto"
    order: int = 0
    max_leaves: int | None = None
    distance: str | None = None
    absorption: str | None = None
    metric: str = "sqeuclidean"  # of average and weighted on full data: the paper's UPGMA is of squared distances
    draw: int = 0
    side: float = MIXTURE_SIDE

    task = "cluster"

    def data_set(self) -> DataSet:
        return DataSet(self.data, self.rows, self.k, self.order, self.draw, self.side)

    def matrix_bytes(self) -> int:
        """The bytes of the distances of all pairs, if the algorithm stores them; else 0."""
        if self.algorithm != "anderberg":
            return 0
        objects = self.rows if self.input == FULL else min(self.rows, self.max_leaves or self.rows)
        return 4 * objects * (objects - 1)

    def over(self, orders: int) -> list[ClusterJob]:
        return [replace(self, order=order) for order in range(orders)]


@dataclass(frozen=True)
class VarianceErrorJob:
    """Measures the largest relative error of the variance in cluster features, on rows moved away from the origin."""

    features: str
    offset: float
    rows: int

    task = "variance error"


@dataclass(frozen=True)
class MovedTreeJob:
    """Measures the leaves and quality of a tree with a fixed threshold, on rows moved away from the origin."""

    tree: str
    dtype: str
    offset: float
    rows: int
    k: int

    task = "moved tree"


Job = ClusterJob | VarianceErrorJob | MovedTreeJob
TASKS: dict[str, type[Job]] = {job.task: job for job in (ClusterJob, VarianceErrorJob, MovedTreeJob)}


def as_dict(job: Job) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    given = {f.name: getattr(job, f.name) for f in fields(job) if getattr(job, f.name) != f.default}
    return {"task": job.task} | given


def from_dict(given: dict[str, Any]) -> Job:
    return TASKS[given["task"]](**{name: value for name, value in given.items() if name != "task"})


@dataclass(frozen=True)
class Scale:
    """The sizes of a full run or of a quick run."""

    rows: int
    k: int
    max_leaves: int
    sizes: tuple[int, ...]
    most_anderberg: int
    most_nn_chain: int
    most_auto: int
    budgets: tuple[int, ...]
    many_rows: int
    orders: int
    few_orders: int
    draws: int
    offsets: tuple[float, ...]
    moved_rows: int
    as_published: bool  # whether numbers can be set beside the paper's

    def tree(self, data: str, linkage: str, **changes: Any) -> ClusterJob:
        """CF linkage as in the paper: the CF distance that matches the linkage, also as absorption criterion."""
        distance = matching_distance(linkage)
        job = ClusterJob(
            data, self.rows, LINKAGE, linkage, self.k,
            max_leaves=self.max_leaves, distance=distance, absorption=distance,
        )  # fmt: skip
        return replace(job, **changes)

    def full(self, data: str, linkage: str, **changes: Any) -> ClusterJob:
        return replace(ClusterJob(data, self.rows, FULL, linkage, self.k), **changes)


WHOLE = Scale(
    rows=50_000,
    k=500,
    max_leaves=25_000,
    sizes=(1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000),
    most_anderberg=50_000,
    most_nn_chain=100_000,
    most_auto=1_000_000,
    budgets=(1_000, 5_000, 25_000),
    many_rows=250_000,
    orders=10,
    few_orders=3,
    draws=10,
    offsets=(0.0, *(10.0**exponent for exponent in range(11))),
    moved_rows=20_000,
    as_published=True,
)
QUICK = Scale(
    rows=6_000,
    k=100,
    max_leaves=2_000,
    sizes=(500, 2_000, 6_000, 24_000),
    most_anderberg=2_000,
    most_nn_chain=6_000,
    most_auto=24_000,
    budgets=(250, 1_000),
    many_rows=24_000,
    orders=2,
    few_orders=2,
    draws=2,
    offsets=(0.0, 1e4, 1e8),
    moved_rows=2_000,
    as_published=False,
)

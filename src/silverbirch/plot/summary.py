"""The rows or the columns of a heat map: clustered, and cut into as many branches as a picture can show."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..checks import Floats
from ..dendrogram import Dendrogram
from ..dendrogram.measured import checked_z
from ..dendrogram.nodes import Nodes
from ..directions import METRICS
from ..features import ClusterFeatures
from ..linkage import leaf_order, linkage
from ..model.aggregate_model import AggregateModel
from ..rows import source_of
from .layout import Layout, layout

_MOST_WORK = 10**11  # products of two numbers to compare all columns: minutes


@dataclass(frozen=True)
class Clustered:
    """The dendrogram of all rows, or of the leaves that they were aggregated to."""

    Z: Floats
    leaf_of_row: Nodes

    @property
    def n_leaves(self) -> int:
        return len(self.Z) + 1

    @property
    def is_exact(self) -> bool:
        return self.n_leaves == len(self.leaf_of_row)


@dataclass(frozen=True)
class Side:
    """One side of a heat map: its rows, or its columns, in branches."""

    branch_of_row: Nodes  # the place of the branch of each row in the picture
    n_branches: int
    order: Nodes  # the rows in the order of the picture
    tree: Layout | None = None  # whose tips are the branches; None if the rows are not clustered
    Z: Floats | None = None

    @property
    def counts(self) -> Nodes:
        """The number of rows in each branch."""
        return np.bincount(self.branch_of_row, minlength=self.n_branches)

    def means(self, rows: Floats) -> Floats:
        """The mean of the rows of each branch, in the order of the picture."""
        if self.n_branches == len(rows):
            return rows[self.order]
        weight, means, _ = _core.grouped(np.ascontiguousarray(rows), None, self.branch_of_row, self.n_branches, None)
        means[weight == 0] = np.nan  # a leaf that is nearest to no row
        return means


@dataclass(frozen=True)
class Job:
    """How rows are clustered."""

    method: Any
    metric: Any
    max_leaves: int
    optimal_ordering: bool
    n_jobs: int | None


def clustered(rows: Floats, job: Job, given: Any, name: str) -> Clustered | None:
    """Clusters rows exactly, or aggregates them first if there are more than `max_leaves`; None for a single row.

    given : a linkage matrix of the rows, which is taken as it is
    name : "row" or "col", for messages
    """
    n = len(rows)
    if given is not None:
        Z = checked_z(given, counted=False)
        if len(Z) + 1 != n:
            raise ValueError(
                f"{name}_linkage has {len(Z) + 1} leaves but there are {n} {'rows' if name == 'row' else 'columns'}: "
                "they must belong together"
            )
        Z[:, 3] = _core.leaf_counts(Z)
        return Clustered(Z, np.arange(n))
    if n < 2:
        return None
    if n <= job.max_leaves:
        Z = np.asarray(linkage(rows, job.method, job.metric, n_jobs=job.n_jobs))
        return Clustered(_ordered(Z, rows, job), np.arange(n))
    if job.metric not in METRICS:
        raise ValueError(
            f"metric={job.metric!r} of {n:,} {'rows' if name == 'row' else 'columns'}: more than "
            f"max_leaves={job.max_leaves:,} are aggregated first, which needs one of {', '.join(METRICS)}; raise "
            f"max_leaves, or pass {name}_linkage"
        )
    model = AggregateModel(linkage=job.method, metric=job.metric, max_leaves=job.max_leaves, n_jobs=job.n_jobs)
    model.insert(rows)
    Z = _ordered(np.asarray(model.linkage_matrix_), model.features_.mean, job)
    return Clustered(Z, model._leaf_of(model._directed(source_of(rows))))


def _ordered(Z: Floats, leaves: Floats, job: Job) -> Floats:
    """Z with children exchanged so that neighbours are near, if the job asks for that."""
    if not job.optimal_ordering:
        return Z
    return Dendrogram(Z).ordered(leaf_order(Z, leaves, metric=job.metric, n_jobs=job.n_jobs)).Z


def cut_side(rows: Floats, found: Clustered, max_branches: int) -> Side:
    """Cuts the dendrogram of the rows into branches: the branch of the largest sum of squares is split next.

    So each split takes as much of the difference between the rows and the picture as one split can.
    """
    children = found.Z[:, :2].astype(np.int64)
    if found.n_leaves <= max_branches:
        drawn = np.arange(len(children))
    else:
        drawn = _widest(children, _sums_of_squares(rows, found), max_branches)
    tree = layout(children, drawn)
    hierarchy = Dendrogram(found.Z)._hierarchy
    place = hierarchy.first[found.leaf_of_row]
    begins = hierarchy.first[tree.tips]  # of each branch, among the leaves
    branch = np.searchsorted(begins, place, side="right") - 1
    return Side(branch, tree.n_tips, np.argsort(place, kind="stable"), tree, found.Z)


def _sums_of_squares(rows: Floats, found: Clustered) -> Floats:
    """The sum of squares of each node."""
    leaves = _core.grouped(np.ascontiguousarray(rows), None, found.leaf_of_row, found.n_leaves, None)
    features = ClusterFeatures._adopt(*leaves)
    return np.concatenate([features.sse, Dendrogram(found.Z, features).merged_features.sse])


def _widest(children: Nodes, squares: Floats, max_branches: int) -> Nodes:
    n = len(children) + 1
    waiting = [(-float(squares[2 * n - 2]), 2 * n - 2)]
    drawn: list[int] = []
    while waiting and len(drawn) < max_branches - 1:
        negative, node = heapq.heappop(waiting)
        if negative == 0:  # equal rows
            break
        drawn.append(node - n)
        for child in children[node - n].tolist():
            if child >= n:
                heapq.heappush(waiting, (-float(squares[child]), child))
    return np.sort(np.array(drawn, dtype=np.int64))


def in_given_order(n_rows: int, max_branches: int) -> Side:
    """Rows that are not clustered: neighbours share a branch if there are too many."""
    count = min(n_rows, max_branches)
    return Side(np.arange(n_rows) * count // n_rows, count, np.arange(n_rows))


def column_points(rows: Floats, metric: Any, found: Clustered | None) -> tuple[Floats, Any]:
    """The columns as points to cluster, and the metric for them.

    If that is much work, and the rows were aggregated, their leaves stand for them: a leaf of w rows counts w times.
    """
    much = rows.shape[0] * rows.shape[1] ** 2 > _MOST_WORK
    if not much or found is None or found.is_exact or metric not in METRICS:
        return np.ascontiguousarray(rows.T), metric
    weight, mean, _ = _core.grouped(np.ascontiguousarray(rows), None, found.leaf_of_row, found.n_leaves, None)
    if metric == "correlation":
        mean, metric = mean - (weight / weight.sum()) @ mean, "cosine"
    return np.ascontiguousarray((np.sqrt(weight)[:, None] * mean).T), metric


def most_frequent(codes: NDArray[np.int64], side: Side) -> NDArray[np.int64]:
    """The code that most rows of each branch have; of equally frequent ones the lowest."""
    n_codes = int(codes.max()) + 1
    votes = np.bincount(side.branch_of_row * n_codes + codes, minlength=side.n_branches * n_codes)
    return np.asarray(votes.reshape(side.n_branches, n_codes).argmax(axis=1))

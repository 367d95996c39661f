"""Exact nearest neighbours by complete, average or weighted linkage of the objects in clusters.

The search by means gives lower bounds. For complete linkage the maximum of squared distances is at least their mean,
|m_a − m_b|² + s_a + s_b with the variances s; for average and weighted linkage a mean distance is at least that of the
means (Jensen). For clusters of one object each both bounds are the distance. A list of neighbours by such a bound is
measured over the objects, and the nearest one is certain if its distance is below all bounds beyond the list.

Else all clusters are measured whose bounds are no more than the least distance measured, if they are not too many. The
distances to all clusters are the last resort.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .bounds import Limits, slack_of, threshold_for
from .clusters import LENGTH, Clusters
from .members import Members
from .objects import Objects
from .search import _WIDTH, Search

if TYPE_CHECKING:
    from torch import Tensor

_PARTS = 64
_WIDEST = 1024  # of a table of candidates; where there are more, measuring all clusters is faster
_MEAN_ERROR = 1e-12 * 2.0**13  # in each coordinate of a mean after many merges: generous; see objects.py for the 13
_ROUNDING = 1e-10  # of distances that are summed up in another order: generous


class MemberSearch(Search):
    """As Search, whose bounds it uses, but distances and reaches are squares of those of the linkage."""

    def __init__(self, objects: Objects, linkage: str, buffer_bytes: int, kernels: bool | None = None) -> None:
        import torch

        average = linkage == "average"
        points = replace(
            objects,
            weight=objects.weight if average else torch.ones_like(objects.weight),
            sse=torch.zeros_like(objects.sse),
        )
        kernels = objects.mean.is_cuda if kernels is None else kernels
        super().__init__(Clusters(points, "weighted" if linkage == "weighted" else "average"), buffer_bytes, kernels)
        self.linkage = linkage
        self.members = Members(self.clusters, linkage, kernels)
        self.counts["widened"] = 0
        self._margin = _MEAN_ERROR * self.clusters.columns**0.5

    def find(self, queries: Tensor) -> None:
        super().find(queries)
        self._find_within(self._unsettled(queries))
        self.measure_all(self._unsettled(queries))

    def _unsettled(self, queries: Tensor) -> Tensor:
        return queries[self.clusters.unsettled[queries] != 0]

    def _settle(self, queries: Tensor, table: Tensor, reach: Tensor) -> None:
        """Measures candidates and settles the queries. What is not in the table has a bound of at least `reach`."""
        if len(queries):
            self._settle_beyond(queries, table, self._proven(reach))

    def _proven(self, bound: Tensor) -> Tensor:
        return (bound.sqrt() - self._margin).clamp(min=0).square() * (1 - 1e-12)

    def find_in_lists(self, queries: Tensor) -> None:
        for some in queries.split(self._rows_of_tables(2 * LENGTH)):
            self._settle_beyond(some, self.clusters.listed[some], self.clusters.reach[some])

    def _rows_of_tables(self, width: int) -> int:
        return max(1, self._buffer_bytes // (256 * width))

    def _find_in_a_crowd(self, queries: Tensor, bounds: Tensor, limits: Limits, counts: Tensor, weighted: bool) -> None:
        """Their tables were too short: the reach does not hold, but the distances are distances."""
        c = self.clusters
        queries = queries[counts > _WIDTH]
        self.counts["crowded"] += len(queries)
        c.nearest[queries] = -1
        c.unsettled[queries] = 1
        c.reach[queries] = 0.0

    def _settle_beyond(self, queries: Tensor, table: Tensor, reach: Tensor) -> None:
        import torch

        c = self.clusters
        slot = torch.where(table >= 0, c.survivor[table.clamp(min=0)], c.padded).long()
        slot = torch.sort(slot.masked_fill_(slot == queries[:, None], c.padded), 1).values
        present = slot < c.padded
        present[:, 1:] &= slot[:, 1:] != slot[:, :-1]
        row, place = present.nonzero(as_tuple=True)
        distance = torch.full(slot.shape, torch.inf, dtype=torch.float64, device=slot.device)
        distance[row, place] = self.members.between(queries[row], slot[row, place])
        distance, order = torch.sort(distance, dim=1, stable=True)  # ties: the lowest slot first
        slot = torch.gather(slot, 1, order)
        certain = distance[:, 0] < reach
        c.nearest[queries] = torch.where(certain, slot[:, 0], -1).int()
        c.unsettled[queries] = (~certain).to(torch.int8)
        c.distance[queries] = distance[:, 0]
        if slot.shape[1] > LENGTH:
            reach = torch.minimum(reach, distance[:, LENGTH])
        c.reach[queries] = reach
        listed = torch.full((len(queries), 2 * LENGTH), -1, dtype=torch.int32, device=slot.device)
        kept = slice(0, min(LENGTH, slot.shape[1]))
        listed[:, kept] = torch.where(distance[:, kept] < reach[:, None], slot[:, kept], -1).int()
        c.listed[queries] = listed

    def _find_within(self, queries: Tensor) -> None:
        """Settles the queries with few clusters whose bounds are no more than the least distance known."""
        c = self.clusters
        if len(queries) == 0:
            return
        self.counts["widened"] += len(queries)
        self.counts["pairs"] += len(queries) * c.padded
        extremes = self._steps.describe(c, 1.0 - slack_of(c.half.shape[1]))
        of_bounds = self._buffer_bytes // (c.padded // 8)
        for some in queries.split(max(128, min(of_bounds, self._rows_of_tables(_WIDEST)) // 128 * 128)):
            self._find_in_bounds(some, extremes)

    def _find_in_bounds(self, queries: Tensor, extremes: Tensor) -> None:
        c = self.clusters
        reach = ((c.distance[queries].sqrt() + 2 * self._margin) * (1 + _ROUNDING)).square()
        threshold = threshold_for(c, queries, reach, extremes)
        bounds, _ = self._steps.minima(c, queries, False, _PARTS)
        groups = (bounds[:, : len(queries)] <= threshold).sum(0)
        few = groups <= _WIDEST
        threshold = threshold.where(few, -1e38)
        width = min(_WIDEST, c.padded)
        table, counts = self._steps.candidates(c, queries, bounds, threshold, False, width)
        found = (few & (counts <= width)).nonzero().squeeze(1)
        if len(found):
            widest = max(1, int(counts[found].max()))
            self._settle(queries[found], table[found, :widest], reach[found])

    def measure_all(self, queries: Tensor) -> None:
        """Settles the queries by their distances to all clusters."""
        import torch

        c = self.clusters
        self.counts["unproven"] += len(queries)
        gone = c.alive == 0
        for some, distance in self.members.to_all(queries, self._buffer_bytes):
            distance.masked_fill_(gone, torch.inf)
            distance[torch.arange(len(some), device=some.device), some] = torch.inf
            nearest = distance.topk(min(LENGTH, c.active - 1), dim=1, largest=False).values
            limit = torch.maximum(nearest[:, -1], nearest[:, 0] * (1 + 2 * _ROUNDING))
            row, column = (distance <= limit[:, None]).nonzero(as_tuple=True)
            counts = torch.bincount(row, minlength=len(some))
            place = torch.arange(len(row), device=row.device) - (counts.cumsum(0) - counts)[row]
            table = torch.full((len(some), int(counts.max())), -1, dtype=torch.int64, device=row.device)
            table[row, place] = column
            self._settle_beyond(some, table, limit * (1 - 0.5 * _ROUNDING))

    def merge(self, first: Tensor, second: Tensor) -> None:
        """Merges pairs. What is far from both parts is as far from both together as the linkage says."""
        import torch

        c = self.clusters
        reach_a, reach_b = c.reach[first].sqrt(), c.reach[second].sqrt()
        if self.linkage == "complete":
            reach = torch.maximum(reach_a, reach_b)
        else:
            equal = self.linkage == "weighted"
            share = 0.5 if equal else c.weight[second] / (c.weight[first] + c.weight[second])
            reach = reach_a + (reach_b - reach_a) * share
        c.reach[first] = c.reach[second] = reach.square() * (1 - 1e-12)
        super().merge(first, second)
        if self.linkage != "complete":
            c.spread.zero_()
        self.members.merged(first, second)

    def compact(self) -> None:
        self.members.compact()

    def fill(self, matrix: Tensor) -> None:
        """Writes the distances of all clusters, which fill the first slots: for complete linkage their squares."""
        import torch

        side = len(matrix)
        for some, distance in self.members.to_all(torch.arange(side, device=matrix.device), self._buffer_bytes):
            matrix[some] = distance[:, :side] if self.linkage == "complete" else distance[:, :side].sqrt_()
        step = 4096
        for begin in range(0, side, step):  # symmetric to the bit
            end = min(begin + step, side)
            corner = matrix[begin:end, begin:end]
            corner.copy_(torch.triu(corner) + torch.triu(corner, 1).T)
            matrix[end:, begin:end] = matrix[begin:end, end:].T

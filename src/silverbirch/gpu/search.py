"""Exact nearest neighbours of many clusters among all: bounds from float16 products, then distances in float64."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from . import plain
from .bounds import Limits, slack_of
from .clusters import Clusters

if TYPE_CHECKING:
    from torch import Tensor

_WIDTH = 64  # candidates of a query for which there is room at first
_LISTS = 1 << 20  # lists that are measured at a time
_PARTS = 64  # of the columns: their least bounds give the wider threshold


class Search:
    """`counts` says how many clusters were searched for and how their bounds fared.

    `buffer_bytes` limits the memory for the bounds: queries are searched for in batches. `kernels`: whether steps are
    done by kernels or in plain torch. None: by kernels on a GPU.
    """

    def __init__(self, clusters: Clusters, buffer_bytes: int, kernels: bool | None = None) -> None:
        self.clusters = clusters
        self._buffer_bytes = buffer_bytes
        self.counts = {"searches": 0, "pairs": 0, "crowded": 0, "unproven": 0}
        self._steps: ModuleType = plain
        if clusters.mean.is_cuda if kernels is None else kernels:
            from . import fused

            self._steps = fused

    def find_in_lists(self, queries: Tensor) -> None:
        """Settles those queries whose lists can tell."""
        c = self.clusters
        for some in queries.split(_LISTS):
            self._settle(some, c.listed[some], c.reach[some])

    def find(self, queries: Tensor) -> None:
        """Settles the queries, which are slots in ascending order."""
        if len(queries) == 0:
            return
        c = self.clusters
        slack = slack_of(c.half.shape[1])
        extremes = self._steps.describe(c, 1.0 - slack)
        self.counts["searches"] += len(queries)
        self.counts["pairs"] += len(queries) * c.padded
        batch = max(128, self._buffer_bytes // (c.padded // 8) // 128 * 128)
        for begin in range(0, len(queries), batch):
            self._find(queries[begin : begin + batch], extremes, slack)

    def _find(self, queries: Tensor, extremes: Tensor, slack: float) -> None:
        c = self.clusters
        weighted = c.linkage == "ward" and not c.uniform
        bounds, least = self._steps.minima(c, queries, weighted, _PARTS)
        limits = self._steps.thresholds(c, queries, least, extremes, slack)
        table, counts = self._steps.candidates(c, queries, bounds, limits.threshold, weighted, _WIDTH)
        self._settle(queries, table, limits.reach)
        if bool((counts > _WIDTH).any()):
            self._find_in_a_crowd(queries, bounds, limits, counts, weighted)

    def _find_in_a_crowd(self, queries: Tensor, bounds: Tensor, limits: Limits, counts: Tensor, weighted: bool) -> None:
        """For queries with more candidates than their tables hold, as in small groups far from the origin."""
        crowded = (counts > _WIDTH).nonzero().squeeze(1)
        self.counts["crowded"] += len(crowded)
        width = 1 << (int(counts.max()) - 1).bit_length()
        most = self._buffer_bytes // (4 * len(bounds) + 64 * width)
        for some in crowded.split(max(1, most)):
            found = (queries[some], bounds[:, some], limits.threshold[some], weighted, width)
            table, _ = self._steps.candidates(self.clusters, *found)
            self._settle(queries[some], table, limits.reach[some])

    def _settle(self, queries: Tensor, table: Tensor, reach: Tensor) -> None:
        self._steps.settle(self.clusters, queries, table, reach)

    def merge(self, first: Tensor, second: Tensor) -> None:
        """Merges pairs: the first slot takes the merged cluster, the second is free."""
        self._steps.merge(self.clusters, first, second)
        self.clusters.active -= len(first)
        self.clusters.uniform = False

    def compact(self) -> None:
        self.clusters.compact()

    def measure_all(self, queries: Tensor) -> None:
        """Settles the queries by their distances to all clusters."""
        import torch

        c = self.clusters
        self.counts["unproven"] += len(queries)
        everyone = torch.where(c.alive != 0, torch.arange(c.padded, device=queries.device), -1).int()
        for query in queries.split(max(1, self._buffer_bytes // (32 * c.padded))):
            infinite = torch.full((len(query),), torch.inf, dtype=torch.float64, device=query.device)
            plain.settle(c, query, everyone.expand(len(query), -1), infinite)

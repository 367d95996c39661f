"""Ward, and average and weighted linkage of squared distances, by rounds of reciprocal nearest neighbours.

These linkages are reducible: merging two clusters brings no third one nearer to them. So in every round all pairs that are
nearest neighbours of each other can be merged, whatever their order (Murtagh 1983).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .clusters import Clusters
from .objects import Objects
from .search import Search

if TYPE_CHECKING:
    from torch import Tensor

_COMPACT_BELOW = 0.85  # the share of the slots that hold clusters


def cluster_by_rounds(
    objects: Objects, linkage: str, buffer_bytes: int = 1 << 32, report: Callable[[int, int], None] | None = None
) -> dict[str, int]:
    """Adds all merges to `objects.merges`; returns counts of what was done."""
    clusters = Clusters(objects, linkage)
    search = Search(clusters, buffer_bytes)
    total = clusters.active
    rounds = 0
    while clusters.active > 1:
        rounds += 1
        unknown = (clusters.alive != 0) & (clusters.nearest < 0)
        search.find_in_lists((unknown & (clusters.unsettled == 0)).nonzero().squeeze(1))
        extremes = search.find((unknown & (clusters.nearest < 0)).nonzero().squeeze(1))
        first, second = _reciprocal(clusters)
        if len(first) == 0:
            search.measure_all(((clusters.alive != 0) & (clusters.nearest < 0)).nonzero().squeeze(1))
            first, second = _reciprocal(clusters)
        _merge(clusters, search, first, second, extremes)
        if clusters.active < _COMPACT_BELOW * clusters.slots:
            clusters.compact()
        if report:
            report(total - clusters.active, total)
    return {"rounds": rounds, **search.counts}


def _reciprocal(clusters: Clusters) -> tuple[Tensor, Tensor]:
    import torch

    near = clusters.nearest.long()
    slot = torch.arange(clusters.padded, device=near.device)
    first = ((near > slot) & (near[near.clamp(min=0)] == slot)).nonzero().squeeze(1)
    return first, near[first]


def _merge(clusters: Clusters, search: Search, first: Tensor, second: Tensor, extremes: Tensor) -> None:
    import torch

    c = clusters
    distance = c.distance[first]
    height = (2.0 * distance if c.linkage == "ward" else distance).sqrt()
    rank = torch.maximum(height, torch.maximum(c.rank[first], c.rank[second]))
    merged = c.merges.add(c.cluster[first], c.cluster[second], height, rank)
    search.steps.merge(c, first, second, extremes[3])
    c.cluster[first] = merged
    c.rank[first] = rank
    c.active -= len(first)
    c.uniform = False

"""Ward, and average and weighted linkage of squared distances, by rounds of reciprocal nearest neighbours.

These linkages are reducible: merging two clusters brings no third one nearer to them. So in every round all pairs that
are nearest neighbours of each other can be merged, whatever their order (Murtagh 1983).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .clusters import Clusters
from .matrix import cluster_by_matrix
from .objects import Objects
from .ranks import Ranks, search_on
from .search import Search

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_COMPACT_BELOW = 0.85  # the share of the slots that hold clusters
_SEARCH_ALL_BELOW = 0.004  # the share of the clusters that merge in a round
_ON_A_MATRIX = 8192  # clusters at the end
_CHAINING = 0.002  # the share of the clusters that merge in a round, so few that a matrix is faster


def cluster_by_rounds(
    objects: Objects,
    linkage: str,
    *,
    buffer_bytes: int = 1 << 32,
    matrix_from: int = _ON_A_MATRIX,
    devices: Sequence[torch.device] = (),
    kernels: bool | None = None,
) -> dict[str, int]:
    """Adds all merges to `objects.merges`, and overwrites `objects.mean`. Returns counts of what was done.

    `buffer_bytes` limits the bounds that are held at a time. `matrix_from`: with so few clusters left a matrix of their
    distances is taken, and with four times as many if few of them merge in a round. `devices` divide the searches; the
    one of the objects is the first. `kernels`: whether steps are done by kernels or in plain torch. None: by kernels on
    a GPU.
    """
    search = search_on(objects, linkage, buffer_bytes, devices, kernels)
    clusters = search.clusters
    rounds = 0
    share = 1.0
    while clusters.active > matrix_from and (share > _CHAINING or clusters.active > 4 * matrix_from):
        share = merge_nearest(search, first=rounds == 0) / clusters.active
        rounds += 1
        if clusters.active < _COMPACT_BELOW * clusters.slots:
            search.compact()
    rest = cluster_by_matrix(clusters.objects(objects), linkage, squares=True, kernels=kernels)
    return {"rounds": rounds, **search.counts, **{f"matrix_{name}": count for name, count in rest.items()}}


def merge_nearest(search: Search | Ranks, *, first: bool) -> int:
    """Searches for neighbours and merges all pairs that are nearest to each other; returns their number.

    A cluster without a known neighbour is searched for when it is the neighbour of another one. The others wait: by the
    time too few pairs are found without them, many have merged or are known from lists.
    """
    c = search.clusters
    search.find_in_lists(_unknown(c, c.unsettled == 0))
    search.find(_unknown(c) if first else _unknown(c, _pointed_at(c)))
    a, b = _reciprocal(c)
    if len(a) < _SEARCH_ALL_BELOW * c.active and not first:
        search.find(_unknown(c))
        a, b = _reciprocal(c)
    if len(a) == 0:
        search.measure_all(_unknown(c))
        a, b = _reciprocal(c)
    if len(a) == 0:  # distances that are equal but for rounding can point in a circle
        a, b = _nearest_of_all(c)
    distance = c.distance[a]
    merged = c.merges.add(c.cluster[a], c.cluster[b], (2.0 * distance if c.linkage == "ward" else distance).sqrt())
    search.merge(a, b)
    c.cluster[a] = merged
    return len(a)


def _unknown(clusters: Clusters, which: Tensor | None = None) -> Tensor:
    """The clusters whose nearest neighbour is not known, of those for which `which` holds."""
    unknown = (clusters.alive != 0) & (clusters.nearest < 0)
    return (unknown if which is None else unknown & which).nonzero().squeeze(1)


def _pointed_at(clusters: Clusters) -> Tensor:
    import torch

    c = clusters
    result = torch.zeros(c.padded + 1, dtype=torch.bool, device=c.nearest.device)
    result[c.nearest.long()] = True  # −1 is the last place
    return result[:-1]


def _reciprocal(clusters: Clusters) -> tuple[Tensor, Tensor]:
    import torch

    near = clusters.nearest.long()
    slot = torch.arange(clusters.padded, device=near.device)
    first = ((near > slot) & (near[near.clamp(min=0)] == slot)).nonzero().squeeze(1)
    return first, near[first]


def _nearest_of_all(clusters: Clusters) -> tuple[Tensor, Tensor]:
    import torch

    c = clusters
    known = (c.alive != 0) & (c.nearest >= 0)
    slot = torch.where(known, c.distance, torch.inf).argmin().view(1)
    pair = torch.stack([slot, c.nearest[slot].long()])
    return pair.amin(0), pair.amax(0)

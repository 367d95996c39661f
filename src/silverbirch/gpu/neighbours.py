"""Neighbours of objects by the distances of their means: of all objects at first, later of some in other components."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from .clusters import Clusters
from .search import Search

if TYPE_CHECKING:
    from torch import Tensor

    from .objects import Objects

_PIECE = 1 << 26  # the numbers that are compared at a time
OUTSIDE_BYTES = 4 * 8 * _PIECE  # the most that `nearest_outside` takes


def neighbours_of_means(objects: Objects, buffer_bytes: int) -> Clusters:
    """All objects with their lists of neighbours, and with the nearest one where the bounds could tell, by squares."""
    import torch

    # Without variances, average linkage of squares is about the squared distances of means.
    clusters = Clusters(dataclasses.replace(objects, sse=torch.zeros_like(objects.sse)), "average")
    Search(clusters, buffer_bytes).find(torch.arange(len(objects), device=objects.mean.device))
    return clusters


def nearest_outside(mean: Tensor, queries: Tensor, label: Tensor, bound: Tensor) -> tuple[Tensor, Tensor]:
    """The squared distance of queries[i] to the nearest row whose label is another one, and that row.

    Rows at bound[i] or beyond count as none; then the distance is infinite and the row -1. Ties: the lowest row.
    """
    import torch

    length = mean.square().sum(1)
    found = []
    step = max(1, _PIECE // len(mean))
    for begin in range(0, len(queries), step):
        some = slice(begin, begin + step)
        found.append(_nearest(mean, length, queries[some], label, bound[some]))
    distances, rows = zip(*found, strict=True)
    return torch.cat(distances), torch.cat(rows)


def _nearest(mean: Tensor, length: Tensor, queries: Tensor, label: Tensor, bound: Tensor) -> tuple[Tensor, Tensor]:
    import torch

    # |a|² + |b|² − 2ab, with d rounded products and sums in each term, is off by less than (d + 4) 2⁻⁵³ (|a| + |b|)²,
    # and (|a| + |b|)² ≤ 2 (|a|² + |b|²). Another factor of 2 covers terms of second order.
    slack = 4.0 * (mean.shape[1] + 4) * 2.0**-53
    estimate = torch.addmm(length[None, :], mean[queries], mean.T, alpha=-2.0).add_(length[queries, None])
    off = slack * (length[queries, None] + length)
    estimate.masked_fill_(label[queries, None] == label, torch.inf)
    most = torch.minimum((estimate + off).amin(1), bound * (1 + 2.0**-40))
    query, row = (estimate.sub_(off) <= most[:, None]).nonzero(as_tuple=True)
    distance = pair_distances(mean, queries[query], row)
    least = bound.clone().scatter_reduce_(0, query, distance, "amin")
    nearest = torch.full_like(queries, len(mean))
    is_nearest = distance == least[query]
    nearest.scatter_reduce_(0, query[is_nearest], row[is_nearest], "amin")
    none = (nearest == len(mean)) | (least >= bound)
    return least.masked_fill_(none, torch.inf), nearest.masked_fill_(none, -1)


def pair_distances(mean: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The squared distances of the rows a[i] and b[i], from differences."""
    import torch

    result = torch.empty(len(a), dtype=torch.float64, device=mean.device)
    step = max(1, _PIECE // mean.shape[1])
    for begin in range(0, len(a), step):
        some = slice(begin, begin + step)
        result[some] = (mean[a[some]] - mean[b[some]]).square_().sum(1)
    return result

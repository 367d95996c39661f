"""The steps of a round in plain torch: for the CPU, and what the kernels of `fused` are compared with."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from .bounds import Limits, limits
from .clusters import LENGTH, Clusters

if TYPE_CHECKING:
    from torch import Tensor

_PIECE = 1 << 24


def describe(clusters: Clusters, shrink: float) -> Tensor:
    """Sets the term of each cluster in the bounds.

    Returns the largest rounding error, the largest squared length with spread, the largest and the least weight.
    """
    import torch

    c = clusters
    here = c.alive != 0
    length = c.norm.double() + c.spread
    c.term[:] = torch.where(here, (length * shrink).float(), torch.inf)
    zero = torch.zeros((), dtype=torch.float64, device=c.weight.device)
    return torch.stack(
        [
            torch.where(here, c.rounding.double(), zero).amax(),
            torch.where(here, length, zero).amax(),
            torch.where(here, c.weight, zero).amax(),
            torch.where(here, c.weight, torch.inf).amin(),
        ]
    )


def minima(clusters: Clusters, queries: Tensor, weighted: bool, parts: int) -> tuple[Tensor, Tensor]:
    """The least bound of each query in each group, (groups, queries), and in each part of the columns."""
    import torch

    c = clusters
    bounds = c.half[queries].float() @ c.half.float().T
    bounds.mul_(-2.0).add_(c.term).add_(c.term[queries, None])
    if weighted:
        bounds /= c.inverse_weight[queries, None] + c.inverse_weight
    bounds.scatter_(1, queries[:, None].long(), torch.inf)
    of_group = bounds.view(len(queries), -1, 16, 4, 2).amin((2, 4)).flatten(1)
    edges = torch.linspace(0, of_group.shape[1], min(parts, of_group.shape[1]) + 1).long().tolist()
    least = [of_group[:, i:j].amin(1) for i, j in pairwise(edges)]
    return of_group.T, torch.stack(least)


def thresholds(clusters: Clusters, queries: Tensor, least: Tensor, extremes: Tensor, slack: float) -> Limits:
    return limits(clusters, queries, least, extremes, slack)


def candidates(
    clusters: Clusters, queries: Tensor, bounds: Tensor, threshold: Tensor, weighted: bool, width: int
) -> tuple[Tensor, Tensor]:
    """The columns within the threshold of each query, as many as fit, and their number."""
    import torch

    c = clusters
    row, group = (threshold[:, None] >= bounds.T).nonzero(as_tuple=True)
    member = torch.arange(32, device=row.device)
    offset = member // 2 * 8 + member % 2
    found = []
    step = max(1, _PIECE // (32 * c.half.shape[1]))
    for begin in range(0, len(row), step):
        some, of = row[begin : begin + step], group[begin : begin + step, None]
        columns = of // 4 * 128 + of % 4 * 2 + offset
        query = queries[some].long()
        product = torch.bmm(c.half[columns].float(), c.half[query].float()[:, :, None]).squeeze(2)
        bound = c.term[query][:, None] + (c.term[columns] - 2.0 * product)
        if weighted:
            bound /= c.inverse_weight[query][:, None] + c.inverse_weight[columns]
        hit, which = ((bound <= threshold[some][:, None]) & (columns != query[:, None])).nonzero(as_tuple=True)
        found.append(torch.stack([some[hit], columns[hit, which]]))
    row, column = torch.cat(found, 1) if found else torch.zeros(2, 0, dtype=torch.int64, device=queries.device)
    counts = torch.bincount(row, minlength=len(queries))
    place = torch.arange(len(row), device=row.device) - (counts.cumsum(0) - counts)[row]
    fits = place < width
    table = torch.full((len(queries), width), -1, dtype=torch.int32, device=queries.device)
    table[row[fits], place[fits]] = column[fits].int()
    return table, counts


def settle(clusters: Clusters, queries: Tensor, table: Tensor, reach: Tensor) -> None:
    """Measures candidates and settles the queries. What is not in the table is at least `reach` away."""
    import torch

    table = torch.where(table >= 0, clusters.survivor[table.clamp(min=0)], -1)
    table.masked_fill_(table == queries[:, None], -1)
    settle_measured(clusters, queries, table, _measured(clusters, queries, table), reach)


def settle_measured(clusters: Clusters, queries: Tensor, table: Tensor, distances: Tensor, reach: Tensor) -> None:
    import torch

    c = clusters
    slot = table
    if table.shape[1] <= 2 * LENGTH:  # lists that were joined can name a cluster twice
        slot, order = torch.sort(table, 1)
        distances = torch.gather(distances, 1, order)
        repeated = slot[:, 1:] == slot[:, :-1]
        distances[:, 1:].masked_fill_(repeated | (slot[:, 1:] < 0), torch.inf)
        distances[:, :1].masked_fill_(slot[:, :1] < 0, torch.inf)
    else:
        distances, order = torch.topk(distances, LENGTH + 1, largest=False)
        slot, by_slot = torch.sort(torch.gather(slot, 1, order), 1)
        distances = torch.gather(distances, 1, by_slot)
    distances, order = torch.sort(distances, dim=1, stable=True)  # ties: the lowest slot first
    slot = torch.gather(slot, 1, order)
    certain = distances[:, 0] < reach  # of the table, even if as near ones do not fit into the list
    if slot.shape[1] > LENGTH:
        reach = torch.minimum(reach, distances[:, LENGTH])
    c.nearest[queries] = torch.where(certain, slot[:, 0], -1).int()
    c.unsettled[queries] = (~certain).to(torch.int8)
    c.distance[queries] = distances[:, 0]
    c.reach[queries] = reach
    row = torch.full((len(queries), 2 * LENGTH), -1, dtype=torch.int32, device=queries.device)
    first = slot[:, :LENGTH]
    row[:, : first.shape[1]] = torch.where(distances[:, :LENGTH] < reach[:, None], first, -1)
    c.listed[queries] = row


def _measured(clusters: Clusters, queries: Tensor, slot: Tensor) -> Tensor:
    import torch

    c = clusters
    result = torch.full(slot.shape, torch.inf, dtype=torch.float64, device=slot.device)
    row, place = (slot >= 0).nonzero(as_tuple=True)
    step = max(1, _PIECE // c.columns)
    for begin in range(0, len(row), step):
        r, p = row[begin : begin + step], place[begin : begin + step]
        query, other = queries[r].long(), slot[r, p].long()
        distance = (c.mean[other] - c.mean[query]).square().sum(1)
        if c.linkage == "ward":
            distance *= c.weight[query] * c.weight[other] / (c.weight[query] + c.weight[other])
        else:
            distance += c.spread[query] + c.spread[other]
        result[r, p] = distance
    return result


def merge(clusters: Clusters, first: Tensor, second: Tensor) -> None:
    """Merges pairs: the first slot takes the merged cluster, the second is free."""
    import torch

    c, a, b = clusters, first, second
    lightest = c.lightest
    weight_a, weight_b = c.weight[a], c.weight[b]
    total = weight_a + weight_b
    share = torch.full_like(total, 0.5) if c.linkage == "weighted" else weight_b / total
    gap = c.mean[b] - c.mean[a]
    if c.linkage != "ward":
        between = share * (1.0 - share) * gap.square().sum(1)
        c.spread[a] = c.spread[a] + (c.spread[b] - c.spread[a]) * share + between
    c.mean[a] = c.mean[a] + gap * share[:, None]
    c.round_means(a)
    reach_a, reach_b = c.reach[a], c.reach[b]
    joined = reach_a + (reach_b - reach_a) * share
    if c.linkage == "ward":
        height = c.distance[a]
        recurrence = ((weight_a + lightest) * reach_a + (weight_b + lightest) * reach_b - lightest * height) / (
            total + lightest
        )
        joined = torch.minimum(reach_a + reach_b - height, recurrence)
    c.reach[a] = torch.maximum(joined, torch.minimum(reach_a, reach_b)) * (1.0 - 1e-12)
    c.listed[a, LENGTH:] = c.listed[b, :LENGTH]
    c.weight[a] = total
    c.inverse_weight[a] = (1.0 / total).float()
    c.alive[b] = 0
    c.survivor[b] = a.int()
    c.survivor[:] = c.survivor[c.survivor]
    changed = torch.zeros(c.padded, dtype=torch.bool, device=a.device)
    changed[a] = True
    changed[b] = True
    forgotten = changed | (changed[c.nearest.clamp(min=0)] & (c.nearest >= 0))
    c.nearest[forgotten] = -1
    c.unsettled[forgotten] = 0

"""What is clustered on a GPU: objects of positive weight, all different, near the origin and of moderate size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .merges import Merges

if TYPE_CHECKING:
    from torch import Tensor

    from .rows import Rows

# The largest coordinate lies in [2^12, 2^13): products of float16 numbers neither overflow in float32 nor vanish.
_EXPONENT = 13
_SAMPLE = 4096
_PIECE = 1 << 26  # the numbers that are compared or moved at a time


@dataclass
class Objects:
    """Moved by one vector and multiplied by `scale`, a power of two: distances are `scale` times the original ones."""

    weight: Tensor  # float64 (n,)
    mean: Tensor  # float64 (n, d)
    sse: Tensor  # float64 (n,)
    scale: float
    cluster: Tensor  # int64 (n,): the number of each object in `merges`
    merges: Merges  # those of equal objects are in it already
    weighted: bool  # whether there are different weights

    def __len__(self) -> int:
        return len(self.weight)


def prepare(rows: Rows, weight: Tensor | None = None, sse: Tensor | None = None) -> Objects:
    """Merges equal rows at height 0, unless rows have an sse, then moves and scales the rows.

    The origin is the median of a sample: a mean would follow outliers.
    """
    import torch

    count, device = len(rows), rows.device
    weighted = weight is not None
    if weight is None:
        weight = torch.ones(count, dtype=torch.float64, device=device)
    merges = Merges(count)
    cluster = torch.arange(count, device=device)
    kept = None
    if sse is None or not bool(sse.any()):
        sse = None
        first = _first_equal(rows)
        if first is not None:
            kept, cluster, weight = _merge_equal(merges, first, weight)
            weighted = True
    size = len(cluster)
    mean = torch.empty(size, rows.columns, dtype=torch.float64, device=device)
    for at in rows.pieces(size, _PIECE):
        mean[at] = rows[at if kept is None else kept[at]].double()
    origin = mean[:: max(1, size // _SAMPLE)].median(0).values
    largest = 0.0
    for at in rows.pieces(size, _PIECE):
        mean[at] -= origin
        largest = max(largest, float(mean[at].abs().max()))
    scale = math.ldexp(1.0, _EXPONENT - math.frexp(largest)[1]) if largest > 0 else 1.0
    mean *= scale
    sse = torch.zeros(size, dtype=torch.float64, device=device) if sse is None else sse * scale**2
    return Objects(weight, mean, sse, scale, cluster, merges, weighted)


def _first_equal(rows: Rows) -> Tensor | None:
    """For each row the first one that equals it; None if all rows differ.

    Equal rows have equal hashes, and rows with equal hashes are compared. If different rows have the same hash, equal
    rows next to them can be missed: those are merged later, as neighbours at distance 0.
    """
    import torch

    count = len(rows)
    generator = torch.Generator().manual_seed(1)
    factor = (torch.randint(0, 2**62, (rows.columns,), generator=generator) * 2 + 1).to(rows.device)
    hashes = torch.empty(count, dtype=torch.int64, device=rows.device)
    for at in rows.pieces(count, _PIECE // 4):
        some = (rows[at] + 0.0).contiguous()  # −0.0 becomes 0.0
        bits = some.view(torch.int32 if some.dtype == torch.float32 else torch.int64)
        hashes[at] = (bits.long() * factor).sum(1)
    hashes, order = torch.sort(hashes, stable=True)
    suspects = (hashes[1:] == hashes[:-1]).nonzero().squeeze(1)
    starts = torch.ones(count, dtype=torch.bool, device=rows.device)
    for at in rows.pieces(len(suspects), _PIECE // 4):
        before = suspects[at]
        starts[before + 1] = (rows[order[before]] != rows[order[before + 1]]).any(1)
    if bool(starts.all()):
        return None
    first = torch.empty(count, dtype=torch.int64, device=rows.device)
    first[order] = order[starts][starts.cumsum(0) - 1]  # the sort is stable: each run starts with its lowest row
    return first


def _merge_equal(merges: Merges, first: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Merges each row to those before it that equal it. Returns the rows that are kept, and their clusters and
    weights.
    """
    import torch

    order = torch.argsort(first, stable=True)
    starts = torch.ones(len(first), dtype=torch.bool, device=first.device)
    starts[1:] = first[order[1:]] != first[order[:-1]]
    kept = order[starts]
    total = torch.segment_reduce(weight[order], "sum", lengths=torch.bincount(starts.cumsum(0) - 1))
    # The cluster of a run so far: its first row, then the merge of each row that follows.
    follows = (~starts).nonzero().squeeze(1)
    so_far = order.clone()
    so_far[follows] = merges.objects + merges.count + torch.arange(len(follows), device=first.device)
    zero = torch.zeros(len(follows), dtype=torch.float64, device=first.device)
    merges.add(so_far[follows - 1], order[follows], zero)
    ends = torch.ones_like(starts)
    ends[:-1] = starts[1:]
    return kept, so_far[ends], total

"""The steps of a round as kernels in Triton; `plain` has the same steps in torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

from .bounds import WANTED, Limits
from .clusters import K_TILE, LENGTH, Clusters
from .kernels.candidates import collect_groups, expand_groups
from .kernels.describe import describe as describe_kernel
from .kernels.group_minima import group_minima
from .kernels.merge import forget_merged, merge_pairs
from .kernels.settle import measure
from .kernels.settle import settle as settle_kernel
from .kernels.thresholds import thresholds as thresholds_kernel
from .plain import settle_measured

if TYPE_CHECKING:
    from torch import Tensor

# Tiles of the product kernel: those without weights have room for more columns on Hopper. Before Hopper the result of a
# product is spread over the registers of twice as many warps.
_WEIGHTED = {"BM": 128, "BN": 128, "STAGES": 3, "num_warps": 4}
_UNWEIGHTED = {"BM": 128, "BN": 256, "STAGES": 3, "num_warps": 8}
_BEFORE_HOPPER = {"BM": 64, "BN": 128, "STAGES": 3, "num_warps": 8}
_FEW_QUERIES = 2048
_PROGRAMS = 132 * 16  # of kernels that divide their work themselves
_ENTRIES = 16  # that a program measures
_KERNEL_WIDTH = 64  # wider tables are settled by plain torch


def describe(clusters: Clusters, shrink: float) -> Tensor:
    c = clusters
    extremes = torch.zeros(4, dtype=torch.float64, device=c.mean.device)
    extremes[3:].fill_(torch.inf)
    describe_kernel[(triton.cdiv(c.padded, 1024),)](
        c.norm,
        c.spread,
        c.rounding,
        c.weight,
        c.alive,
        c.term,
        extremes.view(torch.int64),
        c.padded,
        shrink,
        BLOCK=1024,
    )
    return extremes


def minima(clusters: Clusters, queries: Tensor, weighted: bool, parts: int) -> tuple[Tensor, Tensor]:
    c = clusters
    count = len(queries)
    plan = _WEIGHTED if weighted or count < _FEW_QUERIES else _UNWEIGHTED
    if _capability(c.mean) < 90:
        plan = _BEFORE_HOPPER
    rows = c.half if count == c.padded else c.half[queries]
    tiles = c.padded // plan["BN"]
    row_tiles = triton.cdiv(count, plan["BM"])
    parts = max(triton.cdiv(132 * 8, row_tiles), parts, triton.cdiv(tiles, 256))
    tiles_of_part = max(1, tiles // parts)
    parts = triton.cdiv(tiles, tiles_of_part)
    stride = triton.cdiv(count, 32) * 32
    bounds = torch.empty(c.padded // 32, stride, dtype=torch.float32, device=c.mean.device)
    least = torch.empty(parts, stride, dtype=torch.float32, device=c.mean.device)
    group_minima[(row_tiles * parts,)](
        TensorDescriptor.from_tensor(rows, [plan["BM"], K_TILE]),
        TensorDescriptor.from_tensor(c.half, [plan["BN"], K_TILE]),
        queries, c.term, c.term, c.inverse_weight, bounds, least, count, stride, stride, tiles, tiles_of_part,
        K_STEPS=c.half.shape[1] // K_TILE, BK=K_TILE, WEIGHTED=weighted, APPROXIMATE=c.mean.is_cuda, **plan,
    )  # fmt: skip
    return bounds, least


def _capability(tensor: Tensor) -> int:
    """90 for Hopper; Triton's interpreter does not care."""
    major, minor = torch.cuda.get_device_capability(tensor.device) if tensor.is_cuda else (9, 0)
    return 10 * major + minor


def thresholds(clusters: Clusters, queries: Tensor, least: Tensor, extremes: Tensor, slack: float) -> Limits:
    c = clusters
    count, device = len(queries), c.mean.device
    result = Limits(
        torch.empty(count, dtype=torch.float32, device=device), torch.empty(count, dtype=torch.float64, device=device)
    )
    block = 32
    thresholds_kernel[(triton.cdiv(count, block),)](
        queries, least, c.norm, c.spread, c.rounding, c.weight, extremes, *result,
        count, len(least), least.stride(0), min(WANTED, len(least) // 5), slack, 2.0**-25 * c.columns**0.5,
        PARTS=64, BLOCK=block, WARD=c.linkage == "ward",
        UNIFORM=c.linkage == "ward" and c.uniform,
    )  # fmt: skip
    return result


def candidates(
    clusters: Clusters, queries: Tensor, bounds: Tensor, threshold: Tensor, weighted: bool, width: int
) -> tuple[Tensor, Tensor]:
    c = clusters
    count, device = len(queries), c.mean.device
    groups, stride = len(bounds), bounds.stride(0)
    table = torch.full((count, width), -1, dtype=torch.int32, device=device)
    capacity = max(1 << 16, 24 * count)
    rows, at_once = 128, 8
    repeats = 16 if groups > 256 else 2
    while True:
        found = torch.zeros(1 + count, dtype=torch.int32, device=device)  # in all, then of each query
        pairs = torch.empty(2, capacity, dtype=torch.int32, device=device)
        collect_groups[(triton.cdiv(count, rows), triton.cdiv(groups, at_once * repeats))](
            bounds, threshold, found, pairs[0], pairs[1], count, groups, stride, capacity,
            ROWS=rows, GROUPS=at_once, REPEATS=repeats, num_warps=1,
        )  # fmt: skip
        expand_groups[(_PROGRAMS,)](
            pairs[0], pairs[1], found, queries, c.half, c.term, c.term, c.inverse_weight, threshold,
            found[1:], table, capacity, _PROGRAMS, width, K=c.half.shape[1], BK=K_TILE, WEIGHTED=weighted,
        )  # fmt: skip
        total = int(found[0])
        if total <= capacity:
            return table, found[1:]
        capacity = total
        table.fill_(-1)


def settle(clusters: Clusters, queries: Tensor, table: Tensor, reach: Tensor) -> None:
    c = clusters
    count, width = table.shape
    distances = torch.empty(count, width, dtype=torch.float64, device=c.mean.device)
    measure[(count, triton.cdiv(width, _ENTRIES))](
        queries, table, c.mean, c.weight, c.spread, c.survivor, distances, width,
        ENTRIES=_ENTRIES, COLUMNS=c.columns, BK=128, WARD=c.linkage == "ward",
    )  # fmt: skip
    if width > _KERNEL_WIDTH:
        return settle_measured(c, queries, table, distances, reach)
    settle_kernel[(count,)](
        queries, table, distances, reach, c.nearest, c.distance, c.reach, c.listed, c.unsettled,
        WIDTH=width, LENGTH=LENGTH, num_warps=2,
    )  # fmt: skip


def merge(clusters: Clusters, first: Tensor, second: Tensor) -> None:
    c = clusters
    if len(first) == 0:
        return
    changed = torch.zeros(c.padded, dtype=torch.int8, device=c.mean.device)
    changed[first] = 1
    changed[second] = 1
    k = c.half.shape[1]
    merge_pairs[(len(first),)](
        first, second, c.mean, c.weight, c.spread, c.half, c.norm, c.rounding, c.inverse_weight, c.distance, c.reach,
        c.listed, c.alive, c.survivor, c.nearest, c.lightest,
        LENGTH=LENGTH, COLUMNS=c.columns, K=k, BK=min(512, triton.next_power_of_2(c.columns)), WARD=c.linkage == "ward",
        EQUAL=c.linkage == "weighted",
    )  # fmt: skip
    forget_merged[(triton.cdiv(c.padded, 1024),)](
        c.nearest, c.survivor, c.alive, changed, c.unsettled, c.padded, BLOCK=1024
    )

"""A matrix of distances on a device, and the rounds that merge its rows: in kernels, or in plain torch without a GPU.

A slot is a row of the matrix. Its nearest neighbour is valid until that merges. While few slots lack one, their rows
are scanned at once; else only new rows, and those that are the valid neighbour of another slot. So a round costs what
has changed, and a vector operation over the slots.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from .objects import Objects

_ALIGNED = 16  # numbers: rows begin at multiples of 128 bytes
_BUFFER = 1 << 27  # the numbers that are moved or compared at a time
_TILE, _STEP = 128, 8  # rows and columns of what the kernel of the distances reads at a time
_SCAN, _REPEATS = 1024, 4  # columns of a row that a program scans at a time, and how often
_FEW = 1 << 24  # numbers: scanning them takes about as long as the other work of a small round
_PER_PAIR = 4  # rows that are scanned for a pair that merges, even if that is more
_FIELDS = 8  # of the state, as kernels/matrix.py names them
_SIDE, _STRIDE, _ROUND, _QUEUED, _PAIRS, _MERGED, _SCANNED, _UNKNOWN = range(_FIELDS)
_UNCLAIMED = 2**63 - 1


def _stride(side: int) -> int:
    return -(-side // _ALIGNED) * _ALIGNED


def matrix_bytes(count: int, columns: int) -> int:
    """The most memory that clustering by a matrix takes beside the objects."""
    matrix = 8 * count * _stride(count)
    tiles = 8 * (count + _TILE) * (columns + _STEP)
    buffer = 8 * min(count * _stride(count), _BUFFER + _stride(count))
    parts = 12 * count * -(-count // (_SCAN * _REPEATS))
    return matrix + max(tiles, buffer + parts) + 160 * count


class Matrix:
    """The distances of all pairs of slots, and what is known of each slot.

    `roots`: of distances; else of their squares, as ward and complete linkage need them.
    """

    def __init__(
        self,
        objects: Objects,
        linkage: str,
        roots: bool,
        kernels: bool,
        fill: Callable[[Tensor], None] | None = None,
    ) -> None:
        import torch

        count, self.device = len(objects), objects.mean.device
        self.linkage = linkage
        self.kernels = kernels
        self.side = count
        self.distances = torch.empty(count * _stride(count), dtype=torch.float64, device=self.device)
        self.roots = roots
        if fill is not None:
            fill(self.distances.view(count, -1)[:, :count])
        elif kernels:
            _measure_in_kernel(objects, self.distances, linkage, roots)
        else:
            _measure(objects, self.distances.view(count, -1), linkage, roots)

        def full(value: float, dtype: torch.dtype) -> Tensor:
            return torch.full((count,), value, dtype=dtype, device=self.device)

        self.weight = objects.weight.clone()
        self.name = torch.arange(count, device=self.device)
        self.alive = full(1, torch.int8)
        self.valid = full(0, torch.int8)
        self.neighbour = full(0, torch.int32)
        self.nearest = full(0, torch.float64)
        self.partner = full(-1, torch.int32)
        self.claims = full(_UNCLAIMED, torch.int64)
        self.merge_a, self.merge_b, self.merge_round = (full(0, torch.int64) for _ in range(3))
        self.merge_height = full(0, torch.float64)
        self.state = torch.tensor([count, _stride(count), 1, 0, 0, 0, 0, 0], device=self.device)

    def view(self) -> Tensor:
        """The matrix as (side, side)."""
        stride = _stride(self.side)
        return self.distances[: self.side * stride].view(self.side, stride)[:, : self.side]

    def squeeze(self) -> None:
        """Keeps living slots only. Rows move to the front, so what is written lies before what is still to be read."""
        import torch

        keep = self.alive[: self.side].nonzero().squeeze(1)
        kept, stride = len(keep), _stride(len(keep))
        step = max(1, _BUFFER // stride)
        for begin in range(0, kept, step):
            rows = self._gathered(keep, begin, min(step, kept - begin), stride)
            self.distances[begin * stride : begin * stride + rows.numel()] = rows.view(-1)
        place = torch.zeros(self.side, dtype=torch.int32, device=self.device)
        place[keep] = torch.arange(kept, dtype=torch.int32, device=self.device)
        self.neighbour[:kept] = place[self.neighbour[keep].long()]
        for values in (self.weight, self.name, self.valid, self.nearest, self.alive):
            values[:kept] = values[keep]
        self.side = kept
        self.state[_SIDE] = kept
        self.state[_STRIDE] = stride

    def _gathered(self, keep: Tensor, begin: int, rows: int, stride: int) -> Tensor:
        import torch

        buffer = torch.empty(rows, stride, dtype=torch.float64, device=self.device)
        if self.kernels:
            from .kernels import matrix as kernels

            kept, old = len(keep), _stride(self.side)
            kernels.gather[rows, 8](self.distances, keep, buffer, begin, kept, old, stride, BLOCK=1024)
        else:
            buffer[:, : len(keep)] = self.view()[keep[begin : begin + rows]][:, keep]
        return buffer

    def merges(self) -> tuple[Tensor, Tensor, Tensor]:
        """Which object's cluster merges into which other's, and at what height; rounds in order, and sorted in each."""
        import torch

        count = len(self.merge_a)
        order = torch.argsort(self.merge_round[: count - 1] * count + self.merge_b[: count - 1])
        return self.merge_a[order], self.merge_b[order], self.merge_height[order]

    def counts(self) -> dict[str, int]:
        state = self.state.tolist()
        return {"rounds": state[_ROUND] - 2, "scanned": state[_SCANNED]}


class Rounds(Protocol):
    def run(self, rounds: int) -> int:
        """Does some rounds, unless all is merged before. Returns how many clusters are left."""


def rounds_for(matrix: Matrix) -> Rounds:
    return KernelRounds(matrix) if matrix.kernels else TorchRounds(matrix)


def _measure(objects: Objects, matrix: Tensor, linkage: str, roots: bool) -> None:
    mean, weight, spread = objects.mean, objects.weight, objects.sse / objects.weight
    count, columns = mean.shape
    step = max(1, _BUFFER // (count * columns))
    for begin in range(0, count, step):
        some = slice(begin, min(begin + step, count))
        squared = (mean[some, None, :] - mean[None, :, :]).square_().sum(2)
        if roots:
            squared.sqrt_()
        elif linkage == "ward":
            squared *= weight[some, None] * weight / (weight[some, None] + weight)
        elif linkage != "complete":
            squared += spread[some, None] + spread
        matrix[some, :count] = squared


def _measure_in_kernel(objects: Objects, matrix: Tensor, linkage: str, roots: bool) -> None:
    import torch

    from .kernels import matrix as kernels

    mean = objects.mean
    count, columns = mean.shape
    tiles, steps = -(-count // _TILE), -(-columns // _STEP)
    by_tile = torch.zeros(tiles, steps * _STEP, _TILE, dtype=torch.float64, device=mean.device)
    whole = count // _TILE
    by_tile[:whole, :columns] = mean[: whole * _TILE].view(whole, _TILE, columns).transpose(1, 2)
    if whole < tiles:
        by_tile[whole, :columns, : count - whole * _TILE] = mean[whole * _TILE :].T
    grid = (tiles * (tiles + 1),)
    kernels.distances[grid](
        by_tile, objects.weight, objects.sse / objects.weight, matrix, count, steps, _stride(count),
        LINKAGE=linkage, ROOT=roots, TILE=_TILE, STEP=_STEP, num_warps=8,
    )  # fmt: skip


class KernelRounds:
    """A round is recorded as a CUDA graph, with all counts in device memory; the host looks at them between replays."""

    def __init__(self, matrix: Matrix) -> None:
        import torch

        self._matrix = matrix
        count, device = matrix.side, matrix.device
        parts = count * -(-count // (_SCAN * _REPEATS))
        self._part_value = torch.empty(parts, dtype=torch.float64, device=device)
        self._part_column = torch.empty(parts, dtype=torch.int32, device=device)
        self._queue = torch.arange(count, dtype=torch.int32, device=device)
        self._place_of, self._unknown, self._unknown_place_of = (self._queue.clone() for _ in range(3))
        self._pair_of = torch.empty(count // 2 + 1, dtype=torch.int32, device=device)
        self._stamp = torch.ones(count, dtype=torch.int64, device=device)
        on_gpu = device.type == "cuda"
        self._programs = 8 * torch.cuda.get_device_properties(device).multi_processor_count if on_gpu else 4
        self._graph: torch.cuda.CUDAGraph | None = None
        matrix.state[_QUEUED] = matrix.state[_UNKNOWN] = count
        self._search()

    def run(self, rounds: int) -> int:
        import torch

        matrix = self._matrix
        if matrix.device.type != "cuda":  # the interpreter of Triton
            for _ in range(rounds):
                self._round()
        elif self._graph is None:
            self._round()  # compiles what the graph records
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._round()
        else:
            for _ in range(rounds):
                self._graph.replay()
        return len(matrix.name) - int(matrix.state[_MERGED])

    def _round(self) -> None:
        from .kernels import matrix as kernels

        m, grid = self._matrix, (self._programs,)
        kernels.claim[grid](m.state, m.neighbour, m.nearest, m.valid, m.claims, BLOCK=256)
        kernels.accept[grid](
            m.state, m.claims, m.nearest, m.name, m.alive, m.partner, self._pair_of,
            m.merge_a, m.merge_b, m.merge_height, m.merge_round, BLOCK=256,
        )  # fmt: skip
        rows = (m.state, m.distances, m.weight, m.nearest)
        kernels.merge_rows[grid](*rows, m.partner, self._pair_of, LINKAGE=m.linkage, BLOCK=1024)
        kernels.merge_columns[grid](*rows, m.alive, m.partner, self._pair_of, LINKAGE=m.linkage, BLOCK=512)
        kernels.enqueue[grid](
            m.state, m.neighbour, m.valid, m.alive, m.partner, self._stamp, self._place_of, self._queue,
            self._unknown_place_of, self._unknown, BLOCK=256,
        )  # fmt: skip
        self._search()

    def _search(self) -> None:
        from .kernels import matrix as kernels

        m, grid = self._matrix, (self._programs,)
        parts = (self._part_value, self._part_column)
        limits = {"FEW": _FEW, "PER_PAIR": _PER_PAIR}
        kernels.scan[grid](
            m.state, m.distances, m.alive, self._queue, self._unknown, *parts, **limits, BLOCK=_SCAN, REPEATS=_REPEATS
        )
        kernels.settle[grid](
            m.state, m.alive, self._stamp, self._place_of, self._unknown_place_of, *parts, m.neighbour, m.nearest,
            m.valid, m.weight, m.partner, m.claims, **limits, BLOCK=256, SCAN=_SCAN * _REPEATS,
        )  # fmt: skip
        kernels.count_round[(1,)](m.state, **limits)


class TorchRounds:
    """The same round in plain torch, written for clarity: it is what the kernels are tested against."""

    def __init__(self, matrix: Matrix) -> None:
        import torch

        self._matrix = matrix
        self._scan(torch.arange(matrix.side))

    def run(self, rounds: int) -> int:

        m = self._matrix
        left = int(m.alive[: m.side].sum())
        for _ in range(rounds):
            if left == 1:
                break
            a, b = self._pairs()
            self._record(a, b)
            self._merge(a, b)
            self._scan(self._wanted(a, b))
            left -= len(a)
        return left

    def _pairs(self) -> tuple[Tensor, Tensor]:
        import torch

        m = self._matrix
        x = m.valid[: m.side].nonzero().squeeze(1)
        y = m.neighbour[x].long()
        able = (m.valid[y] > 0) & (m.nearest[x] == m.nearest[y])
        pair = torch.minimum(x, y)[able] * 2**32 + torch.maximum(x, y)[able]
        claims = torch.full((m.side,), _UNCLAIMED)
        for slot in (x[able], y[able]):
            claims.scatter_reduce_(0, slot, pair, "amin")
        pair = pair[(claims[x[able]] == pair) & (claims[y[able]] == pair)].unique()
        return pair // 2**32, pair % 2**32

    def _record(self, a: Tensor, b: Tensor) -> None:
        m = self._matrix
        merged, round_ = int(m.state[_MERGED]), int(m.state[_ROUND])
        at = slice(merged, merged + len(a))
        m.merge_a[at], m.merge_b[at], m.merge_height[at] = m.name[b], m.name[a], m.nearest[a]
        m.merge_round[at] = round_
        m.state[_MERGED] += len(a)

    def _merge(self, a: Tensor, b: Tensor) -> None:
        m, D = self._matrix, self._matrix.view()
        weight_a, weight_b, height = m.weight[a], m.weight[b], m.nearest[a]
        sides = weight_a[:, None], weight_b[:, None]
        D[a] = self._combined(D[a], D[b], *sides, m.weight[: m.side], height[:, None])
        third = (weight_a + weight_b)[:, None]
        among = self._combined(D[a][:, a], D[a][:, b], weight_a, weight_b, third, height).triu(1)
        D[:, a] = D[a].T
        D[a[:, None], a] = among + among.T
        m.weight[a] += weight_b
        m.alive[b] = 0

    def _combined(
        self, x: Tensor, y: Tensor, weight_x: Tensor, weight_y: Tensor, third: Tensor, height: Tensor
    ) -> Tensor:
        import torch

        linkage = self._matrix.linkage
        if linkage == "complete":
            return torch.maximum(x, y)
        if linkage == "weighted":
            return 0.5 * (x + y)
        lesser, greater = torch.minimum(x, y), torch.maximum(x, y)  # see kernels/matrix.py
        weight = torch.where(x < y, weight_y, weight_x)
        if linkage == "average":
            return lesser + (greater - lesser) * (weight / (weight_x + weight_y))
        beyond = third * (greater - height).clamp(min=0)
        return lesser + (weight * (greater - lesser) + beyond) / (weight_x + weight_y + third)

    def _wanted(self, a: Tensor, b: Tensor) -> Tensor:
        import torch

        m = self._matrix
        gone = torch.zeros(m.side, dtype=torch.bool)
        gone[a] = gone[b] = True
        m.valid[: m.side] *= ~(gone | gone[m.neighbour[: m.side].long()])
        unknown = ((m.valid[: m.side] == 0) & (m.alive[: m.side] > 0)).nonzero().squeeze(1)
        if len(unknown) * m.side <= _FEW or len(unknown) <= _PER_PAIR * len(a):
            return unknown
        pointed = m.neighbour[m.valid[: m.side].nonzero().squeeze(1)].long().unique()
        return torch.cat([a, pointed[m.valid[pointed] == 0]])

    def _scan(self, rows: Tensor) -> None:
        import torch

        m, D = self._matrix, self._matrix.view()
        dead = m.alive[: m.side] == 0
        step = max(1, _BUFFER // m.side)
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            distances = D[some].masked_fill_(dead, torch.inf)
            distances[torch.arange(len(some)), some] = torch.inf
            m.nearest[some], column = distances.min(1)
            m.neighbour[some] = column.int()
        m.valid[rows] = 1
        m.state[_ROUND] += 1
        m.state[_SCANNED] += len(rows)

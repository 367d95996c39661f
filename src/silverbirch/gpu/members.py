"""Complete, average and weighted linkage distances of clusters, from the objects in them.

Weighted linkage is average linkage of objects whose weights are halved at each merge. All distances come from
differences of float64 rows, and partial results are joined in a fixed order. Results are squared, as the bounds are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from .clusters import Clusters

SIDE = 8  # objects of either cluster in a tile of `between`
_TILES, _TILES_OF_OBJECT = 1 << 22, 64  # the most tiles that are measured at a time
_PIECE = 1 << 24  # the numbers that plain torch holds at a time
_RUN = 256  # objects whose distances one thread joins
_TILE, _STEP = 128, 8  # rows and columns of what the kernel of `to_all` reads at a time


def members_bytes(count: int, columns: int) -> int:
    """The memory that `Members` takes beside the means of the clusters: rows, places and tiles."""
    return 16 * count * (columns + _STEP) + 160 * count + 80 * min(_TILES, _TILES_OF_OBJECT * count)


class Members:
    """Which objects each slot of `clusters` has, next to each other in `order`: from start[slot] to start[slot + 1]."""

    def __init__(self, clusters: Clusters, linkage: str, kernels: bool) -> None:
        import torch

        self.linkage = linkage
        self.rows = clusters.mean.clone()
        self._clusters = clusters
        self._kernels = kernels
        self._weight = clusters.weight[: len(self.rows)].clone()
        self._slot_of = torch.arange(len(self.rows), device=self.rows.device)
        self._by_tile = _by_tile(self.rows) if kernels else self.rows
        self.counts = {"tiles": 0, "rows": 0}  # measured: of two clusters, and of objects to all
        self._sort()

    def merged(self, first: Tensor, second: Tensor) -> None:
        """After clusters have merged."""
        import torch

        c = self._clusters
        if self.linkage == "weighted":
            changed = torch.zeros(c.padded, dtype=torch.bool, device=first.device)
            changed[first] = True
            changed[second] = True
            self._weight[changed[self._slot_of]] *= 0.5
        self._slot_of = c.survivor[self._slot_of].long()
        self._sort()

    def compact(self) -> None:
        """Compacts the clusters."""
        place = self._clusters.alive.cumsum(0) - 1
        self._slot_of = place[self._slot_of]
        self._clusters.compact()
        self._sort()

    def _sort(self) -> None:
        import torch

        slots = torch.arange(self._clusters.padded + 1, device=self.rows.device)
        in_order, self.order = torch.sort(self._slot_of, stable=True)
        self.start = torch.searchsorted(in_order, slots)
        self.count = self.start[1:] - self.start[:-1]

    def between(self, a: Tensor, b: Tensor) -> Tensor:
        """The squared distances of the slots a[i] and b[i]; symmetric up to rounding."""
        import torch

        a, b = torch.minimum(a, b).long(), torch.maximum(a, b).long()
        tiles = -(-self.count[a] // SIDE) * -(-self.count[b] // SIDE)
        ends = tiles.cumsum(0)
        result = torch.zeros(len(a), dtype=torch.float64, device=a.device)
        total = int(ends[-1]) if len(a) else 0
        self.counts["tiles"] += total
        step = min(_TILES, _TILES_OF_OBJECT * len(self.rows))
        for begin in range(0, total, step):
            tile = torch.arange(begin, min(begin + step, total), device=a.device)
            pair = torch.searchsorted(ends, tile, right=True)
            place = tile - (ends - tiles)[pair]
            parts = self._measured(a[pair], b[pair], place)
            low, high = int(pair[0]), int(pair[-1]) + 1
            parts = torch.segment_reduce(parts, self._reduction, lengths=torch.bincount(pair - low))
            result[low:high] = self._joined(result[low:high], parts)
        return self._squared(result, self._total(a), self._total(b))

    def to_all(self, queries: Tensor, buffer_bytes: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Some of the queries, and their squared distances to all slots up to rounding; until all queries are done.

        Distances of slots without objects mean nothing. An iteration takes about `buffer_bytes`.
        """
        import torch

        most = max(1, buffer_bytes // (48 * len(self.rows)))
        most = max(most // _TILE * _TILE, min(most, _TILE))
        for some in self._batches(queries, most):
            lengths = self.count[some]
            place = torch.arange(int(lengths.sum()), device=some.device)
            self.counts["rows"] += len(place)
            ends = lengths.cumsum(0)
            query = torch.searchsorted(ends, place, right=True)
            objects = self.order[self.start[some[query]] + place - (ends - lengths)[query]]
            result = None
            for rows in objects.split(most):
                part = self._of_rows(rows)  # (rows, slots)
                of_query = lengths if len(some) > 1 else torch.full_like(lengths, len(rows))
                part = torch.segment_reduce(part, self._reduction, lengths=of_query, axis=0)
                result = part if result is None else self._joined(result, part)
            assert result is not None
            slots = torch.arange(self._clusters.padded, device=some.device)
            yield some, self._squared(result, self._total(some)[:, None], self._total(slots))

    def _batches(self, queries: Tensor, most: int) -> Iterator[Tensor]:
        """Several queries of `most` objects together, or a single one."""
        ends = self.count[queries].cumsum(0).cpu()
        begin, before = 0, 0
        while begin < len(queries):
            end = max(begin + 1, int((ends <= before + most).sum()))
            yield queries[begin:end]
            begin, before = end, int(ends[end - 1])

    def _of_rows(self, rows: Tensor) -> Tensor:
        """The distances of some objects to all slots: the largest, or the sum times the weights."""
        import torch

        distances = self._rectangle(rows)[self.order]  # (objects, rows)
        if self.linkage != "complete":
            distances.mul_(self._weight[self.order, None])
        # In runs first: a thread that joined the distances of a large cluster one by one would take long.
        runs = -(-self.count // _RUN)
        lengths = torch.full((int(runs.sum()),), _RUN, device=rows.device)
        last = runs.cumsum(0)[self.count > 0] - 1
        lengths[last] = (self.count - (runs - 1) * _RUN)[self.count > 0]
        distances = torch.segment_reduce(distances, self._reduction, lengths=lengths, axis=0)
        distances = torch.segment_reduce(distances, self._reduction, lengths=runs, axis=0)
        distances = distances.T.contiguous()
        return distances if self.linkage == "complete" else distances.mul_(self._weight[rows, None])

    @property
    def _reduction(self) -> str:
        return "max" if self.linkage == "complete" else "sum"

    def _joined(self, x: Tensor, y: Tensor) -> Tensor:
        import torch

        return torch.maximum(x, y) if self.linkage == "complete" else x + y

    def _total(self, slots: Tensor) -> Tensor:
        weight = self._clusters.weight[slots]
        return weight if self.linkage == "average" else weight.fill_(1.0)

    def _squared(self, result: Tensor, weight_a: Tensor, weight_b: Tensor) -> Tensor:
        return result if self.linkage == "complete" else (result / weight_a / weight_b).square()

    def _measured(self, a: Tensor, b: Tensor, place: Tensor) -> Tensor:
        """The largest squared distance in tiles of two clusters, or the sum of distances times both weights."""
        import torch

        result = torch.empty(len(a), dtype=torch.float64, device=a.device)
        if self._kernels:
            from .kernels import members as kernels

            kernels.tiles[(len(a),)](
                a, b, place, self.order, self.start, self.rows, self._weight, result,
                COLUMNS=self.rows.shape[1], SIDE=SIDE, BK=32, LARGEST=self.linkage == "complete", num_warps=4,
            )  # fmt: skip
            return result
        step = max(1, _PIECE // (SIDE * SIDE * self.rows.shape[1]))
        tiles_of_b = -(-self.count[b] // SIDE)
        for begin in range(0, len(a), step):
            some = slice(begin, begin + step)
            x, in_x = self._part(a[some], place[some] // tiles_of_b[some])
            y, in_y = self._part(b[some], place[some] % tiles_of_b[some])
            squared = (self.rows[x][:, :, None] - self.rows[y][:, None]).square_().sum(3)
            squared.masked_fill_(~(in_x[:, :, None] & in_y[:, None]), 0.0)
            if self.linkage == "complete":
                result[some] = squared.amax((1, 2))
            else:
                weight = self._weight[x][:, :, None] * self._weight[y][:, None]
                result[some] = (squared.sqrt_() * weight).sum((1, 2))
        return result

    def _part(self, slots: Tensor, part: Tensor) -> tuple[Tensor, Tensor]:
        """SIDE objects of each slot, and which of these numbers are objects of it."""
        import torch

        place = part[:, None] * SIDE + torch.arange(SIDE, device=slots.device)
        inside = place < self.count[slots][:, None]
        return self.order[torch.where(inside, self.start[slots][:, None] + place, 0)], inside

    def _rectangle(self, rows: Tensor) -> Tensor:
        """The distances of all objects to some, for complete linkage their squares."""
        import torch

        objects, columns = self.rows.shape
        result = torch.empty(objects, len(rows), dtype=torch.float64, device=rows.device)
        largest = self.linkage == "complete"
        if self._kernels:
            from .kernels import members as kernels

            steps = self._by_tile.shape[1] // _STEP
            grid = (-(-len(rows) // _TILE), 2 * len(self._by_tile))
            kernels.rectangle[grid](
                self._by_tile, _by_tile(self.rows[rows]), result, objects, len(rows), steps,
                ROOT=not largest, TILE=_TILE, STEP=_STEP, num_warps=8,
            )  # fmt: skip
            return result
        step = max(1, _PIECE // (len(rows) * columns))
        for begin in range(0, objects, step):
            some = slice(begin, begin + step)
            squared = (self.rows[some, None] - self.rows[rows]).square_().sum(2)
            result[some] = squared if largest else squared.sqrt_()
        return result


def _by_tile(rows: Tensor) -> Tensor:
    """Rows in tiles, column by column; filled up with zeros."""
    import torch

    count, columns = rows.shape
    tiles, width, whole = -(-count // _TILE), -(-columns // _STEP) * _STEP, count // _TILE
    result = torch.zeros(tiles, width, _TILE, dtype=torch.float64, device=rows.device)
    result[:whole, :columns] = rows[: whole * _TILE].view(whole, _TILE, columns).transpose(1, 2)
    if whole < tiles:
        result[whole, :columns, : count - whole * _TILE] = rows[whole * _TILE :].T
    return result

"""Centroid and median linkage: at each step the nearest pair of all is merged.

These linkages are not reducible: a merged cluster can be nearer to others than its parts were, so merges cannot be done
in rounds. Every cluster has a key: the squared distance to the nearest cluster that is older, which is therefore found
before the two can merge. While that neighbour is there, the pair exists; if it has merged, the key is a lower bound. So
the least key is either the nearest pair of all, or its cluster searches again [Anderberg 1973]. Means are float64 and
all distances come from differences: nothing is rounded twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .history import add_merges
from .neighbours import neighbours_of_means

if TYPE_CHECKING:
    import torch

    from .objects import Objects

GREEDY_LINKAGES = ("centroid", "median")
_QUERIES = 4  # searches in one pass over the means
_BLOCK = 1024  # keys with a common minimum
_ROWS, _WIDTH = 16, 64  # means that a program reads at a time, and their columns
_STEPS = 64  # in a graph
_SQUEEZE_BELOW = 0.75  # the share of the slots that is left when the others are squeezed out
_PIECE = 1 << 26  # the numbers that are moved at a time
_NEVER = -2  # no slot is born then; free ones say -1
_FIELDS = 3  # of the state, as kernels/greedy.py names them
_SLOTS, _MERGED, _SEARCHED = range(_FIELDS)


def greedy_bytes(count: int, columns: int) -> int:
    """The most memory that greedy clustering takes beside the objects, after the first search."""
    return 120 * (count + _BLOCK) + 8 * min(_PIECE, count * columns)


def cluster_greedily(
    objects: Objects, linkage: str, buffer_bytes: int = 1 << 32, kernels: bool | None = None
) -> dict[str, int]:
    """Adds all merges to `objects.merges`, and overwrites `objects.mean`. Returns a count of the searches.

    `kernels`: whether steps are done by kernels or in plain torch. None: by kernels on a GPU.
    """
    if len(objects) < 2:
        return {"searched": 0}
    clusters = Means(objects, linkage, buffer_bytes)
    steps = KernelSteps(clusters) if (objects.mean.is_cuda if kernels is None else kernels) else TorchSteps(clusters)
    left = len(objects)
    while left > 1:
        left = steps.run()
        if left < _SQUEEZE_BELOW * clusters.slots:
            clusters.squeeze()
            steps.squeezed()
    count = len(objects) - 1
    height = clusters.merge_height[:count].sqrt()
    add_merges(objects, clusters.merge_a[:count], clusters.merge_b[:count], height, monotone=False)
    return {"searched": int(clusters.state[_SEARCHED])}


class Means:
    """Clusters in slots. `born` counts in merges: it tells the clusters that a slot held one after the other."""

    def __init__(self, objects: Objects, linkage: str, buffer_bytes: int) -> None:
        import torch

        self.midpoint = linkage == "median"
        self.count = self.slots = len(objects)
        self.padded = -(-self.count // _BLOCK) * _BLOCK
        self.device = objects.mean.device
        # The nearest of all is no farther than the nearest older one: its distance, or a bound of it, is a key.
        first = neighbours_of_means(objects, buffer_bytes)
        nearest, certain = first.nearest[: self.count], first.nearest[: self.count] >= 0
        self.mean = objects.mean
        self.weight = objects.weight.clone()
        self.name = torch.arange(self.count, device=self.device)
        self.born = self.name.clone()
        self.neighbour = nearest.clamp(min=0)
        self.neighbour_born = nearest.long().where(certain, _NEVER)
        self.key = torch.full((self.padded,), torch.inf, dtype=torch.float64, device=self.device)
        self.key[: self.count] = first.distance[: self.count].where(certain, first.reach[: self.count])
        self.queries = torch.full((_QUERIES,), -1, dtype=torch.int32, device=self.device)
        self.merge_a, self.merge_b = torch.empty_like(self.name), torch.empty_like(self.name)
        self.merge_height = torch.empty_like(self.weight)
        self.state = torch.tensor([self.count, 0, 0], device=self.device)

    def squeeze(self) -> None:
        """Keeps living slots only. They move to the front, so what is written lies before what is still to be read."""
        import torch

        keep = (self.born[: self.slots] >= 0).nonzero().squeeze(1)
        step = max(1, _PIECE // self.mean.shape[1])
        for begin in range(0, len(keep), step):
            some = keep[begin : begin + step]
            self.mean[begin : begin + len(some)] = self.mean[some]
        place = torch.zeros(self.slots, dtype=torch.int32, device=self.device)
        place[keep] = torch.arange(len(keep), dtype=torch.int32, device=self.device)
        gone = self.born[self.neighbour[keep].long()] != self.neighbour_born[keep]
        self.neighbour_born[keep[gone]] = _NEVER  # the slot that held the neighbour gets another cluster
        self.neighbour[keep] = place[self.neighbour[keep].long()]
        for values in (self.weight, self.name, self.born, self.neighbour, self.neighbour_born, self.key):
            values[: len(keep)] = values[keep]
        self.key[len(keep) :] = torch.inf
        self.queries[:] = torch.where(self.queries >= 0, place[self.queries.clamp(min=0).long()], -1)
        self.slots = len(keep)
        self.state[_SLOTS] = self.slots


class KernelSteps:
    """Steps are recorded as a CUDA graph; the host looks at the counts between replays.

    A step ends before its queries are answered: the answers name slots, which are other ones after `squeeze`.
    """

    def __init__(self, clusters: Means) -> None:
        import torch

        self._clusters = clusters
        device = clusters.device
        blocks = clusters.padded // _BLOCK
        on_gpu = device.type == "cuda"
        self._programs = 2 * torch.cuda.get_device_properties(device).multi_processor_count if on_gpu else 3
        self._parts = 1 << (self._programs - 1).bit_length()
        self._part_key = torch.full((_QUERIES * self._parts,), torch.inf, dtype=torch.float64, device=device)
        self._part_slot = torch.zeros(_QUERIES * self._parts, dtype=torch.int32, device=device)
        self._block_key = torch.empty(blocks, dtype=torch.float64, device=device)
        self._block_slot = torch.empty(blocks, dtype=torch.int32, device=device)
        self._graph: torch.cuda.CUDAGraph | None = None
        self.squeezed()

    def squeezed(self) -> None:
        import torch

        c = self._clusters
        least, place = c.key.view(-1, _BLOCK).min(1)
        self._block_key.copy_(least)
        self._block_slot.copy_(place + torch.arange(0, c.padded, _BLOCK, device=c.device))

    def run(self) -> int:
        import torch

        c = self._clusters
        if c.device.type != "cuda":  # the interpreter of Triton
            self._steps(8)
        elif self._graph is None:
            self._steps(1)  # compiles what the graph records
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._steps(_STEPS)
        else:
            self._graph.replay()
        return c.count - int(c.state[_MERGED])

    def _steps(self, steps: int) -> None:
        from .kernels import greedy as kernels

        c = self._clusters
        columns = c.mean.shape[1]
        width = min(_WIDTH, 1 << (columns - 1).bit_length())
        sizes = {"COLUMNS": columns, "QUERIES": _QUERIES, "PARTS": self._parts}
        blocks = 1 << (len(self._block_key) - 1).bit_length()
        parts = (self._part_key, self._part_slot)
        for _ in range(steps):
            kernels.measure[self._programs,](
                c.state, c.mean, c.born, c.queries, *parts, **sizes, WIDTH=width, ROWS=_ROWS
            )
            kernels.choose[1,](
                c.state, c.mean, c.weight, c.born, c.key, c.neighbour, c.neighbour_born, self._block_key,
                self._block_slot, c.queries, *parts, c.name, c.merge_a, c.merge_b, c.merge_height, c.count,
                **sizes, WIDTH=1 << (columns - 1).bit_length(), BLOCK=_BLOCK, BLOCKS=blocks, MIDPOINT=c.midpoint,
                num_warps=8,
            )  # fmt: skip


class TorchSteps:
    """The same in plain torch, a search at a time: it is what the kernels are tested against."""

    def __init__(self, clusters: Means) -> None:
        self._clusters = clusters

    def squeezed(self) -> None:
        pass

    def run(self) -> int:
        c = self._clusters
        merged = int(c.state[_MERGED])
        while merged < c.count - 1 and c.count - merged > _SQUEEZE_BELOW * c.slots / 2:
            x = int(c.key.argmin())
            y = int(c.neighbour[x])
            if c.born[y] != c.neighbour_born[x]:
                self._search(x)
                continue
            a, b = min(x, y), max(x, y)
            c.merge_a[merged], c.merge_b[merged], c.merge_height[merged] = c.name[b], c.name[a], c.key[x]
            share = 0.5 if c.midpoint else c.weight[b] / (c.weight[a] + c.weight[b])
            c.mean[a] += (c.mean[b] - c.mean[a]) * share
            c.weight[a] += c.weight[b]
            c.born[a], c.born[b] = c.count + merged, -1
            c.key[a] = c.key[b] = float("inf")
            merged += 1
            self._search(a)
        c.state[_MERGED] = merged
        return c.count - merged

    def _search(self, x: int) -> None:
        import torch

        c = self._clusters
        distance = (c.mean[: c.slots] - c.mean[x]).square().sum(1)
        born = c.born[: c.slots]
        c.key[x], c.neighbour[x] = distance.where((born >= 0) & (born < born[x]), torch.inf).min(0)
        c.neighbour_born[x] = c.born[c.neighbour[x].long()]
        c.state[_SEARCHED] += 1

"""The clusters of a clustering by rounds, in slots of tensors on the device."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .objects import Objects

if TYPE_CHECKING:
    from torch import Tensor

LENGTH = 16  # of the list of neighbours of a cluster; twice as much while two lists are joined
TILE = 256  # the number of slots is a multiple of it
K_TILE = 64  # so is the number of float16 columns
_PIECE = 1 << 26  # the numbers that are copied at a time


class Clusters:
    """A slot is a cluster, the remains of one that has merged into another, or beyond the last one.

    Besides its feature a cluster has a copy of its mean in float16 with its squared length and the length of its
    rounding error; its nearest neighbour, once that is known for certain; and a list of neighbours: clusters that are
    not in the list are at least `reach` away. Distances are the squares that the linkage compares.
    """

    def __init__(self, objects: Objects, linkage: str) -> None:
        import torch

        device = objects.mean.device
        self.linkage = linkage
        self.merges = objects.merges
        self.columns = objects.mean.shape[1]
        self.active = self.slots = len(objects)
        self.padded = -(-self.slots // TILE) * TILE
        self.uniform = not objects.weighted
        k = -(-self.columns // K_TILE) * K_TILE

        def filled(value: float, dtype: torch.dtype, *shape: int) -> Tensor:
            return torch.full((self.padded, *shape), value, dtype=dtype, device=device)

        def padded(values: Tensor, value: float) -> Tensor:
            result = filled(value, values.dtype)
            result[: len(values)] = values
            return result

        self.mean = objects.mean
        self.weight = padded(objects.weight, 1.0)
        self.spread = padded(objects.sse / objects.weight, 0.0)
        self.cluster = padded(objects.cluster, -1)
        self.half = filled(0.0, torch.float16, k)
        self.norm = filled(0.0, torch.float32)
        self.rounding = filled(0.0, torch.float32)
        self.inverse_weight = (1.0 / self.weight).to(torch.float32)
        self.term = filled(torch.inf, torch.float32)
        self.alive = filled(0, torch.int8)
        self.alive[: self.slots] = 1
        self.nearest = filled(-1, torch.int32)
        self.distance = filled(torch.inf, torch.float64)
        self.reach = filled(0.0, torch.float64)
        self.listed = filled(-1, torch.int32, 2 * LENGTH)
        self.unsettled = filled(1, torch.int8)  # lists cannot tell the nearest neighbour
        self.lightest = objects.weight.min()  # of all objects: merged clusters are heavier
        self.survivor = torch.arange(self.padded, dtype=torch.int32, device=device)
        step = max(1, _PIECE // self.columns)
        for begin in range(0, self.slots, step):
            self.round_means(slice(begin, min(begin + step, self.slots)))

    def round_means(self, at: slice | Tensor) -> None:
        """Rounds means to float16, and measures how long they and their rounding errors are."""
        import torch

        mean = self.mean[at]
        half = mean.to(torch.float16)
        self.half[at, : self.columns] = half
        exact = half.double()
        self.norm[at] = exact.square().sum(1).float()
        self.rounding[at] = ((exact - mean).square().sum(1).sqrt() * (1 + 1e-6)).float()

    def objects(self, like: Objects) -> Objects:
        """The clusters as what is clustered further."""
        keep = self.alive[: self.slots].nonzero().squeeze(1)
        weight = self.weight[keep]
        return replace(
            like,
            weight=weight,
            mean=self.mean[keep],
            sse=self.spread[keep] * weight,
            cluster=self.cluster[keep],
            weighted=True,
        )

    def compact(self) -> None:
        """Moves the clusters to the first slots, in their order. Large tensors keep their memory."""
        import torch

        keep = self.alive[: self.slots].nonzero().squeeze(1)
        place = torch.full((self.padded,), -1, dtype=torch.int32, device=keep.device)
        place[keep] = torch.arange(len(keep), dtype=torch.int32, device=keep.device)

        def renamed(slots: Tensor) -> Tensor:
            slots = self.survivor[slots.clamp(min=0)].where(slots >= 0, slots)
            return torch.where(slots >= 0, place[slots.clamp(min=0)], -1)

        self.nearest[: len(keep)] = renamed(self.nearest[keep])
        step = max(1, _PIECE // self.columns)
        for begin in range(0, len(keep), step):
            some = keep[begin : begin + step]  # ascending: what is written lies before what is still to be read
            to = slice(begin, begin + len(some))
            self.mean[to] = self.mean[some]
            self.half[to] = self.half[some]
            self.listed[to] = renamed(self.listed[some])
        for values in (self.weight, self.spread, self.cluster, self.norm, self.rounding, self.inverse_weight,
                       self.distance, self.reach, self.unsettled):  # fmt: skip
            values[: len(keep)] = values[keep]
        self.slots = len(keep)
        self.padded = -(-self.slots // TILE) * TILE
        for name in ("mean", "weight", "spread", "cluster", "half", "norm", "rounding", "inverse_weight", "term",
                     "alive", "nearest", "distance", "reach", "listed", "unsettled", "survivor"):  # fmt: skip
            setattr(self, name, getattr(self, name)[: self.padded])
        self.alive.zero_()
        self.alive[: self.slots] = 1
        self.nearest[self.slots :] = -1
        self.survivor.copy_(torch.arange(self.padded, dtype=torch.int32, device=keep.device))

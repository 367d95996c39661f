"""The merges of a clustering on a GPU, and the linkage matrix they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..checks import Floats

if TYPE_CHECKING:
    from torch import Tensor


class Merges:
    """Collects merges, many at a time. Cluster i < objects is an object; the merges are numbered from there on."""

    def __init__(self, objects: int) -> None:
        self.objects = objects
        self.count = 0
        self._added: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []

    def add(self, a: Tensor, b: Tensor, height: Tensor, rank: Tensor) -> Tensor:
        """Adds merges of the clusters a[i] and b[i]; returns the numbers of the new clusters.

        `rank` orders the rows of the linkage matrix, ties in the order of adding; no cluster may have a rank below
        those of its parts.
        """
        import torch

        self._added.append((a, b, height, rank))
        first = self.objects + self.count
        self.count += len(a)
        return torch.arange(first, first + len(a), device=a.device)

    def linkage_matrix(self, scale: float) -> Floats:
        """scipy's Z; heights are divided by `scale`."""
        import torch

        if not self._added:
            return np.empty((0, 4))
        a, b, height, rank = (torch.cat(column) for column in zip(*self._added, strict=True))
        order = torch.argsort(rank, stable=True)
        row_of = torch.empty_like(order)
        row_of[order] = torch.arange(len(order), device=order.device)

        def numbered(cluster: Tensor) -> Tensor:
            merged = cluster >= self.objects
            return torch.where(merged, self.objects + row_of[(cluster - self.objects).clamp(min=0)], cluster)

        a, b = numbered(a[order]), numbered(b[order])
        columns = (torch.minimum(a, b), torch.maximum(a, b), height[order] / scale, torch.zeros_like(height))
        Z = torch.stack([column.to(torch.float64) for column in columns], 1).cpu().numpy()
        Z[:, 3] = _core.leaf_counts(Z)
        return Z

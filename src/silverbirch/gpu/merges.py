"""The merges of a clustering on a GPU, and the linkage matrix they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from ..checks import Floats
from ..progress import Report

if TYPE_CHECKING:
    from torch import Tensor


class Merges:
    """Collects merges, many at a time. Cluster i < objects is an object; the merges are numbered from there on."""

    def __init__(self, objects: int) -> None:
        self.objects = objects
        self.count = 0
        self.report: Report | None = None  # called with (merges so far, all merges)
        self._added: list[tuple[Tensor, Tensor, Tensor]] = []

    def add(self, a: Tensor, b: Tensor, height: Tensor) -> Tensor:
        """Adds merges of the clusters a[i] and b[i]; returns the numbers of the new clusters."""
        import torch

        self._added.append((a, b, height))
        first = self.objects + self.count
        self.count += len(a)
        if self.report is not None:
            self.report(self.count, self.objects - 1)
        return torch.arange(first, first + len(a), device=a.device)

    def linkage_matrix(self, scale: float, monotone: bool = True) -> Floats:
        """scipy's Z. Heights are divided by `scale`.

        If the linkage is monotone, the rows are ordered by height, and heights that fall by rounding are levelled. Else
        the rows are in the order of adding.
        """
        import torch

        if not self._added:
            return np.empty((0, 4))
        a, b, height = (torch.cat(column) for column in zip(*self._added, strict=True))
        if monotone:
            height = self._levelled(a, b, height)
            order = torch.argsort(height, stable=True)
            a, b, height = self._renumbered(a[order], order), self._renumbered(b[order], order), height[order]
        columns = (torch.minimum(a, b), torch.maximum(a, b), height / scale, torch.zeros_like(height))
        Z = torch.stack([column.to(torch.float64) for column in columns], 1).cpu().numpy()
        Z[:, 3] = _core.leaf_counts(Z)
        return Z

    def _levelled(self, a: Tensor, b: Tensor, height: Tensor) -> Tensor:
        import torch

        while True:
            levelled = height
            for part in (a, b):
                below = torch.where(part >= self.objects, height[(part - self.objects).clamp(min=0)], 0.0)
                levelled = torch.maximum(levelled, below)
            if torch.equal(levelled, height):
                return height
            height = levelled

    def _renumbered(self, cluster: Tensor, order: Tensor) -> Tensor:
        import torch

        row_of = torch.empty_like(order)
        row_of[order] = torch.arange(len(order), device=order.device)
        merged = row_of[(cluster - self.objects).clamp(min=0)] + self.objects
        return torch.where(cluster >= self.objects, merged, cluster)

"""Rows for a GPU: an array in main memory or on the device, read in pieces as unit rows or as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Rows:
    """Indexing gives some rows on the device, in float32 or float64."""

    def __init__(self, array: Tensor, device: torch.device, direction: str | None = None) -> None:
        self._array = array
        self.device = device
        self._direction = direction

    def __len__(self) -> int:
        return len(self._array)

    @property
    def columns(self) -> int:
        return self._array.shape[1]

    def pieces(self, count: int, numbers: int) -> Iterator[slice]:
        """[0, count) in slices of about as many numbers."""
        step = max(1, numbers // self.columns)
        for begin in range(0, count, step):
            yield slice(begin, min(begin + step, count))

    def __getitem__(self, at: slice | Tensor) -> Tensor:
        import torch

        if not isinstance(at, slice):
            at = at.to(self._array.device)
        some = self._array[at].to(self.device)
        if some.dtype not in (torch.float32, torch.float64):
            some = some.to(torch.float64 if not some.dtype.is_floating_point else torch.float32)
        if self._direction is None:
            return some
        some = some.double()
        if self._direction == "correlation":
            some = some - some.mean(1, keepdim=True)
        # Divided by the largest value first: the squares neither overflow nor vanish.
        some = some / some.abs().amax(1, keepdim=True)
        return some / some.norm(dim=1, keepdim=True)

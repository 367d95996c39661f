"""Merges that name their clusters by objects, in the numbers that `Merges` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core

if TYPE_CHECKING:
    from torch import Tensor

    from .objects import Objects


def add_merges(objects: Objects, a: Tensor, b: Tensor, height: Tensor, monotone: bool) -> None:
    """Adds merges in an order where parts come before the whole: a[i] into b[i], which names the merged cluster.

    If the heights ascend, any objects of the two clusters will do. Heights of a monotone linkage that fall by rounding
    are levelled.
    """
    import torch

    a, b, height = (values.cpu().numpy() for values in (a.long(), b.long(), height.double()))
    Z = torch.from_numpy(_core.merged_in_order(a, b, height, monotone)).to(objects.mean.device)
    first_merge = objects.merges.objects + objects.merges.count

    def numbered(place: Tensor) -> Tensor:
        place = place.long()
        merged = first_merge + place - len(objects)
        return torch.where(place < len(objects), objects.cluster[place.clamp(max=len(objects) - 1)], merged)

    objects.merges.add(numbered(Z[:, 0]), numbered(Z[:, 1]), Z[:, 2])

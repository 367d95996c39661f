"""The search on several GPUs of one process: each holds all clusters and searches for its share of the queries.

What a search finds is 340 bytes a query, copied to the other GPUs; merges are done on all of them alike. So the memory
of a GPU limits the rows as before, and the products, which are most of the time, are divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from .clusters import Clusters
from .objects import Objects
from .search import Search

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_FOUND = ("nearest", "distance", "reach", "listed", "unsettled")  # what a search sets for its queries


def search_on(
    objects: Objects, linkage: str, buffer_bytes: int, devices: Sequence[torch.device], kernels: bool | None
) -> Search | Ranks:
    """The search on the device of the objects, or on several devices, of which that one is the first."""
    if len(devices) < 2:
        return Search(Clusters(objects, linkage), buffer_bytes, kernels)
    copies = [_copied(objects, device) for device in devices[1:]]
    return Ranks([Search(Clusters(some, linkage), buffer_bytes, kernels) for some in (objects, *copies)])


def _copied(objects: Objects, device: torch.device) -> Objects:
    tensors = {name: getattr(objects, name).to(device, copy=True) for name in ("weight", "mean", "sse", "cluster")}
    return replace(objects, **tensors)


class Ranks:
    """What `Search` does, on the clusters of the first rank."""

    def __init__(self, ranks: Sequence[Search]) -> None:
        self._ranks = ranks
        self.clusters = ranks[0].clusters

    @property
    def counts(self) -> dict[str, int]:
        return {name: sum(rank.counts[name] for rank in self._ranks) for name in self._ranks[0].counts}

    def find_in_lists(self, queries: Tensor) -> None:
        self._divided("find_in_lists", queries)

    def find(self, queries: Tensor) -> None:
        self._divided("find", queries)

    def measure_all(self, queries: Tensor) -> None:
        self._divided("measure_all", queries)

    def merge(self, first: Tensor, second: Tensor) -> None:
        for rank in self._ranks:
            device = rank.clusters.mean.device
            rank.merge(first.to(device), second.to(device))

    def compact(self) -> None:
        for rank in self._ranks:
            rank.compact()

    def _divided(self, step: str, queries: Tensor) -> None:
        """A thread for each rank: the host waits for counts on the device now and then."""
        shares = queries.tensor_split(len(self._ranks))
        with ThreadPoolExecutor(len(self._ranks)) as threads:
            list(threads.map(lambda rank, share: _on_device(rank, step, share), self._ranks, shares))
        for rank, share in zip(self._ranks, shares, strict=True):
            for other in self._ranks:
                if other is not rank:
                    _copy_found(rank.clusters, other.clusters, share)


def _on_device(rank: Search, step: str, queries: Tensor) -> None:
    import torch

    device = rank.clusters.mean.device
    with torch.cuda.device(device if device.type == "cuda" else -1):
        getattr(rank, step)(queries.to(device))
        if device.type == "cuda":
            torch.cuda.current_stream().synchronize()  # the copies are made by other threads


def _copy_found(source: Clusters, target: Clusters, queries: Tensor) -> None:
    at, to = queries.to(source.mean.device), queries.to(target.mean.device)
    for name in _FOUND:
        getattr(target, name)[to] = getattr(source, name)[at].to(target.mean.device)

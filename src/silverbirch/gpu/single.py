"""Single linkage from a minimum spanning tree [Borůvka 1926]: every component takes the shortest edge that leaves it.

Each object knows its nearest few neighbours. The first of them that lies outside its component is the nearest outside;
where all lie inside, it is at least `reach` away, and is searched for only if it might be the nearest of its component.
The largest component waits: the others merge with something in every round, so there are still at most log2 n rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .clusters import LENGTH
from .history import add_merges
from .neighbours import OUTSIDE_BYTES, nearest_outside, neighbours_of_means, pair_distances

if TYPE_CHECKING:
    from torch import Tensor

    from .objects import Objects


def single_bytes(count: int) -> int:
    """The most memory that the rounds take beside the objects, after the first search."""
    return (12 * LENGTH + 160) * count + OUTSIDE_BYTES


def cluster_single(objects: Objects, buffer_bytes: int = 1 << 32) -> dict[str, int]:
    """Adds all merges to `objects.merges`. Returns counts of rounds and of searches outside of a component."""
    import torch

    counts = {"rounds": 0, "searches": 0}
    if len(objects) < 2:
        return counts
    forest = Forest(objects, buffer_bytes)
    while forest.components > 1:
        counts["rounds"] += 1
        counts["searches"] += forest.grow()
    a, b, distance = (torch.cat(column) for column in zip(*forest.edges, strict=True))
    order = torch.argsort(distance, stable=True)
    add_merges(objects, a[order], b[order], distance[order].sqrt(), monotone=True)
    return counts


class Forest:
    """Components, named by `label`, numbers from 0; and of each object the nearest neighbours known, ascending."""

    def __init__(self, objects: Objects, buffer_bytes: int) -> None:
        import torch

        self._mean = objects.mean
        count, device = len(objects), objects.mean.device
        self.components = count
        self.label = torch.arange(count, device=device)
        self.edges: list[tuple[Tensor, Tensor, Tensor]] = []
        clusters = neighbours_of_means(objects, buffer_bytes)
        self._near = clusters.listed[:count, :LENGTH].clone()
        self._reach = clusters.reach[:count].clone()
        self._distance = torch.full(self._near.shape, torch.inf, dtype=torch.float64, device=device)
        row, place = (self._near >= 0).nonzero(as_tuple=True)
        self._distance[row, place] = pair_distances(self._mean, row, self._near[row, place].long())
        # What the last search outside of its component found.
        self._found = torch.full((count,), -1, device=device)
        self._found_distance = torch.zeros(count, dtype=torch.float64, device=device)

    def grow(self) -> int:
        """Merges every component, the largest perhaps excepted, with its nearest. Returns how many objects searched."""
        import torch

        distance, other = self._known()
        largest = torch.bincount(self.label, minlength=self.components).argmax()
        best = self._least(distance)
        at_least = torch.maximum(self._reach, self._found_distance)
        searching = (other < 0) & (at_least < best[self.label]) & (self.label != largest)
        queries = searching.nonzero().squeeze(1)
        if len(queries):
            bound = best[self.label[queries]]
            found_distance, found = nearest_outside(self._mean, queries, self.label, bound)
            self._found[queries] = found
            self._found_distance[queries] = torch.minimum(found_distance, bound)
            distance[queries], other[queries] = found_distance, found
            best = self._least(distance)
        self._join(distance, other, best, largest)
        return len(queries)

    def _known(self) -> tuple[Tensor, Tensor]:
        """The nearest object outside its component of each object, and its squared distance; -1 where unknown."""
        import torch

        near = self._near.long().clamp(min=0)
        outside = (self.label[near] != self.label[:, None]) & (self._near >= 0)
        distance, place = self._distance.masked_fill(~outside, torch.inf).min(1)
        other = torch.where(distance < torch.inf, near.gather(1, place[:, None]).squeeze(1), -1)
        found = (other < 0) & (self._found >= 0) & (self.label[self._found.clamp(min=0)] != self.label)
        return torch.where(found, self._found_distance, distance), torch.where(found, self._found, other)

    def _least(self, distance: Tensor) -> Tensor:
        import torch

        infinite = torch.full((self.components,), torch.inf, dtype=torch.float64, device=distance.device)
        return infinite.scatter_reduce_(0, self.label, distance, "amin")

    def _join(self, distance: Tensor, other: Tensor, best: Tensor, largest: Tensor) -> None:
        import torch

        device = distance.device
        component = torch.arange(self.components, device=device)
        objects = len(self.label)
        first = torch.full((self.components,), objects, device=device)
        candidate = ((other >= 0) & (distance == best[self.label]) & (self.label != largest)).nonzero().squeeze(1)
        first.scatter_reduce_(0, self.label[candidate], candidate, "amin")
        joins = first < objects
        a = first.clamp(max=objects - 1)
        b = other[a]
        # Following the edges from any component ends in a cycle: the two that take each other or the same distance, or
        # one without an edge. Its lowest component names all, and its edge is left out, for it closes the cycle.
        ahead = torch.where(joins, self.label[b.clamp(min=0)], component)
        lowest = torch.minimum(component, ahead)
        for _ in range(self.components.bit_length()):
            lowest = torch.minimum(lowest, lowest[ahead])
            ahead = ahead[ahead]
        name = lowest[ahead]
        kept = joins & (name != component)
        self.edges.append((a[kept], b[kept], distance[a[kept]]))
        names, renamed = name.unique(return_inverse=True)
        self.label = renamed[self.label]
        self.components = len(names)

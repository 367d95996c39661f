"""Complete, average and weighted linkage of more objects than fit on a matrix: rounds, then a matrix.

These linkages are reducible, as those in `rounds` are. Clusters know their objects until so few are left that the
matrix of their distances fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .matrix import cluster_by_matrix
from .member_search import MemberSearch
from .rounds import merge_nearest

if TYPE_CHECKING:
    from .objects import Objects

_COMPACT_BELOW = 0.85  # the share of the slots that hold clusters


def cluster_by_members(
    objects: Objects, linkage: str, *, buffer_bytes: int, matrix_from: int, kernels: bool | None = None
) -> dict[str, int]:
    """Adds all merges to `objects.merges`, and overwrites `objects.mean`. Returns counts of what was done.

    With `matrix_from` clusters left, the matrix of their distances is taken. `buffer_bytes` limits what the searches
    hold at a time. `kernels`: whether steps are done by kernels or in plain torch. None: by kernels on a GPU.
    """
    search = MemberSearch(objects, linkage, buffer_bytes, kernels)
    clusters = search.clusters
    rounds = 0
    while clusters.active > max(1, matrix_from):
        merge_nearest(search, first=rounds == 0)
        rounds += 1
        if clusters.active < _COMPACT_BELOW * clusters.slots:
            search.compact()
    if clusters.active < clusters.slots:
        search.compact()
    rest = cluster_by_matrix(clusters.objects(objects), linkage, kernels=kernels, fill=search.fill)
    of_matrix = {f"matrix_{name}": count for name, count in rest.items()}
    return {"rounds": rounds, **search.counts, **search.members.counts, **of_matrix}

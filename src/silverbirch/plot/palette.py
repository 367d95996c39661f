"""The colours of clusters. The colour belongs to the node, so that it stays the same from one cut to the next.

When the merges are undone from the root on, the heavier of two branches keeps the colour, and the lighter gets the next
one of the cycle that differs from both of its neighbours. So neighbours differ in every cut into k clusters, and the
first ten clusters have ten colours.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..checks import Floats
from ..dendrogram.nodes import Hierarchy, Nodes
from .layout import Layout, layout, uppermost

TRUNK = "#7a808a"
BRANCHES = (
    "#2f6f8f",
    "#c8553d",
    "#588157",
    "#8d5a97",
    "#d99a2b",
    "#1f3f6b",
    "#c9739c",
    "#2a9d8f",
    "#7d5a3c",
    "#9aa23b",
)
# The same colours, lighter.
BRANCHES_ON_DARK = (
    "#5fa5c8",
    "#e07b64",
    "#83b07f",
    "#bb8ac6",
    "#e3b056",
    "#8d9ce8",
    "#e08fb6",
    "#4fc0b1",
    "#b8906c",
    "#b9c163",
)
_N = len(BRANCHES)


def colours_of_nodes(hierarchy: Hierarchy, weights: Floats, nodes: Nodes) -> list[int]:
    """The number of the colour of each of these nodes, from 0 to 9.

    weights : of all nodes of the dendrogram
    """
    m = hierarchy.n_leaves
    above = hierarchy.parents[nodes[nodes != hierarchy.root]]
    lowest = int(above.min(initial=2 * m - 1)) - m  # merges below this row do not matter
    top = layout(hierarchy.children, uppermost(hierarchy.children, m - lowest))
    colour = dict(zip(top.nodes.tolist(), _colours(top, weights), strict=True))
    return [colour[node] for node in nodes.tolist()]


def _colours(tree: Layout, weights: Floats) -> list[int]:
    t = tree.n_tips
    weight, first, count = weights[tree.nodes].tolist(), tree.first.tolist(), tree.count.tolist()
    colour = [0] * len(tree.nodes)
    last = 0
    # The colour of the present cluster that begins, or ends, at each place; -1 outside. Index 0 is before the first.
    beginning, ending = [-1] * (t + 2), [-1] * (t + 2)
    beginning[1] = ending[t] = 0
    for merge in range(t - 2, -1, -1):
        left, right = tree.children[merge].tolist()
        begin, end = first[t + merge] + 1, first[t + merge] + count[t + merge]
        middle = begin + count[left]
        kept = colour[t + merge]
        left_is_lighter = weight[left] < weight[right]
        outside = ending[begin - 1] if left_is_lighter else beginning[end + 1]
        last = (last + 1) % _N
        while last in (kept, outside):
            last = (last + 1) % _N
        colour[left], colour[right] = (last, kept) if left_is_lighter else (kept, last)
        beginning[begin] = ending[middle - 1] = colour[left]
        beginning[middle] = ending[end] = colour[right]
    return colour


def different_neighbours(colours: Sequence[int]) -> list[int]:
    """The colours of clusters from left to right, changed where neighbours are alike.

    Clusters that end at different heights can be alike: each differs from the neighbours that it had at its merge.
    """
    result = list(colours)
    for place in range(1, len(result)):
        following = result[place + 1] if place + 1 < len(result) else -1
        if result[place] == result[place - 1]:
            after, second = (result[place] + 1) % _N, (result[place] + 2) % _N
            result[place] = second if after == following else after
    return result

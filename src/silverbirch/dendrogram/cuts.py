"""Cuts that let the branches of a dendrogram end at different heights.

Each method selects nodes, none below another. Their leaves are the clusters; all other leaves are noise.

"level"    one level for all branches; heavy clusters are split further, light ones are noise
"eom"      excess of mass: R. J. G. B. Campello, D. Moulavi, J. Sander (2013). Density-based clustering based on
           hierarchical density estimates. PAKDD. https://doi.org/10.1007/978-3-642-37456-2_14
"dynamic"  P. Langfelder, B. Zhang, S. Horvath (2008). Defining clusters from a hierarchical cluster tree: the Dynamic
           Tree Cut package for R. Bioinformatics 24(5). https://doi.org/10.1093/bioinformatics/btm563
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats
from ..wording import parameter
from .nodes import Nodes

if TYPE_CHECKING:
    from .dendrogram import Dendrogram

CutMethod = Literal["level", "eom", "dynamic"]
CUT_METHODS: tuple[CutMethod, ...] = ("level", "eom", "dynamic")

# The sensitivity of "dynamic": the default of the paper's package, deepSplit = 1.
_MOST_SCATTER = 0.73
_LEAST_GAP = 0.75 * (1 - _MOST_SCATTER)
_REFERENCE_SHARE, _TOP_SHARE = 0.05, 0.99


def as_size(value: Any, name: str) -> float | None:
    """A positive weight, or None."""
    if value is None:
        return None
    try:
        size = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{parameter(name, value)}: a number of rows is needed") from None
    if isinstance(value, str | bytes | bool) or not 0 < size < math.inf:
        raise ValueError(f"{parameter(name, value)}: must be a positive number of rows")
    return size


def adaptive_options(method: CutMethod, min_size: Any, max_size: Any, noise: bool) -> dict[str, Any]:
    """The options of `Dendrogram.cut` that differ from their defaults; none for a cut at one level."""
    given = {"min_size": min_size, "max_size": max_size, "noise": noise}
    options = {name: value for name, value in given.items() if value is not None and value is not False}
    return options if method == "level" else {"method": method} | options


def check_sizes(method: str, min_size: float | None, max_size: float | None) -> None:
    if method != "level" and min_size is None:
        raise ValueError(
            f"{parameter('cut.method', method)} needs {parameter('min_size')}: the least number of rows of a cluster"
        )
    if method == "dynamic" and max_size is not None:
        raise ValueError(f"{parameter('cut.method', method)} takes no {parameter('max_size')}: use 'level' or 'eom'")
    if method == "level" and min_size is not None and max_size is not None and max_size < 2 * min_size:
        raise ValueError(
            f"{parameter('max_size', max_size)} is less than twice {parameter('min_size', min_size)}: a cluster "
            f"just above {parameter('max_size')} could only be split into two that are too light"
        )


# -- one level


def level_of_heavy(dendrogram: Dendrogram, n_clusters: int, min_size: float) -> int:
    """The number of rows of Z to keep so that n_clusters clusters weigh min_size or more; the largest such number."""
    heavy = (dendrogram.weights >= min_size).astype(np.int64)
    left, right = dendrogram._hierarchy.children.T
    change = heavy[left] + heavy[right] - heavy[dendrogram.n_leaves :]
    counts = np.concatenate([heavy[-1:], heavy[-1] + np.cumsum(change[::-1])])  # after undoing the last 0, 1, … merges
    # One more merge undone gives at most one more heavy cluster, so every number up to the largest occurs.
    if counts.max() < n_clusters:
        raise ValueError(
            f"{parameter('n_clusters', n_clusters)} but at most {counts.max()} clusters weigh "
            f"{parameter('min_size', min_size)} at one level: lower {parameter('n_clusters')} or "
            f"{parameter('min_size')}"
        )
    return len(change) - int(np.argmax(counts == n_clusters))


def level_nodes(
    dendrogram: Dendrogram, kept: NDArray[np.bool_], min_size: float | None, max_size: float | None
) -> Nodes:
    """The branches that the kept rows of Z make; those above max_size are split, those below min_size are left out."""
    weights, n = dendrogram.weights, dendrogram.n_leaves
    undone = np.concatenate([np.zeros(n, dtype=bool), ~kept])
    if max_size is not None:
        undone[n:] |= weights[n:] > max_size  # a leaf cannot be split
    parents = dendrogram._hierarchy.parents
    selected = ~undone & (undone[parents] | (parents == np.arange(len(parents))))
    if min_size is not None:
        selected &= weights >= min_size
    return np.flatnonzero(selected)


# -- excess of mass


def eom_nodes(dendrogram: Dendrogram, min_size: float, max_size: float | None) -> Nodes:
    """The clusters of greatest total stability.

    A cluster is born where a merge of two branches of min_size or more is undone. Going down, it loses lighter branches
    and ends at the next such merge. Its stability is the sum of weight · (λ - λ of its birth), where λ = 1 / height is
    that at which the weight leaves the cluster. The root is never selected.
    """
    n, most = dendrogram.n_leaves, math.inf if max_size is None else max_size
    density = (1 / _positive(_heights(dendrogram))).tolist()
    weights = dendrogram.weights.tolist()
    leaving = [w * d for w, d in zip(weights, density, strict=True)]  # Σ weight · λ, for the cluster that has this node
    below = [0.0] * len(weights)  # the total stability of the best selection below this node
    stable = [False] * len(weights)  # whether the cluster born at this node beats the best selection below it
    for row, (left, right) in enumerate(dendrogram._hierarchy.children.tolist()):
        node = n + row
        heavy, light = (left, right) if weights[left] >= weights[right] else (right, left)
        if weights[light] >= min_size:
            for child in (left, right):
                stability = leaving[child] - weights[child] * density[node]
                stable[child] = stability >= below[child] and weights[child] <= most
                below[node] += stability if stable[child] else below[child]
        elif weights[heavy] >= min_size:
            leaving[node] = weights[light] * density[node] + leaving[heavy]
            below[node] = below[heavy]
    return _uppermost(dendrogram, stable)


def _heights(dendrogram: Dendrogram) -> Floats:
    """The height of each node, that of a parent never lower than that of its children.

    Points within a leaf count as merged at their root mean squared distance √(2 sse / weight).
    """
    n, features = dendrogram.n_leaves, dendrogram.features
    heights = np.concatenate([np.zeros(n), dendrogram._subtree_heights])
    if features is not None:
        spread = np.sqrt(2 * features.sse / np.where(features.weight > 0, features.weight, 1))
        heights[:n] = np.minimum(spread, heights[dendrogram._hierarchy.parents[:n]]) if n > 1 else spread
    return heights


def _positive(heights: Floats) -> Floats:
    """The heights with the least positive one in place of 0: duplicates are as dense as the closest pair."""
    least = heights[heights > 0].min(initial=np.inf)
    return np.maximum(heights, least if least < np.inf else 1.0)


# -- dynamic tree cut


def dynamic_nodes(dendrogram: Dendrogram, min_size: float) -> Nodes:
    """The first stage of the paper's hybrid method, from the tree alone.

    Going up, two branches that meet are both kept as clusters if both are distinct: heavy enough, with a core of small
    scatter, and with a gap between the core and the merge. Otherwise one absorbs the other. The paper takes the scatter
    of the core from the distances of all pairs; here it is the mean height at which the core's points first merge.
    """
    n, hierarchy, weights = dendrogram.n_leaves, dendrogram._hierarchy, dendrogram.weights
    heights = _heights(dendrogram)
    low, top = _reference_heights(dendrogram, heights)
    most_scatter, least_gap = low + _MOST_SCATTER * (top - low), _LEAST_GAP * (top - low)
    # A point merges first with another of its leaf or, where it is alone in it, at the parent of the leaf.
    joining = np.where(weights[:n] > 1, heights[:n], heights[hierarchy.parents[:n]])[hierarchy.leaf_order]
    weight_in_order = weights[hierarchy.leaf_order]

    def is_distinct(node: int, height: float) -> bool:
        if weights[node] < min_size:
            return False
        below = slice(hierarchy.first[node], hierarchy.first[node] + hierarchy.count[node])
        core = min(min_size / 2 + math.sqrt(max(weights[node] - min_size / 2, 0)), weights[node])
        scatter = _lowest_mean(joining[below], weight_in_order[below], core)
        return scatter < most_scatter and height - scatter >= least_gap

    selected = [False] * len(weights)
    composite = [False] * len(weights)  # whether clusters were found below this node
    for row, (left, right) in enumerate(hierarchy.children.tolist()):
        node, height = n + row, min(heights[n + row], top)
        plain = [child for child in (left, right) if not composite[child]]
        composite[node] = len(plain) < 2
        if heights[node] > top or composite[node]:  # above `top` all branches stay apart
            for child in plain:
                selected[child] = is_distinct(child, height)
            composite[node] = True
        elif (
            min(weights[left], weights[right]) >= min_size and is_distinct(left, height) and is_distinct(right, height)
        ):
            selected[left] = selected[right] = composite[node] = True
    return np.flatnonzero(selected)


def _reference_heights(dendrogram: Dendrogram, heights: Floats) -> tuple[float, float]:
    """The height that 5 % of all merges do not exceed, and 99 % of the way from it to the root.

    A leaf of weight w stands for w - 1 merges at its own height.
    """
    n = dendrogram.n_leaves
    merges = np.concatenate([np.maximum(dendrogram.weights[:n] - 1, 0), np.ones(n - 1)])
    order = np.argsort(heights, kind="stable")
    passed = np.cumsum(merges[order])
    low = float(heights[order[np.searchsorted(passed, _REFERENCE_SHARE * passed[-1])]])
    return low, low + _TOP_SHARE * (float(heights[-1]) - low)


def _lowest_mean(values: Floats, weights: Floats, total: float) -> float:
    """The mean of the lowest values up to a total weight."""
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    counted = np.clip(total - (passed - weights[order]), 0, weights[order])
    return float(counted @ values[order] / total)


# -- from nodes to labels


def _uppermost(dendrogram: Dendrogram, marked: list[bool]) -> Nodes:
    """The marked nodes that are not below another marked node."""
    n, children = dendrogram.n_leaves, dendrogram._hierarchy.children.tolist()
    covered = [False] * len(marked)
    for row in range(len(children) - 1, -1, -1):
        for child in children[row]:
            covered[child] = covered[n + row] or marked[n + row]
    return np.flatnonzero(np.array(marked) & ~np.array(covered))


def labels_of_nodes(dendrogram: Dendrogram, nodes: Nodes, *, noise: bool) -> NDArray[np.int64]:
    """A label for each leaf. Without `noise`, leaves in no cluster join one.

    They join the heaviest cluster in the smallest branch that has both the leaf and a cluster; of equal weights the one
    of the lowest leaf. Where there is no cluster at all, all leaves are one cluster.
    """
    hierarchy, n = dendrogram._hierarchy, dendrogram.n_leaves
    labels = dendrogram._numbered(hierarchy.labels_of(nodes))
    if noise or (labels >= 0).all():
        return labels
    if len(nodes) == 0:
        return np.zeros(n, dtype=np.int64)
    none = len(nodes)
    heaviest = [none] * (2 * n - 1)  # the heaviest cluster below each node; labels ascend as weights descend
    for node, label in zip(nodes.tolist(), labels[hierarchy.leaf_order[hierarchy.first[nodes]]].tolist(), strict=True):
        heaviest[node] = label
    children = hierarchy.children.tolist()
    for row, (left, right) in enumerate(children):
        heaviest[n + row] = min(heaviest[n + row], heaviest[left], heaviest[right])
    for row in range(len(children) - 1, -1, -1):
        for child in children[row]:
            if heaviest[child] == none:
                heaviest[child] = heaviest[n + row]
    return np.where(labels < 0, heaviest[:n], labels)

"""The sums of squares of a page: of each leaf, and what each merge adds.

From them the page computes the rmsd of every branch and every cut. Up to 5 000 leaves they keep all digits, up to
200 000 those of a float32. With more leaves, most numbers keep 3 binary digits, so that the page stays below 10 MB.
What this rounds off is added to the branches that are clusters of a cut up to 100 000: these keep 13 binary digits, and
the rmsd of every such cut is right in the four digits that a page shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats
from ..dendrogram import Dendrogram
from ..dendrogram.nodes import Hierarchy
from .packing import Packed

EXACT_UP_TO = 5_000
ROUNDED_FROM = 200_000
EXACT_CUTS = 100_000  # where sums of squares are rounded
_FINE, _COARSE = 13, 3  # binary digits beside the first, of the 23 of a float32
_SMALLEST, _LARGEST = 1e-30, 1e38  # what a float32 holds without loss of digits

Shorts = NDArray[np.float32]


def squares_of(dendrogram: Dendrogram) -> tuple[Packed | None, Packed]:
    """The sums of squares of the leaves, None if all are 0, and what each row of Z adds."""
    sse = dendrogram._known_features().sse
    gain = gains_of(dendrogram)
    if dendrogram.n_leaves <= EXACT_UP_TO or exceeds_float32(sse) or exceeds_float32(gain):
        leaves, rows = Packed(sse), Packed(gain)
    elif dendrogram.n_leaves <= ROUNDED_FROM:
        leaves, rows = Packed(sse.astype(np.float32)), Packed(gain.astype(np.float32))
    else:
        leaves, rows = map(Packed, _rounded_squares(dendrogram._hierarchy, sse, gain))
    return (leaves if sse.any() else None), rows


def rounding_of(n_leaves: int) -> list[str]:
    """The sentence of the page that says what is rounded; none for fewer leaves."""
    if n_leaves <= ROUNDED_FROM:
        return []
    return [
        f"Size of this page: so that {n_leaves:,} leaves fit, the rmsd of branches that are clusters only of cuts into "
        f"more than {EXACT_CUTS:,} is rounded to about 3 %."
    ]


def gains_of(dendrogram: Dendrogram) -> Floats:
    """What each row of Z adds to the sum of squares."""
    gain: Floats = np.maximum(np.diff(dendrogram._sse_by_merges), 0)
    return gain


def _rounded_squares(hierarchy: Hierarchy, sse: Floats, gain: Floats) -> tuple[Shorts, Shorts]:
    n, children = hierarchy.n_leaves, hierarchy.children
    fine = np.zeros(2 * n - 1, dtype=bool)  # whether a node is a cluster of a cut up to EXACT_CUTS
    fine[children[max(0, n - EXACT_CUTS) :]] = fine[-1] = True
    leaves = np.where(fine[:n], rounded(sse, _FINE), rounded(sse, _COARSE))
    rows = rounded(gain, _COARSE)
    # The leaves below a node, and the boundaries between them, are neighbours in the drawing. So what is rounded off
    # below each node is a difference of two sums.
    boundary = hierarchy.first[children[:, 0]] + hierarchy.count[children[:, 0]] - 1
    off = np.zeros((n, 2))
    off[:, 0] = (sse - leaves)[hierarchy.leaf_order]
    off[boundary, 1] = np.where(fine[n:], 0, gain - rows)
    sums = np.concatenate([np.zeros((1, 2)), np.cumsum(off, axis=0)])
    first, end = hierarchy.first, hierarchy.first + hierarchy.count
    below = sums[end, 0] - sums[first, 0] + sums[end - 1, 1] - sums[first, 1]
    below[fine] = 0  # these are right already
    exact = gain + below[children].sum(axis=1)
    return leaves, np.where(fine[n:], rounded(exact, _FINE), rows)


def rounded(values: NDArray[np.floating[Any]], bits: int) -> Shorts:
    """The values with fewer than the 23 binary digits of a float32: the others are 0 and compress to nothing."""
    dropped = 23 - bits
    kept = values.astype(np.float32).view(np.uint32) + np.uint32(1 << (dropped - 1))
    return (kept >> dropped << dropped).view(np.float32)


def exceeds_float32(values: Floats) -> bool:
    size = np.abs(values)
    return bool(((size > _LARGEST) | ((size < _SMALLEST) & (size > 0))).any())

"""What float16 products prove about distances.

Let a be a query and b another cluster, with means m, their float16 copies h = m + error, |error| = r (measured),
weights w and spreads s (zero for Ward). The linkage compares

    D = F·|m_a − m_b|²,  F = w_a·w_b / (w_a + w_b)      (ward)
    D = |m_a − m_b|² + s_a + s_b                        (average and weighted of squares: F = 1 below).

*What is computed.* With N = |h|² + s and x = |h_a − h_b|² + s_a + s_b, the product kernel computes v ≈ F·(N_a + N_b −
2·h_a·h_b). Products of float16 numbers are exact in float32. A tensor core adds 16 of them at a time to the sum so far,
cutting each of the 17 numbers off at 2^-23 of the largest (Fasi, Higham, Mikaitis and Pranesh 2021 found so for earlier
tensor cores; nothing is promised for later ones). So the sum is off by at most (17/16·K)·2^-23·Σ|h_ak·h_bk|, and twice
that is at most γ·(|h_a|² + |h_b|²), γ = 17/16·K·2^-23. The few other operations add 8·2^-23. `slack` is half as much
again as both. The kernel gets (1 − slack)·N for N, so v is a lower bound of F·x, too low by at most e = 2·slack·F·(N_a
+ N_b).

*The nearest cluster.* Let v be the least, found at b = 1, t = √(x_1) and n = √N_a. As N_1 ≤ (n + t)² and t² ≤ v/F +
2·slack·(n² + (n + t)²), solving the quadratic inequality gives t ≤ `nearby`, whatever the norms of other clusters are.
With ρ = r_a + r_b the triangle inequality gives √D_1 ≤ u = √(v + e) + √F·ρ, and each b with D_b ≤ u² has v_b ≤ (u +
√F·ρ)² = `need`: a threshold that the nearest cluster cannot fail.

*What lies beyond a threshold θ.* v_b > θ gives D_b ≥ (√θ − √F·ρ)² for Ward and D_b ≥ θ − 2ρ√θ else. So that this
exceeds u², `need` has 3ρ instead of 2ρ where spreads add up.

*Rounding errors of others.* r_b is at most the largest of all, and at most 2^-11·|m_b| + 2^-25·√d. The first fails with
a single outlier; the second needs |m_b| ≤ |m_a| + δ for clusters at most δ away, and those further away have D_b ≥
F·δ². δ is chosen so that it does not limit the threshold. F is at most that of the heaviest other cluster and at least
that of the lightest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

    from .clusters import Clusters

WANTED = 12  # neighbours that the threshold lets through, if it can tell


class Limits(NamedTuple):
    """A threshold for the kernel's numbers, and how far a list reaches that holds all clusters within it."""

    threshold: Tensor  # float32: lets the nearest through, and about `WANTED` neighbours
    reach: Tensor  # float64


def slack_of(products: int) -> float:
    return 1.5 * (17 / 16 * products + 8) * 2.0**-23


def limits(clusters: Clusters, queries: Tensor, least: Tensor, extremes: Tensor, slack: float) -> Limits:
    import torch

    c = clusters
    ward = c.linkage == "ward"
    factor = 0.5 * c.weight[0] if ward and c.uniform else 1.0  # of the kernel's numbers: F where all weights are equal
    largest_error, largest_norm, heaviest, lightest = extremes
    error, weight = c.rounding[queries].double(), c.weight[queries]
    norm = c.norm[queries].double() + c.spread[queries]
    n = norm.sqrt()
    most = weight * heaviest / (weight + heaviest) if ward else torch.ones_like(weight)
    fewest = weight * lightest / (weight + lightest) if ward else torch.ones_like(weight)
    v = least.amin(0).double().clamp(min=0) * factor
    kth = _kth(least, min(WANTED, len(least) // 5)).double() * factor
    kth = kth.where(kth.isfinite(), 0.0)  # parts without clusters

    s = 2.0 * slack
    nearby = (s * n + (s * s * norm + (1 - s) * (v / fewest + 2 * s * norm)).sqrt()) / (1 - s)

    def need_within(distance: Tensor) -> tuple[Tensor, Tensor]:
        own = 2.0**-11 * (n + error + distance) + 2.0**-25 * c.columns**0.5
        root = most.sqrt() * (error + torch.minimum(own, largest_error))
        e = s * most * (norm + torch.minimum((n + distance).square(), largest_norm)) + 4e-6 * v
        return ((v + e).sqrt() + (2 if ward else 3) * root).square() * (1 + 4e-6) + 1e-30, root

    need, _ = need_within(nearby)
    far = 1.05 * torch.maximum(nearby, (torch.maximum(need, kth) / fewest).sqrt())
    need, root = need_within(far)
    threshold = torch.maximum(need, kth)
    if ward:
        beyond = (threshold.sqrt() - root).clamp(min=0).square()
    else:
        beyond = (threshold - 2 * root * threshold.sqrt()).clamp(min=0)
    in_kernel = (threshold / factor * (1 + 3e-7)).clamp(max=1e37).float()
    return Limits(in_kernel, torch.minimum(beyond, fewest * far.square()))


def threshold_for(clusters: Clusters, queries: Tensor, reach: Tensor, extremes: Tensor) -> Tensor:
    """Every cluster beyond this float32 threshold has D ≥ `reach`, where D = |m_a − m_b|² + s_a + s_b.

    By the above, D ≥ θ − 2ρ√θ for clusters nearer than √reach; this is at least `reach` if √θ ≥ ρ + √(ρ² + reach).
    """
    import torch

    c = clusters
    n = (c.norm[queries].double() + c.spread[queries]).sqrt()
    error = c.rounding[queries].double()
    own = 2.0**-11 * (n + error + reach.sqrt()) + 2.0**-25 * c.columns**0.5
    rho = error + torch.minimum(own, extremes[0])
    return ((rho + (rho.square() + reach).sqrt()).square() * (1 + 4e-6)).clamp(max=1e37).float()


def _kth(least: Tensor, k: int) -> Tensor:
    """The k-th smallest number of each column, or −∞ for k below 2."""
    if k < 2:
        return least[0] - float("inf")
    return least.kthvalue(k, 0).values

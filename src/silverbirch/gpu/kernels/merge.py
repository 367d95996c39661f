"""Merges pairs of clusters in place: the first takes the merged cluster, the second is gone."""

# mypy: ignore-errors

import triton
import triton.language as tl


# One program merges one pair. `lightest` is the least weight of any cluster.
@triton.jit
def merge_pairs(first, second, mean, weight, spread, half, norm, rounding, inverse_weight, distance, reach, listed,
                alive, survivor, nearest, lightest,
                LENGTH: tl.constexpr, COLUMNS: tl.constexpr, K: tl.constexpr, BK: tl.constexpr,
                WARD: tl.constexpr, EQUAL: tl.constexpr):  # fmt: skip
    a = tl.load(first + tl.program_id(0)).to(tl.int64)
    b = tl.load(second + tl.program_id(0)).to(tl.int64)
    weight_a = tl.load(weight + a)
    weight_b = tl.load(weight + b)
    total = weight_a + weight_b
    share = 0.5 if EQUAL else weight_b / total
    gap = tl.zeros([BK], dtype=tl.float64)
    squares = tl.zeros([BK], dtype=tl.float64)
    lost = tl.zeros([BK], dtype=tl.float64)
    for k in tl.range(0, COLUMNS, BK):
        ks = k + tl.arange(0, BK)
        inside = ks < COLUMNS
        x = tl.load(mean + a * COLUMNS + ks, mask=inside, other=0.0)
        difference = tl.load(mean + b * COLUMNS + ks, mask=inside, other=0.0) - x
        merged = x + difference * share
        rounded = merged.to(tl.float16)
        tl.store(mean + a * COLUMNS + ks, merged, mask=inside)
        tl.store(half + a * K + ks, rounded, mask=inside)
        exact = rounded.to(tl.float64)
        gap += difference * difference
        squares += exact * exact
        lost += (exact - merged) * (exact - merged)
    if not WARD:
        spread_a = tl.load(spread + a)
        spread_b = tl.load(spread + b)
        merged_spread = spread_a + (spread_b - spread_a) * share + share * (1.0 - share) * tl.sum(gap, 0)
        tl.store(spread + a, merged_spread)
    tl.store(norm + a, tl.sum(squares, 0).to(tl.float32))
    tl.store(rounding + a, (tl.sqrt(tl.sum(lost, 0)) * (1.0 + 1e-6)).to(tl.float32))
    tl.store(weight + a, total)
    tl.store(inverse_weight + a, (1.0 / total).to(tl.float32))
    # What is in neither list: bounded by the recurrence of Lance and Williams, and never nearer than to both parts,
    # because the linkage is reducible.
    reach_a = tl.load(reach + a)
    reach_b = tl.load(reach + b)
    joined = reach_a + (reach_b - reach_a) * share
    if WARD:
        height = tl.load(distance + a)
        third = tl.load(lightest)
        recurrence = ((weight_a + third) * reach_a + (weight_b + third) * reach_b - third * height) / (total + third)
        joined = tl.minimum(reach_a + reach_b - height, recurrence)
    joined = tl.maximum(joined, tl.minimum(reach_a, reach_b))
    tl.store(reach + a, joined * (1.0 - 1e-12))
    entry = tl.arange(0, LENGTH)
    tl.store(listed + a * (2 * LENGTH) + LENGTH + entry, tl.load(listed + b * (2 * LENGTH) + entry))
    tl.store(alive + b, 0)
    tl.store(survivor + b, a.to(tl.int32))
    tl.store(nearest + a, -1)
    tl.store(nearest + b, -1)


# Marks the clusters whose nearest neighbour has merged, and renames what has merged.
@triton.jit(do_not_specialize=["slots"])
def forget_merged(nearest, survivor, alive, changed, unsettled, slots, BLOCK: tl.constexpr):
    slot = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = slot < slots
    old = tl.load(survivor + slot, mask=inside, other=0)
    tl.store(survivor + slot, tl.load(survivor + old, mask=inside, other=0), mask=inside)
    near = tl.load(nearest + slot, mask=inside, other=-1)
    lost = (near >= 0) & (tl.load(changed + tl.maximum(near, 0), mask=inside, other=0) != 0)
    own = tl.load(changed + slot, mask=inside, other=0) != 0
    tl.store(nearest + slot, tl.where(lost | own, -1, near), mask=inside)
    tl.store(unsettled + slot, tl.zeros([BLOCK], tl.int8), mask=inside & (lost | own))

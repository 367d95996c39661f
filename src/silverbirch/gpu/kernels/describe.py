"""What the bounds need of all clusters."""

# mypy: ignore-errors

import triton
import triton.language as tl


# Sets the term of each cluster; the largest and least numbers go to `extremes`, as the bits of positive float64
# numbers, whose order is that of integers.
@triton.jit(do_not_specialize=["slots"])
def describe(norm, spread, rounding, weight, alive, term, extremes, slots, shrink, BLOCK: tl.constexpr):
    slot = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = tl.load(alive + slot, mask=slot < slots, other=0) != 0
    length = tl.load(norm + slot, mask=here, other=0.0).to(tl.float64) + tl.load(spread + slot, mask=here, other=0.0)
    heavy = tl.load(weight + slot, mask=here, other=0.0)
    light = tl.where(here, heavy, float("inf"))
    error = tl.load(rounding + slot, mask=here, other=0.0).to(tl.float64)
    tl.store(term + slot, tl.where(here, (length * shrink).to(tl.float32), float("inf")), mask=slot < slots)
    tl.atomic_max(extremes, tl.max(error, 0).to(tl.int64, bitcast=True), sem="relaxed")
    tl.atomic_max(extremes + 1, tl.max(length, 0).to(tl.int64, bitcast=True), sem="relaxed")
    tl.atomic_max(extremes + 2, tl.max(heavy, 0).to(tl.int64, bitcast=True), sem="relaxed")
    tl.atomic_min(extremes + 3, tl.min(light, 0).to(tl.int64, bitcast=True), sem="relaxed")

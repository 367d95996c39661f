"""The formulas of `bounds.limits`, a query a lane."""

# mypy: ignore-errors

import triton
import triton.language as tl


@triton.jit
def _root_and_need(v, norm, n, error, distance, most, largest_error, largest_norm, s, tiny, MARGIN: tl.constexpr):
    own = 0.00048828125 * (n + error + distance) + tiny
    root = tl.sqrt(most) * (error + tl.minimum(own, largest_error))
    reached = n + distance
    e = s * most * (norm + tl.minimum(reached * reached, largest_norm)) + 4e-6 * v
    need = tl.sqrt(v + e) + MARGIN * root
    return root, need * need * (1.0 + 4e-6) + 1e-30


@triton.jit(do_not_specialize=["count", "parts", "stride"])
def thresholds(queries, least, norms, spread, rounding, weight, extremes, threshold_at, reach_at,
               count, parts, stride, kth_smallest, slack, tiny,
               PARTS: tl.constexpr, BLOCK: tl.constexpr, WARD: tl.constexpr, UNIFORM: tl.constexpr):  # fmt: skip
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = row < count
    query = tl.load(queries + row, mask=inside, other=0).to(tl.int64)
    values = tl.full([PARTS, BLOCK], float("inf"), tl.float32)
    for first in range(0, parts, PARTS):  # parts beyond the first PARTS are joined to those
        part = first + tl.arange(0, PARTS)
        some = tl.load(
            least + part[:, None].to(tl.int64) * stride + row[None, :],
            mask=(part[:, None] < parts) & inside[None, :],
            other=float("inf"),
        )
        values = tl.minimum(values, some)
    lowest = tl.min(values, 0)
    kth = lowest
    for _ in range(1, kth_smallest):
        values = tl.where(values <= kth[None, :], float("inf"), values)  # equal ones go together: more are let through
        kth = tl.min(values, 0)
    largest_error = tl.load(extremes)
    largest_norm = tl.load(extremes + 1)
    heaviest = tl.load(extremes + 2)
    lightest = tl.load(extremes + 3)
    own_weight = tl.load(weight + query)
    if WARD:
        most = own_weight * heaviest / (own_weight + heaviest)
        fewest = own_weight * lightest / (own_weight + lightest)
        MARGIN: tl.constexpr = 2.0
    else:
        most = tl.full([BLOCK], 1.0, tl.float64)
        fewest = tl.full([BLOCK], 1.0, tl.float64)
        MARGIN: tl.constexpr = 3.0
    factor = 1.0
    if UNIFORM:
        factor = 0.5 * tl.load(weight)
    error = tl.load(rounding + query).to(tl.float64)
    norm = tl.load(norms + query).to(tl.float64) + tl.load(spread + query)
    n = tl.sqrt(norm)
    v = tl.maximum(lowest.to(tl.float64), 0.0) * factor
    kth = tl.where((kth < float("inf")) & (kth_smallest > 1), kth.to(tl.float64) * factor, 0.0)
    s = 2.0 * slack
    nearby = (s * n + tl.sqrt(s * s * norm + (1.0 - s) * (v / fewest + 2.0 * s * norm))) / (1.0 - s)
    root, need = _root_and_need(v, norm, n, error, nearby, most, largest_error, largest_norm, s, tiny, MARGIN)
    far = 1.05 * tl.maximum(nearby, tl.sqrt(tl.maximum(need, kth) / fewest))
    root, need = _root_and_need(v, norm, n, error, far, most, largest_error, largest_norm, s, tiny, MARGIN)
    threshold = tl.maximum(need, kth)
    square_root = tl.sqrt(threshold)
    if WARD:
        beyond = tl.maximum(square_root - root, 0.0)
        beyond = beyond * beyond
    else:
        beyond = tl.maximum(threshold - 2.0 * root * square_root, 0.0)
    tl.store(threshold_at + row, tl.minimum(threshold / factor * (1.0 + 3e-7), 1e37).to(tl.float32), mask=inside)
    tl.store(reach_at + row, tl.minimum(beyond, fewest * far * far), mask=inside)

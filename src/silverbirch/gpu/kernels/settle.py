"""Measures candidates in float64, sorts them, and decides whether the nearest is certain."""

# mypy: ignore-errors

import triton
import triton.language as tl


# One program settles one query. Its candidates are the first WIDTH entries of its row of `table` (−1: none), renamed by
# `survivor`; nothing that is not among them is nearer than `reach`. Writes the LENGTH nearest within reach to the
# cluster's list, the nearest to `nearest` if it is certain, else −1, and its distance.
@triton.jit(do_not_specialize=["table_stride"])
def settle(queries, table, reach_of_row, mean, weight, spread, survivor, alive,
           nearest, distance, reach, listed, unsettled, table_stride,
           WIDTH: tl.constexpr, LENGTH: tl.constexpr, COLUMNS: tl.constexpr, BK: tl.constexpr,
           WARD: tl.constexpr, FROM_LISTS: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    entry = tl.arange(0, WIDTH)
    if FROM_LISTS:  # every cluster is asked; those that know their nearest, or that it cannot be told, have nothing to do
        query = row
        wanted = tl.load(alive + query) & (tl.load(nearest + query) < 0) & (tl.load(unsettled + query) == 0)
    else:
        query = tl.load(queries + row).to(tl.int64)
        wanted = query >= 0
    if wanted:
        slot = tl.load(table + row * table_stride + entry)
        slot = tl.where(slot >= 0, tl.load(survivor + tl.maximum(slot, 0)), -1)
        slot = tl.where(slot == query, -1, slot)
        repeated = (slot[:, None] == slot[None, :]) & (entry[None, :] < entry[:, None])
        slot = tl.where(tl.max(repeated.to(tl.int32), 1) > 0, -1, slot)
        present = slot >= 0
        at = tl.where(present, slot, 0).to(tl.int64)
        gap = tl.zeros([WIDTH], dtype=tl.float64)
        for k in tl.range(0, COLUMNS, BK):
            ks = k + tl.arange(0, BK)
            x = tl.load(
                mean + at[:, None] * COLUMNS + ks[None, :], mask=present[:, None] & (ks[None, :] < COLUMNS), other=0.0
            )
            y = tl.load(mean + query * COLUMNS + ks, mask=ks < COLUMNS, other=0.0)
            difference = x - y[None, :]
            gap += tl.sum(difference * difference, 1)
        if WARD:
            own = tl.load(weight + query)
            other = tl.load(weight + at)
            d = gap * ((own * other) / (own + other))
        else:
            d = gap + (tl.load(spread + query) + tl.load(spread + at))
        d = tl.where(present, d, float("inf"))
        # The place of each candidate in their order, ties by the lowest slot; those that are absent come last.
        before = (d[None, :] < d[:, None]) | ((d[None, :] == d[:, None]) & (slot[None, :] < slot[:, None]) & present[None, :])
        place = tl.sum(before.to(tl.int32), 1)
        limit = tl.load(reach_of_row + row)
        limit = tl.minimum(limit, tl.min(tl.where(present & (place == LENGTH), d, float("inf")), 0))
        least = tl.min(d, 0)
        first = tl.max(tl.where(present & (place == 0), slot, -1), 0)
        certain = least < limit
        tl.store(nearest + query, tl.where(certain, first, -1))
        tl.store(unsettled + query, tl.where(certain, 0, 1).to(tl.int8))
        tl.store(distance + query, least)
        tl.store(reach + query, limit)
        empty = tl.arange(0, 2 * LENGTH)
        tl.store(listed + query * (2 * LENGTH) + empty, tl.full([2 * LENGTH], -1, tl.int32))
        tl.debug_barrier()
        tl.store(listed + query * (2 * LENGTH) + place, slot, mask=present & (place < LENGTH) & (d < limit))

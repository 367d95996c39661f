"""Measures candidates in float64, and finds for each query which of them is nearest."""

# mypy: ignore-errors

import triton
import triton.language as tl


# One program measures ENTRIES entries of a query's row of `table` (−1: none). Renames them by `survivor`, in place.
@triton.jit(do_not_specialize=["width"])
def measure(queries, table, mean, weight, spread, survivor, distances, width,
            ENTRIES: tl.constexpr, COLUMNS: tl.constexpr, BK: tl.constexpr, WARD: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    entry = tl.program_id(1) * ENTRIES + tl.arange(0, ENTRIES)
    inside = entry < width
    place = row * width + entry
    query = tl.load(queries + row).to(tl.int64)
    slot = tl.load(table + place, mask=inside, other=-1)
    present = slot >= 0
    d = tl.full([ENTRIES], float("inf"), tl.float64)
    if tl.max(slot, 0) >= 0:
        slot = tl.load(survivor + tl.where(present, slot, 0))
        present = present & (slot != query)
        at = tl.where(present, slot, 0).to(tl.int64)
        gap = tl.zeros([ENTRIES], dtype=tl.float64)
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
        tl.store(table + place, tl.where(present, slot, -1), mask=inside)
    tl.store(distances + place, d, mask=inside)


# One program settles one query by its measured row. What is not in it is at least `reach_of_row` away. Writes the
# LENGTH nearest within reach to the cluster's list; the nearest to `nearest` if it is certain, else −1; and its
# distance.
@triton.jit
def settle(queries, table, distances, reach_of_row, nearest, distance, reach, listed, unsettled,
           WIDTH: tl.constexpr, LENGTH: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    entry = tl.arange(0, WIDTH)
    query = tl.load(queries + row).to(tl.int64)
    slot = tl.load(table + row * WIDTH + entry)
    repeated = (slot[:, None] == slot[None, :]) & (entry[None, :] < entry[:, None])
    present = (slot >= 0) & (tl.max(repeated.to(tl.int32), 1) == 0)
    d = tl.where(present, tl.load(distances + row * WIDTH + entry), float("inf"))
    # The place of each candidate in their order, ties by the lowest slot.
    earlier = (d[None, :] < d[:, None]) | ((d[None, :] == d[:, None]) & (slot[None, :] < slot[:, None]))
    place = tl.sum((earlier & present[None, :]).to(tl.int32), 1)
    limit = tl.load(reach_of_row + row)
    least = tl.min(d, 0)
    certain = least < limit  # even if as near ones do not fit into the list
    limit = tl.minimum(limit, tl.min(tl.where(present & (place == LENGTH), d, float("inf")), 0))
    first = tl.max(tl.where(present & (place == 0), slot, -1), 0)
    tl.store(nearest + query, tl.where(certain, first, -1))
    tl.store(unsettled + query, tl.where(certain, 0, 1).to(tl.int8))
    tl.store(distance + query, least)
    tl.store(reach + query, limit)
    kept = present & (place < LENGTH) & (d < limit)
    tl.store(listed + query * (2 * LENGTH) + place, slot, mask=kept)
    empty = tl.arange(0, 2 * LENGTH)
    tl.store(
        listed + query * (2 * LENGTH) + empty,
        tl.full([2 * LENGTH], -1, tl.int32),
        mask=empty >= tl.sum(kept.to(tl.int32), 0),
    )

"""From the bounds of groups to the columns that may be near: collect the groups, then look at their columns."""

# mypy: ignore-errors

import triton
import triton.language as tl


# Lists the pairs (query, group) whose bound is at most the query's threshold. `found` counts all of them, those beyond
# the capacity, too.
@triton.jit(do_not_specialize=["count", "groups", "stride", "capacity"])
def collect_groups(bounds, threshold, found, pair_row, pair_group, count, groups, stride, capacity,
                   ROWS: tl.constexpr, GROUPS: tl.constexpr, REPEATS: tl.constexpr):  # fmt: skip
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    limit = tl.broadcast_to(tl.load(threshold + rows, mask=rows < count, other=-1e38)[None, :], [GROUPS, ROWS])
    row = tl.broadcast_to(rows[None, :], [GROUPS, ROWS])
    one = tl.full([GROUPS, ROWS], 1, tl.int32)
    for repeat in range(REPEATS):
        first = (tl.program_id(1) * REPEATS + repeat) * GROUPS
        if first < groups:
            group = first + tl.arange(0, GROUPS)
            present = (group[:, None] < groups) & (rows[None, :] < count)
            bound = tl.load(
                bounds + group[:, None].to(tl.int64) * stride + rows[None, :], mask=present, other=float("inf")
            )
            hit = bound <= limit
            if tl.max(tl.max(hit.to(tl.int32), 1), 0) > 0:
                place = tl.atomic_add(found + tl.zeros([GROUPS, ROWS], tl.int32), one, mask=hit, sem="relaxed")
                kept = hit & (place < capacity)
                tl.store(pair_row + place, row, mask=kept)
                tl.store(pair_group + place, tl.broadcast_to(group[:, None], [GROUPS, ROWS]), mask=kept)


# Computes the bounds of the 32 columns of each pair again; those within the threshold go into the query's row of
# `table`. `counts` counts all of them, those beyond the width of the table, too.
@triton.jit(do_not_specialize=["capacity", "programs", "width"])
def expand_groups(pair_row, pair_group, found, queries, half, query_term, column_term, inverse_weight, threshold,
                  counts, table, capacity, programs, width,
                  K: tl.constexpr, BK: tl.constexpr, WEIGHTED: tl.constexpr):  # fmt: skip
    pairs = tl.minimum(tl.load(found), capacity)
    member = tl.arange(0, 32)
    offset = (member // 2) * 8 + member % 2
    for pair in range(tl.program_id(0), pairs, programs):
        row = tl.load(pair_row + pair).to(tl.int64)
        group = tl.load(pair_group + pair).to(tl.int64)
        query = tl.load(queries + row).to(tl.int64)
        columns = group // 4 * 128 + (group % 4) * 2 + offset
        product = tl.zeros([32], dtype=tl.float32)
        for k in tl.static_range(0, K, BK):
            ks = k + tl.arange(0, BK)
            x = tl.load(half + columns[:, None] * K + ks[None, :]).to(tl.float32)
            y = tl.load(half + query * K + ks).to(tl.float32)
            product += tl.sum(x * y[None, :], 1)
        bound = tl.load(query_term + query) + (tl.load(column_term + columns) - 2.0 * product)
        if WEIGHTED:
            bound = bound / (tl.load(inverse_weight + query) + tl.load(inverse_weight + columns))
        hit = ((bound <= tl.load(threshold + row)) & (columns != query)).to(tl.int32)
        total = tl.sum(hit)
        if total > 0:
            place = tl.atomic_add(counts + row, total) + tl.cumsum(hit, 0) - 1
            tl.store(table + row * width + place, columns.to(tl.int32), mask=(hit > 0) & (place < width))

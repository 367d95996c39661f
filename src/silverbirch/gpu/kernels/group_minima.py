"""The least bound of each query in each group of columns, computed with the matrix product and never written in full.

Columns are the clusters, in tiles. In a tile of 128 columns the group of column c is (c mod 8) div 2: the columns that
one thread of a tensor core's result holds, so that the minimum of a group needs no exchange between threads.
"""

# mypy: ignore-errors

import triton
import triton.language as tl

BLOCK = 128  # columns that are divided into groups
GROUPS = 4  # of a block


@triton.jit
def _reciprocal(x, approximate: tl.constexpr):
    if approximate:  # relative error below 2^-22
        return tl.inline_asm_elementwise(
            "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    else:
        return 1.0 / x


# bounds[g, i] = least over the columns j of group g of
#   query_term[q_i] + column_term[j] - 2 half[q_i]·half[j], divided by inverse_weight[q_i] + inverse_weight[j] if
# weighted, without j = q_i; least[s, i] = the least of all columns of the s-th part of the tiles.
@triton.jit(do_not_specialize=["count", "bounds_stride", "least_stride", "tiles", "tiles_of_part"])
def group_minima(query_rows, column_rows, queries, query_term, column_term, inverse_weight, bounds, least,
                 count, bounds_stride, least_stride, tiles, tiles_of_part,
                 K_STEPS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                 WEIGHTED: tl.constexpr, APPROXIMATE: tl.constexpr, STAGES: tl.constexpr):  # fmt: skip
    program = tl.program_id(0)
    row_tiles = tl.cdiv(count, BM)
    row_tile = program % row_tiles
    part = program // row_tiles
    first_tile = part * tiles_of_part
    last_tile = tl.minimum(first_tile + tiles_of_part, tiles)
    rows = row_tile * BM + tl.arange(0, BM)
    present = rows < count
    query = tl.load(queries + rows, mask=present, other=-1)
    at = tl.where(present, query, 0)
    row_term = tl.load(query_term + at)
    row_weight = tl.load(inverse_weight + at)
    lowest = tl.load(queries + row_tile * BM)  # queries ascend
    highest = tl.load(queries + tl.minimum(row_tile * BM + BM, count) - 1)
    least_of_row = tl.full([BM], float("inf"), tl.float32)
    for tile in tl.range(first_tile, last_tile, flatten=True):
        product = tl.zeros([BM, BN], dtype=tl.float32)
        for k in tl.range(0, K_STEPS, num_stages=STAGES):
            a = query_rows.load([row_tile * BM, k * BK])
            b = column_rows.load([tile * BN, k * BK])
            product = tl.dot(a, b.T, product)
        columns = tile * BN + tl.arange(0, BN)
        term = tl.load(column_term + columns)
        if WEIGHTED:
            weight = tl.load(inverse_weight + columns)
            bound = (row_term[:, None] + (term[None, :] - 2.0 * product)) * _reciprocal(
                row_weight[:, None] + weight[None, :], APPROXIMATE
            )
        else:
            bound = term[None, :] - 2.0 * product
        if (highest >= tile * BN) & (lowest < tile * BN + BN):
            bound = tl.where(columns[None, :] == query[:, None], float("inf"), bound)
        of_group = tl.min(tl.reshape(bound, [BM, BN // 128, 16, 4, 2]), 4)
        of_group = tl.reshape(tl.min(of_group, 2), [BM, BN // 32])
        if not WEIGHTED:
            of_group += row_term[:, None]
        groups = (tile * (BN // 32) + tl.arange(0, BN // 32)).to(tl.int64)
        tl.store(bounds + groups[None, :] * bounds_stride + rows[:, None], of_group, mask=present[:, None])
        least_of_row = tl.minimum(least_of_row, tl.min(of_group, 1))
    tl.store(least + part.to(tl.int64) * least_stride + rows, least_of_row, mask=present)

"""A step of greedy clustering by means: `measure` searches, `choose` merges the nearest pair if it is known.

All counts are in device memory, so that many steps are replayed as one CUDA graph without a word from the host.
"""

# mypy: ignore-errors

import triton
import triton.language as tl

# Places in `state`
SLOTS = tl.constexpr(0)
MERGED = tl.constexpr(1)
SEARCHED = tl.constexpr(2)

NOBODY = tl.constexpr(0x7FFFFFFF)


@triton.jit
def _update_block(block, key, block_key, block_slot, BLOCK: tl.constexpr):
    slot = block * BLOCK + tl.arange(0, BLOCK)
    keys = tl.load(key + slot)
    least = tl.min(keys, 0)
    tl.store(block_key + block, least)
    tl.store(block_slot + block, tl.min(tl.where(keys == least, slot, NOBODY), 0))


# One program. It takes the answers to the last queries; merges the pair with the least key, unless its neighbour has
# changed; and asks for the neighbour of the merged cluster, or the new one of the pair, and for those of other slots
# with low keys whose neighbours have changed: `measure` reads the means once for all of them.
@triton.jit(do_not_specialize=["objects"])
def choose(state, mean, weight, born, key, neighbour, neighbour_born, block_key, block_slot, queries,
           part_key, part_slot, name, merge_a, merge_b, merge_height, objects,
           COLUMNS: tl.constexpr, WIDTH: tl.constexpr, QUERIES: tl.constexpr, PARTS: tl.constexpr,
           BLOCK: tl.constexpr, BLOCKS: tl.constexpr, MIDPOINT: tl.constexpr):  # fmt: skip
    blocks = tl.cdiv(tl.load(state + SLOTS), BLOCK)
    merged = tl.load(state + MERGED)
    searched = tl.load(state + SEARCHED)
    part = tl.arange(0, PARTS)
    for q in tl.static_range(QUERIES):
        query = tl.load(queries + q)
        if query >= 0:
            keys = tl.load(part_key + q * PARTS + part)
            slots = tl.load(part_slot + q * PARTS + part)
            least = tl.min(keys, 0)
            nearest = tl.min(tl.where(keys == least, slots, NOBODY), 0)
            tl.store(key + query, least)
            if least < float("inf"):
                tl.store(neighbour + query, nearest)
                tl.store(neighbour_born + query, tl.load(born + nearest))
            searched += 1
    tl.debug_barrier()
    for q in tl.static_range(QUERIES):
        query = tl.load(queries + q)
        if query >= 0:
            _update_block(query // BLOCK, key, block_key, block_slot, BLOCK)
    tl.debug_barrier()
    tl.store(state + SEARCHED, searched)

    block = tl.arange(0, BLOCKS)
    keys = tl.load(block_key + block, mask=block < blocks, other=float("inf"))
    least = tl.min(keys, 0)
    chosen = tl.min(tl.where(keys == least, block, NOBODY), 0)
    first = -1
    if least < float("inf"):
        x = tl.load(block_slot + chosen)
        y = tl.load(neighbour + x)
        if tl.load(born + y) == tl.load(neighbour_born + x):
            a = tl.minimum(x, y)
            b = tl.maximum(x, y)
            weight_a = tl.load(weight + a)
            weight_b = tl.load(weight + b)
            share = weight_b / (weight_a + weight_b)
            if MIDPOINT:
                share = share * 0.0 + 0.5
            for begin in tl.static_range(0, COLUMNS, WIDTH):
                column = begin + tl.arange(0, WIDTH)
                mean_a = tl.load(mean + a.to(tl.int64) * COLUMNS + column, mask=column < COLUMNS)
                mean_b = tl.load(mean + b.to(tl.int64) * COLUMNS + column, mask=column < COLUMNS)
                tl.store(
                    mean + a.to(tl.int64) * COLUMNS + column, mean_a + (mean_b - mean_a) * share, mask=column < COLUMNS
                )
            tl.debug_barrier()  # all threads have read what is written now
            tl.store(weight + a, weight_a + weight_b)
            tl.store(born + a, objects + merged)
            tl.store(born + b, -1)
            tl.store(key + a, float("inf"))
            tl.store(key + b, float("inf"))
            tl.store(merge_a + merged, tl.load(name + b))
            tl.store(merge_b + merged, tl.load(name + a))
            tl.store(merge_height + merged, least)
            tl.store(state + MERGED, merged + 1)
            tl.debug_barrier()
            _update_block(a // BLOCK, key, block_key, block_slot, BLOCK)
            _update_block(b // BLOCK, key, block_key, block_slot, BLOCK)
            first = a
        else:
            first = x
    tl.debug_barrier()
    tl.store(queries, first)
    keys = tl.load(block_key + block, mask=(block < blocks) & (block != first // BLOCK), other=float("inf"))
    for q in tl.static_range(1, QUERIES):
        least = tl.min(keys, 0)
        chosen = tl.min(tl.where(keys == least, block, NOBODY), 0)
        keys = tl.where(block == chosen, float("inf"), keys)
        query = -1
        if least < float("inf"):
            x = tl.load(block_slot + chosen)
            if tl.load(born + tl.load(neighbour + x)) != tl.load(neighbour_born + x):
                query = x
        tl.store(queries + q, query)


# The nearest older cluster of each query in the rows of each program; a query of -1 is answered by no one.
@triton.jit
def measure(state, mean, born, queries, part_key, part_slot, COLUMNS: tl.constexpr, WIDTH: tl.constexpr,
            QUERIES: tl.constexpr, PARTS: tl.constexpr, ROWS: tl.constexpr):  # fmt: skip
    slots = tl.load(state + SLOTS)
    query = tl.load(queries + tl.arange(0, QUERIES))
    if tl.max(query, 0) >= 0:
        asked = query >= 0
        of_query = tl.where(asked, query, 0).to(tl.int64)
        formed = tl.where(asked, tl.load(born + of_query), -1)
        best = tl.full([QUERIES, ROWS], float("inf"), tl.float64)
        best_slot = tl.full([QUERIES, ROWS], NOBODY, tl.int32)
        for first in range(tl.program_id(0) * ROWS, slots, tl.num_programs(0) * ROWS):
            row = first + tl.arange(0, ROWS)
            total = tl.zeros([QUERIES, ROWS, WIDTH], dtype=tl.float64)
            for begin in tl.static_range(0, COLUMNS, WIDTH):
                column = begin + tl.arange(0, WIDTH)
                inside = (row < slots)[None, :, None] & (column < COLUMNS)[None, None, :]
                rows = tl.load(
                    mean + row.to(tl.int64)[None, :, None] * COLUMNS + column[None, None, :], mask=inside, other=0.0
                )
                inside = (column < COLUMNS)[None, None, :]
                asking = tl.load(
                    mean + of_query[:, None, None] * COLUMNS + column[None, None, :], mask=inside, other=0.0
                )
                gap = rows - asking
                total += gap * gap
            distance = tl.sum(total, 2)
            row_born = tl.load(born + row, mask=row < slots, other=-1)
            older = (row_born >= 0)[None, :] & (row_born[None, :] < formed[:, None])
            nearer = older & (distance < best)
            best = tl.where(nearer, distance, best)
            best_slot = tl.where(nearer, row[None, :].to(tl.int32), best_slot)
        least = tl.min(best, 1)
        slot = tl.min(tl.where(best == least[:, None], best_slot, NOBODY), 1)
        to = tl.arange(0, QUERIES) * PARTS + tl.program_id(0)
        tl.store(part_key + to, least)
        tl.store(part_slot + to, slot)

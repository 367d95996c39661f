"""Distances between objects of clusters, from differences: of two clusters, and of some objects to all."""

# mypy: ignore-errors

import triton
import triton.language as tl


# One program measures a tile of two clusters, SIDE objects of each: the largest squared distance, or the sum of the
# distances times both weights. `place` counts the tiles of a pair, those of b first.
@triton.jit
def tiles(a, b, place, order, start, rows, weight, result,
          COLUMNS: tl.constexpr, SIDE: tl.constexpr, BK: tl.constexpr, LARGEST: tl.constexpr):  # fmt: skip
    tile = tl.program_id(0).to(tl.int64)
    slot_a = tl.load(a + tile)
    slot_b = tl.load(b + tile)
    number = tl.load(place + tile)
    start_b = tl.load(start + slot_b)
    end_a = tl.load(start + slot_a + 1)
    end_b = tl.load(start + slot_b + 1)
    tiles_of_b = (end_b - start_b + SIDE - 1) // SIDE
    at_x = tl.load(start + slot_a) + (number // tiles_of_b) * SIDE + tl.arange(0, SIDE)
    at_y = start_b + (number % tiles_of_b) * SIDE + tl.arange(0, SIDE)
    in_x = at_x < end_a
    in_y = at_y < end_b
    x = tl.load(order + at_x, mask=in_x, other=0)
    y = tl.load(order + at_y, mask=in_y, other=0)
    total = tl.zeros([SIDE, SIDE, BK], dtype=tl.float64)
    for k in tl.range(0, COLUMNS, BK):
        ks = k + tl.arange(0, BK)
        inside = (ks < COLUMNS)[None, :]
        of_x = tl.load(rows + x[:, None] * COLUMNS + ks[None, :], mask=in_x[:, None] & inside, other=0.0)
        of_y = tl.load(rows + y[:, None] * COLUMNS + ks[None, :], mask=in_y[:, None] & inside, other=0.0)
        gap = of_x[:, None, :] - of_y[None, :, :]
        total += gap * gap
    squared = tl.where(in_x[:, None] & in_y[None, :], tl.sum(total, 2), 0.0)
    if LARGEST:
        tl.store(result + tile, tl.max(tl.max(squared, 1), 0))
    else:
        weight_x = tl.load(weight + x, mask=in_x, other=0.0)
        weight_y = tl.load(weight + y, mask=in_y, other=0.0)
        tl.store(result + tile, tl.sum(tl.sum(tl.sqrt(squared) * weight_x[:, None] * weight_y[None, :], 1), 0))


# The squared distances of all objects (rows of `matrix`) to some (its columns), or the distances. Both in tiles of TILE
# rows, column by column, STEP * steps columns. A program measures half a tile of objects; the axes of its numbers are
# those in the kernel of the matrix.
@triton.jit(do_not_specialize=["objects", "count", "steps"])
def rectangle(tiles_of_objects, tiles_of_some, matrix, objects, count, steps,
              ROOT: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr):  # fmt: skip
    HALF: tl.constexpr = TILE // 2
    low = (tl.program_id(1) // 2).to(tl.int64)
    high = tl.program_id(0).to(tl.int64)
    row_of_half = (tl.program_id(1) % 2) * HALF + tl.arange(0, HALF)
    column_of_tile = tl.arange(0, TILE // 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    row_at = tiles_of_objects + low * TILE * STEP * steps + row_of_half
    column_at = tiles_of_some + high * TILE * STEP * steps + column_of_tile
    total = tl.zeros([TILE // 32, HALF, 32], dtype=tl.float64)
    for _ in range(steps):
        for k in tl.static_range(STEP):
            gap = tl.load(row_at + k * TILE)[None, :, None] - tl.load(column_at + k * TILE)[:, None, :]
            total += gap * gap
        row_at += TILE * STEP
        column_at += TILE * STEP
    row = low * TILE + row_of_half
    column = high * TILE + column_of_tile
    if ROOT:
        total = tl.sqrt(total)
    at = matrix + low * TILE * count + high * TILE
    place = row_of_half[None, :, None] * count + column_of_tile[:, None, :]
    tl.store(at + place, total, mask=(row < objects)[None, :, None] & (column < count)[:, None, :])

"""Rounds of reciprocal nearest neighbours on a matrix of distances.

All counts are in device memory, so that a round needs no word from the host and can be replayed as a CUDA graph. Every
kernel is launched with a fixed number of programs that share the work.

A round: claim, accept, merge_rows, merge_columns, enqueue, scan, settle. Slots are rows of the matrix; two are merged
into the lower one. `partner` tells the slots that merge in this round.
"""

# mypy: ignore-errors

import triton
import triton.language as tl

# Places in `state`
SIDE = tl.constexpr(0)  # slots
STRIDE = tl.constexpr(1)  # numbers from a row of the matrix to the next
ROUND = tl.constexpr(2)
QUEUED = tl.constexpr(3)  # rows whose minimum must be found
PAIRS = tl.constexpr(4)  # merged in this round
MERGED = tl.constexpr(5)  # in all rounds
SCANNED = tl.constexpr(6)  # rows, in all rounds
UNKNOWN = tl.constexpr(7)  # rows whose minimum is not known

UNCLAIMED = tl.constexpr(0x7FFFFFFFFFFFFFFF)


# The distances of all pairs of rows that the linkage starts from, by differences: products would lose pairs much nearer
# to each other than to the origin. `tiles` holds TILE rows after TILE rows, column by column, STEP * steps columns. A
# program measures half a tile of the matrix on or above the diagonal and writes it to the mirror, too. Its numbers have
# three axes (columns / 32, rows, 32), so Triton gives each thread several columns of several rows: the fewest loads.
@triton.jit(do_not_specialize=["count", "steps", "stride"])
def distances(tiles, weight, spread, matrix, count, steps, stride,
              LINKAGE: tl.constexpr, ROOT: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr):  # fmt: skip
    HALF: tl.constexpr = TILE // 2
    tile = (tl.program_id(0) // 2).to(tl.int64)
    # The tiles (low, high) with low <= high, in the order of high.
    high = ((tl.sqrt(8.0 * tile.to(tl.float64) + 1.0) - 1.0) * 0.5).to(tl.int64)
    high = tl.where(high * (high + 1) // 2 > tile, high - 1, high)
    high = tl.where((high + 1) * (high + 2) // 2 <= tile, high + 1, high)
    low = tile - high * (high + 1) // 2
    row = (tl.program_id(0) % 2) * HALF + tl.arange(0, HALF)
    column = tl.arange(0, TILE // 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    row_at = tiles + low * TILE * STEP * steps + row
    column_at = tiles + high * TILE * STEP * steps + column
    total = tl.zeros([TILE // 32, HALF, 32], dtype=tl.float64)
    for _ in range(steps):
        for k in tl.static_range(STEP):
            gap = tl.load(row_at + k * TILE)[None, :, None] - tl.load(column_at + k * TILE)[:, None, :]
            total += gap * gap
        row_at += TILE * STEP
        column_at += TILE * STEP
    row = low * TILE + row
    column = high * TILE + column
    inside = (row < count)[None, :, None] & (column < count)[:, None, :]
    if ROOT:
        total = tl.sqrt(total)
    elif LINKAGE == "ward":
        row_weight = tl.load(weight + row, mask=row < count, other=1.0)[None, :, None]
        column_weight = tl.load(weight + column, mask=column < count, other=1.0)[:, None, :]
        total *= (row_weight * column_weight) / (row_weight + column_weight)
    elif LINKAGE != "complete":
        row_spread = tl.load(spread + row, mask=row < count, other=0.0)[None, :, None]
        total += row_spread + tl.load(spread + column, mask=column < count, other=0.0)[:, None, :]
    # Places within a tile fit into 32 bits: fewer registers.
    row_of_half = (tl.program_id(0) % 2) * HALF + tl.arange(0, HALF)
    column_of_tile = tl.arange(0, TILE // 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    at = matrix + low * TILE * stride + high * TILE
    tl.store(at + (row_of_half[None, :, None] * stride + column_of_tile[:, None, :]), total, mask=inside)
    if low != high:
        mirrored = (row < count)[None, None, :] & (column < count)[:, :, None]
        at = matrix + high * TILE * stride + low * TILE
        place = column_of_tile[:, :, None] * stride + row_of_half[None, None, :]
        tl.store(at + place, tl.permute(total, [0, 2, 1]), mask=mirrored)


# Each slot that may merge with its nearest one claims both; of all claims to a slot the lowest is kept. Two clusters
# are nearest to each other if the distances to their nearest ones are the same number, whichever nearest one each has
# chosen among equally near ones. The lowest claim at the least distance is always accepted, so every round goes on.
@triton.jit
def claim(state, neighbour, nearest, valid, claims, BLOCK: tl.constexpr):
    side = tl.load(state + SIDE)
    for first in range(tl.program_id(0) * BLOCK, side, tl.num_programs(0) * BLOCK):
        x = first + tl.arange(0, BLOCK).to(tl.int64)
        able = (x < side) & (tl.load(valid + x, mask=x < side, other=0) != 0)
        y = tl.load(neighbour + x, mask=able, other=0).to(tl.int64)
        able = able & (tl.load(valid + y, mask=able, other=0) != 0)
        able = able & (tl.load(nearest + x, mask=able, other=0.0) == tl.load(nearest + y, mask=able, other=1.0))
        pair = tl.minimum(x, y) * 4294967296 + tl.maximum(x, y)
        tl.atomic_min(claims + x, pair, mask=able, sem="relaxed")
        tl.atomic_min(claims + y, pair, mask=able, sem="relaxed")


@triton.jit
def accept(state, claims, nearest, name, alive, partner, pair_of, merge_a, merge_b, merge_height, merge_round,
           BLOCK: tl.constexpr):  # fmt: skip
    side = tl.load(state + SIDE)
    round_ = tl.load(state + ROUND)
    merged = tl.load(state + MERGED)
    for first in range(tl.program_id(0) * BLOCK, side, tl.num_programs(0) * BLOCK):
        x = first + tl.arange(0, BLOCK).to(tl.int64)
        pair = tl.load(claims + x, mask=x < side, other=UNCLAIMED)
        y = pair & 0xFFFFFFFF
        agreed = (pair != UNCLAIMED) & (pair // 4294967296 == x)
        agreed = agreed & (tl.load(claims + y, mask=agreed, other=-1) == pair)
        count = tl.sum(agreed.to(tl.int64))
        if count > 0:
            place = tl.atomic_add(state + PAIRS, count, sem="relaxed") + tl.cumsum(agreed.to(tl.int64), 0) - 1
            tl.store(pair_of + place, x.to(tl.int32), mask=agreed)
            tl.store(partner + x, y.to(tl.int32), mask=agreed)
            tl.store(partner + y, x.to(tl.int32), mask=agreed)
            tl.store(alive + y, 0, mask=agreed)
            tl.store(merge_a + merged + place, tl.load(name + y, mask=agreed), mask=agreed)
            tl.store(merge_b + merged + place, tl.load(name + x, mask=agreed), mask=agreed)
            tl.store(merge_height + merged + place, tl.load(nearest + x, mask=agreed), mask=agreed)
            tl.store(merge_round + merged + place, round_, mask=agreed)


# The formula of Lance and Williams: the distance of a third cluster, at distances x and y from two that merge at
# `height`. A result below x and y would break reducibility by rounding, and with it the proof that neighbours which are
# kept are still the nearest: therefore average and Ward linkage add to the lesser one.
@triton.jit
def _combined(x, y, weight_x, weight_y, third, height, LINKAGE: tl.constexpr):
    if LINKAGE == "complete":
        return tl.maximum(x, y)
    elif LINKAGE == "weighted":
        return 0.5 * (x + y)
    else:
        lesser = tl.minimum(x, y)
        greater = tl.maximum(x, y)
        weight = tl.where(x < y, weight_y, weight_x)
        if LINKAGE == "average":
            return lesser + (greater - lesser) * (weight / (weight_x + weight_y))
        else:
            beyond = third * tl.maximum(greater - height, 0.0)
            return lesser + (weight * (greater - lesser) + beyond) / (weight_x + weight_y + third)


@triton.jit
def merge_rows(state, matrix, weight, nearest, partner, pair_of, LINKAGE: tl.constexpr, BLOCK: tl.constexpr):
    side = tl.load(state + SIDE)
    stride = tl.load(state + STRIDE)
    pairs = tl.load(state + PAIRS)
    blocks = tl.cdiv(side, BLOCK)
    for item in range(tl.program_id(0), pairs * blocks, tl.num_programs(0)):
        a = tl.load(pair_of + item // blocks).to(tl.int64)
        b = tl.load(partner + a).to(tl.int64)
        x = (item % blocks) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
        to_a = tl.load(matrix + a * stride + x, mask=x < side, other=0.0)
        to_b = tl.load(matrix + b * stride + x, mask=x < side, other=0.0)
        third = tl.load(weight + x, mask=x < side, other=1.0)
        merged = _combined(to_a, to_b, tl.load(weight + a), tl.load(weight + b), third, tl.load(nearest + a), LINKAGE)
        tl.store(matrix + a * stride + x, merged, mask=x < side)


# Column a becomes the mirror of row a. Where x merges in this round, too, row a holds its distances to both parts of x:
# they are combined once, for the pair (a, x) with a < x, so that the matrix stays symmetric to the bit.
@triton.jit
def merge_columns(state, matrix, weight, nearest, alive, partner, pair_of,
                  LINKAGE: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    side = tl.load(state + SIDE)
    stride = tl.load(state + STRIDE)
    pairs = tl.load(state + PAIRS)
    blocks = tl.cdiv(side, BLOCK)
    # Programs that run at the same time write to neighbouring columns of the same rows.
    for item in range(tl.program_id(0), pairs * blocks, tl.num_programs(0)):
        a = tl.load(pair_of + item % pairs).to(tl.int64)
        x = (item // pairs) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
        present = (x < side) & (x != a) & (tl.load(alive + x, mask=x < side, other=0) != 0)
        other = tl.load(partner + x, mask=present, other=-1).to(tl.int64)
        merges = other >= 0
        present = present & ((a < x) | (other < 0))
        distance = tl.load(matrix + a * stride + x, mask=present, other=0.0)
        both = present & merges
        to_other = tl.load(matrix + a * stride + other, mask=both, other=0.0)
        weight_x = tl.load(weight + x, mask=both, other=1.0)
        weight_other = tl.load(weight + other, mask=both, other=1.0)
        third = tl.load(weight + a) + tl.load(weight + tl.load(partner + a))
        height = tl.load(nearest + x, mask=both, other=0.0)
        merged = _combined(distance, to_other, weight_x, weight_other, third, height, LINKAGE)
        distance = tl.where(both, merged, distance)
        tl.store(matrix + a * stride + x, distance, mask=both)
        tl.store(matrix + x * stride + a, distance, mask=present)


# A neighbour that has merged is gone. The merged cluster is no nearer than the nearer of its parts was, so all other
# neighbours stay. Two lists of rows to scan are made: `unknown` has all slots without a neighbour, `queue` only the new
# ones and those that are valid neighbours of another slot, without which no round could go on.
@triton.jit
def enqueue(state, neighbour, valid, alive, partner, stamp, place_of, queue, unknown_place_of, unknown,
            BLOCK: tl.constexpr):  # fmt: skip
    side = tl.load(state + SIDE)
    round_ = tl.load(state + ROUND)
    for first in range(tl.program_id(0) * BLOCK, side, tl.num_programs(0) * BLOCK):
        x = first + tl.arange(0, BLOCK).to(tl.int64)
        present = (x < side) & (tl.load(alive + x, mask=x < side, other=0) != 0)
        new = present & (tl.load(partner + x, mask=present, other=-1) >= 0)
        keeps = present & (new == 0) & (tl.load(valid + x, mask=present, other=0) != 0)
        y = tl.load(neighbour + x, mask=keeps, other=0).to(tl.int64)
        keeps = keeps & (tl.load(partner + y, mask=keeps, other=0) < 0)
        # Another program may just be writing valid[y]: then its new value says what the other two say.
        y_valid = tl.load(valid + y, mask=keeps, other=1) != 0
        behind_y = tl.load(neighbour + y, mask=keeps & y_valid, other=0).to(tl.int64)
        y_valid = y_valid & (tl.load(partner + behind_y, mask=keeps & y_valid, other=-1) < 0)
        tl.store(valid + x, keeps.to(tl.int8), mask=x < side)
        wanted = new | (keeps & (y_valid == 0))
        row = tl.where(new, x, y)
        first_to_want = tl.atomic_max(stamp + row, round_, mask=wanted, sem="relaxed") < round_
        wanted = wanted & first_to_want
        count = tl.sum(wanted.to(tl.int64))
        if count > 0:
            place = tl.atomic_add(state + QUEUED, count, sem="relaxed") + tl.cumsum(wanted.to(tl.int64), 0) - 1
            tl.store(queue + place, row.to(tl.int32), mask=wanted)
            tl.store(place_of + row, place.to(tl.int32), mask=wanted)
        lacks = present & (keeps == 0)
        count = tl.sum(lacks.to(tl.int64))
        if count > 0:
            place = tl.atomic_add(state + UNKNOWN, count, sem="relaxed") + tl.cumsum(lacks.to(tl.int64), 0) - 1
            tl.store(unknown + place, x.to(tl.int32), mask=lacks)
            tl.store(unknown_place_of + x, place.to(tl.int32), mask=lacks)


# Whether all rows without a neighbour are scanned: if they are few, or not many for each pair that merged. The more
# neighbours are known, the fewer rounds there are; but one cluster can be the neighbour of all others.
@triton.jit
def _all_are_scanned(state, FEW: tl.constexpr, PER_PAIR: tl.constexpr):
    unknown = tl.load(state + UNKNOWN)
    few = unknown * tl.load(state + SIDE) <= FEW
    return few | (unknown <= PER_PAIR * tl.load(state + PAIRS))


# The least distance in a part of a queued row, and the lowest column that has it.
@triton.jit
def scan(state, matrix, alive, queue, unknown, part_value, part_column, FEW: tl.constexpr, PER_PAIR: tl.constexpr,
         BLOCK: tl.constexpr, REPEATS: tl.constexpr):  # fmt: skip
    side = tl.load(state + SIDE)
    stride = tl.load(state + STRIDE)
    parts = tl.cdiv(side, BLOCK * REPEATS)
    all_ = _all_are_scanned(state, FEW, PER_PAIR)
    rows = tl.where(all_, tl.load(state + UNKNOWN), tl.load(state + QUEUED))
    for item in range(tl.program_id(0), rows * parts, tl.num_programs(0)):
        row = tl.load(tl.where(all_, unknown, queue) + item // parts).to(tl.int64)
        least = tl.full([BLOCK], float("inf"), tl.float64)
        column = tl.full([BLOCK], 0x7FFFFFFF, tl.int32)
        for repeat in range(REPEATS):
            x = ((item % parts) * REPEATS + repeat) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
            present = (x < side) & (x != row) & (tl.load(alive + x, mask=x < side, other=0) != 0)
            distance = tl.load(matrix + row * stride + x, mask=present, other=float("inf"))
            column = tl.where(distance < least, x.to(tl.int32), column)
            least = tl.minimum(least, distance)
        value = tl.min(least, 0)
        tl.store(part_value + item, value)
        tl.store(part_column + item, tl.min(tl.where(least == value, column, 0x7FFFFFFF), 0))


# The nearest neighbours of slots whose rows were scanned; weights of those that merged; then all is as before a round.
@triton.jit
def settle(state, alive, stamp, place_of, unknown_place_of, part_value, part_column, neighbour, nearest, valid, weight,
           partner, claims, FEW: tl.constexpr, PER_PAIR: tl.constexpr, BLOCK: tl.constexpr,
           SCAN: tl.constexpr):  # fmt: skip
    side = tl.load(state + SIDE)
    round_ = tl.load(state + ROUND)
    parts = tl.cdiv(side, SCAN)
    all_ = _all_are_scanned(state, FEW, PER_PAIR)
    for first in range(tl.program_id(0) * BLOCK, side, tl.num_programs(0) * BLOCK):
        x = first + tl.arange(0, BLOCK).to(tl.int64)
        lacks = (tl.load(alive + x, mask=x < side, other=0) != 0) & (tl.load(valid + x, mask=x < side, other=1) == 0)
        queued = tl.load(stamp + x, mask=x < side, other=-1) == round_
        scanned = (x < side) & tl.where(all_, lacks, queued)
        place = tl.load(tl.where(all_, unknown_place_of, place_of) + x, mask=scanned, other=0).to(tl.int64) * parts
        least = tl.full([BLOCK], float("inf"), tl.float64)
        column = tl.zeros([BLOCK], dtype=tl.int32)
        for part in range(parts):
            value = tl.load(part_value + place + part, mask=scanned, other=float("inf"))
            here = tl.load(part_column + place + part, mask=scanned, other=0)
            column = tl.where(value < least, here, column)
            least = tl.minimum(least, value)
        tl.store(neighbour + x, column, mask=scanned)
        tl.store(nearest + x, least, mask=scanned)
        tl.store(valid + x, (least < float("inf")).to(tl.int8), mask=scanned)
        other = tl.load(partner + x, mask=x < side, other=-1).to(tl.int64)
        kept = other > x
        both = tl.load(weight + x, mask=kept, other=0.0) + tl.load(weight + other, mask=kept, other=0.0)
        tl.store(weight + x, both, mask=kept)
        tl.store(partner + x, -1, mask=x < side)
        tl.store(claims + x, UNCLAIMED, mask=x < side)


# The end of a round: no other kernel runs that could read these counts.
@triton.jit
def count_round(state, FEW: tl.constexpr, PER_PAIR: tl.constexpr):
    all_ = _all_are_scanned(state, FEW, PER_PAIR)
    scanned = tl.where(all_, tl.load(state + UNKNOWN), tl.load(state + QUEUED))
    tl.store(state + ROUND, tl.load(state + ROUND) + 1)
    tl.store(state + MERGED, tl.load(state + MERGED) + tl.load(state + PAIRS))
    tl.store(state + SCANNED, tl.load(state + SCANNED) + scanned)
    tl.store(state + PAIRS, 0)
    tl.store(state + QUEUED, 0)
    tl.store(state + UNKNOWN, 0)


# Some rows of a smaller matrix: those of the slots that are kept.
@triton.jit(do_not_specialize=["first", "kept", "stride", "new_stride"])
def gather(matrix, keep, buffer, first, kept, stride, new_stride, BLOCK: tl.constexpr):
    row = tl.load(keep + first + tl.program_id(0))
    for begin in range(tl.program_id(1) * BLOCK, kept, tl.num_programs(1) * BLOCK):
        x = begin + tl.arange(0, BLOCK)
        column = tl.load(keep + x, mask=x < kept, other=0)
        distance = tl.load(matrix + row * stride + column, mask=x < kept, other=0.0)
        tl.store(buffer + tl.program_id(0).to(tl.int64) * new_stride + x, distance, mask=x < kept)

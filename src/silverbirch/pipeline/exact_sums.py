"""Exact sums of columns: every float64 is a whole number of the smallest one, and whole numbers add up exactly.

A column is written in digits of a few bits. A digit of a column, a product of two and its product with a digit of the
weights are small whole numbers: float64 adds thousands of them without rounding, in any order. Python's whole numbers,
which have no limit, put the sums of digits together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats

SMALLEST = -1074  # 2**-1074 is the smallest float64: all others are multiples of it
_BLOCK = 1 << 15  # numbers of a block: 36 bits of a product and 15 for the number of rows are less than 53
_BITS, _WEIGHTED_BITS = 18, 12  # of a digit: a product of two, or of three with weights, has 36 bits


class Sums(NamedTuple):
    """For each column the sums over its rows of w, w·x and w·x², as multiples of 2**-1074 to the power 1, 2 and 3."""

    weights: tuple[int, ...]
    sums: tuple[int, ...]
    squares: tuple[int, ...]

    def joined_with(self, other: Sums) -> Sums:
        return Sums(
            *(tuple(a + b for a, b in zip(own, more, strict=True)) for own, more in zip(self, other, strict=True))
        )


def exact_sums(rows: Floats, weight: Floats | None = None) -> Sums:
    """The sums of each column of `rows` (n, d); missing values (NaN) are left out. All weights are 1 if None."""
    count, columns = rows.shape
    at_once = max(1, _BLOCK // max(1, count))
    parts = []
    for first in range(0, columns, at_once):
        part = None
        for begin in range(0, max(1, count), _BLOCK):
            with np.errstate(invalid="ignore"):  # of signalling NaNs, which are missing values like all others
                block = rows[begin : begin + _BLOCK, first : first + at_once].T.astype(np.float64, order="C")
            found = _sums_of_block(block, None if weight is None else weight[begin : begin + _BLOCK])
            part = found if part is None else part.joined_with(found)
        assert part is not None
        parts.append(part)
    return Sums(*(tuple(total for part in each for total in part) for each in zip(*parts, strict=True)))


def _sums_of_block(block: Floats, weight: Floats | None) -> Sums:
    """The sums of each row of `block`, which is overwritten; it has at most `_BLOCK` numbers."""
    absent = np.isnan(block)
    block[absent] = 0.0
    bits = _BITS if weight is None else _WEIGHTED_BITS
    digits, unit = _digits(block, bits)
    weights, sums, squares = ([0] * len(block) for _ in range(3))
    for weight_digit, weight_unit in _weight_digits(weight, block.shape[1], bits):
        weighted = digits if weight is None else [digit * weight_digit for digit in digits]
        _add(weights, [np.where(absent, 0.0, weight_digit).sum(axis=1)], bits, 0 * unit + weight_unit - SMALLEST)
        _add(sums, [digit.sum(axis=1) for digit in weighted], bits, unit + weight_unit - 2 * SMALLEST)
        _add(squares, _products(weighted, digits), bits, 2 * unit + weight_unit - 3 * SMALLEST)
    return Sums(tuple(weights), tuple(sums), tuple(squares))


def _digits(block: Floats, bits: int) -> tuple[list[Floats], NDArray[np.int64]]:
    """The digits of all numbers, highest first, and for each row of `block` the unit 2**e of the last digit.

    A digit is a whole number from -2**bits to 2**bits. The block is overwritten.
    """
    unit = np.frexp(np.abs(block).max(axis=1, initial=0.0))[1].astype(np.int64)
    digits: list[Floats] = []
    while not digits or block.any():
        unit = unit - bits
        # The last bit of the sum is one unit, so that adding rounds to whole units, as in Dekker's splitting (1971).
        rounder = np.ldexp(1.5, 52 + unit)[:, None]
        digit = block + rounder
        digit -= rounder
        block -= digit
        shift = np.minimum(-unit, _BITS - SMALLEST)  # all digits beyond are 0
        for step in (shift // 2, shift - shift // 2):  # 2**shift alone may be too large
            digit *= np.ldexp(1.0, step)[:, None]
        digits.append(digit)
    return digits, unit


def _weight_digits(weight: Floats | None, count: int, bits: int) -> list[tuple[Floats, int]]:
    """The digits of the weights with their units."""
    if weight is None:
        return [(np.ones(count), 0)]
    digits, (last,) = _digits(weight[None, :].astype(np.float64), bits)
    return [(digit[0], int(last) + bits * place) for place, digit in enumerate(reversed(digits))]


def _products(weighted: list[Floats], digits: list[Floats]) -> list[NDArray[np.int64]]:
    """The sums of the products of two digits, for each unit of a product, highest first."""
    products = [np.zeros(len(digits[0]), dtype=np.int64) for _ in range(2 * len(digits) - 1)]
    for i, first in enumerate(weighted):
        for j, second in enumerate(digits[: i + 1]):
            found = np.einsum("ij,ij->i", first, second).astype(np.int64)
            products[i + j] += found if i == j else 2 * found
    return products


def _add(totals: list[int], digits: Sequence[NDArray[Any]], bits: int, shifts: NDArray[np.int64]) -> None:
    """Adds numbers to the totals, given by their digits, highest first, and shifted to the left."""
    for column, (places, shift) in enumerate(zip(np.array(digits).T.tolist(), shifts.tolist(), strict=True)):
        number = 0
        for place in places:
            number = (number << bits) + int(place)
        totals[column] += number << shift if shift >= 0 else number >> -shift

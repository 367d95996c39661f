"""The memory that a clustering takes on a GPU: computed, compared with what is free, and refused before it is taken."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..checks import bytes_text
from ..errors import MemoryLimitError
from ..machine import free_memory
from .greedy import greedy_bytes
from .matrix_rounds import matrix_bytes
from .members import members_bytes
from .single import single_bytes

if TYPE_CHECKING:
    import torch

# What the search of neighbours needs for the minima of groups: less memory only makes it take more steps.
LARGEST_BUFFER, LEAST_BUFFER = 4 << 30, 256 << 20
# For each object beside its mean: neighbours (two lists of 16, a float64 or int64 each), and the state and the merges.
_LISTS, _STATE = 2 * 16 * 4, 240
_HALF_COLUMNS = 64  # rows of float16 numbers are filled up to a multiple of so many
MOST_ON_A_MATRIX = 8192
_PIECE = 1 << 26  # numbers that are converted at a time, in several float64 arrays
_ARRAYS_OF_PIECE = 4

logger = logging.getLogger("silverbirch")


def free_bytes(device: torch.device) -> int:
    """The bytes that are free on the device, with those that torch keeps for itself but does not use."""
    import torch

    if device.type == "cpu":  # of tests
        return free_memory() or 1 << 62
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0]) + kept


def needed_bytes(algorithm: str, count: int, columns: int) -> int:
    """The bytes for the means of `count` objects and what the algorithm keeps, without buffers that can shrink."""
    numbers = count * columns
    piece = _ARRAYS_OF_PIECE * 8 * min(_PIECE, numbers)
    means = 8 * numbers + _STATE * count
    if algorithm == "matrix":
        return means + max(piece, matrix_bytes(count, columns))
    if algorithm == "members":
        return means + max(piece, _searched_bytes(count, columns) + members_bytes(count, columns))
    after = {"greedy": greedy_bytes(count, columns), "single": single_bytes(count)}  # the first search
    return means + max(piece, _searched_bytes(count, columns), after.get(algorithm, 0))


def _searched_bytes(count: int, columns: int) -> int:
    """What the search of neighbours keeps: float16 rows and lists."""
    return 2 * count * -(-columns // _HALF_COLUMNS) * _HALF_COLUMNS + _LISTS * count


def clusters_on_a_matrix(count: int, columns: int, device: torch.device) -> int:
    """From how many clusters on rounds may go on with a matrix; where few merge in a round, with four times as many.

    The means of `count` objects are on the device already.
    """
    left = free_bytes(device) - _searched_bytes(count, columns)
    clusters = MOST_ON_A_MATRIX
    while clusters > 1 and matrix_bytes(min(count, 4 * clusters), columns) > left:
        clusters //= 2
    return clusters


def matrix_or_members(count: int, columns: int, device: torch.device) -> str:
    """The algorithm for complete, average and weighted linkage: a matrix of all objects if it fits."""
    return "matrix" if needed_bytes("matrix", count, columns) <= free_bytes(device) else "members"


def clusters_that_fit(count: int, columns: int, buffer: int, device: torch.device) -> int:
    """How many clusters fit on a matrix beside the members. The means of all objects are there already."""
    left = free_bytes(device) - _searched_bytes(count, columns) - members_bytes(count, columns) - buffer

    def fits(clusters: int) -> bool:
        return matrix_bytes(clusters, columns) + 8 * clusters * columns <= left

    return _largest_fitting(fits, count + 1)


def _largest_buffer(algorithm: str, count: int) -> int:
    """No more than a number for each pair is of use."""
    return 0 if algorithm == "matrix" else min(LARGEST_BUFFER, 4 * count * count)


def buffer_bytes(task: str, algorithm: str, count: int, columns: int, device: torch.device) -> int:
    """Logs the memory that a clustering takes and returns the bytes for its buffers.

    Raises MemoryLimitError if less is free than it needs with the smallest buffers.
    """
    free = free_bytes(device)
    kept, largest = needed_bytes(algorithm, count, columns), _largest_buffer(algorithm, count)

    def least(objects: int) -> int:
        return needed_bytes(algorithm, objects, columns) + min(LEAST_BUFFER, _largest_buffer(algorithm, objects))

    if least(count) > free:
        fitting = _largest_fitting(lambda objects: least(objects) <= free, count)
        raise MemoryLimitError(
            f"{task} needs {bytes_text(least(count))} of memory on {device} and {bytes_text(free)} are free: "
            f"{fitting:,} objects of {columns} columns fit; aggregate first with CFTree or Betula, or use device='cpu'"
        )
    taken = min(largest, free - kept)
    logger.info("%s: %s of memory on %s", task, bytes_text(kept + taken), device)
    return taken


def _largest_fitting(fits: Callable[[int], bool], count: int) -> int:
    """The largest number below `count` that fits, if smaller numbers fit too."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low

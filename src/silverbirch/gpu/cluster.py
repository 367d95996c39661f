"""Clusters rows on a GPU: memory → rows → objects → the algorithm of the linkage → Z."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .. import _core
from ..checks import Floats, refused_value
from ..directions import no_direction
from ..progress import Report
from .device import kernels_on
from .memory import buffer_bytes, clusters_on_a_matrix, clusters_that_fit, free_bytes, matrix_or_members
from .objects import Objects, prepare
from .rows import Rows

if TYPE_CHECKING:
    import torch
    from torch import Tensor

# The algorithm of each linkage. Average and weighted linkage of squared distances go by rounds, and what does not fit
# on a matrix by members.
ALGORITHMS = {
    "ward": "rounds",
    "centroid": "greedy",
    "median": "greedy",
    "single": "single",
    "complete": "matrix",
    "average": "matrix",
    "weighted": "matrix",
}
_OF_SQUARES = ("average", "weighted")
_WITH_INVERSIONS = ("centroid", "median")
_PIECE = 1 << 24  # the numbers that are checked at a time
_WORTH_PINNING = 1 << 24  # bytes

logger = logging.getLogger("silverbirch")


def cluster(
    array: Tensor,
    device: torch.device,
    linkage: str,
    *,
    squares: bool,
    direction: str | None = None,
    weight: Tensor | None = None,
    sse: Tensor | None = None,
    report: Report | None = None,
) -> tuple[Floats, dict[str, int]]:
    """Returns Z and what was counted: the searches, and those that a bound did not prove at once.

    With `squares`, average and weighted linkage use squared distances and heights are their square roots. A direction
    ("cosine" or "correlation") makes unit rows; heights are then their Euclidean distances. The rows are in main memory
    or on the device, and checked already; weights are positive.
    """
    algorithm = "rounds" if squares and linkage in _OF_SQUARES else ALGORITHMS[linkage]
    count, columns = array.shape
    if algorithm == "matrix":
        algorithm = matrix_or_members(count, columns, device)
    task = f"{linkage} linkage of {count:,} objects of {columns} columns"
    buffer = buffer_bytes(task, algorithm, count, columns, device)
    spread = sse if squares and linkage in _OF_SQUARES else None  # the other linkages use means and weights alone
    with kernels_on(device):
        objects = prepare(Rows(array, device, direction), weight, spread)
        objects.merges.report = report
        counts = _run(algorithm, objects, linkage, buffer) if len(objects) > 1 else {}
    logger.info(
        "%s: %s", task, ", ".join(f"{name} {number:,}" for name, number in counts.items()) or "nothing to search"
    )
    return objects.merges.linkage_matrix(objects.scale, monotone=linkage not in _WITH_INVERSIONS), counts


def _run(algorithm: str, objects: Objects, linkage: str, buffer: int) -> dict[str, int]:
    if algorithm == "rounds":
        from .rounds import cluster_by_rounds

        few = clusters_on_a_matrix(len(objects), objects.mean.shape[1], objects.mean.device)
        return cluster_by_rounds(objects, linkage, buffer_bytes=buffer, matrix_from=few)
    if algorithm == "matrix":
        from .matrix import cluster_by_matrix

        return cluster_by_matrix(objects, linkage)
    if algorithm == "members":
        from .member_rounds import cluster_by_members

        fitting = clusters_that_fit(len(objects), objects.mean.shape[1], buffer, objects.mean.device)
        return cluster_by_members(objects, linkage, buffer_bytes=buffer, matrix_from=fitting)
    if algorithm == "greedy":
        from .greedy import cluster_greedily

        return cluster_greedily(objects, linkage, buffer_bytes=buffer)
    from .single import cluster_single

    return cluster_single(objects, buffer_bytes=buffer)


def uploaded(array: Tensor, device: torch.device) -> Tensor:
    """The rows on the device, if there is memory for them twice more; else as they are, to be read in pieces."""
    size = array.numel() * array.element_size()
    if 12 * array.numel() + size >= free_bytes(device):
        return array
    with _pinned(array, device):
        return array.to(device)


@contextmanager
def _pinned(array: Tensor, device: torch.device) -> Iterator[None]:
    """Within the block the device reads the array in main memory itself. Else the driver copies it first, which takes
    four times as long.
    """
    import torch

    size = array.numel() * array.element_size()
    if device.type != "cuda" or array.is_cuda or not array.is_contiguous() or size < _WORTH_PINNING:
        yield
        return
    runtime = torch.cuda.cudart()
    pinned = int(runtime.cudaHostRegister(array.data_ptr(), size, 0)) == 0  # else the driver copies
    try:
        yield
    finally:
        if pinned:
            runtime.cudaHostUnregister(array.data_ptr())


def check_values(rows: Rows, name: str) -> None:
    """Raises the error of `as_rows` for the first value that is missing, infinite or too large."""
    for at in rows.pieces(len(rows), _PIECE):
        some = rows[at]
        if float(some.abs().amax()) <= _core.LARGEST_COORDINATE:
            continue
        bad = (~(some.double().abs() <= _core.LARGEST_COORDINATE)).flatten().int().argmax()
        row, column = divmod(int(bad), rows.columns)
        raise refused_value(f"{name}: row {at.start + row}, column {column}", float(some[row, column]))


def check_directions(rows: Rows, metric: str, name: str, numbers: Tensor | None) -> None:
    """Raises an error for the first row without a direction; `numbers` are the rows in the data, None for all rows."""
    for at in rows.pieces(len(rows), _PIECE):
        some = rows[at]
        varied = (some != some[:, :1] if metric == "correlation" else some != 0).any(1)
        if not bool(varied.all()):
            row = at.start + int((~varied).int().argmax())
            raise no_direction(f"{name}: row {row if numbers is None else int(numbers[row])}", metric)

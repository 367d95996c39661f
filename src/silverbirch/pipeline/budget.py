"""How the memory limit of the process is divided: the program, reading, and the tree with its clustering.

Every share follows from the limit and from the metadata of the input, not from what the process happens to use: the
same command gives the same features.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .. import _core
from ..checks import as_bytes, bytes_text
from ..errors import MemoryLimitError
from ..machine import keep_no_free_memory
from ..model import AggregateModel
from ..remote import place, size_of
from ..rows import RowSource
from ..wording import parameter

# Python, the libraries and the files being written; benchmarks/studies/memory.py measures it.
PROGRAM_BYTES = 112_000_000
_COPIES = 4  # of a chunk: as it is read, prepared, labelled and written
_FEWEST_LEAVES = 100
_LEAST = 1_000_000
# The share of a tree's memory that its nodes do not take. It holds the leaves once more and what clusters them.
_FOR_CLUSTERING = 0.65


class Shares(NamedTuple):
    reading: int
    model: int
    max_leaves: int


def stay_within(max_memory: int | str | None, source: RowSource, model: AggregateModel) -> None:
    """Sets the limits of the source and of the model so that the process stays within the limit.

    Raises MemoryLimitError, with the bytes that are needed, if it cannot.
    """
    if max_memory is None:
        return
    keep_no_free_memory()
    shares = divided(max_memory, source)
    source.allow(shares.reading)
    leaves = shares.max_leaves if model.max_leaves is None else min(model.max_leaves, shares.max_leaves)
    model.set_params(max_memory=shares.model, max_leaves=leaves)


def divided(max_memory: int | str, source: RowSource) -> Shares:
    """The shares of reading and of the model in a limit on the memory of the process."""
    need, columns = source.reading_bytes(), source.n_dimensions
    taken = PROGRAM_BYTES + _COPIES * source.chunk_bytes
    left = as_bytes(max_memory) - taken
    least = _least_model(columns)
    reading = min(need.usual, max(need.least, min(left // 3, left - least)))
    if left - reading < least:
        raise MemoryLimitError(
            f"{parameter('max_memory', max_memory)}: rows of {columns:,} columns from this input take at least "
            f"{bytes_text(taken + need.least + least)}; allow more"
        )
    model = left - reading
    return Shares(reading, model, int(_FOR_CLUSTERING * model / _bytes_of_leaf(columns)))


def _least_model(columns: int) -> int:
    """The least memory for a tree that is of use."""
    node = _core.bytes_per_node(columns, _core.default_branching(columns, 0))
    return max(_LEAST, _FEWEST_LEAVES * 6 * (8 * (columns + 2) + 32), 2 * node * 10 // 3)


def _bytes_of_leaf(columns: int) -> int:
    """The bytes that a leaf takes while leaves are clustered: its features, and those of the algorithm; measured.

    Up to eight columns the algorithms search an index, with more they keep lists of neighbours.
    """
    own = 150 + 15 * columns if columns <= 8 else 600 + 29 * columns // 2
    return 8 * (columns + 2) + own


def memory_for_features(max_memory: int | str | None, paths: Iterable[str]) -> int | None:
    """The bytes for a tree that takes the features in files, which are read one after the other."""
    if max_memory is None:
        return None
    keep_no_free_memory()
    taken = PROGRAM_BYTES + 3 * max(map(_size, paths), default=0)
    left = as_bytes(max_memory) - taken
    if left < _LEAST:
        raise MemoryLimitError(
            f"{parameter('max_memory', max_memory)}: these features take at least {bytes_text(taken + _LEAST)}; allow "
            "more"
        )
    return left


def _size(path: str) -> int:
    return size_of(path) if place(path).is_file() else 0


def stay_within_to_label(max_memory: int | str | None, source: RowSource, model: AggregateModel) -> None:
    """Sets the limit of the source so that labelling its rows by a model stays within the limit of the process.

    Raises MemoryLimitError, with the bytes that are needed, if it cannot.
    """
    if max_memory is None:
        return
    keep_no_free_memory()
    columns, need = source.n_dimensions, source.reading_bytes()
    # The model, its nodes included, and the index of the leaves.
    model_bytes = model.tree_.memory_bytes + len(model.features_) * (_bytes_of_leaf(columns) + 16 * columns)
    taken = PROGRAM_BYTES + _COPIES * source.chunk_bytes + model_bytes
    left = as_bytes(max_memory) - taken
    if left < need.least:
        raise MemoryLimitError(
            f"{parameter('max_memory', max_memory)}: to label these rows takes at least "
            f"{bytes_text(taken + need.least)}; allow more"
        )
    source.allow(min(left, need.usual))

"""One pass over a source, with progress; collects a number for each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..progress import Report
from .source import Chunk, RowSource

ForEachChunk: TypeAlias = Callable[[Chunk, NDArray[np.int64]], None]  # of a chunk and the numbers of its rows


def reported(
    source: RowSource, chunks: Iterable[Chunk], report: Report | None
) -> Iterator[tuple[Chunk, Report | None]]:
    """Each chunk with the callback for the core, while this function reports the rows done.

    Only a source of a single chunk passes `report` on to the core; else it is called once after each chunk.
    """
    done, whole = 0, False
    for chunk in chunks:
        whole = len(chunk) == source.n_rows
        yield chunk, report if whole else None
        done += len(chunk)
        total = source.n_rows or _estimated_rows(source, chunk, done)
        if report is not None and total is not None and done != source.n_rows:
            report(done, max(total, done + 1))
    if report is not None and done and not whole:
        report(done, done)


def _estimated_rows(source: RowSource, chunk: Chunk, done: int) -> int | None:
    """The number of rows, estimated from the rows done and the fraction of the input that they take."""
    share = source.fraction(chunk.end)
    return round(done / share) if share else None


def gathered(
    source: RowSource,
    values_of: Callable[[Chunk, Report | None], NDArray[np.int64]],
    report: Report | None,
    also: ForEachChunk | None = None,
) -> NDArray[np.int64]:
    """The numbers that `values_of` returns for each chunk, as one array with a number for each row.

    `also` is called with each chunk and its numbers.
    """
    parts = _parts(source, values_of, report, also)
    if source.n_rows is None:
        return np.concatenate(list(parts))
    values, begin = np.empty(source.n_rows, dtype=np.int64), 0
    for part in parts:
        if len(part) == len(values):  # all at once
            return part.view(np.int64)  # np.int64, not its alias np.longlong, which numpy would print
        values[begin : begin + len(part)] = part
        begin += len(part)
    if begin != len(values):
        raise ValueError(
            f"there are {begin} rows where {len(values)} were before: the input was changed while it was read; try "
            "again when no program writes to it"
        )
    return values


def _parts(
    source: RowSource,
    values_of: Callable[[Chunk, Report | None], NDArray[np.int64]],
    report: Report | None,
    also: ForEachChunk | None,
) -> Iterator[NDArray[np.int64]]:
    for chunk, inner in reported(source, source.chunks(), report):
        values = values_of(chunk, inner)
        if also is not None:
            also(chunk, values)
        yield values

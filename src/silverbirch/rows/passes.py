"""One pass over a source: how far it is, and a number for each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..progress import Report
from .source import Chunk, RowSource


def reported(
    source: RowSource, chunks: Iterable[Chunk], report: Report | None
) -> Iterator[tuple[Chunk, Report | None]]:
    """Each chunk of the source with what the core should report to. A single chunk reports of itself; of many, each
    counts as a whole."""
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
    """How many rows there are, by the share of the input that the rows done take."""
    share = source.fraction(chunk.end)
    return round(done / share) if share else None


def gathered(
    source: RowSource, values_of: Callable[[Chunk, Report | None], NDArray[np.int64]], report: Report | None
) -> NDArray[np.int64]:
    """One number for each row."""
    parts = (values_of(chunk, inner) for chunk, inner in reported(source, source.chunks(), report))
    if source.n_rows is None:
        return np.concatenate(list(parts))
    values, begin = np.empty(source.n_rows, dtype=np.int64), 0
    for part in parts:
        if len(part) == len(values):  # all at once
            return part.view(np.int64)  # of two names for it, the one numpy leaves out when it prints an array
        values[begin : begin + len(part)] = part
        begin += len(part)
    if begin != len(values):
        raise ValueError(
            f"there are {begin} rows where {len(values)} were before: the input was changed while it was read; leave "
            "it alone and try again"
        )
    return values

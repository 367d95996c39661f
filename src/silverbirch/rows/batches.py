"""Rows with their weights, to go over in batches: an array is one batch, a table or a file many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..checks import Floats, Rows, as_any_rows, as_rows, as_weights
from ..progress import Report
from . import RowSource, is_stream, read_chunks
from .formats.frames import is_frame
from .source import usual_chunk_rows

_CHANGED = "the input was changed while it was read; leave it alone and try again"


class Batch(NamedTuple):
    """Rows that can be clustered, and where among all they are."""

    rows: Rows
    weight: Floats | None
    begin: int
    total: int | None  # how many rows there are; estimated where only the bytes of a file are known
    last: bool  # that this is the last one is known
    checked: bool  # the values; else whoever takes them has to

    @property
    def is_all(self) -> bool:
        return self.last and self.begin == 0


_Read: TypeAlias = Callable[[], Iterator[tuple[Rows, int | None]]]


class Batches:
    """What one call was given. Each iteration is a pass over all rows.

    read : begins a pass: rows, with the number of all rows where it is known or can be estimated
    n_rows : where it is known before
    repeatable : whether there can be a second pass
    checked : whether `read` has looked at the values
    """

    def __init__(
        self,
        read: _Read,
        n_rows: int | None,
        weight: Any,
        weight_name: str,
        *,
        repeatable: bool = True,
        checked: bool = True,
    ) -> None:
        self._read = read
        self.n_rows = n_rows
        self.repeatable = repeatable
        self._checked = checked
        self._weight = self._weights(weight, weight_name)

    def _weights(self, weight: Any, name: str) -> Floats | None:
        if weight is None:
            return None
        if self.n_rows is not None:
            return as_weights(weight, self.n_rows, name)
        if np.ndim(weight) == 0:  # stands for all, however many there are
            return as_weights(weight, 1, name)
        raise ValueError(
            f"{name} needs an input whose number of rows is known before it is read: pass a Parquet, Arrow or .npy "
            "file, or the rows chunk by chunk, each with its own weights"
        )

    def __iter__(self) -> Iterator[Batch]:
        begin = 0
        for rows, total in self._read():
            end = begin + len(rows)
            if self.n_rows is not None and end > self.n_rows:
                raise ValueError(f"there are more rows than the {self.n_rows} of before: {_CHANGED}")
            yield Batch(rows, self._weight_of(begin, end), begin, total, end == self.n_rows, self._checked)
            begin = end
        if self.n_rows is not None and begin < self.n_rows:
            raise ValueError(f"there are {begin} rows where {self.n_rows} were before: {_CHANGED}")

    def _weight_of(self, begin: int, end: int) -> Floats | None:
        if self._weight is None or self.n_rows is not None:
            return None if self._weight is None else self._weight[begin:end]
        return np.repeat(self._weight, end - begin)


def batches_of(
    X: Any, weight: Any = None, *, weight_name: str = "weight", dtype: Any = None, checked: bool = True
) -> Batches:
    """Whatever the user passes as rows: sources, data frames slice by slice, arrays and lists as they are. If not
    `checked`, whoever takes an array looks at its values."""
    if is_stream(X):
        return batches_of_source(read_chunks(X), weight, weight_name=weight_name, dtype=dtype)
    if is_frame(X):
        return batches_of_frame(X, weight, lambda part, first: as_rows(part, dtype=dtype, first_row=first), weight_name)
    rows = (as_rows if checked else as_any_rows)(X, dtype=dtype)
    return batches_of_rows(rows, weight, weight_name, checked=checked)


def batches_of_rows(rows: Rows, weight: Any, weight_name: str, *, checked: bool = True) -> Batches:
    return Batches(lambda: iter([(rows, len(rows))]), len(rows), weight, weight_name, checked=checked)


def batches_of_source(source: RowSource, weight: Any, *, weight_name: str, dtype: Any = None) -> Batches:
    def read() -> Iterator[tuple[Rows, int | None]]:
        done = 0
        for chunk in source.chunks():
            if dtype is not None and chunk.rows.dtype != dtype:
                with np.errstate(over="ignore"):  # what overflows float32 becomes infinite and is refused
                    chunk = replace(chunk, rows=chunk.rows.astype(dtype))
            source.check(chunk)
            done += len(chunk.rows)
            share = source.fraction(chunk.end) if source.n_rows is None else None
            yield chunk.rows, round(done / share) if share else source.n_rows

    return Batches(read, source.n_rows, weight, weight_name, repeatable=source.repeatable)


def batches_of_frame(frame: Any, weight: Any, convert: Callable[[Any, int], Rows], weight_name: str) -> Batches:
    """Slices of a data frame, converted when their turn comes; `convert` takes one and the number of its first row."""
    count, size = len(frame), usual_chunk_rows(frame.shape[1])

    def read() -> Iterator[tuple[Rows, int | None]]:
        for start in range(0, max(1, count), size):  # one without rows is refused by `convert`
            part = slice(start, start + size)
            yield convert(frame.iloc[part] if hasattr(frame, "iloc") else frame[part], start), count

    return Batches(read, count, weight, weight_name)


def reported(batches: Iterable[Batch], report: Report | None) -> Iterator[tuple[Batch, Report | None]]:
    """Each batch with what the core should report to. A single batch reports of itself; of many, each as a whole."""
    batch = None
    for batch in batches:
        yield batch, report if batch.is_all else None
        if report is not None and batch.total is not None and not batch.is_all and not batch.last:
            report(batch.begin + len(batch.rows), max(batch.total, batch.begin + len(batch.rows) + 1))
    if report is not None and batch is not None and not batch.is_all:
        count = batch.begin + len(batch.rows)
        report(count, count)


def gathered(
    batches: Batches, values_of: Callable[[Rows, Report | None], NDArray[np.int64]], report: Report | None
) -> NDArray[np.int64]:
    """One number for each row."""
    parts = (values_of(batch.rows, inner) for batch, inner in reported(batches, report))
    if batches.n_rows is None:
        return np.concatenate(list(parts))
    values, begin = np.empty(batches.n_rows, dtype=np.int64), 0
    for part in parts:
        if len(part) == len(values):  # all at once
            return part.view(np.int64)  # of two names for it, the one numpy leaves out when it prints an array
        values[begin : begin + len(part)] = part
        begin += len(part)
    return values

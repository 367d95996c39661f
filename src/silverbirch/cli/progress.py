"""Progress, as a line on stderr that is gone when the work is done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column

from .. import machine
from ..checks import bytes_text
from ..model import AggregateModel
from ..progress import Report, bars_by
from ..rows import Position
from ..tree import CFTree


class Divided(Protocol):
    """An input that tells which fraction of it lies before a position."""

    def fraction(self, position: Position) -> float | None: ...


class PassProgress:
    """Shows rows, rows per second, leaves, rebuilds and memory. The source knows the fraction that is done."""

    def __init__(self, progress: Progress, source: Divided) -> None:
        self._progress = progress
        self._source = source
        self._name = ""
        self._task: TaskID | None = None
        # Rows before the first chunk of a resumed pass took no time here.
        self._first_rows, self._begun = 0, time.monotonic()

    def update(self, name: str, rows: int, position: Position, tree: CFTree | None = None) -> None:
        if self._task is None or name != self._name:
            self._task = self._begin(name, rows)
        speed = (rows - self._first_rows) / max(time.monotonic() - self._begun, 1e-3)
        parts = [f"{rows:,} rows", f"{_short(speed)} rows/s"]
        if tree is not None:
            parts += [f"{tree.n_leaves:,} leaves", f"{tree.n_rebuilds} rebuilds", f"threshold {tree.threshold:.3g}"]
        resident = machine.memory_now()
        if resident is not None:
            parts.append(bytes_text(resident))
        fraction = self._source.fraction(position)
        total = None if fraction is None else 1.0
        self._progress.update(self._task, total=total, completed=fraction or 0.0, detail=" · ".join(parts))

    def _begin(self, name: str, rows: int) -> TaskID:
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._name, self._first_rows, self._begun = name, rows, time.monotonic()
        return self._progress.add_task(name, total=None, detail="")


def _short(number: float) -> str:
    return f"{number / 1e6:.2f} M" if number >= 1e6 else f"{number:,.0f}"


@contextmanager
def model_progress(shown: bool, model: AggregateModel) -> Iterator[None]:
    """Within the block, shows a bar while the model refines its features or clusters them."""
    model.progress = shown
    try:
        with bars_by(_bar):
            yield
    finally:
        model.progress = False


@contextmanager
def _bar(task: str) -> Iterator[Report]:
    """A bar that leaves no line behind."""
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        number = progress.add_task(task, total=1.0)
        yield lambda done, total: progress.update(number, completed=done / total if total else 1.0)


@contextmanager
def pass_progress(shown: bool, source: Divided) -> Iterator[PassProgress]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeRemainingColumn(compact=True),
        # This column takes the width that is left, so that a narrow terminal cuts off details and not the bar.
        TextColumn("{task.fields[detail]}", table_column=Column(ratio=1, no_wrap=True)),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not shown, transient=True, expand=True) as progress:
        yield PassProgress(progress, source)

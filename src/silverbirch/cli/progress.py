"""A line on stderr that says how far a pass over the rows is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

from .. import memory
from ..checks import bytes_text
from ..readers import Position, RowSource
from ..tree import CFTree


class PassProgress:
    """Rows, how fast they come, and what the tree makes of them. The source says how much is left, by rows or bytes."""

    def __init__(self, progress: Progress, source: RowSource) -> None:
        self._progress = progress
        self._source = source
        self._name = ""
        self._task: TaskID | None = None
        self._first_rows = 0  # where a resumed pass was taken up: those rows took no time

    def update(self, name: str, rows: int, position: Position, tree: CFTree | None = None) -> None:
        if self._task is None or name != self._name:
            self._begin(name, rows)
        assert self._task is not None
        seconds = self._progress.tasks[self._task].elapsed or 0.0
        parts = [f"{rows:,} rows"]
        if seconds > 0 and rows > self._first_rows:
            parts.append(f"{(rows - self._first_rows) / seconds:,.3g} rows/s")
        if tree is not None:
            parts += [f"{tree.n_leaves:,} leaves", f"{tree.n_rebuilds} rebuilds", f"threshold {tree.threshold:.3g}"]
        resident = memory.now()
        if resident is not None:
            parts.append(bytes_text(resident))
        fraction = self._source.fraction(position)
        total = None if fraction is None else 1.0
        self._progress.update(self._task, total=total, completed=fraction or 0.0, detail=" · ".join(parts))

    def _begin(self, name: str, rows: int) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._name, self._first_rows = name, rows
        self._task = self._progress.add_task(name, total=None, detail="")


@contextmanager
def pass_progress(shown: bool, source: RowSource) -> Iterator[PassProgress]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True) as progress:
        yield PassProgress(progress, source)

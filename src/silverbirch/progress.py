"""Progress of long loops: one bar for each phase, which ends at 100 % and leaves a whole line.

A terminal shows a bar of tqdm if it is installed, else a line of text. A notebook shows one line of its own, without
widgets, so that saved notebooks keep it. A log file gets the last line, and one every half minute until then.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from .machine import in_notebook

Report = Callable[[int, int], None]


Bar = Callable[[str], AbstractContextManager[Report]]
_bar_by: Bar | None = None


@contextmanager
def bars_by(bar: Bar) -> Iterator[None]:
    """Within the block, `bar(task)` makes the bars: a program that shows bars of its own has one kind of them."""
    global _bar_by
    before, _bar_by = _bar_by, bar
    try:
        yield
    finally:
        _bar_by = before


def reporter(progress: Any, task: str) -> AbstractContextManager[Report | None]:
    """The callback for a `progress` argument: True shows a bar until the block ends, a function is called itself."""
    if callable(progress):
        return nullcontext(progress)
    if progress is None or progress in (True, False):
        return (_bar_by or _bar_for_output())(task) if progress else nullcontext()
    raise TypeError(f"progress={progress!r}: must be True, False or a function of (done, total)")


class _Bar(AbstractContextManager[Report]):
    """A line of text on a terminal, which is written again and again."""

    interval = 0.1  # seconds

    def __init__(self, task: str) -> None:
        self.task = task
        self.share = 0.0
        self._begun = self._drawn = time.monotonic()

    def __enter__(self) -> Report:
        return self.report

    def report(self, done: int, total: int) -> None:
        self.share = done / total if total else 1.0
        now = time.monotonic()
        if now - self._drawn >= self.interval:
            self._drawn = now
            self.draw()

    def __exit__(self, failure: type[BaseException] | None, *details: object) -> None:
        if failure is None:
            self.share = 1.0
            self.draw()
        if failure is None or self._drawn > self._begun:  # a failure before the first drawing shows nothing
            self.close()

    def text(self) -> str:
        return f"{self.task}: {self.share:4.0%}, {time.monotonic() - self._begun:.1f} s"

    def draw(self) -> None:
        _write("\r" + self.text())

    def close(self) -> None:
        _write("\n")


class _LogLines(_Bar):
    interval = 30.0

    def draw(self) -> None:
        _write(self.text() + "\n")

    def close(self) -> None:
        pass


class _TqdmBar(_Bar):
    _bar: Any = None

    def draw(self) -> None:
        from tqdm import tqdm

        if self._bar is None:
            form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
            self._bar = tqdm(desc=self.task, total=1.0, bar_format=form, file=sys.stderr, dynamic_ncols=True)
            self._bar.start_t -= time.monotonic() - self._begun
        self._bar.n = self.share
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _NotebookLine(_Bar):
    _handle: Any = None

    def draw(self) -> None:
        from IPython.display import display

        meter = f'<progress value="{self.share:.4f}"></progress> {self.text()}'
        line = {"text/plain": self.text(), "text/html": meter}
        if self._handle is None:
            self._handle = display(line, raw=True, display_id=True)
        else:
            self._handle.update(line, raw=True)

    def close(self) -> None:
        pass


def _bar_for_output() -> type[_Bar]:
    if in_notebook():
        return _NotebookLine
    if not sys.stderr.isatty():
        return _LogLines
    try:
        import tqdm  # noqa: F401
    except ImportError:
        return _Bar
    return _TqdmBar


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()

"""Progress of long loops, as text on stderr."""

import sys
import time
from collections.abc import Callable
from typing import Any

Report = Callable[[int, int], None]


def as_report(progress: Any, task: str) -> Report | None:
    """The callback for a `progress` argument: True shows a line on stderr, a function is called itself."""
    if callable(progress):
        report: Report = progress
        return report
    if progress is None or isinstance(progress, bool):
        return reporter(bool(progress), task)
    raise TypeError(f"progress={progress!r}: must be True, False or a function of (done, total)")


def reporter(enabled: bool, task: str) -> Report | None:
    """A callback for the core that updates one line on stderr; None if progress is not enabled."""
    if not enabled:
        return None
    start = time.monotonic()

    def report(done: int, total: int) -> None:
        share = done / total if total else 1.0
        end = "\n" if done >= total else ""
        sys.stderr.write(f"\r{task}: {share:4.0%}, {time.monotonic() - start:.1f} s{end}")
        sys.stderr.flush()

    return report

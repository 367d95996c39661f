"""Progress of long loops, as text on stderr."""

import sys
import time
from collections.abc import Callable

Report = Callable[[int, int], None]


def reporter(enabled: bool, task: str) -> Report | None:
    """A callback for the core that keeps one line on stderr up to date; None where nobody wants to see it."""
    if not enabled:
        return None
    start = time.monotonic()

    def report(done: int, total: int) -> None:
        share = done / total if total else 1.0
        end = "\n" if done >= total else ""
        sys.stderr.write(f"\r{task}: {share:4.0%}, {time.monotonic() - start:.1f} s{end}")
        sys.stderr.flush()

    return report

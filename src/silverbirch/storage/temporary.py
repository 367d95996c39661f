"""Files that must not outlive the process: partial files and locks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

_paths: set[Path] = set()


@contextlib.contextmanager
def temporary(path: Path) -> Iterator[None]:
    """Removes `path` when the block ends, if it is still there."""
    _paths.add(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        _paths.discard(path)


def remove_all() -> None:
    """Removes all temporary files, before a signal ends the process."""
    for path in list(_paths):
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

"""Locks on files. The system releases a lock when its process ends, even by SIGKILL, so that no lock is ever stale."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from .temporary import temporary

try:
    import fcntl
except ImportError:  # not a POSIX system: there are no locks, and nothing is refused
    fcntl = None  # type: ignore[assignment]

_WITHOUT_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


@contextlib.contextmanager
def one_run_only(path: Path) -> Iterator[None]:
    """Refuses a second run that uses `path` while the block runs.

    The lock is on a file beside `path`, because `path` itself is replaced again and again.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(target.name + ".lock")
    try:
        with locked(beside), temporary(beside):  # removed while it is locked, so that nobody else has the same file
            yield
    except LockedError:
        raise BlockingIOError(f"another run uses {path}: wait until it ends, or give this run its own file") from None


class LockedError(Exception):
    """Another process holds the lock."""


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """The file at `path`, made if necessary and locked while the block runs; raises LockedError at once."""
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            if not _try_lock(handle):
                raise LockedError
            if _is_at(handle, path):  # its last owner may have removed it between the two calls
                yield handle
                return
        finally:
            os.close(handle)


def is_locked(path: Path) -> bool:
    """Whether a file is locked, by another process or by this one."""
    handle = os.open(path, os.O_RDWR)
    try:
        return not _try_lock(handle)
    finally:
        os.close(handle)


def _try_lock(handle: int) -> bool:
    """Locks an open file; returns False if it is locked already, and True on a file system without locks."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _WITHOUT_LOCKS:
            raise
    return True


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False

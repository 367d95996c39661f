"""Writes a complete file or none.

check_free        -- raises an error if a file cannot be written; called for all outputs before any work
check_free_below  -- the same for many files below a remote folder
check_permission  -- raises an error if no file may be made in a folder
new_file          -- a file that appears under its name when it is complete
remove_leftovers  -- removes the partial files of killed processes
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ..remote import Place, RemotePath, place
from ..rows.input_file import TemporaryCopy
from ..wording import parameter
from .locks import is_locked, locked
from .temporary import temporary

AnyPath = str | os.PathLike[str]


def check_free(path: AnyPath, force: bool = False) -> None:
    """Raises an OSError if `path` cannot be written, or if it exists and `force` is not set."""
    where = place(path)
    if isinstance(where, RemotePath):
        _check_free_remote(where, force)
        return
    target = Path(where)
    folder = Path(os.path.realpath(target)).parent  # follows links
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {target}: there is no folder {folder}; make it first")
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {target}: it is a folder; give the name of a file")
    if target.exists() and not target.is_file():
        raise FileExistsError(f"cannot write {target}: it is a device or a pipe; give the name of a file")
    check_permission(folder, target)
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists: give another name, or overwrite it by {parameter('force', True)}")


def check_permission(folder: AnyPath, target: AnyPath) -> None:
    """Raises PermissionError if `target` may not be made in `folder`."""
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write {target}: the folder {folder} may not be written to")


def _check_free_remote(target: RemotePath, force: bool) -> None:
    _check_writable(target)
    found = target.info()
    if found is None:
        target.check_bucket()
    else:
        _check_replaced(target, found.is_file, force)


def _check_writable(target: RemotePath) -> None:
    if not target.can_be_written:
        raise PermissionError(f"cannot write {target}: {target.scheme}:// is only read; name a file or an object store")


def _check_replaced(target: RemotePath, is_file: bool, force: bool) -> None:
    if not is_file:
        raise IsADirectoryError(f"cannot write {target}: it is a folder; give the name of a file")
    if not force:
        raise FileExistsError(f"{target} exists: give another name, or overwrite it by {parameter('force', True)}")


def check_free_below(folder: RemotePath, paths: Iterable[Place], force: bool) -> None:
    """`check_free` of paths below a folder, by its listing: a request tells of a thousand files."""
    _check_writable(folder)
    found = folder.info()
    if found is None:
        folder.check_bucket()
    elif not found.is_file:
        wanted = set(paths)
        for path, is_file in folder.below(recursive=True):
            if path in wanted:
                _check_replaced(path, is_file, force)


@contextlib.contextmanager
def new_file(path: AnyPath, *, force: bool = False) -> Iterator[BinaryIO]:
    """A file to write bytes to. It has another name until it is complete, so a crash leaves the old file or the new.

    A remote file is written to a temporary file on this machine, and uploaded when it is complete.
    """
    check_free(path, force)
    local = place(path)
    if isinstance(local, RemotePath):
        with _new_remote_file(local, force) as file:
            yield file
        return
    target = Path(os.path.realpath(local))  # replaces the target of a link, not the link
    part = target.with_name(f"{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with temporary(part), locked(part) as handle:
            with part.open("wb") as file:
                yield file
            os.fsync(handle)
            check_free(path, force)  # another process may have written it meanwhile
            part.replace(target)
            _sync_folder(target.parent)
    except OSError as error:
        if error.filename is None and error.errno is not None:  # the error of a full disk does not name the file
            raise OSError(error.errno, f"cannot write {path}: {error.strerror}") from error
        raise


@contextlib.contextmanager
def _new_remote_file(target: RemotePath, force: bool) -> Iterator[BinaryIO]:
    copy = TemporaryCopy()
    try:
        with copy.path.open("wb") as file:
            yield file
    except OSError as error:
        if error.filename is None and error.errno is not None:
            folder = tempfile.gettempdir()
            raise OSError(
                error.errno, f"{target} is written to {folder} first, but {error.strerror}: let TMPDIR name another"
            ) from error
        raise
    check_free(target, force)  # another process may have written it meanwhile
    target.upload(copy.path)


def remove_leftovers(paths: Iterable[AnyPath]) -> None:
    """Removes the partial files of killed processes beside the paths, and leaves those that are being written now.

    Those of remote paths have no name, and vanish with the process.
    """
    names: dict[Path, set[str]] = {}
    for path in paths:
        where = place(path)
        if isinstance(where, RemotePath):
            continue
        target = Path(os.path.realpath(where))
        names.setdefault(target.parent, set()).add(target.name)
    for folder, ours in names.items():
        for part in folder.glob("*.part"):
            found = re.fullmatch(r"(.*)\.\d+-[0-9a-f]+\.part", part.name)
            if found and found[1] in ours:
                with contextlib.suppress(OSError):  # removed meanwhile, or not ours to open
                    if not is_locked(part):
                        part.unlink()


def _sync_folder(folder: Path) -> None:
    """Makes the new name durable too."""
    with contextlib.suppress(OSError):  # not every system can open a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

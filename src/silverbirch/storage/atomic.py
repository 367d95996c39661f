"""Whole files or none.

check_free        -- may this be written? Asked for all outputs before any work is done
new_file          -- a file that appears under its name when it is whole
remove_leftovers  -- what killed processes left behind
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

AnyPath = str | os.PathLike[str]


def check_free(path: AnyPath, force: bool = False) -> None:
    """Raises an OSError where `path` cannot be written, or is there already and `force` is not set."""
    target = Path(path)
    folder = Path(os.path.realpath(path)).parent  # a link is followed
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {target}: there is no folder {folder}")
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {target}: it is a folder; give the name of a file")
    if target.exists() and not target.is_file():
        raise FileExistsError(f"cannot write {target}: it is a device or a pipe; give the name of a file")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write {target}: the folder {folder} may not be written to")
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists: give another name, or overwrite it by force=True (--force)")


@contextlib.contextmanager
def new_file(path: AnyPath, *, force: bool = False) -> Iterator[BinaryIO]:
    """A file to write bytes to. It is written beside its place and renamed, so that a crash leaves what was there
    before or the whole new file."""
    check_free(path, force)
    target = Path(os.path.realpath(path))  # a link stays one
    part = target.with_name(f"{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        with part.open("wb") as file:
            yield file
        with part.open("rb+") as file:  # opened again, for some writers close the file they are given
            os.fsync(file.fileno())
        check_free(path, force)  # somebody else may have been there meanwhile
        part.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        if error.filename is None and error.errno is not None:  # a full disk does not say which file it was
            raise OSError(error.errno, f"cannot write {path}: {error.strerror}") from error
        raise
    finally:
        part.unlink(missing_ok=True)


def remove_leftovers(path: AnyPath) -> None:
    """Removes what killed processes left beside `path`; for who knows that no other process is writing it now."""
    target = Path(os.path.realpath(path))
    ours = re.compile(re.escape(target.name) + r"\.\d+-\d+\.part")
    for part in target.parent.iterdir():
        if ours.fullmatch(part.name):
            part.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """The new name has to last as well."""
    with contextlib.suppress(OSError):  # not every system opens folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

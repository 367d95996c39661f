"""Finds the files of a path, a folder or a pattern, and the table class that reads each of them."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ..checks import refused_texts
from .formats import FILE_FORMATS
from .partitions import with_partitions
from .table import Table

_READERS: dict[str, Callable[[Path], Table]] = {suffix: table for table in FILE_FORMATS for suffix in table.suffixes}


def is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def are_paths(source: Any) -> bool:
    return isinstance(source, list | tuple) and len(source) > 0 and all(map(is_path, source))


def tables_at(paths: Iterable[str | os.PathLike[str]]) -> list[Table]:
    """One table for each file, in order."""
    given = list(paths)
    try:
        files = [path for one in given for path in _files_of(one)]
    except FileNotFoundError:
        texts = [str(one) for one in given if _reads_like_text(one)]
        if texts and not any(map(_matches, given)):
            raise refused_texts("X", texts[0]) from None
        raise
    return with_partitions([_reader(path)(path) for path in files])


def files_with(suffix: str, paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The files that paths and patterns name, and those in and below folders whose names end so, in order."""
    return [file for one in paths for file in _files_of(one, (suffix,))]


def is_folder_with(suffix: str, path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder whose files end so, with no files of rows."""
    folder = Path(path)
    return folder.is_dir() and bool(_found_below(folder, (suffix,))) and not _found_below(folder, tuple(_READERS))


def _reads_like_text(given: str | os.PathLike[str]) -> bool:
    """Whether a string has several words, does not begin as a path does and does not end as a file to read does."""
    return (
        isinstance(given, str)
        and len(given.split()) > 1
        and not given.startswith(("/", "./", "../", "~", os.sep))
        and _suffix(Path(given)) is None
    )


def _matches(given: str | os.PathLike[str]) -> list[Path]:
    """The files and folders that a path or a pattern names."""
    try:
        if Path(given).exists():
            return [Path(given)]
        name = os.fspath(given)
        return sorted(map(Path, glob.glob(name, recursive=True))) if glob.has_magic(name) else []
    except OSError:  # too long for a path
        return []


def _files_of(given: str | os.PathLike[str], suffixes: Sequence[str] = tuple(_READERS)) -> list[Path]:
    if not os.fspath(given):  # Path("") is the current folder
        raise FileNotFoundError("the name of a file is empty: name a file or a folder")
    matches = _matches(given)
    if not matches:
        raise FileNotFoundError(f"{os.fspath(given)}: there is no such file or folder")
    return [file for match in matches for file in (_files_below(match, suffixes) if match.is_dir() else [match])]


def _files_below(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    files = _found_below(folder, suffixes)
    if not files:
        known = ", ".join(suffixes)
        raise FileNotFoundError(f"{folder}: there are no files in this folder that can be read ({known})")
    return files


def _found_below(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    """The files in and below a folder, sorted; names that begin with . or _ belong to other programs."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.name.lower().endswith(tuple(suffixes))
        and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def _suffix(path: Path) -> str | None:
    name = path.name.lower()
    return next((suffix for suffix in _READERS if name.endswith(suffix)), None)


def _reader(path: Path) -> Callable[[Path], Table]:
    suffix = _suffix(path)
    if suffix is None:
        raise ValueError(f"{path} has a suffix that is not known: the name must end in {_known()}")
    return _READERS[suffix]


def _known() -> str:
    return ", ".join(_READERS)

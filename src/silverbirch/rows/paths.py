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


def _files_of(given: str | os.PathLike[str]) -> list[Path]:
    if not os.fspath(given):  # Path("") is the current folder
        raise FileNotFoundError("the name of a file is empty: name a file or a folder")
    matches = _matches(given)
    if not matches:
        raise FileNotFoundError(f"{os.fspath(given)}: there is no such file or folder")
    return [file for match in matches for file in (_files_below(match) if match.is_dir() else [match])]


def _files_below(folder: Path) -> list[Path]:
    """The readable files in and below a folder, sorted; names that begin with . or _ belong to other programs."""
    files = [
        path
        for path in folder.rglob("*")
        if _suffix(path) is not None
        and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        and path.is_file()
    ]
    if not files:
        raise FileNotFoundError(f"{folder}: there are no files in this folder that can be read ({_known()})")
    return sorted(files)


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


def place_below(path: Path, given: Sequence[str | os.PathLike[str]]) -> Path:
    """The path of a file, without its suffix, below the given folder or the fixed part of the pattern that names it.

    A file that is given itself has its name only.
    """
    roots = [path.parent] if any(path == Path(one) for one in given) else []
    roots += [Path(one) for one in given if Path(one).is_dir()]
    roots += [_fixed_part(one) for one in given]
    below = path.relative_to(next((root for root in roots if path.is_relative_to(root)), path.parent))
    return below.with_name(below.name[: len(below.name) - len(_suffix(path) or "")])


def _fixed_part(pattern: str | os.PathLike[str]) -> Path:
    """The folder before the first part with a wildcard."""
    parts = Path(pattern).parts
    count = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return Path(*parts[:count])

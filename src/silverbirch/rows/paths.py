"""Finds the files of a path, a folder or a pattern, and the table class that reads each of them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from ..checks import refused_texts
from ..remote import Place, RemotePath, is_file_address, is_remote, of_each, place
from ..wording import parameter
from .formats import FILE_FORMATS
from .formats.text import COMPRESSIONS
from .input_file import STANDARD_INPUT, InputFile, RemoteFile, StreamFile, is_stream
from .parsing import DEFAULT, Parsing
from .partitions import with_partitions
from .table import Table

_READERS = {suffix: table for table in FILE_FORMATS for suffix in table.suffixes}
# What pandas reads, as an expression; the suffixes of other programs.
_PANDAS = {
    "read_excel": (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"),
    "read_json": (".json",),
    "read_pickle": (".pkl", ".pickle"),
    "read_hdf": (".h5", ".hdf5", ".hdf"),
    "read_sas": (".sas7bdat", ".xpt"),
    "read_stata": (".dta",),
    "read_spss": (".sav",),
    "read_orc": (".orc",),
    "read_html": (".html", ".htm"),
}


class _Found(NamedTuple):
    """A file or stream to be read as if its name ended in `suffix`."""

    path: str | os.PathLike[str]
    suffix: str
    streams: bool

    def opened(self) -> InputFile:
        if self.streams:
            return StreamFile(os.fspath(self.path), self.suffix)
        path = place(self.path)
        return RemoteFile(path, self.suffix) if isinstance(path, RemotePath) else InputFile(Path(path), self.suffix)

    def table(self, parsing: Parsing) -> Table:
        return _READERS[self.suffix](self.opened(), parsing)


def check_format(name: str) -> None:
    """Raises ValueError if no file has this format: its name is the suffix without the dot."""
    if f".{name}" not in _READERS:
        raise ValueError(f"{parameter('format', name)} is not known: it must be one of {_known('')}")


def is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def are_paths(source: Any) -> bool:
    return isinstance(source, list | tuple) and len(source) > 0 and all(map(is_path, source))


def tables_at(paths: Iterable[str | os.PathLike[str]], parsing: Parsing = DEFAULT) -> list[Table]:
    """One table for each file, in order. All options are checked before a stream is read."""
    given = list(paths)
    if parsing.format is not None:
        check_format(parsing.format)
    if sum(os.fspath(one) == STANDARD_INPUT for one in given) > 1:
        raise ValueError("- is given twice, but the standard input can be read only once: name it once")
    try:
        files = [path for one in given for path in _files_of(one, parsing.format)]
    except FileNotFoundError:
        texts = [str(one) for one in given if _reads_like_text(one)]
        if texts and not any(map(_matches, given)):
            raise refused_texts("X", texts[0]) from None
        raise
    readers = {_READERS[file.suffix] for file in files}
    parsing.check_used({"format", *(name for reader in readers for name in reader.takes)}, _and_others(files))
    remote = any(is_remote(file.path) for file in files)
    return with_partitions(of_each(lambda file: file.table(parsing), files, remote=remote))


def _and_others(files: list[_Found]) -> str:
    return os.fspath(files[0].path) + (f" and {len(files) - 1} more files" if len(files) > 1 else "")


def files_with(suffix: str, paths: Iterable[str | os.PathLike[str]]) -> list[Place]:
    """The files that paths and patterns name, and those in and below folders whose names end so, in order."""
    files: list[Place] = []
    for one in paths:
        for match in _named(one):
            files += _below(match, suffix) if match.is_dir() else [match]
            if match.is_dir() and not _below(match, suffix):
                raise FileNotFoundError(f"{match}: there are no files in this folder whose names end in {suffix}")
    return files


def is_folder_with(suffix: str, path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder whose files end so, with no files of rows."""
    folder = place(path)
    names = [path.name.lower() for path in _visible(folder)] if folder.is_dir() else []
    return any(name.endswith(suffix) for name in names) and not any(name.endswith((*_READERS,)) for name in names)


def _below(folder: Place, *suffixes: str) -> list[Place]:
    return [path for path in _visible(folder) if path.name.lower().endswith(suffixes)]


def _visible(folder: Place) -> list[Place]:
    """The files in and below a folder, sorted; names that begin with . or _ belong to other programs."""
    remote = isinstance(folder, RemotePath)
    below: Iterable[Place] = folder.files_below() if isinstance(folder, RemotePath) else Path(folder).rglob("*")
    return sorted(
        path
        for path in below
        if not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        and (remote or path.is_file())
    )


def _reads_like_text(given: str | os.PathLike[str]) -> bool:
    """Whether a string has several words, does not begin as a path does and does not end as a file to read does."""
    return (
        isinstance(given, str)
        and len(given.split()) > 1
        and not given.startswith(("/", "./", "../", "~", os.sep))
        and not (is_remote(given) or is_file_address(given))
        and _suffix(given) is None
    )


def _matches(given: str | os.PathLike[str]) -> Sequence[Place]:
    """The files and folders that a path or a pattern names."""
    where = place(given)
    if isinstance(where, RemotePath):
        return where.matches()
    try:
        if where.exists():
            return [where]
        name = os.fspath(where if is_file_address(given) else given)
        return sorted(map(Path, glob.glob(name, recursive=True))) if glob.has_magic(name) else []
    except OSError:  # too long for a path
        return []


def _named(given: str | os.PathLike[str]) -> Sequence[Place]:
    """The files and folders that a path or a pattern names: at least one, else raises FileNotFoundError."""
    if not os.fspath(given):  # Path("") is the current folder
        raise FileNotFoundError("the name of a file is empty: name a file or a folder")
    matches = _matches(given)
    if not matches:
        remote = place(given)
        raise remote.missing() if isinstance(remote, RemotePath) else _missing(os.fspath(given))
    return matches


def _missing(given: str) -> FileNotFoundError:
    lost = re.match(r"([a-z0-9]{2,}):/(?!/)", given)
    remedy = f": pass a text, because pathlib makes {lost[0]} of {lost[1]}://" if lost else ""
    return FileNotFoundError(f"{given}: there is no such file or folder{remedy}")


def _files_of(given: str | os.PathLike[str], format: str | None) -> list[_Found]:
    if os.fspath(given) == STANDARD_INPUT:
        return [_Found(given, _suffix_to_read(given, format), True)]
    return [
        found
        for match in _named(given)
        for found in (
            _files_below(match, format)
            if match.is_dir()
            else [_Found(match, _suffix_to_read(match, format), is_stream(match))]
        )
    ]


def _files_below(folder: Place, format: str | None) -> list[_Found]:
    """The readable files in and below a folder."""
    known = [*_READERS] if format is None else [f".{format}"]
    found = [(path, _suffix(path, known)) for path in _visible(folder)]
    files = [_Found(path, suffix, False) for path, suffix in found if suffix is not None]
    if not files:
        raise FileNotFoundError(
            f"{folder}: there are no files in this folder that can be read ({_known() if format is None else known[0]})"
        )
    return files


def _suffix(path: str | os.PathLike[str], known: Iterable[str] = _READERS) -> str | None:
    name = place(path).name.lower()
    return next((suffix for suffix in known if name.endswith(suffix)), None)


def _suffix_to_read(path: str | os.PathLike[str], format: str | None) -> str:
    suffix = _suffix(path) if format is None else f".{format}"
    if suffix is None:
        raise ValueError(_how_to_read(os.fspath(path)))
    return suffix


def _how_to_read(path: str) -> str:
    """What to do about a file whose suffix is not known."""
    own = place(path).suffix.lower()
    reader = next((reader for reader, suffixes in _PANDAS.items() if own in suffixes), None)
    if reader is not None:
        new = place(path).stem + ".parquet"
        return (
            f"{path} has to be converted first: {own} files are not read. With pandas: "
            f"pandas.{reader}({path!r}).to_parquet({new!r})"
        )
    if own in (".zip", ".tar", ".tgz", ".7z", ".rar"):
        return f"{path} is an archive of files: unpack it first"
    if path == STANDARD_INPUT:
        return f"- is the standard input, which has no name: say its format, for example by {_as_csv()}"
    return (
        f"{path} has a suffix that is not known: the name must end in {_known()}, or say what it is, for example by "
        f"{_as_csv()}"
    )


def _as_csv() -> str:
    return parameter("read_chunks().format", "csv")


def _known(dot: str = ".") -> str:
    """The suffixes without those of compressions."""
    plain = dict.fromkeys(dot + suffix.split(".")[1] for suffix in _READERS)
    return f"{', '.join(plain)}; text files also {', '.join(COMPRESSIONS)}"


def places_below(paths: Iterable[Place], given: Sequence[str | os.PathLike[str]]) -> Iterator[PurePath]:
    """The path of each file, without its suffix, below the given folder or the fixed part of the pattern it is from.

    A file that is given itself has its name only.
    """
    paths = list(paths)
    files = {place(one) for one in given}
    folders = {path if path.is_dir() else _fixed_part(path) for path in files.difference(paths)}
    for path in paths:
        root = path.parent if path in files else next((one for one in path.parents if one in folders), path.parent)
        below = path.relative_to(root)
        yield below.with_name(below.name[: len(below.name) - len(_suffix(path) or "")])


def _fixed_part(pattern: Place) -> Place:
    """The folder before the first part with a wildcard."""
    return next(path for path in (pattern, *pattern.parents) if not _has_wildcards(path))


def _has_wildcards(path: Place) -> bool:
    return path.has_wildcards if isinstance(path, RemotePath) else glob.has_magic(os.fspath(path))

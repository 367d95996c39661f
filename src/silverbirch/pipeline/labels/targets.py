"""Where labels go: to one file, to a folder with a file for each input file, or to standard output."""

from __future__ import annotations

import contextlib
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, cast

import numpy as np

from ...remote import Place, RemotePath, is_remote, place
from ...rows import RowSource
from ...rows.paths import places_below
from ...storage.atomic import AnyPath, check_free, check_free_below, check_permission, new_file
from .formats import SUFFIXES, LabelFormat, Labels, Names, check_types, format_of, suffix_of

_STANDARD_OUTPUT = "-"
_TEXT = (".csv", ".tsv")
_SINGLE = "a single file for the labels, which --dask and --spark do not write"


class LabelWriter(Protocol):
    def write(self, labels: Labels, kept: Any = None, file: int = 0) -> None:
        """Writes the labels of the next rows.

        kept : a record batch of pyarrow with the columns that the target was opened with; None without columns
        file : the number of the input file that the rows are from
        """


class LabelTarget(ABC):
    """A place for labels. Its methods take the names of the input files, in the order in which they are read."""

    name: str  # in messages and records
    suffix: str  # of its format

    @abstractmethod
    def paths(self, inputs: Sequence[str]) -> list[Place]:
        """The files to write."""

    def check_columns(self, names: Names) -> None:
        """Raises ValueError if the format cannot hold columns of these names before the labels."""
        format_of(self.suffix, names)

    @abstractmethod
    def check(self, inputs: Sequence[str], *, force: bool) -> None:
        """Raises an error if the files cannot be written, or exist without `force`."""

    def check_kept(self, source: RowSource, inputs: Sequence[str]) -> None:
        """Raises ValueError if the format cannot hold the kept columns of a source, by their names and types."""
        self.check_columns(source.kept)
        if source.kept and source.repeatable:
            check_types(self.suffix, next(source.chunks(with_ids=True)).kept)

    @abstractmethod
    def opened(self, inputs: Sequence[str], names: Names) -> AbstractContextManager[LabelWriter]:
        """The writer. Each file appears under its name when it is complete; an existing file is replaced."""


def label_target(given: str, read: Sequence[str], labels_format: str | None = None) -> LabelTarget:
    """The place that --labels names, for rows of the files, folders and patterns `read`."""
    suffix = None if labels_format is None else f".{labels_format}"
    if given == _STANDARD_OUTPUT:
        return StandardOutput(suffix or ".csv")
    if given.endswith(("/", os.sep)) or place(given).is_dir():
        return LabelFolder(place(given), suffix or ".parquet", tuple(read))
    if suffix is not None:
        raise ValueError(
            f"--labels-format {labels_format} is for folders and standard output: the end of the name {given} decides"
        )
    return LabelFile(place(given), _known_suffix(given))


@dataclass(frozen=True)
class LabelFile(LabelTarget):
    path: Place
    suffix: str

    @property
    def name(self) -> str:  # type: ignore[override]
        return str(self.path)

    def paths(self, inputs: Sequence[str]) -> list[Place]:
        return [self.path]

    def check(self, inputs: Sequence[str], *, force: bool) -> None:
        check_free(self.path, force)

    def opened(self, inputs: Sequence[str], names: Names) -> AbstractContextManager[LabelWriter]:
        return label_writer(self.path, names, force=True)


@dataclass(frozen=True)
class LabelFolder(LabelTarget):
    """A file for each input file, at the same place below the folder as the input file below its own."""

    folder: Place
    suffix: str
    read: tuple[str, ...]  # the files, folders and patterns that were given as input

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.folder}{'/' if isinstance(self.folder, RemotePath) else os.sep}"

    def paths(self, inputs: Sequence[str]) -> list[Place]:
        found: dict[Place, str] = {}
        for name in inputs:
            if not (is_remote(name) or place(name).is_file()):
                raise ValueError(f"the labels of {name} have no place in a folder, because it is no file: name a file")
        for name, below in zip(inputs, places_below(map(place, inputs), self.read), strict=True):
            path = self.folder / below.with_name(below.name + self.suffix)
            if path in found:
                raise ValueError(
                    f"the labels of {found[path]} and of {name} would both be {path}: rename one, or give one folder "
                    f"that holds all input files, or {_SINGLE}"
                )
            found[path] = name
        return list(found)

    def check(self, inputs: Sequence[str], *, force: bool) -> None:
        if not inputs:
            raise ValueError(f"{self.name} takes a label file for each input file, but there is none: name a file")
        for one in map(place, self.read):
            if self.folder.resolve().is_relative_to(one.resolve()) and one.is_dir():
                raise ValueError(
                    f"{self.name} lies in {one}, and would be read as input next time: name another folder"
                )
        paths = self.paths(inputs)
        if isinstance(self.folder, RemotePath):
            check_free_below(self.folder, paths, force)
            return
        for path in paths:
            _check_free_below(path, force)

    def check_kept(self, source: RowSource, inputs: Sequence[str]) -> None:
        super().check_kept(source, inputs)
        folders = {folder.name for path in self.paths(inputs) for folder in path.parents}
        for name in source.kept:
            if any(folder.startswith(f"{name}=") for folder in folders):
                raise ValueError(
                    f"column {name!r} is in the names of the folders, so the label files cannot have it too: leave it "
                    f"out, or name {_SINGLE}"
                )

    def opened(self, inputs: Sequence[str], names: Names) -> AbstractContextManager[LabelWriter]:
        return _FolderWriter(self.paths(inputs), names)


@dataclass(frozen=True)
class StandardOutput(LabelTarget):
    suffix: str
    name = "standard output"

    def paths(self, inputs: Sequence[str]) -> list[Place]:
        return []

    def check_columns(self, names: Names) -> None:
        if self.suffix not in _TEXT:
            known = " or ".join(suffix.lstrip(".") for suffix in _TEXT)
            raise ValueError(f"standard output takes labels as {known}, not as {self.suffix.lstrip('.')}: name a file")
        super().check_columns(names)

    def check(self, inputs: Sequence[str], *, force: bool) -> None:
        """Nothing can be in the way."""

    @contextlib.contextmanager
    def opened(self, inputs: Sequence[str], names: Names) -> Iterator[LabelWriter]:
        writer = format_of(self.suffix, names)(cast(BinaryIO, _Unclosed(sys.stdout.buffer)))
        yield _OneFile(writer)
        writer.finish()


class _OneFile:
    def __init__(self, writer: LabelFormat) -> None:
        self._writer = writer

    def write(self, labels: Labels, kept: Any = None, file: int = 0) -> None:
        self._writer.write(labels, kept)


class _FolderWriter(AbstractContextManager[LabelWriter]):
    def __init__(self, paths: Sequence[Place], names: Names) -> None:
        self._left = dict(enumerate(paths))
        self._names = names
        self._open = ExitStack()
        self._file: int | None = None
        self._no_rows: Any = None

    def __enter__(self) -> LabelWriter:
        return self

    def write(self, labels: Labels, kept: Any = None, file: int = 0) -> None:
        if file != self._file:
            self._open.close()  # the file before is complete
            self._writer = self._open.enter_context(self._begun(file))
            self._file = file
        self._writer.write(labels, kept)
        self._no_rows = None if kept is None else kept.slice(0, 0)

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)
        if error[0] is None:
            for file in list(self._left):  # input files without rows: the types of the others are known only now
                with self._begun(file) as writer:
                    writer.write(np.empty(0, dtype=np.int64), self._no_rows)

    def _begun(self, file: int) -> AbstractContextManager[LabelWriter]:
        return part_writer(self._left.pop(file), self._names)


def part_writer(path: Place, columns: Names) -> AbstractContextManager[LabelWriter]:
    """Opens a file in a folder of labels, and makes the folders above it; an existing file is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return label_writer(path, columns, force=True)


def label_writer(path: AnyPath, columns: Names = (), *, force: bool = False) -> AbstractContextManager[LabelWriter]:
    """Opens a label file; the suffix decides the format. See `LabelWriter`.

    columns : the names of the columns that precede the column `label`
    force : overwrite an existing file

    The call checks path and names, before the context is entered. The file appears under its name only when the context
    ends without an error.
    """
    begin = format_of(_known_suffix(path), columns)
    check_free(path, force)
    return _opened(begin, path, force)


@contextlib.contextmanager
def _opened(begin: Callable[[BinaryIO], LabelFormat], path: AnyPath, force: bool) -> Iterator[LabelWriter]:
    with new_file(path, force=force) as file:
        writer = begin(file)
        try:
            yield _OneFile(writer)
        except BaseException:
            with contextlib.suppress(Exception):  # closes the writer; the first error is the one to raise
                writer.finish()
            raise
        writer.finish()


def _known_suffix(path: AnyPath) -> str:
    suffix = suffix_of(path)
    if suffix is None:
        raise ValueError(
            f"cannot write labels to {path}: the name must end in {', '.join(SUFFIXES)}, or in / for a folder"
        )
    return suffix


class _Unclosed:
    """Standard output, which is flushed at the end instead of closed."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write
        self.close = file.flush


def _check_free_below(path: Place, force: bool) -> None:
    """`check_free` of a local path whose folders will be made."""
    folder = next(parent for parent in path.parents if parent.exists())
    if not folder.is_dir():
        raise NotADirectoryError(f"cannot write {path}: {folder} is a file, not a folder; name another folder")
    if folder == path.parent:
        check_free(path, force)
    else:
        check_permission(folder, path)

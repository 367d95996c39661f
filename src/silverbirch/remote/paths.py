"""RemotePath: the parts of pathlib.Path that this package uses, for files on other machines.

is_remote        -- whether a path has a scheme, such as s3://
is_file_address  -- whether it begins with file://
place            -- a path as the class that knows what is there
same_place       -- what two names of one file have in common
size_of          -- the bytes of a file
of_each          -- what a function returns for each of many files, which are asked for at once if they are remote
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import io
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import total_ordering
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, BinaryIO, Protocol, Self, TypeVar
from urllib.parse import unquote

from .failures import explained, retried
from .reader import RemoteReader, buffered
from .stores import BY_ARROW, HTTP, OPTIONS, Info, Store, store_of

AnyPath = str | os.PathLike[str]
T = TypeVar("T")
R = TypeVar("R")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_OPTIONS = re.compile(rf"\?(?=({'|'.join(OPTIONS)})=)")  # another ? is a wildcard, or part of a name
_WITH_BUCKETS = {"s3", "gs", "gcs"}
_NEED_HOST = {"s3", "gs", "gcs", "http", "https"}
_AT_ONCE = 16  # remote files that are asked for


class Shown(str):
    """The text of a path in messages and records, and the whole text, with a query that may hold a signature.

    Requests and workers need the whole text: `place` takes it from here.
    """

    whole: str


class Place(Protocol):
    """What local and remote paths share."""

    @property
    def name(self) -> str: ...
    @property
    def stem(self) -> str: ...
    @property
    def suffix(self) -> str: ...
    @property
    def parent(self) -> Self: ...
    @property
    def parents(self) -> Sequence[Self]: ...
    def __fspath__(self) -> str: ...
    def __truediv__(self, key: Any, /) -> Self: ...
    def __lt__(self, other: Any, /) -> bool: ...
    def with_name(self, name: str) -> Self: ...
    def relative_to(self, other: Any, /) -> PurePath: ...
    def is_relative_to(self, other: Any, /) -> bool: ...
    def resolve(self) -> Self: ...
    def exists(self) -> bool: ...
    def is_dir(self) -> bool: ...
    def is_file(self) -> bool: ...
    def read_text(self, encoding: str) -> str: ...
    def write_text(self, data: str, encoding: str) -> Any: ...
    def mkdir(self, *, parents: bool, exist_ok: bool) -> None: ...


def is_remote(path: AnyPath) -> bool:
    """Whether a path has a scheme other than file://."""
    return _SCHEME.match(os.fspath(path)) is not None and not is_file_address(path)


def is_file_address(path: AnyPath) -> bool:
    """Whether a path is that of a local file, but begins with file://."""
    return os.fspath(path)[:7].lower() == "file://"


def place(path: AnyPath) -> Place:
    """The path as a RemotePath if it has a scheme, else as a pathlib.Path."""
    if isinstance(path, RemotePath):
        return path
    text = os.fspath(path)
    if is_remote(text):
        return RemotePath(text)
    return Path(_of_this_machine(text) if is_file_address(text) else text)


def _of_this_machine(text: str) -> str:
    """The path in a file:// address; raises ValueError if it names another machine."""
    host, slash, path = text.partition("://")[2].partition("/")
    if not slash or host not in ("", "localhost"):
        raise ValueError(f"{text} names the host {host!r}, not a file: a file here is written file:///folder/file")
    return unquote(f"/{path}")


def same_place(path: AnyPath) -> str:
    """A text that is the same for all names of one file: links are followed."""
    found = place(path)
    return found.whole if isinstance(found, RemotePath) else os.path.realpath(found)


def size_of(path: AnyPath) -> int:
    found = place(path)
    return found.info_to_open().size if isinstance(found, RemotePath) else os.stat(found).st_size


def of_each(ask: Callable[[T], R], files: Sequence[T], *, remote: bool) -> list[R]:
    """`ask(file)` for each file, in order; of remote ones several at once, because servers answer late."""
    if not remote or len(files) < 2:
        return list(map(ask, files))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(ask, files))


@total_ordering
class RemotePath(os.PathLike[str]):
    """A path such as s3://bucket/folder/file, with options after a question mark. Nothing is asked of a server yet.

    Raises ValueError for a path without a host or bucket, or with a password.
    """

    def __init__(self, text: str) -> None:
        scheme, _, rest = getattr(text, "whole", text).partition("://")
        self.scheme = scheme.lower()
        rest, self._query = _without_options(rest, self.scheme)
        host, _, path = rest.partition("/")
        user, _, address = host.rpartition("@")
        if ":" in user or (user and self.scheme in HTTP):  # where a token stands alone
            raise ValueError(
                f"{self.scheme}://…@{address} has a password in it, which messages and records would show: give it by "
                "the environment or a file of credentials"
            )
        if not host and self.scheme in _NEED_HOST:
            raise ValueError(
                f"{self.scheme}:///{path} names no bucket or host: it must be like {self.scheme}://bucket/file"
            )
        self.root = f"{self.scheme}://{host}"
        own = path.rstrip("/")
        self._end = path[len(own) :] if self.scheme in HTTP else ""
        self._parts = tuple(own.split("/")) if own else ()
        self._waiting: RemoteReader | None = None

    @classmethod
    def _of(cls, root: str, parts: Sequence[str], query: str) -> Self:
        return cls("/".join([root, *parts]) + (f"?{query}" if query else ""))

    # -- the name

    @property
    def whole(self) -> str:
        """The text with everything that a request needs."""
        return self._text(self._query)

    def _text(self, query: str) -> str:
        return "/".join([self.root, *self._parts]) + self._end + (f"?{query}" if query else "")

    def __str__(self) -> str:
        """The text without the query of a web address."""
        shown = Shown(self._text("…") if self._query and self.scheme in HTTP else self.whole)
        shown.whole = self.whole
        return shown

    def __fspath__(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"RemotePath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and self.whole == other.whole

    def __hash__(self) -> int:
        return hash(self.whole)

    def __lt__(self, other: Any) -> bool:
        return self._order < other._order if isinstance(other, RemotePath) else NotImplemented

    @property
    def _order(self) -> tuple[Any, ...]:
        return self.root, self._parts, self._query

    @property
    def name(self) -> str:
        return self._parts[-1] if self._parts else self.root.partition("://")[2]

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix

    @property
    def parts(self) -> tuple[str, ...]:
        return self.root, *self._parts

    @property
    def parents(self) -> Sequence[Self]:
        counts = range(len(self._parts) - 1, -1, -1)
        return [self._of(self.root, self._parts[:count], self._query) for count in counts]

    @property
    def parent(self) -> Self:
        return self.parents[0] if self._parts else self

    def __truediv__(self, key: str | PurePath) -> Self:
        parts = key.parts if isinstance(key, PurePath) else key.split("/")
        return self._of(self.root, (*self._parts, *parts), self._query)

    def with_name(self, name: str) -> Self:
        return self.parent / name

    def resolve(self) -> Self:
        return self

    def is_relative_to(self, other: Any) -> bool:
        of = place(other)
        return isinstance(of, RemotePath) and self.parts[: len(of.parts)] == of.parts

    def relative_to(self, other: Any) -> PurePosixPath:
        if not self.is_relative_to(other):
            raise ValueError(f"{self} is not below {other}")
        return PurePosixPath(*self.parts[len(RemotePath(os.fspath(other)).parts) :])

    @property
    def has_wildcards(self) -> bool:
        return glob.has_magic("/".join(self._parts))

    # -- what is there

    @property
    def _store(self) -> Store:
        self._refuse_empty_names()
        with explained(str(self)):
            return store_of(self.scheme, self.root, "" if self.scheme in HTTP else self._query)

    @property
    def _key(self) -> str:
        return "/".join(self._parts) if self.scheme not in HTTP else self.whole.removeprefix(f"{self.root}/")

    def _refuse_empty_names(self) -> None:
        if self.scheme in BY_ARROW and "" in self._parts:
            raise ValueError(f"{self} has an empty name between two slashes, which pyarrow does not open: rename it")

    def info(self) -> Info | None:
        """What is there now; None for nothing."""
        store = self._store
        return retried(lambda: store.info(self._key), str(self))

    def file_info(self) -> Info:
        """What is known of a file; raises FileNotFoundError if there is none."""
        found = self.info()
        if found is None:
            raise self.missing()
        if not found.is_file:
            raise IsADirectoryError(f"{self} is a folder: give the name of a file")
        return found

    def exists(self) -> bool:
        return self.info() is not None

    def is_file(self) -> bool:
        found = self.info()
        return found is not None and found.is_file

    def is_dir(self) -> bool:
        found = self.info()
        return found is not None and not found.is_file

    def missing(self) -> FileNotFoundError:
        """The error for a path with nothing there."""
        try:
            self.check_bucket()
        except FileNotFoundError as error:
            return error
        single = f"; {self.scheme}:// has single files, no folders or patterns" if self.scheme in HTTP else ""
        return FileNotFoundError(f"{self}: there is no such file or folder{single}")

    def check_bucket(self) -> None:
        """Raises FileNotFoundError if there is no bucket. Who may write a file may not be permitted to see that."""
        with contextlib.suppress(PermissionError):
            bucket = self.parents[-1] if self._parts else self
            if self.scheme in _WITH_BUCKETS and bucket.info() is None:
                raise FileNotFoundError(f"{self}: there is no such bucket: make it first, or correct the name")

    @property
    def can_be_listed(self) -> bool:
        return self.scheme not in HTTP

    @property
    def can_be_written(self) -> bool:
        return self.scheme not in HTTP

    def below(self, *, recursive: bool) -> list[tuple[Self, bool]]:
        """The paths in a folder, or also below it, sorted, and whether each is a file."""
        store = self._store
        found = retried(lambda: list(store.below(self._key, recursive=recursive)), str(self))
        paths = sorted((self._of(self.root, (path,), self._query), is_file) for path, is_file in found)
        for path, is_file in paths:
            if is_file:  # which must not be left out in silence
                path._refuse_empty_names()
        return paths

    def files_below(self) -> list[Self]:
        """All files in and below a folder, sorted."""
        return [path for path, is_file in self.below(recursive=True) if is_file]

    def matches(self) -> list[Self]:
        """This path if there is something, else what it matches as a pattern, as `glob.glob` does."""
        if self.exists():
            return [self]
        if not (self.has_wildcards and self.can_be_listed):
            return []
        fixed = next(path for path in self.parents if not path.has_wildcards)
        found = [fixed] if fixed.is_dir() else []
        left = self._parts[len(fixed._parts) :]
        for number, part in enumerate(left):
            last = number == len(left) - 1
            found = [match for folder in found for match in folder._matching(part, last)]
        return sorted(set(found))

    def _matching(self, part: str, last: bool) -> list[Self]:
        """The children that match a part of a pattern: folders, or anything for the last part."""
        if part == "**":
            below = [(path, is_file) for path, is_file in self.below(recursive=True) if not _hidden(path, self)]
            chosen = [path for path, is_file in below if is_file == last]
            return chosen if last else [self, *chosen]
        if not glob.has_magic(part):
            return [child for child in [self / part] if (child.exists() if last else child.is_dir())]
        children = [path for path, is_file in self.below(recursive=False) if last or not is_file]
        matching = re.compile(fnmatch.translate(part))
        return [
            path for path in children if matching.match(path.name) and (part[0] == "." or not path.name.startswith("."))
        ]

    # -- reading and writing

    def open(self, mode: str = "rb", *, buffering: bool = True) -> Any:
        """The file to read; every read returns all bytes that are there, or raises an OSError."""
        assert mode == "rb"
        raw, self._waiting = self._waiting or self._opened(), None
        return buffered(raw) if buffering else raw

    def _opened(self) -> RemoteReader:
        store, key = self._store, self._key
        try:
            return RemoteReader(str(self), lambda: store.opened(key))
        except FileNotFoundError:
            self.file_info()  # says if it is a folder
            raise

    def info_to_open(self) -> Info:
        """What is known of a file, which the next call of `open` then need not request again."""
        self._waiting = self._opened()
        return self._waiting.info

    def stream(self) -> BinaryIO:
        """The bytes from the first on, of a file that cannot be read in parts."""
        store, key = self._store, self._key
        return retried(lambda: store.stream(key), str(self))

    def read_text(self, encoding: str = "utf-8") -> str:
        with self.open() as file:
            return io.TextIOWrapper(file, encoding).read()

    def write_text(self, data: str, encoding: str = "utf-8") -> None:
        with tempfile.NamedTemporaryFile("w", encoding=encoding) as file:
            file.write(data)
            file.flush()
            self.upload(Path(file.name))

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Nothing: an upload makes the folders that it needs."""

    def upload(self, local: Path) -> None:
        """Writes a local file here. The file is there when all of it is; a failed upload leaves what was there."""
        store, key, size = self._store, self._key, os.stat(local).st_size
        retried(lambda: store.upload(local, key), str(self))
        if (found := self.file_info()).size != size:
            raise ConnectionError(f"{self} has {found.size} bytes after the upload of {size}: write it again")


def _without_options(rest: str, scheme: str) -> tuple[str, str]:
    """What comes before the options, and the options: of a web address all that follows a question mark."""
    if scheme in HTTP:
        path, _, query = rest.partition("?")
        return path, query
    if scheme in BY_ARROW and (begin := _OPTIONS.search(rest)):
        return rest[: begin.start()], rest[begin.end() :]
    return rest, ""


def _hidden(path: RemotePath, folder: RemotePath) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)

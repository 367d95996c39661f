"""Stores: what holds remote files, a bucket or a host. pyarrow and fsspec know how to talk to them.

store_of  -- the store of a scheme, a bucket or host, and options
Store     -- what all stores can do: say what is at a path, list a folder, read ranges, upload a file
"""

from __future__ import annotations

import contextlib
import importlib
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import parse_qsl, urlsplit

BY_ARROW = {"s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs"}
HTTP = {"http", "https"}
# An upload to these appears when it is complete; elsewhere a file gets its name when it is complete.
_OBJECTS = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "memory", "oss", "oci"}
_OF_S3 = ("region", "scheme", "endpoint_override", "anonymous", "force_virtual_addressing", "tls_ca_file_path")
# The names that may follow ? in a path; pyarrow checks those of its other file systems.
OPTIONS = (*_OF_S3, "retry_limit_seconds", "target_service_account", "user", "replication", "kerb_ticket")
_ENVIRONMENT = ("AWS_", "AZURE_", "GOOGLE_")
_CONNECT_SECONDS, _REQUEST_SECONDS, _GOOGLE_SECONDS = 5, 20, 10
_ATTEMPTS = 3


class Info(NamedTuple):
    """What is at a path.

    ranges : whether parts of the file can be read
    """

    is_file: bool
    size: int = 0
    mtime_ns: int | None = None
    etag: str | None = None
    ranges: bool = True


class Opened(NamedTuple):
    """A file that is open to be read: `read_at(count, offset)` returns bytes of it."""

    info: Info
    read_at: Callable[[int, int], bytes]


class Store(ABC):
    """Files by their paths in a bucket or on a host. Errors are those of the library below: see `explained`."""

    @abstractmethod
    def info(self, path: str) -> Info | None:
        """What is at a path; None for nothing."""

    @abstractmethod
    def below(self, path: str, *, recursive: bool) -> Iterator[tuple[str, bool]]:
        """The paths in a folder, or also below it, and whether each is a file."""

    @abstractmethod
    def opened(self, path: str) -> Opened:
        """The file at a path; raises FileNotFoundError for nothing or a folder."""

    @abstractmethod
    def stream(self, path: str) -> BinaryIO:
        """The bytes of a file, from the first on."""

    @abstractmethod
    def upload(self, local: Path, path: str) -> None:
        """Writes a local file to a path. Where the upload fails, what was there before is still there."""


def store_of(scheme: str, root: str, query: str) -> Store:
    """The store of `root`, such as s3://bucket; the same one until the environment names other credentials."""
    known = tuple(sorted(item for item in os.environ.items() if item[0].startswith(_ENVIRONMENT)))
    return _store_of(scheme, root, query, known)


@cache
def _store_of(scheme: str, root: str, query: str, environment: tuple[tuple[str, str], ...]) -> Store:
    if scheme in HTTP:
        return HttpStore(root, needed("fsspec", scheme))
    if scheme in BY_ARROW:
        fs = needed("pyarrow.fs", scheme)
        if scheme == "s3":
            return ArrowStore(_s3(fs, root, query), root.partition("://")[2], whole=True)
        if scheme in ("gs", "gcs") and "retry_limit_seconds" not in query:
            query = f"{query}&retry_limit_seconds={_GOOGLE_SECONDS}".lstrip("&")
        found, base = fs.FileSystem.from_uri(f"{root}/" + (f"?{query}" if query else ""))
        return ArrowStore(found, base.rstrip("/"), whole=scheme in _OBJECTS)
    return FsspecStore(*_by_fsspec(scheme, root), whole=scheme in _OBJECTS)


def needed(module: str, scheme: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            f"{scheme}:// is read by {module.partition('.')[0]}: pip install 'silverbirch[remote]'"
        ) from None


def _s3(fs: Any, root: str, query: str) -> Any:
    """S3 with bounded waits. The query of the path decides, then the environment as other tools know it."""
    given = dict(parse_qsl(query))
    if unknown := sorted(given.keys() - set(_OF_S3)):
        raise ValueError(f"{root}/…?{unknown[0]}: the options of s3:// are {', '.join(_OF_S3)}")
    options: dict[str, Any] = {
        name: value.lower() == "true" if name in ("anonymous", "force_virtual_addressing") else value
        for name, value in given.items()
    }
    endpoint = options.pop("endpoint_override", None) or os.environ.get("AWS_ENDPOINT_URL_S3")
    if endpoint := endpoint or os.environ.get("AWS_ENDPOINT_URL"):
        address = urlsplit(endpoint if "://" in endpoint else f"{options.get('scheme', 'https')}://{endpoint}")
        options |= {"endpoint_override": address.netloc, "scheme": address.scheme}
    region = options.pop("region", None) or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region is None:  # only Amazon knows where a bucket of its own is
        region = "us-east-1" if endpoint else fs.resolve_s3_region(root.partition("://")[2])
    return fs.S3FileSystem(
        region=region,
        connect_timeout=_CONNECT_SECONDS,
        request_timeout=_REQUEST_SECONDS,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        **options,
    )


def _by_fsspec(scheme: str, root: str) -> tuple[Any, str]:
    """The file system of fsspec, and the path of the root in it."""
    try:
        found, base = needed("fsspec.core", scheme).url_to_fs(f"{root}/")
        return found, base.rstrip("/")
    except ImportError as error:  # fsspec says which package knows the scheme
        raise ImportError(f"{scheme}:// needs another package: {error}") from None
    except ValueError as error:
        if "Protocol not known" not in str(error):
            raise ValueError(f"{root} cannot be used: {error}") from None
        raise ValueError(f"{scheme}:// is not known to pyarrow and fsspec: is it a path?") from None


class ArrowStore(Store):
    """A file system of pyarrow.

    whole : whether an upload appears when it is complete
    """

    def __init__(self, fs: Any, base: str, *, whole: bool) -> None:
        self._fs, self._base, self._whole = fs, base, whole

    def _at(self, path: str) -> str:
        return f"{self._base}/{path}" if path else self._base or "/"

    def info(self, path: str) -> Info | None:
        if self._fs.type_name == "s3" and path:  # whose answer to one request says all of a file
            with contextlib.suppress(FileNotFoundError):
                return self.opened(path).info
        found = self._fs.get_file_info(self._at(path))
        if found.type.name == "NotFound":
            return None
        return self.opened(path).info if found.is_file else Info(False)

    def below(self, path: str, *, recursive: bool) -> Iterator[tuple[str, bool]]:
        selector = needed("pyarrow.fs", "").FileSelector(self._at(path), recursive=recursive)
        for found in self._fs.get_file_info(selector):
            yield found.path.removeprefix(f"{self._base}/"), found.is_file

    def opened(self, path: str) -> Opened:
        if not path:  # a bucket, which pyarrow refuses by another error
            raise FileNotFoundError(self._base)
        file = self._fs.open_input_file(self._at(path))
        known = {name.lower(): value.decode() for name, value in (_metadata(file) or {}).items()}
        try:
            changed = int(datetime.fromisoformat(known["last-modified"]).timestamp()) * 1_000_000_000
        except (KeyError, ValueError):
            changed = self._fs.get_file_info(self._at(path)).mtime_ns
        return Opened(Info(True, file.size(), changed, known.get("etag")), file.read_at)

    def stream(self, path: str) -> BinaryIO:
        return self._fs.open_input_stream(self._at(path))  # type: ignore[no-any-return]

    def upload(self, local: Path, path: str) -> None:
        # Copied by pyarrow and not piece by piece: a stream that is left early would be closed as if it were complete.
        fs = needed("pyarrow.fs", "")
        copy = partial(fs.copy_files, source_filesystem=fs.LocalFileSystem(), destination_filesystem=self._fs)
        if self._whole:
            copy(str(local), self._at(path))
            return
        part = self._at(_partial(path))
        self._fs.create_dir(part.rpartition("/")[0], recursive=True)
        with _removed_if_failing(lambda: self._fs.delete_file(part)):
            copy(str(local), part)
            self._fs.move(part, self._at(path))


def _metadata(file: Any) -> dict[str, bytes] | None:
    try:
        return file.metadata()  # type: ignore[no-any-return]
    except (NotImplementedError, AttributeError):
        return None


class FsspecStore(Store):
    """A file system of fsspec."""

    def __init__(self, fs: Any, base: str, *, whole: bool) -> None:
        self._fs, self._base, self._whole = fs, base, whole

    def _at(self, path: str) -> str:
        return f"{self._base}/{path}"

    def info(self, path: str) -> Info | None:
        self._fs.invalidate_cache()
        try:
            found = self._fs.info(self._at(path))
        except FileNotFoundError:
            return None
        if found["type"] != "file":
            return Info(False)
        changed = next(
            (found[name] for name in ("mtime", "last_modified", "LastModified", "created") if name in found), 0
        )
        seconds = changed.timestamp() if isinstance(changed, datetime) else float(changed)
        etag = next((str(found[name]) for name in ("ETag", "etag") if found.get(name)), None)
        return Info(True, int(found["size"]), int(seconds * 1_000_000) * 1000, etag)

    def below(self, path: str, *, recursive: bool) -> Iterator[tuple[str, bool]]:
        self._fs.invalidate_cache()
        listing = self._fs.find(self._at(path), withdirs=True, maxdepth=None if recursive else 1, detail=True)
        for name, found in listing.items():
            inside = name[len(self._base) :].lstrip("/") if name.startswith(self._base) else name
            if inside.rstrip("/") != path:
                yield inside, found["type"] == "file"

    def opened(self, path: str) -> Opened:
        at = self._at(path)
        return Opened(_info_of_file(self, path), lambda count, offset: self._fs.cat_file(at, offset, offset + count))

    def stream(self, path: str) -> BinaryIO:
        return self._fs.open(self._at(path), "rb")  # type: ignore[no-any-return]

    def upload(self, local: Path, path: str) -> None:
        if self._whole:
            self._fs.put_file(str(local), self._at(path))
            return
        part = self._at(_partial(path))
        self._fs.makedirs(part.rpartition("/")[0], exist_ok=True)
        with _removed_if_failing(lambda: self._fs.rm_file(part)):
            self._fs.put_file(str(local), part)
            self._fs.mv(part, self._at(path))


def _info_of_file(store: Store, path: str) -> Info:
    found = store.info(path)
    if found is None or not found.is_file:
        raise FileNotFoundError(path)
    return found


@contextlib.contextmanager
def _removed_if_failing(remove: Callable[[], Any]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            remove()
        raise


def _partial(path: str) -> str:
    """Another name in the same folder, which other programs skip: it begins with a dot."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.{secrets.token_hex(4)}.part"


class HttpStore(Store):
    """A web server: single files.

    Requests are made here, in the session of fsspec, because fsspec reports every failure as a missing file and does
    not notice a server that ignores the range.
    """

    def __init__(self, root: str, fsspec: Any) -> None:
        self._root = root
        aiohttp = needed("aiohttp", root.partition("://")[0])
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=_REQUEST_SECONDS)
        # Nothing is unpacked here: a server may declare a .gz file gzip-encoded, and a range of it cannot be unpacked.
        session = {"timeout": timeout, "trust_env": True, "auto_decompress": False}
        self._fs = fsspec.filesystem("http", headers={"Accept-Encoding": "identity"}, client_kwargs=session)

    def _get(self, path: str, first: int, last: int) -> tuple[int, Any, bytes]:
        """The status, the headers and the bytes from `first` to `last`; no bytes from a server without ranges."""

        async def get() -> tuple[int, Any, bytes]:
            session = await self._fs.set_session()
            headers = {**self._fs.kwargs["headers"], "Range": f"bytes={first}-{last}"}
            async with session.get(self._fs.encode_url(f"{self._root}/{path}"), headers=headers) as answer:
                if answer.status != 416:  # an empty file has no range
                    answer.raise_for_status()
                return answer.status, answer.headers, await answer.read() if answer.status == 206 else b""

        return needed("fsspec.asyn", "https").sync(self._fs.loop, get)  # type: ignore[no-any-return]

    def info(self, path: str) -> Info | None:
        try:
            status, headers, _ = self._get(path, 0, 0)
        except Exception as error:
            if getattr(error, "status", None) in (404, 410):
                return None
            raise
        etag = headers.get("ETag") or headers.get("Last-Modified")
        total = headers.get("Content-Range", "").rpartition("/")[2]
        if status == 416:
            return Info(True, 0, None, etag)
        ranges = status == 206 and total.isdigit()
        return Info(True, int(total) if ranges else int(headers.get("Content-Length", 0)), None, etag, ranges)

    def below(self, path: str, *, recursive: bool) -> Iterator[tuple[str, bool]]:
        raise NotImplementedError("a web server does not list its files")

    def opened(self, path: str) -> Opened:
        return Opened(_info_of_file(self, path), lambda count, offset: self._get(path, offset, offset + count - 1)[2])

    def stream(self, path: str) -> BinaryIO:
        return self._fs.open(f"{self._root}/{path}", "rb", block_size=0)  # type: ignore[no-any-return]

    def upload(self, local: Path, path: str) -> None:
        raise NotImplementedError("a web server cannot be written to")

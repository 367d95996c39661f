"""Text files, plain or compressed and in any encoding, as streams of UTF-8."""

from __future__ import annotations

import codecs
import contextlib
import io
import lzma
from collections.abc import Callable, Iterator
from typing import Any

from ...wording import parameter
from ..input_file import InputFile
from ..table import needed, reading

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}
_FIRST_BYTES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ\0": "xz"}
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_PIECE = 1 << 18


def with_compressions(*suffixes: str) -> tuple[str, ...]:
    return tuple(suffix + packed for suffix in suffixes for packed in ("", *COMPRESSIONS))


class TextFile:
    """A text file. The end of its name or its first bytes tell the compression, a byte order mark the encoding."""

    def __init__(self, file: InputFile, encoding: str | None) -> None:
        self._file = file
        with file.open() as raw:
            begin = raw.read(8)
        by_bytes = next((codec for first, codec in _FIRST_BYTES.items() if begin.startswith(first)), None)
        self._codec = next((codec for end, codec in COMPRESSIONS.items() if file.suffix.endswith(end)), by_bytes)
        self._given = encoding
        with reading(file.label):
            begin = self._bytes()[0].read(4)
        by_mark = next((name for mark, name in _MARKS.items() if begin.startswith(mark)), "utf-8")
        self._encoding = encoding or by_mark

    @property
    def is_plain(self) -> bool:
        """Whether the stream has the bytes of the file."""
        return self._codec is None and self._is_utf8

    @property
    def _is_utf8(self) -> bool:
        return codecs.lookup(self._encoding).name in ("utf-8", "utf-8-sig")

    def open(self) -> tuple[Any, Callable[[], int]]:
        """The text as a stream of UTF-8, and a function that returns how many bytes of the file are read.

        Nothing is closed here: a thread of Arrow may still read ahead. With the file closed, its descriptor could
        belong to the next file, and the thread would take a block from that. The last reference closes the file.
        """
        data, bytes_read = self._bytes()
        return data if self._is_utf8 else ConvertedStream(data.read, _Recoder(self._encoding)), bytes_read

    def _bytes(self) -> tuple[Any, Callable[[], int]]:
        if self._codec == "xz":  # which Arrow does not unpack
            raw = self._file.open()
            return lzma.LZMAFile(raw), raw.tell
        pa = needed("pyarrow")
        file = self._file.open_for_arrow()
        return (file if self._codec is None else pa.CompressedInputStream(file, self._codec)), file.tell

    def begin(self, size: int) -> bytes:
        """The first bytes of the text, and no more than that."""
        with self.reading():
            text: bytes = self.open()[0].read(size)
        if b"\0" in text[:1000]:
            raise ValueError(
                f"{self._file.label} holds zero bytes, which are no text: name its encoding if it is UTF-16, by "
                f"{parameter('read_chunks().encoding', 'utf-16-le')} or utf-16-be"
            )
        return text

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Turns the errors of a broken file, or of one in another encoding, into a ValueError that names the file."""
        try:
            with reading(self._file.label):
                try:
                    yield
                except UnicodeError as error:
                    raise self.wrong_encoding() from error
        except ValueError as error:
            if "invalid UTF8 data" in str(error):  # said by Arrow
                raise self.wrong_encoding() from None
            raise

    def wrong_encoding(self) -> ValueError:
        if self._given is None:
            return ValueError(
                f"{self._file.label} is not in UTF-8: name its encoding, for example by "
                f"{parameter('read_chunks().encoding', 'latin-1')}"
            )
        return ValueError(f"{self._file.label} is not in {self._given}: name another encoding, or leave it out")


class _Recoder:
    """Turns pieces of text in any encoding into UTF-8."""

    def __init__(self, encoding: str) -> None:
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def __call__(self, piece: bytes, last: bool) -> bytes:
        return self._decoder.decode(piece, last).encode("utf-8")


class ConvertedStream(io.RawIOBase):
    """The bytes that `convert(piece, last)` makes of a stream, piece by piece."""

    def __init__(self, read: Callable[[int], bytes], convert: Callable[[bytes, bool], bytes]) -> None:
        self._read, self._convert = read, convert
        self._held = bytearray()
        self._ended = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._ended and (size < 0 or len(self._held) < size):
            piece = self._read(_PIECE)
            self._ended = not piece
            self._held += self._convert(piece, self._ended)
        size = len(self._held) if size < 0 else size
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken

"""What lines of values look like: finds the separator, leaves out comments and spaces around values."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..parsing import SPACES

_LINES = 200  # that are looked at
_QUOTED = rb'"(?:[^"]|"")*"'
_LONGEST = 1 << 28  # of a record whose quote is not closed

Convert = Callable[[bytes, bool], bytes]  # of the next piece of a text, and whether it is the last


def found_separator(text: bytes, usual: str, decimal: str) -> str:
    """The separator of the lines at the begin of a file; `usual` if none fits.

    A separator fits if every line has the same number of values, and more than one. Spaces also need a column of
    numbers.
    """
    lines = [line for line in _unquoted(text).decode(errors="replace").splitlines()[:_LINES] if line.strip()]
    # A comma may be a decimal mark, so it is looked for after the others.
    last = [SPACES, ","] if decimal == "," else [",", SPACES]
    for separator in [*([] if usual == "," else [usual]), "\t", ";", "|", *last]:
        if separator == SPACES:
            fits = _is_aligned(lines, decimal)
        else:
            counts = {line.count(separator) for line in lines}
            fits = len(counts) == 1 and counts != {0}
        if fits:
            return separator
    return usual


def _is_aligned(lines: list[str], decimal: str) -> bool:
    rows = [line.replace(decimal, ".").split() for line in lines]
    if len(rows) < 2 or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        return False
    return any(all(map(is_number, column[1:])) for column in zip(*rows, strict=True))


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def has_spaces(text: bytes, separator: str) -> bool:
    """Whether there are spaces around values that are not quoted."""
    mark, space = re.escape(separator.encode()), _space(separator)
    found = re.search(rb"(?m)%b%b|%b%b|^%b|%b\r?$" % (space, mark, mark, space, space, space), _unquoted(text))
    return found is not None


def _unquoted(text: bytes) -> bytes:
    return re.sub(_QUOTED, b"X", text)


def _space(separator: str) -> bytes:
    return b"[ ]" if separator == "\t" else b"[ \\t]"


class CommentRemover:
    """Leaves out the lines that begin with `comment`, unless they are within quotes."""

    def __init__(self, comment: str) -> None:
        self._comment = comment.encode()
        self._held = b""
        self._quoted = False  # whether the next line begins within quotes

    def __call__(self, piece: bytes, last: bool) -> bytes:
        text = self._held + piece
        end = len(text) if last else text.rfind(b"\n") + 1
        self._held, text = text[end:], text[:end]
        if not self._quoted and b'"' not in text:
            return re.sub(rb"(?m)^%b.*\n?" % re.escape(self._comment), b"", text)
        return b"".join([line for line in text.splitlines(keepends=True) if self._is_kept(line)])

    def _is_kept(self, line: bytes) -> bool:
        if not self._quoted and line.startswith(self._comment):
            return False
        self._quoted ^= line.count(b'"') % 2 == 1
        return True


class SpaceRemover:
    """Leaves out spaces around values that are not quoted. If spaces are the separator, tabs take their place."""

    def __init__(self, separator: str) -> None:
        self._held = b""
        self._changed = _with_tabs if separator == SPACES else _stripper(separator)

    def __call__(self, piece: bytes, last: bool) -> bytes:
        text = self._held + piece
        end = len(text) if last else _end_of_records(text)
        if len(text) - end > _LONGEST:
            raise ValueError("a quote is not closed within 256 MB")
        self._held = text[end:]
        return self._changed(text[:end])


def _end_of_records(text: bytes) -> int:
    """The end of the last whole line; a line break within quotes ends no line."""
    end = text.rfind(b"\n") + 1
    quotes = text.count(b'"', 0, end)
    while quotes % 2:
        before = text.rfind(b"\n", 0, end - 1) + 1
        quotes -= text.count(b'"', before, end)
        end = before
    return end


def _stripper(separator: str) -> Callable[[bytes], bytes]:
    mark, space = re.escape(separator.encode()), _space(separator)
    pattern = re.compile(rb"(?m)(%b)|%b*(%b)%b*|^%b+|%b+(?=\r?$)" % (_QUOTED, space, mark, space, space, space))
    return lambda text: pattern.sub(rb"\1\2", text)


def _with_tabs(text: bytes) -> bytes:
    text = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", text)
    if b'"' not in text:
        return re.sub(rb"[ \t]+", b"\t", text)
    return re.sub(rb"(%b)|[ \t]+" % _QUOTED, lambda found: found[1] or b"\t", text)

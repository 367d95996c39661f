"""What lines of values look like: finds the separator, leaves out comments and spaces around values."""

from __future__ import annotations

import itertools
import re
from codecs import BOM_UTF8

from ..parsing import SPACES

_LINES = 200  # that are looked at
_QUOTED = rb'"(?:[^"]|"")*"'
_QUOTE_IN_VALUE = b"\xff"  # which UTF-8 does not have
_LONGEST = 1 << 28  # of a record whose quote is not closed


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
    """Whether there are spaces around values that are not quoted, in the lines at the begin of a file."""
    if b" " not in text and (separator == "\t" or b"\t" not in text):
        return False
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
        text = (self._held + piece).removeprefix(BOM_UTF8)  # a comment may follow it
        end = len(text) if last else text.rfind(b"\n") + 1
        self._held, text = text[end:], text[:end]
        if self._comment not in text:
            self._quoted ^= _is_open(text)
            return text
        return b"".join([line for line in text.splitlines(keepends=True) if self._is_kept(line)])

    def _is_kept(self, line: bytes) -> bool:
        if not self._quoted and line.startswith(self._comment):
            return False
        self._quoted ^= _is_open(line)
        return True


def _is_open(text: bytes) -> bool:
    """Whether a quote in the text is not closed in it."""
    return text.count(b'"') % 2 == 1


class SpaceRemover:
    """Leaves out spaces around values that are not quoted. If spaces are the separator, tabs take their place."""

    def __init__(self, separator: str) -> None:
        self._held = b""
        self._separator = separator

    def __call__(self, piece: bytes, last: bool) -> bytes:
        text = _without_quotes_in_values(self._held + piece, self._separator)
        end = len(text) if last else _end_of_records(text)
        if len(text) - end > _LONGEST:
            raise ValueError("a quote is not closed within 256 MB")
        self._held = text[end:]
        parts = text[:end].split(b'"')  # every other part is quoted
        parts[::2] = self._changed(b'"'.join(parts[::2])).split(b'"')
        return b'"'.join(parts).replace(_QUOTE_IN_VALUE, b'"')

    def _changed(self, text: bytes) -> bytes:
        """The text without spaces around values; spaces at its begin are those of a line."""
        if self._separator == SPACES:
            text = _repeated(text.replace(b"\t", b" "), {b"  ": b" "})
            return _stripped(text.strip(b" "), b" ", b"").replace(b" ", b"\t")
        spaces = b" " if self._separator == "\t" else b" \t"
        return _stripped(text.strip(spaces), spaces, self._separator.encode())


def _stripped(text: bytes, spaces: bytes, separator: bytes) -> bytes:
    """The text without spaces before and after separators and line ends.

    Replacing pairs is many times faster than a regular expression; longer runs of spaces go first, in fewer rounds.
    """
    runs = [space * length for length in (8, 4, 2, 1) for space in (b" ", b"\t") if space in spaces]
    found = [run for run in runs if run in text]
    marks = [mark for mark in (separator, b"\r", b"\n") if mark and mark in text]
    pairs = {pair: mark for run in found for mark in marks for pair in (run + mark, mark + run)}
    return _repeated(text, pairs)


def _repeated(text: bytes, pairs: dict[bytes, bytes]) -> bytes:
    """The text after replacing the pairs as long as there are any."""
    before = -1
    while len(text) != before:
        before = len(text)
        for pair, instead in pairs.items():
            text = text.replace(pair, instead)
    return text


def _without_quotes_in_values(text: bytes, separator: str) -> bytes:
    """The whole lines and the begin of one with other bytes for quotes that open nothing.

    A quote opens at the begin of a value only, as Arrow sees it: 5" is five inches.
    """
    if b'"' not in text:
        return text
    ends = b" \t\r\n" if separator == SPACES else b"\r\n" + separator.encode()
    spaces = b" \t".translate(None, ends)  # around values
    parts = text.split(b'"')
    outside = parts[::2] if len(parts) % 2 else [*parts[::2], b""]
    gap = b"[%b]*" % spaces if spaces else b""
    if not re.search(b'[^"%b]%b"' % (re.escape(ends + spaces), gap), b'"'.join(outside)):
        return text
    found, mark, quoted = [parts[0]], b"", False
    for before, part in itertools.pairwise(parts):
        stripped = before.rstrip(spaces)
        begins = stripped[-1] in ends if stripped else not mark
        opens = begins or (mark == b'"' and not before)  # the latter is a quote in a quoted value
        mark = b'"' if quoted or opens else _QUOTE_IN_VALUE
        quoted = not quoted and opens
        found += [mark, part]
    return b"".join(found)


def _end_of_records(text: bytes) -> int:
    """The end of the last whole line; a line break within quotes ends no line."""
    end = text.rfind(b"\n") + 1
    while text.count(b'"', 0, end) % 2:  # the last quote is not closed
        end = text.rfind(b"\n", 0, text.rfind(b'"', 0, end)) + 1
    return end

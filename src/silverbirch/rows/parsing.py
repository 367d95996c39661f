"""Parsing: what the user says about files whose names and contents do not say it."""

from __future__ import annotations

import codecs
from dataclasses import asdict, dataclass
from typing import Any

from ..checks import as_flag
from ..wording import parameter

SPACES = " "  # as a separator: runs of spaces and tabs


@dataclass(frozen=True)
class Parsing:
    """How files are parsed; None where the file tells."""

    format: str | None = None
    separator: str | None = None
    decimal: str = "."
    header: bool = True
    encoding: str | None = None
    comment: str | None = None

    @classmethod
    def of(
        cls, format: Any = None, separator: Any = None, decimal: Any = ".", header: Any = True, encoding: Any = None,
        comment: Any = None,
    ) -> Parsing:  # fmt: skip
        """Checks the values of the parameters of `read_chunks`."""
        return cls(
            None if format is None else _as_text(format, "format").lower().removeprefix("."),
            None if separator is None else as_separator(separator),
            as_decimal(decimal),
            as_flag(header, "header"),
            None if encoding is None else as_encoding(encoding),
            None if comment is None else as_comment(comment),
        )

    @property
    def given(self) -> dict[str, Any]:
        """The options that are not at their defaults."""
        return {name: value for name, value in asdict(self).items() if value != getattr(DEFAULT, name)}

    def check_used(self, used: set[str], label: str) -> None:
        """Raises ValueError if an option is given that no file takes: `used` are the options that some file takes."""
        for name, value in self.given.items():
            if name not in used:
                raise ValueError(f"{parameter(name, value)} means nothing to {label}: leave it out")


def as_separator(separator: Any) -> str:
    """One character; '\\t' and 'tab' are a tab, for shells that cannot write one easily."""
    text = {"\\t": "\t", "tab": "\t"}.get(_as_text(separator, "separator"), separator)
    if len(text) != 1 or not text.isascii() or text in '"\r\n\0':
        raise ValueError(
            f"{parameter('separator', text)}: must be one ASCII character, such as ';' or '\\t'; ' ' stands for any "
            "spaces and tabs"
        )
    return str(text)


def as_decimal(decimal: Any) -> str:
    if decimal not in (".", ","):
        raise ValueError(f"{parameter('decimal', decimal)}: must be '.' or ','")
    return str(decimal)


def as_encoding(encoding: Any) -> str:
    try:
        found = codecs.lookup(_as_text(encoding, "encoding"))
    except LookupError:
        found = None
    if found is None or not found._is_text_encoding:
        raise ValueError(
            f"{parameter('encoding', encoding)} is not known: name one of Python's, such as utf-8, utf-16 or latin-1"
        )
    return found.name


def as_comment(comment: Any) -> str:
    if not _as_text(comment, "comment").strip() or {*comment} & {*'"\r\n'}:
        raise ValueError(f"{parameter('comment', comment)}: must be how the lines to leave out begin, such as '#'")
    return str(comment)


def _as_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{parameter(name, value)}: must be a text")
    return value


DEFAULT = Parsing()

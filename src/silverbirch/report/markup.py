"""HTML as values: only this module turns text into markup, and escapes it."""

from __future__ import annotations

import html
import re

# Control characters except tab, line feed and carriage return: HTML forbids them, even as character references.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_VOID = {"meta", "br", "col", "img"}


class Html(str):
    """Text that is markup. `tag` escapes plain strings, not Html."""

    __slots__ = ()


Child = str | Html | None


def escaped(text: str) -> Html:
    """The text as HTML. File names may hold bytes that are not text; they are shown as backslash escapes."""
    readable = text.encode("utf-8", "backslashreplace").decode()
    return Html(html.escape(_FORBIDDEN.sub("\ufffd", readable)))


def tag(name: str, /, *children: Child, **attributes: str | None) -> Html:
    """An element. `class_` is the attribute class, `aria_label` is aria-label; attributes of None are left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Child, by: str = "") -> Html:
    parts = (child if isinstance(child, Html) else escaped(child) for child in children if child is not None)
    return Html(by.join(parts))

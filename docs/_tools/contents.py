"""Navigation and titles from plain links.

A page that holds the comment `<!-- contents -->` is a table of contents: the pages that it links to below the comment
are its children, in their order. A link whose text is the name of a file gets the title of that page as its text. So
all pages are plain Markdown, on a code host too.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

MARK = re.compile(r"(?m)^<!-- contents -->$")
_LINK = re.compile(r"\]\(([\w./-]+)\.(?:md|rst)\)")
_BARE_NAME = re.compile(r"\[[\w-]+\.md\](\([\w./#-]+\))")


def children(page: str, text: str) -> list[str]:
    """The pages that `page` lists, as paths from the root of the sources without their suffixes."""
    _, *listed = MARK.split(text, maxsplit=1)
    links = _LINK.findall(listed[0]) if listed else []
    return list(dict.fromkeys(posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in links))


def _navigate(app: Any, page: str, source: list[str]) -> None:
    pages = children(page, source[0])
    source[0] = _BARE_NAME.sub(r"[]\1", source[0])
    if pages:
        entries = "\n".join(f"/{child}" for child in pages)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", _navigate)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The script of a page, and the place where it finds its data.

The modules of `script/` are joined into one inline script, in the order of their imports. The content-security policy
of the page allows this script alone, by its hash, and no connection to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files

from .markup import Html, joined, tag
from .payload import Payload

_IMPORT = re.compile(r"^import .* from [\"']\./([\w-]+\.js)[\"'];?\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async |function|class|const|let))", re.MULTILINE)
# Whole lines of comments, and empty lines.
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*.*?\*/|//[^\n]*)?[ \t]*\n", re.MULTILINE | re.DOTALL)
_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)
_END_OF_SCRIPT = re.compile(r"</script|<!--", re.IGNORECASE)
_NAMES = ("page.css", "script/live.css", "script/panels.css")


@cache
def script() -> str:
    """The script of a page: all modules in one function."""
    text = f'(() => {{\n"use strict";\n{_joined("page.js")}}})();\n'
    if found := _END_OF_SCRIPT.search(text):
        raise ValueError(f"a script of the page contains {found[0]!r}, which would end it: write it in another way")
    return text


@cache
def widget_script() -> str:
    """The module of the notebook's widget."""
    return _joined("widget.js")


def _joined(first: str) -> str:
    """A module and all that it imports, without comments and indentation: pages need only what runs.

    No import renames anything, so that the modules can share their names; no text goes over several lines.
    """
    sources: dict[str, str] = {}
    imports: dict[str, list[str]] = {}
    waiting = [first]
    while waiting:
        name = waiting.pop()
        sources[name] = _read(f"script/{name}")
        imports[name] = _IMPORT.findall(sources[name])
        waiting += [other for other in imports[name] if other not in sources]
    order = TopologicalSorter(imports).static_order()
    text = "".join(_EXPORT.sub("", _IMPORT.sub("", sources[name])) for name in order)
    return _INDENTATION.sub("", _COMMENT.sub("", text))


@cache
def style() -> str:
    return "\n".join(_read(name) for name in _NAMES)


@cache
def widget_style() -> str:
    """The same style for the inside of a widget: the place of the widget is its page."""
    rules = re.sub(r"^body(?= \{)", ":host", style().replace(":root", ":host"), flags=re.MULTILINE)
    return f"{rules}\n:host {{ display: block; max-width: none; padding: 1rem; }}\n"


def policy(with_script: bool) -> Html:
    """What the page may load: pictures and styles that are in it, and its own script."""
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode() if with_script else ""
    allowed = f"script-src 'sha256-{digest}'; " if with_script else ""
    content = (
        f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return tag("meta", http_equiv="Content-Security-Policy", content=content)


def explorer() -> Html:
    """The place that the script fills; without scripts it is not shown."""
    return tag("div", id="explorer")


def data_and_script(payload: Payload) -> Html:
    # Base64 and the checked script contain no "<" that could end the element.
    data = tag("script", Html(payload.text()), type="application/octet-stream", id="silverbirch-data")
    return joined(data, tag("script", Html(script())), by="\n")


def _read(name: str) -> str:
    path = files(__package__)
    for part in name.split("/"):
        path = path.joinpath(part)
    return path.read_text(encoding="utf-8")

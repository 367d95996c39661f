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

_FIRST = "page.js"  # starts all others
_IMPORT = re.compile(r"^import .* from [\"']\./([\w-]+\.js)[\"'];?\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async |function|class|const|let))", re.MULTILINE)
_END_OF_SCRIPT = re.compile(r"</script|<!--", re.IGNORECASE)
_NAMES = ("page.css", "script/live.css", "script/panels.css")


@cache
def script() -> str:
    """All modules in one function. None of their imports renames anything, so that they can share their names."""
    sources: dict[str, str] = {}
    imports: dict[str, list[str]] = {}
    waiting = [_FIRST]
    while waiting:
        name = waiting.pop()
        sources[name] = _read(f"script/{name}")
        imports[name] = _IMPORT.findall(sources[name])
        waiting += [other for other in imports[name] if other not in sources]
    parts = (_EXPORT.sub("", _IMPORT.sub("", sources[name])) for name in TopologicalSorter(imports).static_order())
    text = '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"
    if found := _END_OF_SCRIPT.search(text):
        raise ValueError(f"a script of the page contains {found[0]!r}, which would end it: write it in another way")
    return text


@cache
def style() -> str:
    return "\n".join(_read(name) for name in _NAMES)


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
    return path.read_text(encoding="utf-8") if path.is_file() else ""

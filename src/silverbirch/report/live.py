"""The script of a page, and the place where it finds its data.

`make script` packs the modules of `script/` into one file, `script.js`. The content-security policy of the page allows
this script alone, by its hash, and no connection to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from .markup import Html, joined, tag
from .payload import Payload

_END_OF_SCRIPT = re.compile(r"</script|<!--", re.IGNORECASE)
_NAMES = ("page.css", "script/live.css", "script/panels.css")


@cache
def script() -> str:
    """The script of a page."""
    text = f"{_packed()}silverbirchExplorer.startPage();\n"
    if found := _END_OF_SCRIPT.search(text):
        raise ValueError(f"a script of the page contains {found[0]!r}, which would end it: write it in another way")
    return text


@cache
def widget_script() -> str:
    """The module of the notebook's widget."""
    return f"{_packed()}export default {{ render: silverbirchExplorer.renderWidget }};\n"


def _packed() -> str:
    return _read("script.js").rstrip().rstrip(";") + ";\n"


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

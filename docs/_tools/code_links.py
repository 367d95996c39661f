"""Names of the package in the text lead to the reference: `Betula.recut`, `sb.linkage(X, "ward")`."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes

import silverbirch

_NAME = re.compile(r"(sb\.)?(\w+)(?:\.(\w+))?(?:\([^()]*\))?")
_OTHERS_HAVE_IT_TOO = "AgglomerativeClustering"


def target(text: str) -> str | None:
    """The full name of what a piece of code names; None where it may be something else, such as a parameter."""
    found = _NAME.fullmatch(text)
    if found is None:
        return None
    prefix, name, member = found.groups()
    if name not in silverbirch.__all__ or not (prefix or (name[0].isupper() and name != _OTHERS_HAVE_IT_TOO)):
        return None
    if member and not hasattr(getattr(silverbirch, name), member):
        return None
    return ".".join(filter(None, ("silverbirch", name, member)))


def _within(node: Any, kinds: Any) -> bool:
    while node is not None:
        if isinstance(node, kinds):
            return True
        node = node.parent
    return False


def _link(app: Any, doctree: nodes.document) -> None:
    if not app.env.docname.startswith("docs/"):
        return
    for literal in list(doctree.findall(nodes.literal)):
        name = target(literal.astext())
        if name and not _within(literal, nodes.reference | nodes.title | addnodes.pending_xref):
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=name, refexplicit=True, refwarn=False
            )
            literal.replace_self(link)
            link += literal


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The parts that all pages share: the frame, the style sheet, and boxes that scroll on a narrow screen."""

from __future__ import annotations

from collections.abc import Collection

from .. import __version__
from .live import data_and_script, explorer, policy, style
from .markup import Html, joined, tag
from .payload import Payload


def page(
    title: str, lead: Html, sections: dict[str, Html], payload: Payload | None = None, lasting: Collection[str] = ()
) -> str:
    """A whole document. The keys of `sections` are the headings; links at the top lead to them.

    With a payload the explorer replaces what is of the class "static" as soon as the script has started: the links, and
    the sections that are not in `lasting`. Without scripts the page is as it is without a payload.
    """
    head = joined(
        tag("meta", charset="utf-8"),
        policy(with_script=payload is not None),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Html(f"\n{style()}")),
        by="\n",
    )
    links = (tag("a", name, href=f"#{_anchor(name)}") for name in sections)
    parts = (
        tag("section", tag("h2", name), part, id=_anchor(name), class_=None if name in lasting else "static")
        for name, part in sections.items()
    )
    body = joined(
        tag("header", tag("h1", title), lead, tag("nav", *links, class_="static", aria_label="Sections")),
        tag("main", None if payload is None else explorer(), *parts),
        tag("footer", f"Made with silverbirch {__version__}."),
        None if payload is None else data_and_script(payload),
        by="\n",
    )
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"


def figure(picture: Html, caption: str, name: str) -> Html:
    return tag("figure", scrolling(picture, name), tag("figcaption", caption))


def scrolling(content: Html, name: str) -> Html:
    """A box in which wide content scrolls, also by the keyboard, so that the page itself does not."""
    return tag("div", content, class_="scroll", role="region", tabindex="0", aria_label=name)


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")

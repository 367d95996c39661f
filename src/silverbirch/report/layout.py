"""The parts that all pages share: the frame, the style sheet, and boxes that scroll on a narrow screen."""

from __future__ import annotations

from importlib.resources import files

from .. import __version__
from .markup import Html, joined, tag


def page(title: str, lead: Html, sections: dict[str, Html]) -> str:
    """A whole document. The keys of `sections` are the headings; links at the top lead to them."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    head = joined(
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Html(f"\n{style}")),
        by="\n",
    )
    links = (tag("a", name, href=f"#{_anchor(name)}") for name in sections)
    body = joined(
        tag("header", tag("h1", title), lead, tag("nav", *links, aria_label="Sections")),
        tag("main", *(tag("section", tag("h2", name), part, id=_anchor(name)) for name, part in sections.items())),
        tag("footer", f"Made with silverbirch {__version__}."),
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

"""Links between the Markdown files lead somewhere, on a code host too; the pages find their place in the navigation."""

import re
import sys
from pathlib import Path

import pytest

import silverbirch

ROOT = Path(__file__).parents[1]
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "examples").rglob("*.md"),
    *(ROOT / "cpp").rglob("*.md"),
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
sys.path.insert(0, str(ROOT / "docs" / "_tools"))
import contents  # noqa: E402
import reference_pages  # noqa: E402


def without_code(text):
    return re.sub(r"(?ms)^```.*?^```|`[^`\n]+`", "", text)


def anchors(page):
    """The anchors that code hosts and the documentation give to the headings of a page."""
    headings = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page):
    links = [link for link in LINK.findall(without_code(page.read_text(encoding="utf-8"))) if "://" not in link]
    for link in links:
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_begins_with_a_percent_sign(page):
    """MyST takes such a line for a comment and leaves it out; code hosts show it."""
    assert not re.findall(r"(?m)^ *%.*", re.sub(r"(?ms)^ *```.*?^ *```", "", page.read_text(encoding="utf-8")))


def test_every_page_of_the_documentation_is_in_the_navigation():
    pages = {str(page.relative_to(ROOT).with_suffix("")): page.read_text(encoding="utf-8") for page in PAGES}
    reached, waiting = set(), ["docs/index"]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += contents.children(page, pages[page])
    assert {page for page in pages if page.startswith("docs/")} <= reached


def test_the_reference_has_every_public_name_once():
    groups = reference_pages.groups(silverbirch.__doc__)
    names = [name for group in groups.values() for name in group]
    assert sorted(names) == sorted(silverbirch.__all__)
    assert all(text for group in groups.values() for text in group.values())

"""Manners of the page: hostile data stays text, everybody can use it, and it fits every screen."""

import numpy as np
import pytest

import html_pages
import models
import silverbirch as sb
from settling import SETTLED

HOSTILE = [
    html_pages.EVIL,
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "<!--<script>",
    "${alert(4)}`",
    "__proto__",
    "constructor",
    "=cmd|' /C calc'!A0",
    "\u202etxt.exe",
    "a" * 300,
]
WIDTHS = [320, 390, 820, 1440]


def report_of(path, X, **options):
    model = sb.Betula(n_clusters=5, max_leaves=60).fit(X)
    sb.write_report(path, model, **options)
    return model


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    X = models.groups(600, k=5, d=5)
    texts = [f"row {row}" for row in range(len(X))]
    report_of(path, X, title="Groups", column_names=["mass", "length", "price", "age", "speed"], rows=X, show=texts)
    return path


@pytest.mark.parametrize("columns", [3, 30])  # with many columns the table names those that differ most
def test_hostile_names_stay_text(visit, tmp_path, columns):
    X = models.groups(300, k=5, d=columns)
    model = sb.Betula(n_clusters=5, max_leaves=60).fit(X)
    names = [HOSTILE[j % len(HOSTILE)] + str(j) * (j >= len(HOSTILE)) for j in range(columns)]
    model.dendrogram_.name_clusters(HOSTILE[:5], 5)
    model.dendrogram_.names |= {leaf: HOSTILE[leaf % len(HOSTILE)] for leaf in range(60 - 30)}
    texts = [HOSTILE[row % len(HOSTILE)] for row in range(300)]
    record = {HOSTILE[1]: HOSTILE[2]}
    options = {"title": HOSTILE[1], "column_names": names, "rows": X, "show": {HOSTILE[2]: texts}, "record": record}
    sb.write_report(tmp_path / "page.html", model, **options)
    page = visit(tmp_path / "page.html")
    page.get_by_role("combobox", name="Search").fill("script")
    page.get_by_role("listbox", name="Found").get_by_role("option").first.wait_for()
    page.evaluate(
        "(node) => window.silverbirch.store.set({ selected: node })", int(model.dendrogram_.nodes(n_clusters=5)[1])
    )
    page.mouse.move(*centre(page.locator(".stage")))
    page.evaluate(SETTLED)
    assert page.locator("script").count() == 2  # the data and the script of the page
    assert page.locator("#explorer img, #explorer iframe, #explorer object, #explorer a").count() == 0
    assert HOSTILE[0] in page.locator("#explorer").inner_text()
    assert page.title() == HOSTILE[1]
    assert page.evaluate("Object.keys(Object.prototype).length") == 0


def centre(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


CONTROLS = {
    "button",
    "textbox",
    "searchbox",
    "spinbutton",
    "slider",
    "combobox",
    "listbox",
    "link",
    "checkbox",
    "image",
}


def test_every_control_and_picture_has_a_name(visit, report):
    page = visit(report)
    page.evaluate("() => window.silverbirch.store.set({ selected: window.silverbirch.partition().largest(1)[0].node })")
    page.evaluate(SETTLED)
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    found = [(node["role"]["value"], node["name"]["value"]) for node in nodes if not node["ignored"] and "name" in node]
    roles = {role for role, _ in found}
    assert {"button", "spinbutton", "slider", "combobox", "image", "table", "heading"} <= roles
    assert [(role, name) for role, name in found if role in CONTROLS and not name.strip()] == []


def test_the_page_says_which_cut_is_shown(visit, report):
    page = visit(report)
    page.get_by_role("spinbutton", name="Number of clusters").fill("9")
    page.wait_for_timeout(1000)
    spoken = page.locator("[aria-live=polite]").all_inner_texts()
    assert any(text.startswith("9 clusters") for text in spoken)


FOCUSED = (
    """() => [...document.querySelectorAll("#explorer :is(button, input, select)")].indexOf(document.activeElement)"""
)


def test_every_control_can_be_reached_by_the_keyboard(visit, report):
    page = visit(report)
    page.evaluate(SETTLED)
    wanted = page.locator("#explorer :is(button, input, select):visible").count()
    reached = set()
    for _ in range(2 * wanted):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(FOCUSED))
    assert len(reached - {-1}) == wanted


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_screen(visit, report, width):
    page = visit(report, viewport={"width": width, "height": 844})
    page.evaluate("() => window.silverbirch.store.set({ selected: window.silverbirch.partition().largest(1)[0].node })")
    page.evaluate(SETTLED)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_finger_looks_first_and_opens_then(visit, report):
    page = visit(report, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    stage = page.locator(".stage")
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    point = box["x"] + 0.35 * box["width"], box["y"] + 0.75 * box["height"]
    root = "() => window.silverbirch.store.state.root"
    before = page.evaluate(root)
    page.touchscreen.tap(*point)
    page.evaluate(SETTLED)
    assert page.evaluate(root) == before
    tip = page.locator(".tip").bounding_box()
    assert box["x"] <= tip["x"] <= tip["x"] + tip["width"] <= box["x"] + box["width"]
    assert page.locator(".help").inner_text().startswith("Tap a branch")
    page.touchscreen.tap(*point)
    page.evaluate(SETTLED)
    assert page.evaluate(root) != before
    assert stage.bounding_box() == box  # the tree stays where the finger is


def test_two_fingers_zoom(visit, report):
    page = visit(report, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.locator(".stage").scroll_into_view_if_needed()
    x, y = centre(page.locator(".stage"))
    session = page.context.new_cdp_session(page)

    def touch(kind, apart):
        points = [{"x": x - apart, "y": y}, {"x": x + apart, "y": y}] if apart else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.evaluate(SETTLED)

    touch("touchStart", 30)
    for apart in (40, 60, 80):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    state = page.evaluate("() => window.silverbirch.store.state")
    assert 0.2 < state["to"] - state["from"] < 0.7


def luminance(colour):
    return np.mean([int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")])


def test_the_page_is_dark_where_dark_is_preferred(visit, report):
    page = visit(report, color_scheme="dark")
    paper, ink = page.evaluate(
        "() => { const { backgroundColor, color } = getComputedStyle(document.body); return [backgroundColor, color] }"
    )
    assert luminance(paper) < 60 < 180 < luminance(ink)


PICTURES = """() => [...document.querySelectorAll("#explorer canvas")].map((canvas) => canvas.toDataURL())"""


def test_pictures_are_drawn_again_when_the_page_turns_dark(visit, report):
    page = visit(report)
    page.evaluate(SETTLED)
    light = page.evaluate(PICTURES)
    page.emulate_media(color_scheme="dark")
    page.evaluate(SETTLED)
    dark = page.evaluate(PICTURES)
    assert len(light) >= 2
    assert all(before != after for before, after in zip(light, dark, strict=True))
    page.emulate_media(color_scheme="light")
    page.evaluate(SETTLED)
    assert page.evaluate(PICTURES) == light


def test_paper_shows_the_present_view_without_controls(visit, report):
    page = visit(report, "#k=7", color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate(SETTLED)
    assert page.locator(".stage canvas").is_visible()
    assert page.locator("#explorer table.clusters tbody:not(.all) tr").count() == 7
    assert page.get_by_role("button", name="Copy as Python").is_hidden()
    assert page.get_by_role("button", name="Zoom in").is_hidden()
    assert luminance(page.evaluate("getComputedStyle(document.body).color")) < 100
    assert page.pdf(format="A4").startswith(b"%PDF")


NOTE_WHERE_THE_CURVE_ENDS = """() => matchMedia("print").addEventListener("change", ({ matches }) => {
    const picture = document.querySelector(".curve svg");
    const [x] = picture.querySelector("polyline").getAttribute("points").split(" ").at(-1).split(",");
    if (matches) window.printed = [picture.clientWidth, +x];
})"""


def test_pictures_fit_the_width_of_the_paper(visit, report):
    page = visit(report)
    page.evaluate(NOTE_WHERE_THE_CURVE_ENDS)
    page.pdf(format="A4")
    width, end = page.evaluate("window.printed")
    assert 0.9 * width < end < width < 500


def test_a_page_that_cannot_start_says_so_and_stays_static(visit, report, tmp_path):
    text = report.read_text(encoding="utf-8")
    head, tag, rest = text.partition('id="silverbirch-data">')
    (tmp_path / "broken.html").write_text(head + tag + "AAAA" + rest, encoding="utf-8")
    page = visit(tmp_path / "broken.html", live=False, tolerate=["error: "])
    page.locator(".failure").wait_for()
    assert page.locator("svg.dendrogram").is_visible()
    assert page.locator("#explorer").is_hidden()


def test_an_old_browser_shows_the_static_page(browser, report):
    page = browser.new_context().new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(report.as_uri())
    page.locator(".failure").wait_for()
    assert page.locator("svg.dendrogram").is_visible()
    page.context.close()


def test_a_dendrogram_of_one_leaf_is_a_static_page(visit, tmp_path):
    sb.Dendrogram(np.empty((0, 4)), [[1.0, 2.0]]).to_html(tmp_path / "page.html")
    page = visit(tmp_path / "page.html", live=False)
    assert "only one leaf" in page.inner_text("main")

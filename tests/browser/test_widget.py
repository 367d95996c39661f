"""The widget in Chromium, without a notebook: its module is given a model of its own, as anywidget gives one."""

import pytest

import models
import silverbirch as sb
from settling import SETTLED

# What anywidget passes: values, listeners and messages to Python.
NOTEBOOK = """async ({ script, values }) => {
  const listeners = {};
  window.values = values;
  window.sent = [];
  window.model = {
    get: (name) => values[name],
    set: (name, value) => {
      if (values[name] === value) return;
      values[name] = value;
      for (const act of listeners[`change:${name}`] ?? []) act();
    },
    save_changes: () => { const { n_clusters, adaptive, selected } = values; window.sent.push({ n_clusters, adaptive, selected }); },
    on: (name, act) => { (listeners[name] ??= new Set()).add(act); },
    off: (name, act) => { listeners[name].delete(act); },
  };
  window.fromPython = (changes) => {
    for (const [name, value] of Object.entries(changes)) window.model.set(name, value);
  };
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  window.show = (cell) => module.default.render({ model: window.model, el: document.getElementById(cell) });
  window.end = await window.show("cell");
}"""  # noqa: E501
FOREIGN = "<!doctype html><style>* { color: lime; font-size: 7px } table { display: none }</style>\
<div id='cell'></div><div id='other'></div>"


@pytest.fixture
def notebook(browser):
    """A function that shows a widget among the styles of a notebook, and returns Playwright's page."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    page, problems = context.new_page(), []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))

    def show(widget):
        page.set_content(FOREIGN)
        names = ("_data", "_style", "n_clusters", "adaptive", "selected")
        values = {name: getattr(widget, name) for name in names}
        page.evaluate(NOTEBOOK, {"script": widget._esm, "values": values})
        page.evaluate(SETTLED)
        return page

    yield show
    context.close()
    assert problems == []


@pytest.fixture(scope="module")
def model():
    return sb.Betula(n_clusters=4, max_leaves=60).fit(models.groups())


def test_a_cut_in_the_notebook_is_sent_to_python_and_the_other_way_round(notebook, model):
    page = notebook(sb.explore(model, suggest=False))
    field = page.get_by_role("spinbutton", name="Number of clusters")
    assert field.input_value() == "4"
    field.fill("9")
    page.evaluate(SETTLED)
    assert page.evaluate("window.sent.at(-1)") == {"n_clusters": 9, "adaptive": None, "selected": None}
    page.evaluate("window.fromPython({ n_clusters: 3 })")
    page.evaluate(SETTLED)
    assert field.input_value() == "3"
    assert page.locator("table.clusters tbody:not(.all) tr").count() == 3


def test_an_adaptive_cut_and_a_selected_branch_are_sent_too(notebook, model):
    page = notebook(sb.explore(model, suggest=False))
    page.get_by_role("combobox", name="Kind of cut").select_option("0")
    page.evaluate(SETTLED)
    assert page.evaluate("window.sent.at(-1)") == {"n_clusters": None, "adaptive": 0, "selected": None}
    page.evaluate("window.fromPython({ n_clusters: 4, adaptive: null })")
    page.evaluate(SETTLED)
    page.get_by_role("button", name="Select cluster 2").click()
    page.evaluate(SETTLED)
    node = int(model.dendrogram_.nodes(n_clusters=4)[2])
    assert page.evaluate("window.sent.at(-1)") == {"n_clusters": 4, "adaptive": None, "selected": node}


def test_styles_of_the_notebook_stay_outside_and_those_of_the_widget_inside(notebook, model):
    page = notebook(sb.explore(model, suggest=False))
    assert page.locator("table.clusters").is_visible()
    colour = "(element) => getComputedStyle(element).color"
    assert page.locator("table.clusters td").first.evaluate(colour) != "rgb(0, 255, 0)"
    assert page.locator("body").evaluate("(body) => getComputedStyle(body).maxWidth") == "none"


COLOURED = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((_, i) => i % 4 === 0 && Math.abs(data[i] - data[i + 1]) > 60);
}"""


def test_pictures_have_the_colours_of_the_style_sheet(notebook, model):
    page = notebook(sb.explore(model, suggest=False))
    assert page.locator(".stage canvas").evaluate(COLOURED)


def test_a_widget_keeps_its_colours_when_a_second_view_of_it_is_removed(notebook, model):
    page = notebook(sb.explore(model, suggest=False))
    page.evaluate("async () => { window.endOfOther = await window.show('other'); }")
    page.evaluate(SETTLED)
    page.evaluate("window.endOfOther()")
    page.emulate_media(color_scheme="dark")
    page.evaluate(SETTLED)
    for canvas in page.locator("#cell canvas").all():
        assert canvas.evaluate(COLOURED)


def test_the_address_of_the_notebook_stays(notebook, model):
    page = notebook(sb.explore(model, suggest=False))
    page.get_by_role("spinbutton", name="Number of clusters").fill("9")
    page.wait_for_timeout(600)
    assert page.url == "about:blank"


def test_a_widget_that_is_removed_listens_no_longer(notebook, model):
    page = notebook(sb.explore(model, suggest=False))
    page.evaluate("window.end()")
    page.evaluate("window.fromPython({ n_clusters: 12 })")
    page.evaluate(SETTLED)
    assert page.evaluate("window.sent.length") == 0
    assert page.locator("#cell > *").count() == 0

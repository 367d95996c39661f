"""The live page: nothing from the data is markup or script, and the policy allows the page's own script alone."""

import base64
import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import silverbirch as sb
from html_pages import EVIL, Page
from payloads import of_page, without_pictures  # noqa: F401
from silverbirch.plot.palette import BRANCHES, BRANCHES_ON_DARK
from silverbirch.report import live
from silverbirch.report.layout import page as whole_page
from silverbirch.report.markup import Html
from silverbirch.report.packing import Packed
from silverbirch.report.page import dendrogram_page, report_page
from silverbirch.report.payload import Payload

# Any text, and texts that would end an element, a string, a comment or a policy if they were not escaped.
NASTY = ["</script><script>alert(1)</script>", "<!--", "-->", "<script>", "]]>", "'; script-src *", '"', "\u2028", EVIL]
texts = st.one_of(st.text(), st.sampled_from(NASTY), st.tuples(st.text(), st.sampled_from(NASTY)).map("".join))


def model_of(names):
    rows = np.random.default_rng(0).normal(size=(12, len(names)))
    return sb.Betula(3).fit(pd.DataFrame(rows, columns=list(names))) if len({*names}) == len(names) else None


def plain_page():
    return Page(report_page(model_of("abc"), "title"))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=texts, columns=st.lists(texts, min_size=3, max_size=3), names=st.lists(texts, min_size=3, max_size=3))
def test_titles_columns_and_names_add_no_element_and_come_back(title, columns, names):
    model = model_of("abc")
    model.name_clusters(names)
    text = report_page(model, title, column_names=columns)
    page = Page(text)
    expected = plain_page()
    assert page.tags.count("script") == 2
    assert [tag for tag in page.tags if tag not in ("td", "th", "bdi")] == [
        tag for tag in expected.tags if tag not in ("td", "th", "bdi")
    ]
    header, _ = of_page(text)
    assert header["title"] == title
    assert [column["name"] for column in header["columns"]] == columns
    nodes = model.dendrogram_.nodes(n_clusters=3).tolist()
    assert [header["names"][str(node)] for node in nodes] == names


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.one_of(texts, st.none(), st.integers(), st.floats(), st.binary()), min_size=9, max_size=9))
def test_values_of_rows_add_no_element_and_no_picture_of_another_kind(values):
    dendrogram = sb.Dendrogram(sb.linkage(np.arange(9.0)[:, None], "average"))
    text = dendrogram_page(dendrogram, "title", show={EVIL: values})
    assert Page(text).tags == Page(dendrogram_page(dendrogram, "title")).tags
    found = of_page(text)[0]["representatives"]
    assert found["columns"] == [EVIL]
    if found["kinds"] == ["image"]:
        assert all(value is None or value.startswith("data:image/") for (value,) in found["items"])


def test_the_policy_allows_the_script_of_the_page_by_its_hash_and_nothing_else():
    page = plain_page()
    (policy,) = [content for content in page.values("content") if content.startswith("default-src")]
    assert ("meta", "http-equiv", "Content-Security-Policy") in page.attributes
    data, script = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert re.fullmatch("[A-Za-z0-9+/]+={0,2}", data)


def test_the_policy_comes_before_everything_that_it_governs():
    text = report_page(model_of("abc"), "title")
    first = min(text.index(tag) for tag in ("<style", "<script", "<title", "<body"))
    assert text.index("Content-Security-Policy") < first


def test_a_page_with_nothing_to_explore_allows_no_script():
    page = Page(report_page(sb.Betula(1).fit(np.ones((5, 3))), "title"))
    (policy,) = [content for content in page.values("content") if content.startswith("default-src 'none'")]
    assert "script-src" not in policy
    assert page.tags.count("script") == 0


def test_without_scripts_the_page_reads_as_before():
    """The sections are the same as those of a page without data; what is live is hidden until the script starts."""
    sections = {"One": Html("<p>first</p>"), "Two": Html("<p>second</p>")}
    payload = Payload({"n": 2}, {"a": Packed(np.arange(3, dtype="u4"))})
    still, alive = (Page(whole_page("t", Html("<p>lead</p>"), sections, each, ("Two",))) for each in (None, payload))
    assert still.text.split() == alive.text.split()
    assert "div" not in still.tags
    assert [tag for tag in alive.tags if tag not in ("script", "div")] == still.tags
    assert ("div", "id", "explorer") in alive.attributes
    assert "html:not(.live) #explorer, html.live .static { display: none; }" in live.style()
    assert [value for _, key, value in alive.attributes if key == "class" and "static" in value] == ["static"] * 2


def test_a_page_starts_the_script_and_a_widget_exports_it():
    assert live.script().endswith(";\nsilverbirchExplorer.startPage();\n")
    assert live.widget_script().endswith(";\nexport default { render: silverbirchExplorer.renderWidget };\n")
    assert "</script" not in live.script().lower()


@pytest.mark.parametrize("end", ["</script>", "</SCRIPT>", "<!--"])
def test_a_script_that_would_end_its_element_is_refused(end, monkeypatch):
    live.script.cache_clear()
    monkeypatch.setattr(live, "_read", lambda name: f"const a = '{end}';\n")
    with pytest.raises(ValueError, match="would end it"):
        live.script()
    live.script.cache_clear()


def test_the_colours_of_branches_are_those_of_plots():
    style = live.style()
    for colours, part in zip((BRANCHES, BRANCHES_ON_DARK), style.split("prefers-color-scheme: dark", 1), strict=True):
        found = dict(re.findall(r"--branch-(\d+): (#\w{6});", part))
        assert found == {str(number): colour for number, colour in enumerate(colours)}

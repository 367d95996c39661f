"""Markup and records of the report: nothing from the data becomes markup, and records read like one."""

import json
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from html_pages import EVIL, Page
from silverbirch.report.markup import Html, joined, tag
from silverbirch.report.record import record_tables


def readable(text):
    """The text as a page shows it."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]", "\ufffd", text)


any_text = st.text(st.characters(codec=None)) | st.sampled_from([EVIL, "]]>", "<!--", "&lt;", "\x00", "\udc80"])


@given(any_text, any_text)
def test_any_text_comes_back_from_an_element(text, attribute):
    page = Page(tag("p", text, title=attribute))
    assert page.tags == ["p"]
    assert page.text == readable(text)
    assert page.attributes == [("p", "title", readable(attribute))]
    tag("p", text).encode()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(any_text, json_values, max_size=5))
def test_any_record_is_shown_and_nothing_in_it_is_markup(record):
    page = Page(record_tables(record))
    assert set(page.tags) <= {
        "table",
        "thead",
        "tbody",
        "tr",
        "td",
        "th",
        "section",
        "h3",
        "span",
        "p",
        "ul",
        "li",
        "code",
    }
    shown = page.text
    for key, value in record.items():
        if isinstance(value, str):
            assert readable(value) in shown
        assert readable(key).replace("_", " ").removesuffix(" bytes") in shown or key == "bytes"


def test_a_record_reads_like_one():
    record = {
        "peak_memory_bytes": 187_400_000,
        "parameters": {"n_clusters": 12_000, "distance_threshold": 3.5, "max_memory": None, "refine": False},
        "input": [{"name": "a.parquet", "bytes": 512}, {"name": "b.csv", "rows": 7}],
        "columns": ["lat", "lon"],
    }
    plain, parameters, files = Page(record_tables(json.loads(json.dumps(record)))).tables
    assert plain == [["peak memory", "187 MB"], ["columns", "lat, lon"]]
    assert parameters == [
        ["n clusters", "12,000"],
        ["distance threshold", "3.5"],
        ["max memory", "–"],
        ["refine", "no"],
    ]
    assert files == [["name", "size", "rows"], ["a.parquet", "512 B", ""], ["b.csv", "", "7"]]


def test_a_long_list_is_cut_short_and_says_so():
    page = Page(record_tables({"input": [{"name": f"part-{i}"} for i in range(2500)]}))
    assert len(page.tables[0]) == 101
    assert "and 2,400 more" in page.text


def test_markup_is_not_escaped_twice_and_none_is_left_out():
    assert tag("p", tag("b", "<"), None, "&", class_="x", id=None) == '<p class="x"><b>&lt;</b>&amp;</p>'
    assert isinstance(joined("a", "b", by=", "), Html)

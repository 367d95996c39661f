"""The widget of a notebook, on Python's side; tests/browser/test_widget.py has the other one."""

import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import models
import payloads
import silverbirch as sb


@pytest.fixture(scope="module")
def model():
    return sb.Betula(n_clusters=4, max_leaves=60).fit(models.groups())


def test_labels_follow_the_cut(model):
    explorer = sb.explore(model, suggest=False)
    assert explorer.n_clusters == 4
    np.testing.assert_array_equal(explorer.labels, model.labels_)
    for k in (1, 2, 30):
        explorer.n_clusters = k
        np.testing.assert_array_equal(explorer.labels, model.cut(n_clusters=k))


def test_a_dendrogram_has_labels_of_its_leaves():
    X = models.points(50)
    dendrogram = sb.Dendrogram(sb.linkage(X, "ward"), X)
    explorer = sb.explore(dendrogram)
    explorer.n_clusters = 7
    np.testing.assert_array_equal(explorer.labels, dendrogram.cut(7))


def test_the_first_cut_of_a_dendrogram_is_the_suggested_one():
    X = models.groups()
    dendrogram = sb.Dendrogram(sb.linkage(X, "ward"), X)
    suggestion = dendrogram.suggest(method="ward")
    assert suggestion.n_clusters == 4
    assert sb.explore(dendrogram, suggest=suggestion).n_clusters == 4
    assert sb.explore(dendrogram).n_clusters == 10


def test_a_cut_is_by_level_or_adaptive_but_never_both(model):
    explorer = sb.explore(model, suggest=False)
    explorer.adaptive = 0
    assert explorer.n_clusters is None
    (cut, *_) = payloads.unpack(explorer._data)[0]["adaptive"]
    np.testing.assert_array_equal(explorer.labels, eval(f"model.cut({cut['python']})", {"model": model}))
    explorer.n_clusters = 3
    assert explorer.adaptive is None
    np.testing.assert_array_equal(explorer.labels, model.cut(n_clusters=3))


def test_without_any_cut_there_are_no_labels(model):
    explorer = sb.explore(model, suggest=False)
    explorer.n_clusters = None
    with pytest.raises(ValueError, match="set one of them"):
        explorer.labels  # noqa: B018


def test_changes_can_be_observed(model):
    explorer, seen = sb.explore(model, suggest=False), []
    explorer.observe(lambda change: seen.append((change["name"], change["new"])), ["n_clusters", "selected"])
    explorer.n_clusters, explorer.selected = 9, 3
    assert seen == [("n_clusters", 9), ("selected", 3)]


@pytest.mark.parametrize(("name", "value"), [("n_clusters", 0), ("n_clusters", 61), ("adaptive", 99), ("selected", -1)])
def test_a_value_out_of_range_is_refused_and_leaves_the_widget_as_it_was(model, name, value):
    explorer = sb.explore(model, suggest=False)
    with pytest.raises(ValueError, match=f"{name}={value}"):
        setattr(explorer, name, value)
    assert (explorer.n_clusters, explorer.adaptive, explorer.selected) == (4, None, None)


def test_the_widget_carries_what_the_page_carries(model):
    pipeline = make_pipeline(StandardScaler(), sb.Betula(n_clusters=3)).fit(models.groups())
    explorer = sb.explore(pipeline, title="Groups", column_names=["mass", "length", "price"], suggest=False)
    header = payloads.unpack(explorer._data)[0]
    assert header["title"] == "Groups"
    assert [column["name"] for column in header["columns"]] == ["mass", "length", "price"]


def test_what_cannot_be_explored_is_refused():
    with pytest.raises(TypeError, match="ndarray"):
        sb.explore(models.points())
    for one_leaf in (sb.Betula(n_clusters=1).fit(np.ones((5, 3))), sb.Dendrogram(np.empty((0, 4)))):
        with pytest.raises(ValueError, match="only one leaf"):
            sb.explore(one_leaf)


def test_without_anywidget_the_error_says_what_to_install(model, monkeypatch):
    monkeypatch.delitem(sys.modules, "silverbirch.report.explorer", raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"pip install 'silverbirch\[widget\]'"):
        sb.explore(model)

"""What a notebook shows: pictures of dendrograms, once, and facts of fitted models."""

import base64
import re
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from matplotlib import pyplot

import silverbirch as sb

X = np.random.default_rng(0).normal(size=(3000, 3))


def html(thing):
    return thing._repr_mimebundle_(include=None, exclude=None)["text/html"]


@pytest.mark.parametrize("n", [2, 29, 3000])
def test_a_dendrogram_shows_its_facts_and_a_picture(n):
    open_figures = pyplot.get_fignums()  # of other tests
    shown = sb.Dendrogram(sb.linkage(X[:n], "ward"), X[:n])._repr_html_()
    assert f"{n:,} leaves, {n:,} points" in shown
    assert f'alt="The uppermost {min(n, 30)} of {n:,} branches"' in shown
    picture = base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', shown)[1])
    assert picture.startswith(b"\x89PNG")
    assert pyplot.get_fignums() == open_figures


def test_one_leaf_has_no_picture():
    assert "<img" not in sb.Dendrogram(np.empty((0, 4)))._repr_html_()


def test_without_matplotlib_the_facts_remain(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    shown = sb.Dendrogram(sb.linkage(X[:5], "ward"))._repr_html_()
    assert "5 leaves" in shown
    assert "<img" not in shown


def test_a_fitted_model_adds_its_facts_to_the_diagram_of_scikit_learn():
    model = sb.Betula(5, max_leaves=100).fit(X)
    leaves = len(model.features_)
    assert "rows of 3 columns" not in html(sb.Betula(5))
    assert "sk-container" in html(model)
    assert html(model).endswith(", 5 clusters.</p>")
    assert f"3,000 rows of 3 columns in {leaves} leaves" in html(model)


def test_showing_a_model_does_not_cluster_it():
    model = sb.Betula(5).partial_fit(X)
    assert "not clustered yet" in html(model)
    assert model._clustering is None
    assert model.n_clusters_ == 5
    assert html(model).endswith(", 5 clusters.</p>")


def test_scikit_learns_setting_of_plain_text_is_followed():
    with sklearn.config_context(display="text"):
        assert set(sb.Betula(5).fit(X)._repr_mimebundle_()) == {"text/plain"}


def test_a_plot_in_a_notebook_is_one_figure_of_pyplot_which_shows_it():
    code = (
        "import silverbirch as sb, silverbirch.plot as plot\n"
        "plot.axes.in_notebook = lambda: True\n"
        "ax = sb.Dendrogram([[0, 1, 1.0, 2]]).plot()\n"
        "from matplotlib import pyplot\n"
        "assert [pyplot.figure(n) for n in pyplot.get_fignums()] == [ax.figure]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

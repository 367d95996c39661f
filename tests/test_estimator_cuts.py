"""Cutting again, and the labels of rows after fit, another cut, partial_fit and load."""

import pickle
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import silverbirch as sb
from models import AGGREGATION, groups, points, seeds, some, state
from silverbirch.report import write_report
from silverbirch.report.accuracy import accuracy_of
from tables import write

CHANGES = [{"n_clusters": 9}, {"distance_threshold": 4.0}, {"height": 4.0}]


# -- recut


@pytest.mark.parametrize("change", CHANGES, ids=str)
@pytest.mark.parametrize("max_leaves", [None, 50])
def test_a_recut_equals_a_new_fit(max_leaves, change):
    X = points()
    model = sb.Betula(3, max_leaves=max_leaves).fit(X).recut(**change)
    expected = sb.Betula(**model.get_params()).fit(X)
    assert model.n_clusters_ == expected.n_clusters_ > 1
    assert state(model, X) == state(expected, X)
    assert repr(model.clusters_) == repr(expected.clusters_)


def test_a_recut_sets_the_parameters_of_the_cut():
    model = sb.Betula(3).fit(points())
    cuts = [({"n_clusters": 9}, 9, None), ({"height": 4.0}, None, 4.0), ({"distance_threshold": 2.0}, None, 2.0)]
    for change, n_clusters, threshold in cuts:
        parameters = model.recut(**change).get_params()
        assert (parameters["n_clusters"], parameters["distance_threshold"]) == (n_clusters, threshold)


def test_a_recut_does_not_cluster_again_unless_the_linkage_changed(monkeypatch):
    model = sb.Betula(4, max_leaves=100).fit(points())
    other = clone(model).fit(points()).set_params(linkage="complete").recut(9)
    assert not np.array_equal(other.linkage_matrix_, model.linkage_matrix_)
    monkeypatch.setattr(sb.Betula, "_new_dendrogram", lambda _: pytest.fail("clustered again"))
    assert model.recut(9).n_clusters_ == len(np.unique(model.labels_)) == 9
    assert model.dendrogram_.cut(n_clusters=9).max() == 8


def test_a_recut_without_arguments_cuts_as_the_parameters_say():
    model = sb.Betula(4).fit(points())
    assert model.set_params(n_clusters=6).recut().n_clusters_ == 6
    assert model.set_params(n_clusters=5).partial_fit().n_clusters_ == 5  # the older way
    assert len(np.unique(model.labels_)) == 5


def test_a_recut_before_any_data_is_refused():
    for cut in (sb.Betula(3).recut, sb.Betula(3).partial_fit, lambda: sb.Betula(3).cut(2)):
        with pytest.raises(NotFittedError):
            cut()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_clusters": 1000}, "n_clusters=1000 but there are only 300 different rows"),
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"height": -1.0}, "distance_threshold=-1.0"),
        ({"n_clusters": 3, "height": 1.0}, "both say where to cut"),
        ({"height": 3.0, "distance_threshold": 1.0}, "only one of them"),
    ],
    ids=str,
)
def test_a_recut_that_cannot_be_leaves_the_model_as_it_was(change, message):
    X = points()
    model = sb.Betula(4).fit(X)
    before, parameters = state(model, X), model.get_params()
    with pytest.raises(ValueError, match=message):
        model.recut(**change)
    assert state(model, X) == before
    assert model.get_params() == parameters


# -- adaptive cuts


def scattered():
    """Two dense groups and rows around them."""
    random = np.random.default_rng(0)
    return np.concatenate(
        [random.normal(size=(100, 2)), 12 + random.normal(size=(60, 2)), random.uniform(-40, 40, (20, 2))]
    )


ADAPTIVE = {"method": "eom", "min_size": 20, "noise": True}


def test_an_adaptive_cut_is_that_of_the_dendrogram_and_noise_is_in_no_cluster():
    X = scattered()
    model = sb.Betula(3, max_leaves=None).fit(X)
    before = model.cut(3)
    model.recut(**ADAPTIVE)
    expected = model.dendrogram_.cut(**ADAPTIVE)
    np.testing.assert_array_equal(model.subcluster_labels_, expected)
    assert (model.n_clusters, model.distance_threshold) == (None, None)
    assert model.labels_.min() == -1
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.cut(**ADAPTIVE), model.labels_)
    inside = model.labels_ >= 0
    np.testing.assert_array_equal(model.clusters_.rows, np.bincount(model.labels_[inside]))
    means = [X[model.labels_ == cluster].mean(axis=0) for cluster in range(model.n_clusters_)]
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-12)
    np.testing.assert_allclose(model.clusters_.mean, X.mean(axis=0), atol=1e-12)  # of all rows
    squared = ((X - model.cluster_centers_[model.labels_]) ** 2).sum(axis=1)
    assert model.score(X) == pytest.approx(-squared[inside].sum())
    weight = np.arange(len(X)) % 3
    assert model.score(X, sample_weight=weight) == pytest.approx(-(weight * squared)[inside].sum())
    assert set(model.representatives(X).index.ravel()) <= {-1, *np.flatnonzero(inside)}
    assert model.transform(X).shape == (len(X), model.n_clusters_)
    np.testing.assert_array_equal(model.recut(3).labels_, before)


def test_an_adaptive_cut_lasts_in_files_pickles_and_with_more_rows(tmp_path):
    X = scattered()
    model = sb.Betula(3, max_leaves=None).fit(X).recut(**ADAPTIVE)
    labels = model.labels_
    model.save(tmp_path / "model.sb")
    for again in (sb.load(tmp_path / "model.sb"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict(X), labels)
        np.testing.assert_array_equal(again.recut().predict(X), labels)
        assert again.partial_fit(X).predict(X).min() == -1
    assert model.partial_fit(X).labels_.min() == -1
    np.testing.assert_array_equal(model.subcluster_labels_, model.dendrogram_.cut(**ADAPTIVE))


def test_a_file_keeps_an_adaptive_cut_until_new_parameters_are_used(tmp_path):
    X = scattered()
    model = sb.Betula(3, max_leaves=None).fit(X).recut(**ADAPTIVE).set_params(n_clusters=4)
    model.save(tmp_path / "model.sb")
    again = sb.load(tmp_path / "model.sb")
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    assert again.recut().n_clusters_ == 4


@pytest.mark.parametrize(
    "end",
    [
        lambda model, X: model.recut(n_clusters=4),
        lambda model, X: model.recut(height=5.0),
        lambda model, X: model.set_params(n_clusters=4).recut(),
        lambda model, X: model.set_params(n_clusters=4).fit(X),
        lambda model, X: model.fit(X),
        lambda model, X: model.set_params(distance_threshold=5.0).partial_fit(X),
    ],
)
def test_another_cut_or_fit_ends_an_adaptive_cut(end):
    X = scattered()
    model = end(sb.Betula(max_leaves=None).fit(X).recut(**ADAPTIVE), X)
    assert model.subcluster_labels_.min() == 0
    expected = clone(model).fit(X)
    assert model.n_clusters_ == expected.n_clusters_ or model.tree_.n_points > len(X)


def test_an_adaptive_cut_may_leave_no_cluster(tmp_path):
    X = points(50)
    model = sb.Betula(1).fit(X).recut(method="eom", min_size=40, max_size=45, noise=True)
    assert (model.n_clusters_, len(model.clusters_), model.cluster_centers_.shape) == (0, 0, (0, 3))
    assert model.score(X) == 0
    assert (model.predict(X) == -1).all()
    assert len(model.representatives(X)) == 0
    write_report(tmp_path / "page.html", model)
    model.save(tmp_path / "model.sb")
    assert sb.load(tmp_path / "model.sb").n_clusters_ == 0


def test_the_report_of_an_adaptive_cut_says_how_it_was_made(tmp_path):
    model = sb.Betula(3).fit(scattered()).recut(**ADAPTIVE)
    write_report(tmp_path / "page.html", model)
    page = (tmp_path / "page.html").read_text()
    assert "method=&#x27;eom&#x27;, min_size=20, noise=True" in page
    assert "in no cluster" in page


def test_the_variance_explained_is_that_of_the_rows_in_clusters(tmp_path):
    X = scattered()
    model = sb.Betula(3, max_leaves=None).fit(X).recut(**ADAPTIVE)
    inside = X[model.labels_ >= 0]
    explained = 1 + model.score(X) / ((inside - inside.mean(axis=0)) ** 2).sum()
    write_report(tmp_path / "page.html", model)
    shown = re.search(r"variance explained</dt><dd>([\d.]+) %", (tmp_path / "page.html").read_text())
    assert float(shown[1]) == pytest.approx(100 * explained, abs=0.06)
    write_report(tmp_path / "noise.html", model.recut(method="eom", min_size=100, max_size=101, noise=True))
    assert model.n_clusters_ == 0
    assert "variance explained</dt><dd>–<" in (tmp_path / "noise.html").read_text()


# -- the number of clusters


def test_choose_k_is_the_suggestion_of_the_dendrogram():
    X = groups(400, k=4)
    model = sb.Betula(2, linkage="average", max_leaves=100).fit(X)
    found = model.choose_k(10, random_state=3)
    expected = model.dendrogram_.suggest(10, method="average", random_state=3)
    assert found.n_clusters == expected.n_clusters == 4
    assert found.votes == expected.votes
    assert model.n_clusters_ == 2
    assert model.recut(found.n_clusters).n_clusters_ == 4


def test_the_number_and_the_report_are_of_the_linkage_that_made_the_dendrogram():
    model = sb.Betula(2, linkage="average", metric="cosine", max_leaves=100).fit(groups(400, k=4))
    before, sentences = model.choose_k(10), accuracy_of(model)
    model.set_params(linkage="ward", metric="euclidean", mode="centers")  # used by the next fit or recut
    np.testing.assert_equal(model.choose_k(10).scores, before.scores)
    assert accuracy_of(model) == sentences
    model.recut()
    assert accuracy_of(model) != sentences


# -- cut


@pytest.mark.parametrize("aggregation", AGGREGATION)
def test_a_cut_gives_the_labels_of_a_fit_at_each_level_and_leaves_the_model_as_it_was(aggregation):
    X = points()
    model = sb.Betula(4, **aggregation).fit(X)
    before = state(model, X)
    levels = [2, 5, 11]
    labels = model.cut(n_clusters=levels)
    assert labels.shape == (300, 3)
    assert labels.dtype == np.int64
    for column, k in zip(labels.T, levels, strict=True):
        np.testing.assert_array_equal(column, clone(model).set_params(n_clusters=k).fit(X).labels_)
        np.testing.assert_array_equal(column, model.cut(k))
    heights = [0.5, 3.0]
    for column, height in zip(model.cut(height=heights).T, heights, strict=True):
        cut = clone(model).set_params(n_clusters=None, distance_threshold=height)
        np.testing.assert_array_equal(column, cut.fit(X).labels_)
    assert state(model, X) == before


def test_a_cut_of_other_rows_labels_these(tmp_path):
    X, new = points(), points(50, seed=1)
    model = sb.Betula(4, max_leaves=50).fit(X)
    model.save(tmp_path / "model.sb")
    expected = np.stack([model.recut(k).predict(new) for k in (2, 7)], axis=1)
    loaded = sb.load(tmp_path / "model.sb")
    np.testing.assert_array_equal(loaded.cut([2, 7], X=new), expected)
    np.testing.assert_array_equal(loaded.cut([2, 7], X=iter([new[:20], new[20:]])), expected)
    with pytest.raises(ValueError, match=r"no labels_ after load.*: give the rows by cut\(…, X=X\)"):
        loaded.cut([2, 7])


def test_leaves_of_rows_take_four_bytes_each():
    model = sb.Betula(4, max_leaves=50).fit(points())
    assert model._leaf_of_row.dtype == np.int32
    assert model.labels_ is model.labels_  # looked up once


# -- labels_ after partial_fit


@some
@given(seed=seeds, sizes=st.lists(st.integers(1, 80), min_size=1, max_size=4))
def test_after_partial_fit_labels_are_those_of_the_last_batch(seed, sizes):
    model = sb.Betula(2, max_leaves=60)
    model.partial_fit(points(5, seed=seed))
    for number, size in enumerate(sizes):
        batch = points(size, seed=seed + number)
        model.partial_fit(batch)
        np.testing.assert_array_equal(model.labels_, model.predict(batch))


BATCHES = {
    "array": lambda X, folder: X,
    "float32": lambda X, folder: X.astype(np.float32),
    "list": lambda X, folder: X.tolist(),
    "frame": lambda X, folder: pd.DataFrame(X, columns=list("abc")),
    "file": lambda X, folder: write(pd.DataFrame(X, columns=list("abc")), folder / "rows.parquet"),
    "map": lambda X, folder: mapped(X, folder),
}


def mapped(X, folder):
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", BATCHES)
def test_every_batch_that_can_be_had_again_has_labels(kind, weighted, tmp_path):
    X = groups()
    batch = BATCHES[kind](X, tmp_path)
    weight = np.arange(300) % 3 if weighted else None
    model = sb.Betula(4, max_leaves=50).partial_fit(batch, sample_weight=weight)
    np.testing.assert_array_equal(model.labels_, model.predict(BATCHES[kind](X, tmp_path)))
    again = model.recut(2)
    np.testing.assert_array_equal(again.labels_, model.cut(2))


def test_a_batch_that_the_caller_changes_later_has_the_labels_of_its_rows():
    X = groups()
    buffer = X.copy()
    model = sb.Betula(4, max_leaves=50).partial_fit(buffer)
    buffer[:] = 0
    np.testing.assert_array_equal(model.labels_, model.predict(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_rows_of_a_memory_map_are_not_copied(dtype, tmp_path):
    X = np.random.default_rng(0).integers(-9, 9, (100_000, 4)).astype(dtype)
    rows = mapped(X, tmp_path)
    model = sb.Betula(4, max_leaves=50).partial_fit(rows[:10])
    tracemalloc.start()
    try:
        model.partial_fit(rows)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 400_000
    np.testing.assert_array_equal(model.labels_, model.predict(rows))


@pytest.mark.parametrize(
    "parameters",
    [{"metric": "cosine"}, {"projection": 4}, {"projection": 4, "metric": "cosine"}, {"forget": 0.5}],
    ids=str,
)
def test_a_batch_of_rows_that_are_changed_for_the_tree_has_labels(parameters):
    X = points(d=8)
    model = sb.Betula(4, max_leaves=50, **parameters).partial_fit(X[:200]).partial_fit(X[200:])
    np.testing.assert_array_equal(model.labels_, model.predict(X[200:]))
    np.testing.assert_array_equal(model.cut([2, 3]), model.cut([2, 3], X=X[200:]))


def test_a_batch_of_sparse_rows_has_labels():
    X = scipy.sparse.random_array((200, 60), density=0.1, random_state=0, format="csr")
    model = sb.Betula(4, projection=8).partial_fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))


def test_centers_and_tables_after_partial_fit_are_those_of_all_rows_not_of_the_batch():
    X = groups()
    model = sb.Betula(4, max_leaves=50).partial_fit(X[:200]).partial_fit(X[200:])
    assert len(model.labels_) == 100
    assert model.clusters_.weight.sum() == 300
    assert not model.clusters_.labelled


NO_LABELS = {
    "a stream": lambda: sb.Betula(2).partial_fit(iter([points()])),
    "fit of a stream": lambda: sb.Betula(2).fit(iter([points()])),
    "features": lambda: sb.Betula(2).partial_fit(sb.ClusterFeatures(1, points(), 0)),
    "max_memory": lambda: sb.Betula(2, max_memory="10MB").partial_fit(points()),
    "pickled": lambda: pickle.loads(pickle.dumps(sb.Betula(2).partial_fit(points()))),
    "features after rows": lambda: sb.Betula(2).fit(points()).partial_fit(sb.ClusterFeatures(1, points(), 0)),
}


@pytest.mark.parametrize("make", NO_LABELS.values(), ids=NO_LABELS.keys())
def test_a_model_without_labels_says_what_to_use_instead(make):
    model = make()
    assert not hasattr(model, "labels_")
    with pytest.raises(AttributeError, match=r"no labels_ after load, .*: use predict"):
        _ = model.labels_
    with pytest.raises(ValueError, match=r"cut\(…, X=X\)"):
        model.cut(2)
    assert len(model.predict(points())) == 300


def test_labels_of_a_batch_are_not_pickled_even_after_use():
    model = sb.Betula(2).partial_fit(points())
    assert len(model.labels_) == 300
    assert not hasattr(pickle.loads(pickle.dumps(model)), "labels_")
    assert len(model.labels_) == 300


def test_labels_of_fit_are_pickled():
    model = sb.Betula(2).fit(points())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).labels_, model.labels_)


# -- errors speak of the class that people use


def test_wrong_names_of_parameters_speak_of_betula():
    with pytest.raises(TypeError, match=r"^Betula\.__init__\(\) got an unexpected keyword argument 'clusters'"):
        sb.Betula(clusters=3)
    with pytest.raises(TypeError, match=r"^Betula\.__init__\(\) takes .* positional arguments"):
        sb.Betula(3, 4)
    with pytest.raises(ValueError, match="Invalid parameter 'clusters' for estimator Betula"):
        sb.Betula().set_params(clusters=3)


@pytest.mark.parametrize("method", ["cut", "recut"])
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_cluster": 3}, TypeError, r"cut\(\) got an unexpected keyword argument 'n_cluster'"),
        ({"n_clusters": 2, "min_size": 0}, ValueError, "min_size=0: must be a positive number of rows"),
        ({"n_clusters": 2, "noise": 0}, TypeError, "noise=0: must be True or False"),
    ],
)
def test_wrong_options_of_a_cut_are_refused(method, options, error, message):
    model = sb.Betula(3, max_leaves=50).fit(groups())
    with pytest.raises(error, match=message):
        getattr(model, method)(**options)

"""The table of clusters is that of the labelled rows, and is shown as text, HTML and a data frame."""

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import silverbirch as sb
from models import AGGREGATION, groups, points, seeds, some
from silverbirch.model.cluster_table import merged_by_label, nearest_other, table_of
from silverbirch.model.labelled import LabelledLeaves

# -- the numbers


@pytest.mark.parametrize("aggregation", AGGREGATION)
@some
@given(seed=seeds, k=st.integers(1, 8), weighted=st.booleans())
def test_sizes_centers_and_deviations_are_those_of_the_labelled_rows(aggregation, seed, k, weighted):
    random = np.random.default_rng(seed)
    X = points(200, 3, seed)
    weight = random.uniform(0.5, 2, 200) if weighted else np.ones(200)
    model = sb.Betula(k, **aggregation).fit(X, sample_weight=weight if weighted else None)
    table = model.clusters_
    assert table.labelled
    assert len(table) == model.n_clusters_ == k
    np.testing.assert_array_equal(table.number, np.arange(k))
    np.testing.assert_array_equal(table.rows, np.bincount(model.labels_, minlength=k))
    np.testing.assert_allclose(table.weight, np.bincount(model.labels_, weight, k), rtol=1e-12)
    np.testing.assert_array_equal(table.center, model.cluster_centers_)
    for cluster in np.flatnonzero(table.rows):
        own = model.labels_ == cluster
        center = np.average(X[own], axis=0, weights=weight[own])
        np.testing.assert_allclose(table.center[cluster], center, rtol=1e-9, atol=1e-9)
        squared = ((X[own] - center) ** 2).sum(axis=1)
        np.testing.assert_allclose(table.rmsd[cluster] ** 2, np.average(squared, weights=weight[own]), atol=1e-9)
    np.testing.assert_allclose(table.mean, np.average(X, axis=0, weights=weight), atol=1e-9)


def test_without_aggregation_deviations_and_effects_are_those_of_the_columns():
    X = groups() * [1, 10, 100] + [0, 5, 1e6]
    table = sb.Betula(4, max_leaves=None).fit(X).clusters_
    np.testing.assert_allclose(table.deviation, X.std(axis=0), rtol=1e-9)
    effects = (table.center - X.mean(axis=0)) / X.std(axis=0)
    order = np.argsort(-np.abs(effects), axis=1)
    np.testing.assert_array_equal(table.distinguishing, order)
    np.testing.assert_allclose(table.effect, np.take_along_axis(effects, order, axis=1), rtol=1e-6)


def test_deviations_of_aggregated_columns_keep_the_total_variance():
    X = points(3000, 5) * [1, 2, 3, 4, 5]
    table = sb.Betula(4, max_leaves=300).fit(X).clusters_
    assert (table.deviation**2).sum() == pytest.approx(X.var(axis=0).sum(), rel=1e-9)
    np.testing.assert_allclose(table.deviation, X.std(axis=0), rtol=0.25)


def test_constant_columns_distinguish_nothing():
    X = np.column_stack([groups(), np.full(300, 7.0)])
    table = sb.Betula(4).fit(X).clusters_
    assert table.deviation[3] == 0
    assert all("column 3" not in cluster.distinguishing for cluster in table)


@pytest.mark.parametrize("method", ["partial_fit", "features", "loaded", "stream"])
def test_absorbed_rows_are_shown_where_no_row_was_labelled(method, tmp_path):
    X = points(1000)
    model = sb.Betula(5, max_leaves=60)
    if method == "loaded":
        model.partial_fit(X).save(tmp_path / "model.sb")
        model = sb.load(tmp_path / "model.sb")
    else:
        given = {"features": lambda: sb.CFTree(max_leaves=60).insert(X).features, "stream": lambda: iter([X])}
        (model.fit if method == "stream" else model.partial_fit)(given.get(method, lambda: X)())
    table = model.clusters_
    assert not table.labelled
    weight = np.bincount(model.subcluster_labels_, model.features_.weight)
    np.testing.assert_allclose(table.weight, weight)
    np.testing.assert_array_equal(table.rows, weight)
    assert table.weight @ table.rmsd**2 == pytest.approx(model.dendrogram_.sse(5))


@pytest.mark.parametrize("refine", [0, 1])
def test_a_loaded_model_has_the_same_table(refine, tmp_path):
    model = sb.Betula(5, max_leaves=60, refine=refine).fit(pd.DataFrame(points(1000), columns=list("abc")))
    model.save(tmp_path / "model.sb")
    loaded = sb.load(tmp_path / "model.sb").clusters_
    assert loaded.labelled
    assert repr(loaded) == repr(model.clusters_)
    np.testing.assert_array_equal(loaded.center, model.cluster_centers_)


def test_a_cluster_to_which_no_row_was_labelled_has_the_center_of_its_leaves():
    leaves = sb.ClusterFeatures([2.0, 3.0, 1.0], [[0.0], [5.0], [9.0]], [1.0, 0.0, 0.0])
    model = sb.Betula(3).partial_fit(leaves)
    counted = sb.ClusterFeatures([4.0, 0.0, 2.0], [[1.0], [5.0], [9.5]], [1.0, 0.0, 0.5])
    model._labelled = LabelledLeaves(np.array([4, 0, 2]), counted)
    table = model.clusters_
    assert table.rows.tolist() == [0, 4, 2]  # numbered by the weight that was absorbed
    assert table.center.ravel().tolist() == [5.0, 1.0, 9.5]
    assert table.rmsd.tolist() == [0.0, 0.5, 0.5]
    assert "nan" not in repr(table)


def test_noise_belongs_to_no_cluster():
    leaves = sb.ClusterFeatures([2.0, 3.0, 1.0], [[1e8], [1e8 + 2], [1e8 + 9]], [1.0, 0.5, 0.0])
    merged = merged_by_label(leaves, np.array([0, -1, 1]), 2)
    assert merged.weight.tolist() == [2.0, 1.0]
    assert merged.mean.ravel().tolist() == [1e8, 1e8 + 9]
    assert merged.sse.tolist() == [1.0, 0.0]
    nothing = merged_by_label(leaves, np.full(3, -1), 0)
    table = table_of(nothing, leaves, None, (), ("x",))
    assert len(table) == 0
    assert "cluster" in repr(table)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_clusters_of_directions_are_those_of_the_unit_rows(method):
    X = groups() + np.array([0, 0, 1.0])
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    table = getattr(sb.Betula(4, metric="cosine", max_leaves=None), method)(X).clusters_
    expected = getattr(sb.Betula(4, max_leaves=None), method)(unit).clusters_
    np.testing.assert_array_equal(table.rows, expected.rows)
    np.testing.assert_allclose(table.center, expected.center, atol=1e-12)
    np.testing.assert_allclose(table.deviation, unit.std(axis=0), rtol=1e-9)


def test_columns_of_a_projection_are_not_named_as_columns_of_the_rows():
    frame = pd.DataFrame(points(100, 20), columns=[f"c{i}" for i in range(20)])
    table = sb.Betula(3, projection=5).fit(frame).clusters_
    assert table.center.shape == (3, 5)
    assert table.columns == tuple(f"projection {i}" for i in range(5))
    assert table.to_pandas().shape == (3, 12)


# -- the nearest other cluster


@some
@given(seed=seeds, k=st.integers(2, 60), d=st.integers(1, 5), shift=st.sampled_from([0.0, 1e7]))
def test_the_nearest_other_center_is_that_of_brute_force(seed, k, d, shift):
    centers = points(k, d, seed).round(1) + shift  # with ties and equal centres
    distances = cdist(centers, centers)
    np.fill_diagonal(distances, np.inf)
    found = nearest_other(centers)
    assert (found != np.arange(k)).all()
    np.testing.assert_allclose(distances[np.arange(k), found], distances.min(axis=1), atol=1e-6)


def test_blocks_of_centers_give_the_same_neighbours(monkeypatch):
    centers = points(100, 3)
    whole = nearest_other(centers)
    monkeypatch.setattr("silverbirch.model.cluster_table._BLOCK_BYTES", 8 * 100 * 7)
    np.testing.assert_array_equal(nearest_other(centers), whole)


def test_one_cluster_shows_everything_but_its_center():
    cluster = sb.Betula(2).fit(np.eye(384)).clusters_[0]
    shown = repr(cluster)
    assert shown.startswith(f"Cluster(number=0, name='', rows={cluster.rows}, ")
    assert "nearest=1" in shown
    assert "distinguishing={'column " in shown
    assert "array" not in shown


def test_a_single_cluster_has_no_neighbour():
    table = sb.Betula(1).fit(points()).clusters_
    assert table.nearest.tolist() == [-1]
    assert np.isnan(table.nearest_distance).all()
    assert "nan" not in repr(table)


def test_nearest_and_its_distance_are_those_of_the_centers():
    table = sb.Betula(3).fit([[0.0], [1.0], [10.0]]).clusters_
    assert table.nearest.tolist() == [1, 0, 1]
    assert table.nearest_distance.tolist() == [1.0, 1.0, 9.0]


# -- names


def test_names_of_clusters_are_shown_and_stay_with_their_branches(tmp_path):
    X = np.array([[0.0], [1.0], [2.0], [20.0], [21.0], [90.0]])
    model = sb.Betula(3).fit(X)
    assert model.clusters_.name == ("", "", "")
    assert model.name_clusters(["low", "middle", "high"]) is model
    table = model.clusters_
    assert table.name == ("low", "middle", "high")
    assert table[2].name == "high"
    assert "name" in repr(table).splitlines()[0]
    assert table.to_pandas()["name"].tolist() == ["low", "middle", "high"]
    assert model.recut(2).clusters_.name == ("", "high")
    model.name_clusters({0: "not high"})
    assert model.clusters_.name == ("not high", "high")
    model.save(tmp_path / "model.sb")
    loaded = sb.load(tmp_path / "model.sb")
    assert loaded.clusters_.name == ("not high", "high")
    assert loaded.recut(3).clusters_.name == ("low", "middle", "high")


def test_names_given_to_the_dendrogram_are_shown():
    model = sb.Betula(3).fit(points())
    assert not any(model.clusters_.name)
    model.dendrogram_.name_clusters(["a", "b", "c"], 3)
    assert model.clusters_.name == ("a", "b", "c")


def test_a_wrong_number_of_names_is_refused():
    model = sb.Betula(3).fit(points())
    with pytest.raises(ValueError, match="2 names but 3 clusters"):
        model.name_clusters(["a", "b"])
    with pytest.raises(IndexError):
        model.name_clusters({3: "d"})


# -- what people see


def example():
    rows = pd.DataFrame({"x": [0.0, 0, 0, 8], "y": [1.0, 3, 2, 2]})
    return sb.Betula(2).fit(rows).clusters_


def test_a_row_of_the_table_is_a_cluster():
    table = example()
    first = table[0]
    assert (first.number, first.rows, first.weight, first.nearest) == (0, 3, 3.0, 1)
    assert first.distinguishing == {"x": pytest.approx(-2 / np.sqrt(12))}
    assert table[-1].number == 1
    assert [cluster.number for cluster in table] == [0, 1]
    with pytest.raises(IndexError, match="cluster 2 does not exist: there are 2"):
        table[2]


def test_the_text_is_aligned_and_says_what_distinguishes_a_cluster():
    assert repr(example()).splitlines() == [
        "cluster  rows    rmsd  nearest  differs most in",
        "      0     3  0.8165   1 at 8  x -0.58",
        "      1     1       0   0 at 8  x +1.73",
    ]


def test_many_clusters_are_cut_short():
    text = repr(sb.Betula(50).fit(points()).clusters_)
    assert len(text.splitlines()) == 22
    assert text.endswith("\n… 30 more")


def test_weights_are_shown_where_they_are_not_the_rows():
    table = sb.Betula(2).fit(points(20), sample_weight=np.full(20, 0.5)).clusters_
    assert "weight" in repr(table).splitlines()[0]
    assert "weight" not in repr(example()).splitlines()[0]


def test_the_html_is_escaped():
    rows = pd.DataFrame({"<script>": [0.0, 1, 9]})
    html = sb.Betula(2).fit(rows).clusters_._repr_html_()
    assert html.startswith("<table>")
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_the_data_frame_has_all_columns():
    frame = example().to_pandas()
    assert frame.index.name == "cluster"
    columns = ["name", "rows", "weight", "rmsd", "nearest", "nearest_distance", "distinguishing"]
    assert list(frame.columns) == [*columns, "center of x", "center of y"]
    assert frame.loc[1, "distinguishing"] == "x +1.73"
    assert frame["center of x"].tolist() == [0.0, 8.0]


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = sb.Betula(2).fit(points()).clusters_
    with pytest.raises(ImportError, match="pip install pandas"):
        table.to_pandas()


def test_the_table_is_frozen_and_made_once():
    model = sb.Betula(3).fit(points())
    table = model.clusters_
    assert model.clusters_ is table
    with pytest.raises(ValueError, match="read-only"):
        table.rows[0] = 0
    with pytest.raises(AttributeError):
        table.rows = None
    assert model.recut(4).clusters_ is not table

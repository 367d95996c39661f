"""Models of directions: metric="cosine" and "correlation"."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.preprocessing import Normalizer

import silverbirch as sb
from commands import silverbirch
from models import points, seeds, some, state

DIRECTIONAL = ["cosine", "correlation"]
EUCLIDEAN_HEIGHTS = ["ward", "centroid", "median"]
SCIPYS_HEIGHTS = ["single", "complete", "average", "weighted"]


def rows(n=200, d=6, seed=0):
    """Rows of very different lengths around a few directions."""
    random = np.random.default_rng(seed)
    near = random.normal(size=(4, d))[random.integers(0, 4, n)] + 0.1 * random.normal(size=(n, d))
    return near * random.lognormal(sigma=3, size=(n, 1))


def unit(X, metric):
    return Normalizer().transform(X - X.mean(axis=1, keepdims=True) if metric == "correlation" else X)


@pytest.mark.parametrize("metric", DIRECTIONAL)
@pytest.mark.parametrize("linkage", SCIPYS_HEIGHTS)
def test_without_aggregation_heights_are_scipys_distances(linkage, metric):
    X = rows()
    Z = sb.Betula(linkage=linkage, metric=metric, max_leaves=None).fit(X).linkage_matrix_
    assert_allclose(Z[:, 2], hierarchy.linkage(X, linkage, metric)[:, 2], rtol=0, atol=1e-12)


@pytest.mark.parametrize("metric", DIRECTIONAL)
@pytest.mark.parametrize("linkage", EUCLIDEAN_HEIGHTS)
def test_heights_of_linkages_of_means_are_euclidean_on_unit_rows(linkage, metric):
    X = rows()
    Z = sb.Betula(linkage=linkage, metric=metric, max_leaves=None).fit(X).linkage_matrix_
    assert_allclose(Z[:, 2], hierarchy.linkage(unit(X, metric), linkage)[:, 2], rtol=0, atol=1e-9)


@pytest.mark.parametrize("metric", DIRECTIONAL)
def test_a_model_of_directions_is_the_model_of_unit_rows(metric):
    X = rows(1000)
    model = sb.Betula(5, metric=metric, max_leaves=60, refine=1).fit(X)
    plain = sb.Betula(5, max_leaves=60, refine=1).fit(unit(X, metric))
    assert_allclose(model.features_.mean, plain.features_.mean, atol=1e-12)
    assert_array_equal(model.labels_, plain.labels_)
    assert_array_equal(model.labels_, model.predict(X))
    assert_allclose(model.score(X), plain.score(unit(X, metric)), rtol=1e-9)
    assert_allclose(model.transform(X), np.stack([1 - np.corrcoef(c, X)[0, 1:] for c in model.cluster_centers_], 1)
                    if metric == "correlation" else 1 - unit(X, metric) @ unit(model.cluster_centers_, metric).T,
                    atol=1e-12)  # fmt: skip


@some
@given(seed=seeds)
def test_the_length_of_a_row_changes_nothing(seed):
    X = rows(seed=seed)
    powers = 2.0 ** np.random.default_rng(seed).integers(-40, 40, size=(len(X), 1))
    first, second = (sb.Betula(4, metric="cosine", max_leaves=30).fit(some_rows) for some_rows in (X, powers * X))
    assert_array_equal(first.linkage_matrix_, second.linkage_matrix_)
    assert_array_equal(first.labels_, second.labels_)


@pytest.mark.parametrize("metric", DIRECTIONAL)
def test_chunks_files_and_pickles_keep_the_metric(metric, tmp_path):
    X = rows(600).astype(np.float32)
    whole = sb.Betula(4, metric=metric, linkage="average", max_leaves=50).fit(X)
    parts = clone(whole)
    for part in np.array_split(X, 5):
        parts.partial_fit(part)
    assert_array_equal(parts.linkage_matrix_, whole.linkage_matrix_)
    whole.save(tmp_path / "model.sb")
    loaded = sb.load(tmp_path / "model.sb")
    assert loaded.metric == metric
    assert state(loaded, X)[:-1] == state(whole, X)[:-1]
    np.save(tmp_path / "rows.npy", X)
    assert_array_equal(sb.Betula(4, metric=metric, linkage="average", max_leaves=50).fit(tmp_path / "rows.npy").labels_,
                       whole.labels_)  # fmt: skip


def test_the_metric_is_fixed_by_the_first_rows():
    X = rows()
    model = sb.Betula(3, metric="cosine", max_leaves=50).partial_fit(X)
    assert_array_equal(model.set_params(metric="euclidean").predict(100 * X), model.predict(X))
    with pytest.raises(ValueError, match="metric='angular': must be one of 'euclidean', 'cosine', 'correlation'"):
        sb.Betula(metric="angular").fit(X)


@pytest.mark.parametrize(("metric", "text"), [("cosine", "zero in every column"), ("correlation", "constant")])
def test_a_row_without_direction_is_named_and_changes_nothing(metric, text):
    X = rows()
    model = sb.Betula(3, metric=metric, max_leaves=50).fit(X)
    before = state(model, X)
    bad = X.copy()
    bad[17] = 0
    for refuse in (model.fit, model.partial_fit, model.predict):
        with pytest.raises(ValueError, match=f"row 17 is {text}: it has no direction"):
            refuse(bad)
    assert state(model, X) == before
    sb.Betula(3, metric=metric, max_leaves=50).fit(bad, sample_weight=np.arange(len(X)) != 17)


@pytest.mark.parametrize("metric", DIRECTIONAL)
def test_the_command_line_gives_the_labels_of_the_estimator(metric, tmp_path):
    X = rows(500)
    np.save(tmp_path / "rows.npy", X)
    arguments = ["-k", 4, "--metric", metric, "--linkage", "average", "--max-leaves", 60]
    out = ["--labels", tmp_path / "labels.npy", "--model", tmp_path / "model.sb"]
    assert silverbirch("cluster", tmp_path / "rows.npy", *arguments, *out).exit_code == 0
    model = sb.Betula(4, metric=metric, linkage="average", max_leaves=60).fit(X)
    assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)
    loaded = sb.load(tmp_path / "model.sb")
    assert isinstance(loaded, sb.Betula)
    assert_array_equal(loaded.linkage_matrix_, model.linkage_matrix_)
    assert_array_equal(loaded.predict(X), model.labels_)


def test_features_of_unit_rows_keep_their_metric_through_aggregate_and_cluster(tmp_path):
    X = rows(500)
    np.save(tmp_path / "rows.npy", X)
    tree = ["--metric", "cosine", "--distance", "average", "--max-leaves", 60]
    assert silverbirch("aggregate", tmp_path / "rows.npy", *tree, "-o", tmp_path / "rows.sb").exit_code == 0
    arguments = ["-k", 4, "--linkage", "average", "--max-leaves", 60, "--model", tmp_path / "model.sb"]
    assert silverbirch("cluster", tmp_path / "rows.sb", *arguments).exit_code == 0
    model = sb.load(tmp_path / "model.sb")
    expected = sb.Betula(4, metric="cosine", linkage="average", max_leaves=60).fit(X)
    assert model.metric == "cosine"
    assert_allclose(model.linkage_matrix_, expected.linkage_matrix_, atol=1e-12)
    assert_array_equal(model.predict(X), expected.labels_)


def test_distances_are_one_to_a_mean_of_rows_that_cancel():
    X = np.array(10 * [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    model = sb.Betula(1, metric="cosine", max_leaves=1).fit(X)
    assert_allclose(model.cluster_centers_, 0, atol=1e-15)  # rounding leaves some direction
    assert_allclose(model.transform(X), 1)


@pytest.mark.parametrize("metric", DIRECTIONAL)
def test_distances_are_scipys_and_a_row_without_direction_has_none(metric):
    X = rows()
    model = sb.Betula(4, metric=metric).fit(X)
    assert_allclose(model.transform(X), cdist(X, model.cluster_centers_, metric), atol=1e-12)
    with pytest.raises(ValueError, match=r"row 2 .* no direction"):
        model.transform(np.vstack([X[:2], np.zeros(6)]))


@pytest.mark.parametrize("metric", DIRECTIONAL)
def test_the_command_line_clusters_the_features_of_a_saved_model_by_its_metric(metric, tmp_path):
    X = rows(500)
    model = sb.Betula(4, metric=metric, linkage="average", max_leaves=60).fit(X)
    model.save(tmp_path / "model.sb")
    sb.ClusterFeatures(1, points(5, 6), 0).save(tmp_path / "others.sb")
    arguments = ["-k", 4, "--linkage", "average", "--model", tmp_path / "again.sb"]
    mixed = silverbirch("cluster", tmp_path / "model.sb", tmp_path / "others.sb", *arguments)
    assert mixed.exit_code == 1
    assert "--metric was euclidean" in mixed.stderr
    assert silverbirch("cluster", tmp_path / "model.sb", *arguments).exit_code == 0
    again = sb.load(tmp_path / "again.sb")
    assert again.metric == metric
    assert_allclose(again.linkage_matrix_[:, 2], model.linkage_matrix_[:, 2], atol=1e-12)
    assert_array_equal(again.predict(X), model.labels_)


@pytest.mark.parametrize("metric", DIRECTIONAL)
def test_features_of_other_rows_are_refused_when_they_are_inserted(metric):
    X = rows()
    model = sb.Betula(3, metric=metric).fit(X)
    before = state(model, X)
    # Features of weight 0 count as none. The others have a mean squared length of 1 once they are merged.
    long_and_short = sb.ClusterFeatures([0, 1, 1], unit(X[:3], metric) * np.sqrt([[9], [1.5], [0.5]]), 0)
    with pytest.raises(ValueError, match=r"feature 1 is not of unit rows"):
        model.partial_fit(long_and_short)
    assert state(model, X) == before
    assert model.partial_fit(sb.ClusterFeatures(1, unit(X[:3], metric), 0)).tree_.n_points == len(X) + 3


def test_features_that_are_refused_leave_a_new_model_as_it_was():
    model = sb.Betula(3, metric="cosine")
    before = dict(vars(model))
    for refused in (sb.ClusterFeatures(0, points(3), 0), sb.ClusterFeatures(1, points(3), 0)):
        with pytest.raises(ValueError, match=r"weight is zero|not of unit rows"):
            model.partial_fit(refused)
        assert vars(model) == before


def test_rows_without_direction_are_left_out_on_request(tmp_path):
    X = points(300)
    X[[5, 200]] = 0
    np.save(tmp_path / "rows.npy", X)
    arguments = ["cluster", tmp_path / "rows.npy", "-k", 3, "--metric", "cosine", "--labels", tmp_path / "labels.csv"]
    refused = silverbirch(*arguments)
    assert refused.exit_code == 1
    assert "row 5 of" in refused.stderr
    assert "--missing drop" in refused.stderr
    assert silverbirch(*arguments, "--missing", "drop").exit_code == 0
    labels = (tmp_path / "labels.csv").read_text().splitlines()[1:]
    assert [number for number, label in enumerate(labels) if label == '""'] == [5, 200]

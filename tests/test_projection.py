"""Betula(projection=k): sparse and wide rows, projected at random chunk by chunk."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.random_projection import SparseRandomProjection
from sklearn.utils import get_tags

import silverbirch as sb
from model_files import file_of
from models import points, state
from silverbirch.rows.projected_source import Projection
from silverbirch.storage.loading import content_of


def texts(rows=400, words=1500, groups=4, seed=0):
    """TF-IDF of short texts: each group has words of its own, and all share some."""
    rng = np.random.default_rng(seed)
    group = np.arange(rows) % groups
    own = rng.integers(0, words // groups, (rows, 6)) + (group * (words // groups))[:, None]
    both = np.column_stack([own % 40 + (group * (words // groups))[:, None], rng.integers(0, words, (rows, 2))])
    documents = [" ".join(f"word{number}" for number in row) for row in both]
    return TfidfVectorizer().fit_transform(documents).sorted_indices(), group


def relative_errors(X, k):
    before = pdist(X.toarray(), "sqeuclidean")
    return pdist(Projection(k).apply(X), "sqeuclidean")[before > 0] / before[before > 0] - 1


# -- what the projection costs


@pytest.mark.parametrize("k", [64, 256])
def test_squared_distances_of_short_texts_keep_their_mean_and_vary_by_the_root_of_2_over_k(k):
    X, _ = texts()
    errors = relative_errors(X, k)
    assert abs(errors.mean()) < 0.5 * np.sqrt(2 / k)  # all pairs share one matrix: the mean varies too
    assert errors.std() == pytest.approx(np.sqrt(2 / k), rel=0.2)


def test_it_is_as_good_as_that_of_scikit_learn_with_the_same_density():
    X, _ = texts()
    before = pdist(X.toarray(), "sqeuclidean")
    theirs = SparseRandomProjection(64, density=1 / 3, random_state=0).fit_transform(X).toarray()
    assert relative_errors(X, 64).std() == pytest.approx((pdist(theirs, "sqeuclidean") / before - 1).std(), rel=0.2)


def test_the_signs_are_those_of_achlioptas():
    projection = Projection(100)
    projection.apply(np.ones((1, 3000)))
    shares = [(projection.signs == sign).mean() for sign in (-1, 0, 1)]
    np.testing.assert_allclose(shares, [1 / 6, 2 / 3, 1 / 6], atol=0.003)


def test_the_signs_do_not_change_from_version_to_version():
    projection = Projection(6)
    projection.apply(np.ones((1, 9)))
    assert "".join("-0+"[sign + 1] for sign in projection.signs.ravel()) == SIGNS


SIGNS = "00000+-00-00000000+0++-000000+00+000+-000000-+0-000+0+"  # a model of several parts needs the same in all


# -- sparse rows


KINDS = [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.lil_array]


@pytest.mark.parametrize("kind", KINDS)
def test_every_sparse_format_equals_the_dense_rows(kind):
    X, group = texts()
    model = sb.Betula(4, projection=100).fit(kind(X))
    dense = sb.Betula(4, projection=100).fit(X.toarray())
    assert model.features_ == dense.features_
    np.testing.assert_array_equal(model.labels_, dense.labels_)
    np.testing.assert_array_equal(model.predict(kind(X)), model.labels_)
    assert model.transform(kind(X)).shape == (400, 4)
    assert model.score(kind(X)) == pytest.approx(dense.score(X.toarray()))
    assert (model.n_features_in_, model.cluster_centers_.shape) == (X.shape[1], (4, 100))
    assert model.projection_error_ == pytest.approx(np.sqrt(2 / 100))
    assert adjusted_rand_score(group, model.labels_) > 0.7


def test_projected_rows_are_clustered_as_rows_that_were_projected_before():
    X, _ = texts()
    before = Projection(80).apply(X)
    for parameters in ({}, {"metric": "cosine", "linkage": "average"}, {"refine": 1, "max_leaves": 50}):
        model = sb.Betula(4, projection=80, **parameters).fit(X)
        expected = sb.Betula(4, **parameters).fit(before)
        np.testing.assert_array_equal(model.linkage_matrix_, expected.linkage_matrix_)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_allclose(model.transform(X), expected.transform(before))


@pytest.mark.parametrize("dense", [False, True])
def test_rows_are_projected_the_same_however_they_are_divided(dense):
    X, _ = texts(9000, 300)
    rows = X.toarray() if dense else X
    whole = sb.Betula(4, projection=32, max_leaves=200).fit(rows)
    parts = sb.Betula(4, projection=32, max_leaves=200)
    for start in range(0, 9000, 1234):
        parts.partial_fit(rows[start : start + 1234])
    assert parts.features_ == whole.features_
    np.testing.assert_array_equal(parts.predict(rows), whole.labels_)


def test_weights_count_sparse_rows():
    X, _ = texts()
    weight = np.arange(400) % 3
    model = sb.Betula(4, projection=50).fit(X, sample_weight=weight)
    repeated = sb.Betula(4, projection=50).fit(X[np.repeat(np.arange(400), weight)])
    np.testing.assert_array_equal(model.predict(X), repeated.predict(X))


def test_unsorted_indices_are_left_as_they_are_and_give_the_same_bits():
    X, _ = texts()
    mixed = X[:, np.random.default_rng(0).permutation(X.shape[1])][:, :]
    reversed_rows = sparse.csr_matrix(
        (
            np.concatenate([mixed[i].data[::-1] for i in range(400)]),
            np.concatenate([mixed[i].indices[::-1] for i in range(400)]),
            mixed.indptr,
        ),
        mixed.shape,
    )
    indices = reversed_rows.indices.copy()
    assert sb.Betula(4, projection=50).fit(reversed_rows).features_ == sb.Betula(4, projection=50).fit(mixed).features_
    np.testing.assert_array_equal(reversed_rows.indices, indices)


def test_rows_of_zeros_are_rows():
    X = sparse.csr_array((5, 100))
    assert sb.Betula(projection=10).fit(X).features_.weight.tolist() == [5.0]


# -- dense rows


def test_frames_files_and_streams_are_projected_too(tmp_path):
    X = points(200, 12)
    np.save(tmp_path / "rows.npy", X)
    expected = sb.Betula(4, projection=5).fit(X)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(12)])
    named = sb.Betula(4, projection=5).fit(frame)
    np.testing.assert_array_equal(named.labels_, expected.labels_)
    assert named.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(sb.Betula(4, projection=5).fit(tmp_path / "rows.npy").labels_, expected.labels_)
    np.testing.assert_array_equal(expected.predict(iter([X[:50], X[50:]])), expected.labels_)
    assert expected.transform(X.astype(np.float32)).dtype == np.float32


# -- refusals


def test_sparse_rows_without_a_projection_are_refused_with_the_numbers():
    X = sparse.csr_array((100_000, 50_000))
    message = r"X is a sparse matrix of 100,000 × 50,000: .*40 GB.*projection=256.*TruncatedSVD.*SparseRandomProjection"
    for take in (sb.Betula().fit, sb.Betula().partial_fit, sb.CFTree().insert, sb.read_chunks):
        with pytest.raises(TypeError, match=message):
            take(X)
    assert not get_tags(sb.Betula()).input_tags.sparse
    assert get_tags(sb.Betula(projection=9)).input_tags.sparse


@pytest.mark.parametrize("projection", [0, -3, 2.5, "many", True])
def test_a_wrong_projection_is_refused_by_name(projection):
    with pytest.raises((ValueError, TypeError), match="projection"):
        sb.Betula(projection=projection).fit(points(d=12))


def test_a_projection_to_more_columns_is_refused_and_the_model_stays_empty():
    model = sb.Betula(projection=3)
    with pytest.raises(ValueError, match=r"projection=3 but the rows have 3 columns: .*leave it out"):
        model.fit(points())
    assert not hasattr(model, "n_features_in_")
    assert model.fit(points(d=5)).n_features_in_ == 5


def test_correlation_of_projected_rows_is_refused():
    with pytest.raises(ValueError, match=r"projection with metric='correlation': .*use metric='cosine'"):
        sb.Betula(projection=3, metric="correlation").fit(points(d=9))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused_before_they_are_projected(value):
    X, _ = texts()
    model = sb.Betula(4, projection=50).fit(X)
    before = state(model, X)
    spoilt = X.copy()
    spoilt.data[17] = value
    for method in (model.predict, model.partial_fit, model.fit):
        with pytest.raises(ValueError, match="Input X contains"):
            method(spoilt)
    assert state(model, X) == before


@pytest.mark.parametrize("method", ["predict", "transform", "score", "partial_fit"])
def test_sparse_rows_of_another_width_are_refused(method):
    X, _ = texts()
    model = sb.Betula(4, projection=50).fit(X)
    with pytest.raises(ValueError, match=f"{X.shape[1] - 1} features"):
        getattr(model, method)(X[:, 1:])


def test_features_are_projected_already_and_come_after_rows():
    X, _ = texts()
    model = sb.Betula(4, projection=50).fit(X)
    with pytest.raises(ValueError, match="do not say how many columns the rows have: insert rows first"):
        sb.Betula(4, projection=50).partial_fit(model.features_)
    halves = sb.Betula(4, projection=50).fit(X[:200])
    halves.partial_fit(sb.Betula(4, projection=50).fit(X[200:]).features_)
    assert halves.features_.total().weight.tolist() == [400.0]
    with pytest.raises(ValueError, match="X has 49 columns but the model has 50"):
        halves.partial_fit(sb.Betula(4, projection=49).fit(X).features_)


# -- copies and files


def test_clones_pickles_and_files_project_the_same(tmp_path, monkeypatch):
    X, _ = texts()
    model = sb.Betula(4, projection=50, max_leaves=100).fit(X[:300])
    assert clone(model).projection == 50
    model.save(tmp_path / "model.sb")
    monkeypatch.setattr(np.random, "RandomState", None)  # the matrix is stored, not drawn again
    for copy in (pickle.loads(pickle.dumps(model)), sb.load(tmp_path / "model.sb")):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        assert copy.n_features_in_ == X.shape[1]
        copy.partial_fit(X[300:])
    assert copy.features_ == model.partial_fit(X[300:]).features_


def test_parameters_set_after_fit_do_not_change_how_rows_are_projected(tmp_path):
    X = points(100, 12)
    for before, after in ((None, 3), (5, None), (5, 4)):
        model = sb.Betula(4, projection=before).fit(X)
        model.set_params(projection=after).save(tmp_path / "model.sb")
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        np.testing.assert_array_equal(sb.load(tmp_path / "model.sb").predict(X), model.labels_)


@pytest.mark.parametrize(
    "change",
    [
        lambda signs: signs[1:],
        lambda signs: signs[:, 1:],
        lambda signs: signs[:, :0],
        lambda signs: signs + np.uint8(1),
        lambda signs: signs.astype(np.float64),
        lambda signs: signs.ravel(),
        None,
    ],
    ids=["fewer rows", "fewer columns", "no columns", "values", "type", "1-D", "missing"],
)
def test_files_with_a_wrong_projection_are_refused(change, tmp_path):
    kind, state, arrays = content_of(sb.Betula(2, projection=3).fit(points(20, 8)))
    signs = arrays.pop("projection")
    arrays |= {} if change is None else {"projection": change(signs)}
    (tmp_path / "any.sb").write_bytes(file_of(kind, state, arrays))
    with pytest.raises(sb.ModelFileError, match=r"any.sb does not hold a whole model"):
        sb.load(tmp_path / "any.sb")


def test_a_report_names_no_columns_of_the_rows(tmp_path):
    X = pd.DataFrame(points(100, 12), columns=[f"c{i}" for i in range(12)])
    model = sb.Betula(4, projection=3).fit(X)
    from silverbirch.report import write_report

    write_report(tmp_path / "report.html", model)
    assert "c11" not in (tmp_path / "report.html").read_text() + str(model.clusters_)

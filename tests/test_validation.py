"""Betula refuses bad input and stays as it was."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import silverbirch as sb
from models import points, state

FITTED_NAMES = ["labels_", "n_clusters_", "features_", "dendrogram_", "cluster_centers_", "threshold_"]


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_nothing_can_be_asked_before_fitting(method):
    with pytest.raises(NotFittedError):
        getattr(sb.Betula(), method)(points())


BAD_PARAMETERS = [
    ("n_clusters", 0), ("n_clusters", -2), ("n_clusters", 2.5), ("n_clusters", "two"), ("n_clusters", True),
    ("n_clusters", np.nan),
    ("distance_threshold", -1.0), ("distance_threshold", np.nan), ("distance_threshold", np.inf),
    ("distance_threshold", "far"),
    ("linkage", "wards"), ("linkage", None), ("linkage", 3), ("linkage", "radius"),
    ("max_leaves", 0), ("max_leaves", -5), ("max_leaves", 10.5), ("max_leaves", "many"), ("max_leaves", True),
    ("max_memory", 0), ("max_memory", -1), ("max_memory", "much"), ("max_memory", "5 parsecs"), ("max_memory", [1]),
    ("max_memory", np.nan), ("max_memory", 10),
    ("threshold", -0.1), ("threshold", np.nan), ("threshold", np.inf), ("threshold", "low"), ("threshold", None),
    ("distance", "euclid"), ("distance", 4), ("distance", ""), ("distance", "complete"),
    ("absorption", "radios"), ("absorption", 4), ("absorption", ""),
    ("mode", "center"), ("mode", None), ("mode", 1),
    ("algorithm", "fast"), ("algorithm", None), ("algorithm", "mst"),
    ("n_jobs", 0), ("n_jobs", -10_000), ("n_jobs", 1.5), ("n_jobs", "all"),
    ("progress", "no"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS)
def test_a_wrong_parameter_is_refused_by_name(name, value):
    model = sb.Betula(**{name: value})  # storing it is fine
    with pytest.raises((ValueError, TypeError), match=name):
        model.fit(points(20))
    assert not any(hasattr(model, fitted) for fitted in FITTED_NAMES)


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS)
def test_a_wrong_parameter_is_refused_by_partial_fit_or_the_first_result(name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        sb.Betula(**{name: value}).partial_fit(points(20)).predict(points(20))


def test_both_ways_to_cut_are_refused():
    with pytest.raises(ValueError, match=r"n_clusters and distance_threshold.*None"):
        sb.Betula(3, distance_threshold=1.0).fit(points())


def test_an_algorithm_that_does_not_compute_the_linkage_is_refused_before_any_row_is_read():
    def rows():
        raise AssertionError
        yield

    for metric in ("euclidean", "cosine", "correlation"):
        with pytest.raises(
            ValueError, match=r"algorithm='mst' does not compute 'ward' linkage .*: use algorithm='auto'"
        ):
            sb.Betula(3, algorithm="mst", metric=metric).fit(rows())


@pytest.mark.parametrize(
    ("parameters", "remedy"),
    [
        ({"max_leaves": 12}, "raise max_leaves"),
        ({"max_leaves": None, "threshold": 2.0}, "lower threshold"),
        ({"max_leaves": None, "max_memory": "20kB"}, "raise max_memory"),
    ],
)
def test_more_clusters_than_leaves_says_how_many_there_are_and_the_remedy(parameters, remedy):
    leaves = len(sb.Betula(**parameters).fit(points()).features_)
    with pytest.raises(ValueError, match=rf"n_clusters=200 but there are {leaves} leaves: .*{remedy}"):
        sb.Betula(200, **parameters).fit(points())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.full((50, 2), 0.1), "n_clusters=5 but there is only 1 different row: lower n_clusters"),
        (np.arange(50)[:, None] % 3, "n_clusters=5 but there are only 3 different rows: lower n_clusters"),
    ],
)
@pytest.mark.parametrize("parameters", [{}, {"threshold": 0.01}, {"refine": 1}])
def test_more_clusters_than_different_rows_does_not_ask_for_more_leaves(rows, message, parameters):
    with pytest.raises(ValueError, match=f"^{message}$"):
        sb.Betula(5, **parameters).fit(rows)


def with_value(value):
    X = points(20).astype(object if isinstance(value, str) else float)
    X[7, 1] = value
    return X


BAD_ROWS = {
    "NaN": (with_value(np.nan), "NaN"),
    "infinite": (with_value(np.inf), "infinity"),
    "too large to square": (with_value(1e200), None),
    "strings": (with_value("seven"), None),
    "1-D": (points()[0], "2D|2-D"),
    "3-D": (points()[None], "dim|2-D"),
    "no rows": (np.empty((0, 3)), "0 sample|minimum"),
    "no columns": (np.empty((5, 0)), "0 feature|minimum"),
    "a number": (3.0, "2D|2-D|scalar"),
    "nothing": ([], None),
    "complex": (points() + 1j, "[Cc]omplex"),
    "ragged": ([[1.0, 2.0, 3.0], [1.0, 2.0]], None),
}
WRONG_WIDTH = {"too narrow": (points(d=2), "2 features"), "too wide": (points(d=4), "4 features")}


@pytest.mark.parametrize(("X", "message"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_rows_are_refused(method, X, message):
    model = sb.Betula()
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(model, method)(X)
    assert not any(hasattr(model, fitted) for fitted in FITTED_NAMES)


@pytest.mark.parametrize(("X", "message"), (BAD_ROWS | WRONG_WIDTH).values(), ids=(BAD_ROWS | WRONG_WIDTH).keys())
@pytest.mark.parametrize("method", ["predict", "transform", "score", "partial_fit"])
def test_bad_rows_are_refused_by_a_fitted_model_which_stays_as_it_was(method, X, message):
    good = points()
    model = sb.Betula(4, max_leaves=40).fit(good)
    before = state(model, good)
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(model, method)(X)
    assert state(model, good) == before


@pytest.mark.parametrize("X", [X for X, _ in BAD_ROWS.values()], ids=BAD_ROWS.keys())
def test_a_fit_that_fails_by_its_rows_leaves_the_model_as_it_was(X):
    good = points()
    model = sb.Betula(4, max_leaves=40).fit(good)
    before = state(model, good)
    with pytest.raises((ValueError, TypeError)):
        model.fit(X)
    assert state(model, good) == before


@pytest.mark.parametrize("weight", [-1.0, np.nan, [1.0, 2.0], 0.0])
@pytest.mark.parametrize("d", [3, 5])
def test_a_fit_that_fails_by_its_weights_leaves_the_model_as_it_was(weight, d):
    good = points()
    model = sb.Betula(4, max_leaves=40).fit(good)
    before = state(model, good)
    with pytest.raises((ValueError, TypeError)):
        model.fit(points(30, d, seed=1), sample_weight=weight)
    assert state(model, good) == before


def test_a_fit_that_fails_on_another_table_leaves_the_names_as_they_were():
    good = pd.DataFrame(points(), columns=["a", "b", "c"])
    model = sb.Betula(4).fit(good)
    with pytest.raises(ValueError, match=r"X: row 7, column 'e' is nan: .*drop or fill"):
        model.fit(pd.DataFrame(with_value(np.nan), columns=["d", "e", "f"]))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(good), model.labels_)


LATE_FAILURES = [
    {"n_clusters": 1000},
    {"n_clusters": 0},
    {"n_clusters": "two"},
    {"linkage": "complete", "algorithm": "mst"},
    {"n_jobs": 0},
    {"linkage": "wards"},
]


@pytest.mark.parametrize(
    "change", [*LATE_FAILURES, {"linkage": "minimax", "max_leaves": None, "max_memory": 145_000}], ids=str
)
@pytest.mark.parametrize("d", [3, 5])
def test_a_fit_that_fails_by_its_parameters_leaves_the_model_as_it_was(change, d):
    good = points()
    model = sb.Betula(4, max_leaves=150).fit(good)
    before, parameters = state(model, good), model.get_params()
    with pytest.raises((ValueError, TypeError)):
        model.set_params(**change).fit(points(200, d, seed=1))
    assert state(model.set_params(**parameters), good) == before


@pytest.mark.parametrize("change", [*LATE_FAILURES, {"linkage": "minimax", "max_memory": 30_000}], ids=str)
def test_a_recut_that_fails_leaves_the_model_as_it_was(change):
    good = points()
    model = sb.Betula(4, max_leaves=150).fit(good)
    before, parameters = state(model, good), model.get_params()
    with pytest.raises((ValueError, TypeError)):
        model.set_params(**change).recut()
    assert state(model.set_params(**parameters), good) == before


@pytest.mark.parametrize("weight", [-1.0, np.nan, [1.0, 2.0]])
def test_a_chunk_that_fails_by_its_weights_leaves_the_tree_as_it_was(weight):
    good = points()
    model = sb.Betula(4, max_leaves=40).partial_fit(good)
    before = state(model, good)
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit(points(30, seed=1), sample_weight=weight)
    assert state(model, good) == before


def test_a_first_chunk_that_fails_does_not_fix_the_width():
    model = sb.Betula(2)
    with pytest.raises(ValueError):
        model.partial_fit(points(5, 4), sample_weight=-1.0)
    assert model.partial_fit(points(5, 3)).n_features_in_ == 3


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_of_rows_that_are_refused_late_leaves_the_earlier_fit(n_jobs):
    X = np.random.default_rng(0).normal(size=(6000, 3))
    model = sb.Betula(n_clusters=4, max_leaves=200, n_jobs=n_jobs).fit(X)
    labels, tree, Z = model.labels_.copy(), model.tree_, model.linkage_matrix_.copy()
    spoilt = X.copy()
    spoilt[5000, 2] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(spoilt)
    assert model.tree_ is tree
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.linkage_matrix_, Z)

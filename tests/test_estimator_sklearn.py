"""Betula within scikit-learn: tables, names, pipelines, searches, pickles."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import silverbirch as sb
from models import AGGREGATION, groups, points, state

# -- kinds of input


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    "kind",
    [
        np.ndarray.tolist,
        np.asfortranarray,
        pd.DataFrame,
        pl.DataFrame,
        lambda X: X.astype(object),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X.astype(">f8"),
    ],
    ids=["lists", "columns first", "pandas", "polars", "objects", "strided", "big-endian"],
)
def test_the_kind_of_table_does_not_change_a_bit(kind):
    X = points()
    assert state(sb.Betula(5, max_leaves=40).fit(kind(X)), X) == state(sb.Betula(5, max_leaves=40).fit(X), X)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8, np.int64])
def test_other_number_types_equal_the_same_values_as_float64(dtype):
    X = (points() * 20 + 100).astype(dtype)
    ours, expected = (sb.Betula(5, max_leaves=40).fit(rows) for rows in (X, X.astype(np.float64)))
    assert ours.features_.mean.dtype == np.float64
    assert ours.features_ == expected.features_
    np.testing.assert_array_equal(ours.labels_, expected.labels_)
    np.testing.assert_array_equal(ours.predict(X), expected.labels_)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_rows_are_read_from_a_memory_map_and_left_as_they_are(tmp_path, mode):
    X = points()
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode=mode)
    assert state(sb.Betula(5, max_leaves=40).fit(mapped), X) == state(sb.Betula(5, max_leaves=40).fit(X), X)
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_feature_names_are_kept_and_wrong_ones_refused(frame, method):
    X = points()
    named = frame(dict(zip("abc", X.T, strict=True)))
    model = getattr(sb.Betula(3), method)(named)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(named), sb.Betula(3).fit(X).labels_)
    renamed = frame(dict(zip("abd", X.T, strict=True)))
    for wrong in (renamed, named[["c", "b", "a"]]):
        with pytest.raises(ValueError, match="feature names"):
            model.predict(wrong)
        with pytest.raises(ValueError, match="feature names"):
            model.partial_fit(wrong)


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_names_the_distances_by_cluster(output, frame):
    X = points()
    model = sb.Betula(3).set_output(transform=output)
    table = model.fit_transform(X)
    assert isinstance(table, frame)
    assert list(table.columns) == ["betula0", "betula1", "betula2"] == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(table.to_numpy(), sb.Betula(3).fit(X).transform(X))


# -- scikit-learn's machinery


def test_it_works_at_the_end_and_in_the_middle_of_a_pipeline():
    X = groups() * [1, 10, 100]
    scaled = StandardScaler().fit_transform(X)
    expected = sb.Betula(4).fit(scaled)
    pipeline = make_pipeline(StandardScaler(), sb.Betula(4))
    np.testing.assert_array_equal(pipeline.fit_predict(X), expected.labels_)
    np.testing.assert_array_equal(pipeline.predict(X), expected.labels_)
    assert make_pipeline(sb.Betula(4), StandardScaler()).fit_transform(X).shape == (300, 4)


def test_grid_search_finds_the_clusters_there_are():
    X = groups()
    grid = {"n_clusters": [1, 2, 4], "linkage": ["ward", "complete", "centroid"]}
    search = GridSearchCV(sb.Betula(max_leaves=100), grid, cv=3, error_score="raise").fit(X)
    assert search.best_params_["n_clusters"] == 4
    assert search.best_estimator_.n_clusters_ == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_clone_and_get_params_keep_every_parameter():
    given = {
        "n_clusters": 7, "distance_threshold": None, "linkage": "average", "metric": "cosine", "projection": 6,
        "max_leaves": 50, "max_memory": "1GB", "threshold": 0.1, "distance": "ward", "absorption": "diameter",
        "mode": "aggregation", "algorithm": "generic", "refine": 1, "forget": 0.1, "n_jobs": 2, "progress": False,
        "device": "cpu",
    }  # fmt: skip
    model = sb.Betula(**given)
    assert clone(model.fit(points(d=12))).get_params() == model.get_params() == given
    assert not hasattr(clone(model), "n_features_in_")


@pytest.mark.parametrize("aggregation", AGGREGATION)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_pickle_keeps_all_bits_and_goes_on_to_the_same(aggregation, method):
    X, more = points(), points(200, seed=1)
    model = getattr(sb.Betula(5, **aggregation), method)(X)
    copy = pickle.loads(pickle.dumps(model))
    assert state(copy, more)[:-1] == state(model, more)[:-1]  # without labels_: those of partial_fit are not kept
    assert state(copy.partial_fit(more), X) == state(model.partial_fit(more), X)


def test_pickle_of_a_minimax_model_keeps_the_prototypes():
    model = sb.Betula(5, linkage="minimax").fit(points(50))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.dendrogram_.prototypes, model.dendrogram_.prototypes)
    assert model.dendrogram_.prototypes.shape == (49,)

"""The estimator of silverbirch.dask is that of scikit-learn, and that of silverbirch."""

import doctest
import inspect
import pickle
import re

import dask.array as da
import dask.bag as db
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn
from dask import delayed
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import silverbirch as sb
import silverbirch.dask as sd
from commands import done
from dask_rows import (
    FORMS,
    FRAME,
    NAMES,
    OPTIONS,
    WEIGHT,
    X,
    array,
    frame,
    in_memory,
    rows_for,
    saved,
)
from silverbirch.pipeline.labels import LEFT_OUT
from trees import assert_holds, assert_same_bits


def test_transform_and_score_are_those_of_the_local_model():
    for rows in (array(), frame()):
        model = sd.Betula(**OPTIONS).fit(rows)
        local, memory = model.to_local(), rows_for(model)
        np.testing.assert_array_equal(in_memory(model.transform(rows)), local.transform(memory))
        assert model.score(rows) == pytest.approx(local.score(memory), rel=1e-12)
    assert list(model.transform(rows).columns) == list(model.get_feature_names_out())
    delayed_rows = FORMS["delayed arrays"](None)[0]
    model.fit(delayed_rows)
    np.testing.assert_array_equal(in_memory(model.transform(delayed_rows)), model.to_local().transform(X))


def test_workers_take_one_thread_for_a_task_whatever_n_jobs_is(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    model = sd.Betula(**OPTIONS, n_jobs=-64).fit(array())
    local = model.to_local()
    distances, score = local.transform(X), local.score(X)
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # a worker with fewer cores, on which n_jobs=-64 is not allowed
    np.testing.assert_array_equal(in_memory(model.transform(array())), distances)
    assert model.score(array()) == pytest.approx(score, rel=1e-12)


def test_transform_takes_the_paths_that_fit_takes(tmp_path):
    paths = FORMS["delayed paths"](tmp_path)[0]
    model = sd.Betula(**OPTIONS).fit(paths)
    np.testing.assert_array_equal(in_memory(model.transform(paths)), model.to_local().transform(FRAME))


def test_distances_stay_lazy_where_scikit_learn_returns_frames():
    model = sd.Betula(**OPTIONS).fit(array())
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(model.transform(array()), da.Array)


def test_fit_predict_and_fit_transform_are_lazy():
    model = sd.Betula(**OPTIONS)
    np.testing.assert_array_equal(in_memory(model.fit_predict(array())), model.to_local().predict(X))
    np.testing.assert_array_equal(in_memory(model.fit_transform(array())), model.to_local().transform(X))


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": "cosine"},
        {"projection": 2},
        {"linkage": "average"},
        {"scale": "standard"},
        {"scale": "minmax", "missing": "mean"},
        {"refine": 0},
        {"refine": 2},
        {"distance_threshold": 5.0, "n_clusters": None},
    ],
    ids=str,
)
def test_labels_are_those_of_the_local_model_to_the_bit(parameters):
    rows = X.copy()
    if parameters.get("missing") == "mean":
        rows[::9, 1] = np.nan
        rows[:100, 2] = np.nan  # in a whole partition
    model = sd.Betula(**OPTIONS | parameters).fit(array(rows))
    local = model.to_local()
    np.testing.assert_array_equal(in_memory(model.labels_), local.predict(rows))
    np.testing.assert_array_equal(in_memory(model.transform(array(rows))), local.transform(rows))
    assert model.features_.weight.sum() == 800


def test_rows_that_are_left_out_have_no_label():
    rows = X.copy()
    rows[::9, 1] = np.nan
    gone = np.isnan(rows).any(axis=1)
    model = sd.Betula(**OPTIONS, missing="drop").fit(array(rows))
    assert model.counts_ == {"rows": 800, "dropped": gone.sum(), "filled": 0}
    assert_holds(model.features_, rows[~gone])
    labels = in_memory(model.labels_)
    np.testing.assert_array_equal(labels == LEFT_OUT, gone)
    np.testing.assert_array_equal(labels[~gone], model.to_local().predict(rows[~gone]))
    assert model.score(array(rows)) == pytest.approx(model.to_local().score(rows[~gone]), rel=1e-12)
    with pytest.raises(ValueError, match=r"a value is missing in .*row \d"):
        model.transform(array(rows)).compute()

    named = sd.Betula(**OPTIONS, missing="drop").fit(frame(pd.DataFrame(rows, columns=NAMES)))
    series = named.labels_.compute()
    assert named.labels_.dtype == series.dtype == "Int64"
    np.testing.assert_array_equal(series.isna(), gone)
    np.testing.assert_array_equal(series.dropna().astype(int), labels[~gone])
    listed = db.from_sequence(rows.tolist(), npartitions=8)
    found = named.fit(listed).labels_.compute(scheduler="threads")
    assert [label is None for label in found] == gone.tolist()


def test_a_key_that_a_dictionary_lacks_is_a_missing_value():
    rows = X.copy()
    rows[::100, 1] = rows[5::100, 2] = np.nan  # the first item of each partition, too
    items = [{name: value for name, value in zip(NAMES, row, strict=True) if value == value} for row in rows.tolist()]
    lacking = db.from_sequence(items, npartitions=8)
    found, expected = (sd.Betula(**OPTIONS, missing="mean").fit(some) for some in (lacking, array(rows)))
    assert found.counts_ == expected.counts_ == {"rows": 800, "dropped": 0, "filled": 16}
    assert_same_bits(found.features_, expected.features_)
    assert list(found.feature_names_in_) == NAMES
    with pytest.raises(ValueError, match=r"^partition \d: column '[yz]' is missing in row"):
        sd.Betula(**OPTIONS).fit(lacking)


@pytest.mark.parametrize("missing", ["error", "drop", "mean"])
def test_a_chunk_without_any_list_has_missing_rows_for_a_model_without_names(missing):
    model = sd.Betula(**OPTIONS, missing=missing).fit(array())
    (labels,) = model.predict([delayed(pa.table({"e": pa.nulls(5, pa.list_(pa.float64()))}))])
    if missing == "error":
        with pytest.raises(ValueError, match=r"^partition 0: column 0 is missing in .*row 0"):
            labels.compute()
    else:
        mean = model.to_local().predict(np.full((1, 3), np.nan)) if missing == "mean" else LEFT_OUT
        np.testing.assert_array_equal(labels.compute(), np.full(5, mean))


def test_an_array_is_refused_by_a_model_of_named_columns_before_anything_is_lazy():
    model = sd.Betula(**OPTIONS).fit(frame())
    for method in (model.predict, model.transform):
        with pytest.raises(ValueError, match="without names, and the model has the columns x, y, z: pass a data frame"):
            method(array())


def test_partial_fit_reads_times_as_the_command_did_that_made_the_model(tmp_path):
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=30).date, "x": np.arange(30.0)})
    days.to_parquet(tmp_path / "days.parquet", index=False)
    done("cluster", tmp_path / "days.parquet", "-k", 3, "--times", "--model", tmp_path / "m.sb")
    model = sd.Betula.load(tmp_path / "m.sb").partial_fit([delayed(str(tmp_path / "days.parquet"))])
    assert model.tree_.n_points == 60


def test_partial_fit_adds_another_collection():
    model = sd.Betula(**OPTIONS).partial_fit(array(X[:500])).partial_fit(array(X[500:]))
    assert_holds(model.features_, X)
    assert model.counts_["rows"] == model.tree_.n_points == 800
    np.testing.assert_array_equal(in_memory(model.labels_), model.to_local().predict(X[500:]))
    assert adjusted_rand_score(in_memory(model.predict(array())), sb.Betula(**OPTIONS).fit_predict(X)) == 1
    assert model.partial_fit().n_clusters_ == 10
    weighted = sd.Betula(**OPTIONS).fit(array()).partial_fit(array(), sample_weight=da.from_array(WEIGHT, chunks=100))
    assert weighted.tree_.n_points == 800 + WEIGHT.sum()


def test_partial_fit_prepares_rows_by_the_numbers_of_fit():
    model = sd.Betula(**OPTIONS, scale="minmax").fit(array(X[:500]))
    shift, factor = X[:500].min(axis=0), 1 / (X[:500].max(axis=0) - X[:500].min(axis=0))
    assert_holds(model.partial_fit(array(X[500:])).features_, (X - shift) * factor)


def test_another_cut_needs_no_pass_over_the_rows():
    model = sd.Betula(**OPTIONS).fit(array())
    features = model.features_
    labels = in_memory(model.recut(n_clusters=4).labels_)
    assert model.features_ is features
    np.testing.assert_array_equal(np.unique(labels), range(4))
    np.testing.assert_array_equal(labels, model.to_local().predict(X))
    noisy = in_memory(model.recut(method="eom", min_size=30, noise=True).labels_)
    np.testing.assert_array_equal(noisy, model.to_local().predict(X))


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_saved_model_labels_the_same_here_and_on_dask(scale, tmp_path):
    model = sd.Betula(**OPTIONS, scale=scale).fit(frame())
    content, labels = saved(model, tmp_path), in_memory(model.labels_)
    np.testing.assert_array_equal(sb.load(tmp_path / "model.sb").predict(FRAME), labels)
    loaded = sd.Betula.load(tmp_path / "model.sb")
    np.testing.assert_array_equal(in_memory(loaded.predict(frame())), labels)
    assert saved(loaded, tmp_path) == content
    assert loaded.scale == scale
    with pytest.raises(AttributeError, match=r"no labels_ after load: use predict\(X\)"):
        _ = loaded.labels_
    assert loaded.partial_fit(frame()).tree_.n_points == 1600


def test_the_same_rows_give_the_same_file(tmp_path):
    first, second = (saved(sd.Betula(**OPTIONS).fit(frame()), tmp_path) for _ in range(2))
    assert first == second


def test_a_copy_by_pickle_labels_the_same_but_keeps_no_rows():
    model = sd.Betula(**OPTIONS, scale="standard").fit(array())
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(in_memory(again.predict(array())), in_memory(model.labels_))
    assert again.counts_ == model.counts_
    assert not hasattr(again, "labels_")


def test_clone_and_parameters_are_those_of_scikit_learn(client):
    model = sd.Betula(**OPTIONS, scale="minmax", missing="drop", client=client).fit(array())
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert fresh.client is client
    assert not hasattr(fresh, "tree_")
    fresh.set_params(n_clusters=3, scale="none", client=None)
    assert (fresh.n_clusters, fresh.scale, fresh.client) == (3, "none", None)
    with pytest.raises(ValueError, match="Invalid parameter 'clusters'"):
        fresh.set_params(clusters=3)
    assert pickle.loads(pickle.dumps(model)).client is None
    assert model.client is client


def test_it_has_the_parameters_of_the_local_estimator_and_its_own():
    own, local = (inspect.signature(cls.__init__).parameters for cls in (sd.Betula, sb.Betula))
    assert list(own) == [*local, "missing", "scale", "client"]
    assert {name for name in local if own[name].default != local[name].default} == {"refine"}
    named = re.split("Attributes\n *-+", sd.Betula.__doc__)[0]
    assert [name for name in own if name != "self" and not re.search(rf"\b{name}\b", named)] == []


def attributes_in(doc):
    section = re.split(r"\n    \w+\n    -+\n", re.split(r"\n    Attributes\n    -+\n", doc)[1])[0]
    heads = re.findall(r"^    (\S.*?)(?: : .*)?$", section, re.MULTILINE)
    return {name for head in heads for name in head.split(", ")}


def test_it_has_the_attributes_of_the_local_estimator_and_documents_them():
    model = sd.Betula(**OPTIONS).fit(frame())
    local = attributes_in(sb.Betula.__doc__)
    assert {"labels_", "tree_", "feature_names_in_"} <= local
    assert attributes_in(sd.Betula.__doc__) == local | {"counts_"}
    assert [name for name in local if not hasattr(model, name)] == []
    assert not any(hasattr(sd.Betula(), name) for name in local)
    assert model.clusters_.weight.sum() == 800
    assert "text/html" in model._repr_mimebundle_()


def test_rows_added_to_the_local_model_stay_there(tmp_path):
    model = sd.Betula(**OPTIONS).fit(array())
    before = saved(model, tmp_path)
    model.to_local().partial_fit(X).name_clusters([str(i) for i in range(10)])
    assert saved(model, tmp_path) == before


def test_another_fit_forgets_the_first():
    model = sd.Betula(**OPTIONS).fit(frame()).fit(array(X[:, :2], (100, 2)))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2
    assert_same_bits(model.features_, sd.Betula(**OPTIONS).fit(array(X[:, :2], (100, 2))).features_)


def test_the_examples_of_the_docstrings_run():
    found = doctest.testmod(sd)
    assert found.attempted >= 6
    assert found.failed == 0

"""Dask collections of every kind give the same model, and a label for every row, lazily."""

import doctest
import inspect
import pickle
import re
import warnings
from pathlib import Path

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn
from dask import delayed
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import silverbirch as sb
import silverbirch.dask as sd
from commands import done
from silverbirch.engines.dask import Partitions
from silverbirch.pipeline.labels import LEFT_OUT
from trees import assert_holds, assert_same_bits, gaussian_clusters

NAMES = list("xyz")
X = gaussian_clusters(800, 3)
FRAME = pd.DataFrame(X, columns=NAMES)
WEIGHT = np.random.default_rng(0).integers(0, 4, 800).astype(float)
PIECES = [slice(begin, begin + 100) for begin in range(0, 800, 100)]
OPTIONS = {"n_clusters": 10, "max_leaves": 60}


def array(rows=X, chunks=(100, 3)):
    return da.from_array(rows, chunks=chunks)


def frame(rows=FRAME):
    return dd.from_pandas(rows, npartitions=8)


def unknown_divisions(rows):
    return dd.from_delayed([delayed(rows.iloc[piece]) for piece in PIECES])


def filtered(rows):
    """The same rows, but Dask does not know how many there are in a block."""
    rows = da.from_array(rows, chunks=(100, *rows.shape[1:]))
    found = rows[rows.map_blocks(np.isfinite, dtype=bool).reshape(len(rows), -1).all(axis=1)]
    assert np.isnan(found.shape[0])
    return found


def parquet(folder):
    for number, piece in enumerate(PIECES):
        FRAME[piece].to_parquet(folder / f"{number}.parquet", index=False)
    return [folder / f"{number}.parquet" for number in range(8)]


# The rows, and the weights with the same partitions.
FORMS = {
    "array": lambda folder: (array(), da.from_array(WEIGHT, chunks=100)),
    "array in columns": lambda folder: (array(chunks=(100, 2)), da.from_array(WEIGHT, chunks=350)),
    "array of unknown chunks": lambda folder: (filtered(X), filtered(WEIGHT)),
    "frame": lambda folder: (frame(), frame(pd.DataFrame({"w": WEIGHT})).w),
    "frame of unknown divisions": lambda folder: (
        unknown_divisions(FRAME),
        unknown_divisions(pd.DataFrame({"w": WEIGHT})).w,
    ),
    "frame and array": lambda folder: (frame(), da.from_array(WEIGHT, chunks=100)),
    "bag of lists": lambda folder: (
        db.from_sequence(X.tolist(), npartitions=8),
        db.from_sequence(WEIGHT.tolist(), npartitions=8),
    ),
    "bag of dictionaries": lambda folder: (
        db.from_sequence(FRAME.to_dict("records"), npartitions=8),
        [delayed(WEIGHT[piece]) for piece in PIECES],
    ),
    "delayed arrays": lambda folder: (
        [delayed(X[piece]) for piece in PIECES],
        [delayed(WEIGHT[piece]) for piece in PIECES],
    ),
    "delayed frames": lambda folder: (
        [delayed(FRAME[piece]) for piece in PIECES],
        [delayed(pd.Series(WEIGHT[piece])) for piece in PIECES],
    ),
    "delayed names of files": lambda folder: (
        [delayed(str(path)) for path in parquet(folder)],
        da.from_array(WEIGHT, chunks=100),
    ),
    "delayed paths": lambda folder: (
        [delayed(path) for path in parquet(folder)],
        [delayed(WEIGHT[piece].tolist()) for piece in PIECES],
    ),
}


def in_memory(result, scheduler="threads"):
    """What a lazy result holds, as one array."""
    if isinstance(result, list):
        return np.concatenate(dask.compute(*result, scheduler=scheduler))
    return np.asarray(result.compute(scheduler=scheduler))


def rows_for(model):
    """The rows as the local model takes them."""
    return FRAME if hasattr(model, "feature_names_in_") else X


def saved(model, folder):
    model.save(folder / "model.sb")
    return (folder / "model.sb").read_bytes()


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def expected():
    """A model of the rows, and one of the rows with weights."""
    return sd.Betula(**OPTIONS).fit(array()), sd.Betula(**OPTIONS).fit(array(), sample_weight=array(WEIGHT, 100))


# --- collections


@pytest.mark.parametrize("form", FORMS)
def test_every_collection_gives_the_same_features_and_the_labels_of_its_rows(form, expected, tmp_path):
    rows, _ = FORMS[form](tmp_path)
    model = sd.Betula(**OPTIONS).fit(rows)
    assert_same_bits(model.features_, expected[0].features_)
    assert_holds(model.features_, X)
    assert model.counts_ == {"rows": 800, "dropped": 0, "filled": 0}
    local = model.to_local().predict(rows_for(model))
    for labels in (model.labels_, model.predict(rows)):
        np.testing.assert_array_equal(in_memory(labels), local)
    np.testing.assert_array_equal(local, expected[0].to_local().predict(X))
    assert adjusted_rand_score(local, sb.Betula(**OPTIONS).fit_predict(X)) == 1


@pytest.mark.parametrize("form", FORMS)
def test_weights_of_every_form_count_the_rows(form, expected, tmp_path):
    rows, weight = FORMS[form](tmp_path)
    model = sd.Betula(**OPTIONS).fit(rows, sample_weight=weight)
    assert_same_bits(model.features_, expected[1].features_)
    assert_holds(model.features_, X, WEIGHT)
    score = model.to_local().score(rows_for(model), sample_weight=WEIGHT)
    assert model.score(rows, sample_weight=weight) == pytest.approx(score, rel=1e-12)
    assert score != model.score(rows)


def test_a_single_weight_counts_all_rows():
    model = sd.Betula(**OPTIONS).fit(array(), sample_weight=2)
    assert_holds(model.features_, X, np.full(800, 2.0))
    assert_same_bits(model.features_, sd.Betula(**OPTIONS).fit(array(), sample_weight=da.full(800, 2.0)).features_)


@pytest.mark.parametrize("form", FORMS)
def test_labels_have_the_partitions_of_the_rows(form, expected, tmp_path):
    rows, _ = FORMS[form](tmp_path)
    labels = sd.Betula(**OPTIONS).fit(rows).predict(rows)
    if isinstance(rows, list):
        assert [len(part) for part in dask.compute(*labels)] == [100] * 8
    elif isinstance(rows, da.Array):
        assert repr(labels.chunks[0]) == repr(rows.chunks[0])
        assert labels.dtype == np.int64
    else:
        assert labels.npartitions == rows.npartitions == 8
    if isinstance(rows, dd.DataFrame):
        assert labels.divisions == rows.divisions
        pd.testing.assert_index_equal(labels.compute().index, rows.compute().index)
        assert (labels.dtype, labels.name) == (np.int64, "label") == (labels.compute().dtype, labels.compute().name)


@pytest.mark.parametrize("divided", [frame, unknown_divisions], ids=["known", "unknown"])
def test_labels_become_a_column_of_their_frame(divided):
    rows = divided(FRAME)
    model = sd.Betula(**OPTIONS).fit(rows)
    rows["label"] = model.predict(rows)
    found = rows.compute()
    np.testing.assert_array_equal(found.label, model.to_local().predict(FRAME))
    pd.testing.assert_frame_equal(found[NAMES], FRAME)
    again = rows.assign(label=model.predict(rows))  # which has one column more than the model
    np.testing.assert_array_equal(again.compute().label, found.label)


def test_a_frame_may_have_more_columns_than_those_of_fit_in_any_order():
    model = sd.Betula(**OPTIONS).fit(frame())
    more = frame(FRAME[["z", "y", "x"]].assign(text="a", w=1.0))
    local = model.to_local()
    np.testing.assert_array_equal(in_memory(model.predict(more)), local.predict(FRAME))
    np.testing.assert_array_equal(in_memory(model.transform(more)), local.transform(FRAME))
    assert model.score(more) == pytest.approx(local.score(FRAME), rel=1e-12)
    n_points = model.tree_.n_points
    assert model.partial_fit(more).tree_.n_points == 2 * n_points


def test_rows_of_empty_blocks_and_partitions_are_none():
    some = filtered(X)  # Dask drops empty blocks that it knows of
    with_empty = da.concatenate([some[some[:, 0] > 1e9], some])
    model = sd.Betula(**OPTIONS).fit(with_empty)
    assert model.features_.weight.sum() == 800
    np.testing.assert_array_equal(in_memory(model.labels_), model.to_local().predict(X))
    np.testing.assert_array_equal(in_memory(model.transform(with_empty)), model.to_local().transform(X))
    assert model.score(with_empty) == pytest.approx(model.to_local().score(X), rel=1e-12)

    untyped = dd.from_delayed(
        [delayed(FRAME[:0].astype(object)), *(delayed(FRAME[piece]) for piece in PIECES), delayed(FRAME[:0])],
        meta=FRAME[:0],
        verify_meta=False,
    )
    model = sd.Betula(**OPTIONS).fit(untyped)
    assert model.features_.weight.sum() == 800
    labels = model.predict(untyped).compute()
    np.testing.assert_array_equal(labels, model.to_local().predict(FRAME))
    assert labels.dtype == np.int64
    assert model.transform(untyped).compute().shape == (800, 10)
    nothing = frame()[frame().x > 1e9]
    assert len(model.predict(nothing).compute()) == 0
    assert model.transform(nothing).compute().shape == (0, 10)
    assert model.score(nothing) == 0

    sparse = db.from_sequence(X.tolist(), npartitions=8).filter(lambda row: row[0] > 40)
    kept = X[X[:, 0] > 40]
    model = sd.Betula(2, max_leaves=60).fit(sparse)
    assert model.features_.weight.sum() == len(kept)
    np.testing.assert_array_equal(in_memory(model.labels_), model.to_local().predict(kept))


def test_float32_stays_float32():
    rows = X.astype(np.float32)
    model = sd.Betula(**OPTIONS).fit(array(rows))
    local = model.to_local()
    assert_holds(model.features_, rows.astype(float))
    np.testing.assert_array_equal(in_memory(model.labels_), local.predict(rows))
    distances = model.transform(array(rows))
    np.testing.assert_array_equal(in_memory(distances), local.transform(rows), strict=True)
    assert distances.dtype == np.float32
    some = filtered(rows)
    assert in_memory(model.transform(da.concatenate([some[some[:, 0] > 1e9], some]))).dtype == np.float32
    named = sd.Betula(**OPTIONS).fit(frame(FRAME.astype(np.float32)))
    distances = named.transform(frame(FRAME.astype(np.float32)))
    assert list(distances.dtypes) == list(distances.compute().dtypes)


def test_whole_numbers_are_rows_and_names_of_columns():
    rows = np.round(X).astype(np.int64)
    model = sd.Betula(**OPTIONS).fit(array(rows))
    np.testing.assert_array_equal(in_memory(model.labels_), model.to_local().predict(rows))
    assert model.transform(array(rows)).dtype == in_memory(model.transform(array(rows))).dtype == np.float64
    numbered = frame(pd.DataFrame(X))
    model = sd.Betula(**OPTIONS).fit(numbered)
    assert list(model.feature_names_in_) == ["0", "1", "2"]
    assert in_memory(model.labels_).shape == (800,)
    assert model.transform(numbered).compute().shape == (800, 10)


# --- schedulers


def test_all_schedulers_give_the_same_bytes(client, monkeypatch, tmp_path):
    def results(own_client=None):
        model = sd.Betula(**OPTIONS, scale="standard", client=own_client).fit(array())
        return saved(model, tmp_path), in_memory(model.labels_, None).tobytes(), model.score(array())

    threads = results()
    with dask.config.set(scheduler="synchronous"):
        assert results() == threads
    assert results(client) == threads
    with client.as_current():
        assert results() == threads
    with Client(client.cluster.scheduler_address) as default:  # the default client from now on
        got = []
        monkeypatch.setattr(default, "get", lambda *args, get=default.get, **kw: got.append(args) or get(*args, **kw))
        assert results() == threads
        assert len(got) == 5  # statistics, tree, refined leaves; labels; score


@pytest.fixture
def submitted(client, monkeypatch):
    """What the client was given to compute."""
    values, compute = [], client.compute
    monkeypatch.setattr(client, "compute", lambda value: values.append(value) or compute(value))
    return values


def test_a_client_that_is_given_does_the_work(client, submitted):
    sd.Betula(**OPTIONS).fit(array())
    assert submitted == []
    model = sd.Betula(**OPTIONS, client=client).fit(array())
    assert len(submitted) == 2  # the tree, and to refine
    model.score(array())
    assert len(submitted) == 3
    sd.aggregate(array(), client=client, refine=0)
    assert len(submitted) == 4


def test_an_error_of_a_worker_process_is_that_of_a_thread(client):
    rows = array(np.where(np.arange(800)[:, None] == 345, np.nan, X))
    for own in (None, client):
        with pytest.raises(ValueError, match=r"^partition 3: column 1? ?.*missing.* row 45"):
            sd.Betula(**OPTIONS, client=own).fit(rows)


# --- laziness


def test_nothing_is_computed_before_compute():
    read = []

    def reading(number):
        read.append(number)
        return X[PIECES[number]]

    chunks = [delayed(reading)(number) for number in range(8)]
    rows = da.concatenate([da.from_delayed(chunk, (100, 3), dtype=float) for chunk in chunks])
    model = sd.Betula(**OPTIONS).fit(rows)
    assert sorted(read) == sorted([*range(8)] * 2)  # once for the tree, once to refine
    read.clear()
    labels, *others = model.predict(rows), model.labels_, model.transform(rows), *model.predict(chunks)
    assert (read, len(others)) == ([], 10)
    in_memory(labels)
    assert sorted(read) == [*range(8)]
    read.clear()
    in_memory(labels[250:260])
    assert read == [2]  # only the partitions that are asked for


# --- the estimator


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
def test_keys_of_dictionaries_may_be_numbers(missing, expected):
    rows = db.from_sequence([dict(enumerate(row)) for row in X.tolist()], npartitions=8)
    model = sd.Betula(**OPTIONS, missing=missing).fit(rows)
    assert_same_bits(model.features_, expected[0].features_)
    assert list(model.feature_names_in_) == ["0", "1", "2"]
    np.testing.assert_array_equal(in_memory(model.predict(rows)), in_memory(expected[0].labels_))
    assert model.score(rows) == expected[0].score(array())


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


def test_aggregate_gives_the_features_of_the_estimator(expected):
    assert_same_bits(sd.aggregate(array(), max_leaves=60), expected[0].features_)
    weighted = sd.aggregate(array(), sample_weight=array(WEIGHT, 100), max_leaves=60)
    assert_same_bits(weighted, expected[1].features_)
    scaled = sd.aggregate(array(), max_leaves=60, scale="standard", refine=0)
    assert_same_bits(scaled, sd.Betula(**OPTIONS, scale="standard", refine=0).fit(array()).features_)


def test_the_examples_of_the_docstrings_run():
    found = doctest.testmod(sd)
    assert found.attempted >= 6
    assert found.failed == 0


# --- partitions and weights


@pytest.fixture
def wide(tmp_path):
    """A frame of 8 files with 40 columns, of which Dask joins several to one read if few columns are needed."""
    for number, piece in enumerate(PIECES):
        more = pd.DataFrame(np.zeros((100, 36)), columns=[f"c{i}" for i in range(36)])
        part = pd.concat([FRAME[piece].reset_index(drop=True), pd.DataFrame({"w": WEIGHT[piece]}), more], axis=1)
        part.to_parquet(tmp_path / f"{number}.parquet", index=False)
    return dd.read_parquet(tmp_path)


def test_weights_may_be_a_column_of_the_same_files(wide, expected):
    rows, weight = wide[NAMES], wide["w"].abs()
    assert len(weight.to_delayed()) < 8
    model = sd.Betula(**OPTIONS).fit(rows, sample_weight=weight)
    assert_same_bits(model.features_, expected[1].features_)
    score = model.to_local().score(FRAME, sample_weight=WEIGHT)
    assert model.score(rows, sample_weight=weight) == pytest.approx(score, rel=1e-12)
    assert model.partial_fit(rows, sample_weight=weight).tree_.n_points == 2 * WEIGHT.sum()


def test_a_partition_of_a_frame_is_one_task_whose_number_errors_name(wide):
    rows = wide[NAMES].abs()
    assert len(rows.to_delayed()) < len(Partitions(rows).rows) == 8
    with pytest.raises(ValueError, match=r"^partition 7: column 'x' is missing in row 99"):
        sd.Betula(**OPTIONS).fit(rows.where(wide.x != X[799, 0]))


def test_only_the_columns_that_are_clustered_are_read():
    asked = []

    def read(number, columns=None):
        asked.append(columns)
        part = FRAME[PIECES[number]].assign(more=1.0)
        return part if columns is None else part[columns]

    rows = dd.from_map(read, range(8), meta=FRAME[:0].assign(more=1.0))
    asked.clear()
    with dask.config.set(scheduler="synchronous"):
        sd.Betula(**OPTIONS).fit(rows[["x", "y"]])
    assert len(asked) == 16
    assert {tuple(columns) for columns in asked} == {("x", "y")}


def test_one_delayed_chunk_has_one_delayed_weight():
    model = sd.Betula(**OPTIONS).fit(delayed(X), sample_weight=delayed(WEIGHT))
    assert_holds(model.features_, X, WEIGHT)


@pytest.mark.parametrize("rows", [array(), filtered(X)], ids=["known", "unknown"])
@pytest.mark.parametrize("weight", [da.from_array(WEIGHT, chunks=100), filtered(WEIGHT)], ids=["known", "unknown"])
def test_blocks_of_unknown_length_are_paired(rows, weight, expected):
    model = sd.Betula(**OPTIONS).fit(rows, sample_weight=weight)
    assert_same_bits(model.features_, expected[1].features_)


# --- sparse chunks

SPARSE = scipy.sparse.random(800, 60, 0.2, format="csr", random_state=0)
SPARSE_CHUNKS = [delayed(SPARSE[piece]) for piece in PIECES]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_chunks_are_projected_as_dense_ones_are(metric):
    dense = da.from_array(SPARSE.toarray(), chunks=(100, 60))
    expected = sd.Betula(**OPTIONS, projection=20, metric=metric).fit(dense)
    for rows in (SPARSE_CHUNKS, dense.map_blocks(scipy.sparse.csr_matrix), dense.map_blocks(scipy.sparse.coo_array)):
        model = sd.Betula(**OPTIONS, projection=20, metric=metric).fit(rows)
        assert_same_bits(model.features_, expected.features_)
        np.testing.assert_array_equal(in_memory(model.labels_), in_memory(expected.labels_))
        np.testing.assert_array_equal(in_memory(model.transform(rows)), in_memory(expected.transform(dense)))
        assert model.score(rows) == pytest.approx(expected.score(dense), rel=1e-12)


# --- delayed sources


def test_delayed_files_with_texts_are_read_by_their_columns(tmp_path):
    paths = []
    for number, piece in enumerate(PIECES):
        paths.append(tmp_path / f"{number}.parquet")
        FRAME[piece].assign(name="a").to_parquet(paths[-1], index=False)
    chunks = [delayed(sb.read_chunks)(path, columns=NAMES) for path in paths]
    model = sd.Betula(**OPTIONS).fit(chunks)
    np.testing.assert_array_equal(in_memory(model.labels_), model.to_local().predict(FRAME))
    np.testing.assert_array_equal(in_memory(model.transform(chunks)), model.to_local().transform(FRAME))
    assert model.partial_fit(chunks).tree_.n_points == 1600
    with pytest.raises(ValueError, match=r"Choose columns by dask\.delayed\(read_chunks\)\(…, columns=…\)"):
        sd.Betula(**OPTIONS).fit([delayed(path) for path in paths])
    other = [delayed(sb.read_chunks)(paths[0], columns=["z", "x", "y"])]
    with pytest.raises(ValueError, match=r"^partition 0: the source exists already"):
        in_memory(model.predict(other))


# --- bags of dictionaries


def test_the_order_of_keys_means_nothing(expected):
    items = FRAME.to_dict("records")
    turned = [dict(reversed(item.items())) for item in items[:500]] + items[500:]
    model = sd.Betula(**OPTIONS).fit(db.from_sequence(turned, npartitions=8))
    assert_same_bits(model.features_, expected[0].features_)
    np.testing.assert_array_equal(in_memory(model.labels_), model.to_local().predict(FRAME))


def test_a_key_that_a_whole_partition_lacks_is_missing_for_a_fitted_model():
    model = sd.Betula(**OPTIONS, missing="drop").fit(db.from_sequence(FRAME.to_dict("records"), npartitions=8))
    lacking = db.from_sequence([{"x": 1.0, "y": 2.0}] * 3, npartitions=3)
    assert model.predict(lacking).compute(scheduler="threads") == [None] * 3


def test_columns_of_several_levels_are_named_as_a_local_source_names_them():
    levels = FRAME.set_axis(pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")]), axis=1)
    model = sd.Betula(**OPTIONS).fit(frame(levels))
    assert list(model.feature_names_in_) == ["('a', 'x')", "('a', 'y')", "('b', 'x')"]
    np.testing.assert_array_equal(in_memory(model.labels_), model.to_local().predict(FRAME.to_numpy()))


def test_a_large_model_is_sent_without_a_warning(client):
    rows = np.random.default_rng(0).normal(size=(6000, 256))
    chunks = [delayed(np.random.default_rng(0).normal)(size=rows.shape)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sd.Betula(3, max_leaves=None, client=client).fit(chunks)
    assert len(model._sent()) > 10 * 2**20  # from where on Dask warns


def test_a_missing_value_is_named_by_every_method_and_its_partition_where_dask_does_not_join_some():
    bad, named = array(NAN), frame(pd.DataFrame(NAN, columns=NAMES))
    chunks, bag = [delayed(NAN[piece]) for piece in PIECES], db.from_sequence(NAN.tolist(), npartitions=8)
    plain, of_names = sd.Betula(**OPTIONS).fit(array()), sd.Betula(**OPTIONS).fit(frame())
    for result in (of_names.predict(named), of_names.transform(named)):
        with pytest.raises(ValueError, match=r"^column '.' is missing in row 45"):
            in_memory(result)
    lazy = [plain.predict(bad), plain.transform(bad), plain.predict(bag), plain.predict(chunks)]
    for result in [*lazy, plain.transform(chunks)]:
        with pytest.raises(ValueError, match=r"^partition 3: column .* is missing in row 45"):
            in_memory(result)


@pytest.mark.parametrize(
    "rows", [array(), frame(), db.from_sequence(X.tolist()), delayed(X)], ids=["array", "frame", "bag", "delayed"]
)
def test_the_local_class_names_the_one_for_collections(rows):
    for call in (sb.Betula(3).fit, sb.CFTree().insert, sb.read_chunks):
        with pytest.raises(
            TypeError, match=r"X is a collection of Dask \(\w+\).*silverbirch\.dask\.Betula.*compute\(\)"
        ):
            call(rows)


# --- refusals

NAN = np.where(np.arange(800)[:, None] == 345, np.nan, X)
WRONG = {
    "rows in memory": (lambda m: m.fit(X), TypeError, "X is a ndarray, no collection of Dask: silverbirch.Betula"),
    "a list": (lambda m: m.fit([]), TypeError, "X is a list, no collection of Dask"),
    "weights in memory": (
        lambda m: m.fit(array(), sample_weight=WEIGHT),
        TypeError,
        "sample_weight is a ndarray, no collection of Dask: give it the partitions of X",
    ),
    "NaN": (lambda m: m.fit(array(NAN)), ValueError, r"^partition 3: column 0 is missing in .*row 45"),
    "NaN in another chunk": (lambda m: m.partial_fit(frame(FRAME.where(FRAME.x < 40))), ValueError, r"^partition \d: "),
    "another width": (lambda m: m.partial_fit(array(X[:, :2], (100, 2))), ValueError, "column"),
    "other names": (lambda m: m.partial_fit(frame(FRAME.rename(columns={"x": "u"}))), ValueError, "no column 'x'"),
    "different columns": (
        lambda m: m.fit([delayed(FRAME), delayed(FRAME[["z", "y", "x"]])]),
        ValueError,
        "has the columns x, y, z, another one the columns z, y, x",
    ),
    "1-D": (lambda m: m.fit(array()[:, 0]), ValueError, "X is 1-D: rows need a 2-D array"),
    "weights of other partitions": (
        lambda m: m.fit(frame(), sample_weight=da.ones(800, chunks=400)),
        ValueError,
        "sample_weight has 2 partitions but X has 8: give it the same partitions",
    ),
    "weights of other rows": (
        lambda m: m.fit([delayed(X)], sample_weight=[delayed(WEIGHT[:10])]),
        ValueError,
        r"^partition 0: sample_weight",
    ),
    "negative weights": (lambda m: m.fit(array(), sample_weight=-1), ValueError, r"^partition \d: sample_weight"),
    "no weight": (lambda m: m.fit(array(), sample_weight=0), ValueError, "sample_weight is zero for all rows"),
    "too few weights": (
        lambda m: m.fit(array(), sample_weight=da.ones(700, chunks=100)),
        ValueError,
        "sample_weight has 700 weights but X has 800 rows: give one for each row",
    ),
    "weights in two dimensions": (
        lambda m: m.fit(array(), sample_weight=da.ones((800, 1), chunks=(100, 1))),
        ValueError,
        "sample_weight is 2-D: one weight for each row",
    ),
    "paths": (lambda m: m.fit(["rows.parquet"]), TypeError, r"\[dask\.delayed\(path\), …\]"),
    "sparse chunks without projection": (lambda m: m.fit(SPARSE_CHUNKS), TypeError, r"^partition \d: X is a sparse"),
    "scaled sparse chunks": (
        lambda m: m.set_params(scale="standard").fit(SPARSE_CHUNKS),
        TypeError,
        r"^partition \d: X is sparse: scale='standard' would make it dense",
    ),
    "rows of several lengths": (
        lambda m: m.fit(db.from_sequence([[1.0, 2.0], [1.0]], npartitions=1)),
        ValueError,
        "^partition 0: the items of the bag have 1 to 2 values",
    ),
    "a key in no item": (
        lambda m: m.fit(db.from_sequence([{"x": 1.0, "y": 2.0}, {"x": 3.0}], npartitions=2)),
        ValueError,
        r"has the columns x, y, another one the columns x: all need the same columns; .*to_dataframe\(meta=…\)",
    ),
    "an item that is no dictionary": (
        lambda m: m.fit(db.from_sequence([{"x": 1.0}, None], npartitions=1)),
        TypeError,
        "^partition 0: an item of the bag is a NoneType, others are dictionaries",
    ),
    "an address as the client": (
        lambda m: clone(m).set_params(client="tcp://127.0.0.1:8786").fit(array()),
        TypeError,
        r"client='tcp://127.0.0.1:8786': a distributed\.Client is needed",
    ),
    "no rows": (lambda m: m.fit(frame()[frame().x > 1e9]), ValueError, "no rows: at least one is needed"),
    "too many clusters": (
        lambda m: m.set_params(n_clusters=61).fit(frame()),
        ValueError,
        r"n_clusters=61 but there are \d\d leaves: ",
    ),
    "no such scale": (lambda m: m.set_params(scale="log").fit(frame()), ValueError, "scale"),
    "texts": (
        lambda m: m.fit(frame(FRAME.assign(t="a"))),
        ValueError,
        r"^partition \d: .*'t'.* Choose columns by X\[\[…\]\]",
    ),
    "cut": (lambda m: m.cut(3), TypeError, r"use recut\(…\), then predict\(X\)"),
    "representatives": (lambda m: m.representatives(frame()), TypeError, r"use to_local\(\)"),
    "a bag to transform": (
        lambda m: m.transform(db.from_sequence(X.tolist())),
        TypeError,
        r"transform takes no bag: make it a data frame",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_error_says_what_is_wrong_and_leaves_the_model_as_it_was(case, tmp_path):
    call, error, words = WRONG[case]
    model = sd.Betula(**OPTIONS).fit(frame())
    before, labels, state = saved(model, tmp_path), in_memory(model.labels_), model.__dict__.copy()
    with pytest.raises(error, match=words):
        call(model)
    model.set_params(**OPTIONS, scale="none")
    assert model.__dict__.keys() == state.keys()
    assert model.counts_ == state["counts_"]
    assert saved(model, tmp_path) == before
    np.testing.assert_array_equal(in_memory(model.labels_), labels)


def test_rows_of_another_width_have_no_labels():
    model = sd.Betula(**OPTIONS).fit(array())
    for method in (model.predict, model.transform):
        with pytest.raises(ValueError, match=r"X has shape \(800, 2\) but the model has 3 columns"):
            method(array(X[:, :2], (100, 2)))
    projected = sd.Betula(**OPTIONS, projection=2).fit(array())
    with pytest.raises(ValueError, match="X has 4 columns but the model has 3"):
        projected.partial_fit(array(X[:, [0, 1, 2, 0]], (100, 4)))
    assert projected.tree_.n_points == 800


def test_an_estimator_that_is_not_fitted_says_so():
    from sklearn.exceptions import NotFittedError

    model = sd.Betula(**OPTIONS)
    for call in (
        model.predict,
        model.transform,
        model.score,
        lambda rows: model.to_local(),
        lambda rows: model.labels_,
    ):
        with pytest.raises(NotFittedError):
            call(array())
    with pytest.raises(NotFittedError):
        model.save(Path("nowhere"))

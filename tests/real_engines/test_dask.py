"""Dask collections of every kind give the same model, and a label for every row, lazily."""

import warnings

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from dask import delayed
from distributed import Client
from sklearn.metrics import adjusted_rand_score

import silverbirch as sb
import silverbirch.dask as sd
from dask_rows import (
    FORMS,
    FRAME,
    NAMES,
    NAN,
    OPTIONS,
    PIECES,
    SPARSE,
    SPARSE_CHUNKS,
    WEIGHT,
    X,
    array,
    filtered,
    frame,
    in_memory,
    rows_for,
    saved,
    unknown_divisions,
)
from silverbirch.engines.dask import Partitions
from trees import assert_holds, assert_same_bits


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


def test_aggregate_gives_the_features_of_the_estimator(expected):
    assert_same_bits(sd.aggregate(array(), max_leaves=60), expected[0].features_)
    weighted = sd.aggregate(array(), sample_weight=array(WEIGHT, 100), max_leaves=60)
    assert_same_bits(weighted, expected[1].features_)
    scaled = sd.aggregate(array(), max_leaves=60, scale="standard", refine=0)
    assert_same_bits(scaled, sd.Betula(**OPTIONS, scale="standard", refine=0).fit(array()).features_)


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


@pytest.mark.parametrize("missing", ["error", "drop", "mean"])
def test_keys_of_dictionaries_may_be_numbers(missing, expected):
    rows = db.from_sequence([dict(enumerate(row)) for row in X.tolist()], npartitions=8)
    model = sd.Betula(**OPTIONS, missing=missing).fit(rows)
    assert_same_bits(model.features_, expected[0].features_)
    assert list(model.feature_names_in_) == ["0", "1", "2"]
    np.testing.assert_array_equal(in_memory(model.predict(rows)), in_memory(expected[0].labels_))
    assert model.score(rows) == expected[0].score(array())


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

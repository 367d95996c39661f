"""Preparation agrees with scikit-learn's transformers and does not depend on the chunks."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from silverbirch import CFTree
from silverbirch.directions import directions
from silverbirch.model import AggregateModel
from silverbirch.pipeline.aggregation import Aggregation, Counts
from silverbirch.pipeline.gathering import Gathering
from silverbirch.pipeline.preparation import Preparation
from silverbirch.pipeline.statistics import ColumnStatistics
from silverbirch.rows import read_chunks

SCALERS = {"none": None, "standard": StandardScaler, "minmax": MinMaxScaler}


def table(count=1000, holes=0.0, seed=0, dtype=np.float64):
    random = np.random.default_rng(seed)
    X = (random.normal(size=(count, 4)) * [1, 10, 100, 0] + [0, 1e3, -1e3, 7]).astype(dtype)
    X[random.random(X.shape) < holes] = np.nan
    return X


def prepared(X, preparation, chunk_rows=64):
    """Prepares the rows in chunks, with statistics from the same chunks; returns rows and which of them are kept."""
    source = read_chunks(X, chunk_rows=chunk_rows)
    if preparation.needs_statistics:
        gathering = Gathering(source, preparation)
        gathering.run(lambda _: None)
        preparation = preparation.from_statistics(gathering.statistics)
    parts = [preparation.apply(chunk, source) for chunk in source.chunks()]
    kept = np.concatenate([np.ones(len(part), bool) if part.weight is None else part.weight > 0 for part in parts])
    return np.concatenate([part.rows for part in parts])[kept], kept


@pytest.mark.parametrize("scale", SCALERS)
@pytest.mark.parametrize("missing", ["error", "drop", "mean"])
def test_chunks_prepared_one_by_one_equal_a_pipeline_of_scikit_learn(missing, scale):
    X = table(holes=0.0 if missing == "error" else 0.05)
    whole = ~np.isnan(X).any(axis=1)
    steps = [SimpleImputer()] if missing == "mean" else []
    steps += [SCALERS[scale]()] if SCALERS[scale] else []
    rows = X[whole] if missing == "drop" else X
    expected = make_pipeline(*steps).fit_transform(rows) if steps else rows

    found, kept = prepared(X, Preparation(missing, scale))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(kept, whole if missing == "drop" else np.ones(len(X), bool))


@pytest.mark.parametrize("scale", SCALERS)
def test_float32_rows_stay_float32_and_lose_no_digits_far_from_the_origin(scale):
    X = table(dtype=np.float32)
    found, _ = prepared(X, Preparation("error", scale, "euclidean"))
    assert found.dtype == np.float32
    if SCALERS[scale]:
        expected = SCALERS[scale]().fit_transform(X.astype(np.float64))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_rows_that_need_nothing_are_not_copied():
    X = table()
    source = read_chunks(X)
    for chunk in source.chunks():
        assert np.shares_memory(Preparation().apply(chunk, source).rows, X)


@pytest.mark.parametrize(
    ("value", "words"),
    [(np.nan, ["missing", "row 129", "column 2", "(missing)"]), (np.inf, ["infinite", "row 129", "column 2"])],
)
def test_a_value_that_cannot_be_used_is_named_by_row_and_column(value, words):
    X = table()
    X[129, 2] = value
    with pytest.raises(ValueError) as error:
        prepared(X, Preparation())
    for word in words:
        assert word in str(error.value)


def test_a_row_without_direction_is_refused_or_dropped():
    X = table(300)
    X[[5, 200]] = 0
    with pytest.raises(ValueError, match=r"row 5 .*direction"):
        prepared(X, Preparation(metric="cosine"))
    found, kept = prepared(X, Preparation("drop", metric="cosine"))
    assert np.flatnonzero(~kept).tolist() == [5, 200]
    np.testing.assert_array_equal(found, X[kept])


@pytest.mark.parametrize("scale", SCALERS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_a_tree_of_rows_that_are_left_out_is_the_tree_of_the_others(scale, metric):
    X = table(holes=0.05)
    source = read_chunks(X, chunk_rows=64)
    model = AggregateModel(max_leaves=50, metric=metric)
    aggregation = Aggregation(source, model, Preparation("drop", scale, metric))
    aggregation.run(lambda _: None)
    rows, kept = prepared(X, Preparation("drop", scale, metric))
    assert aggregation.counts == Counts(rows=len(X), dropped=int((~kept).sum()))
    assert aggregation.model.features_ == CFTree(max_leaves=50).insert(directions(rows, metric)[0]).features


def test_missing_values_that_are_filled_in_are_counted():
    X = table(holes=0.05)
    aggregation = Aggregation(read_chunks(X, chunk_rows=64), AggregateModel(max_leaves=50), Preparation("mean"))
    aggregation.run(lambda _: None)
    assert aggregation.counts == Counts(rows=len(X), filled=int(np.isnan(X).sum()))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", ["standard", "minmax"])
@pytest.mark.parametrize("width", [5e-324, 1e-310, 1e-305, 1e-44, 1e-38, 1e15])
def test_scaling_gives_neither_infinities_nor_warnings(width, scale, dtype, recwarn):
    X = np.random.default_rng(0).choice([0.0, width], size=(200, 2)).astype(dtype)
    found, _ = prepared(X, Preparation("error", scale))
    spread = X.max(axis=0).astype(np.float64)
    if (spread >= np.finfo(np.float64).tiny).all() and scale == "minmax":
        np.testing.assert_allclose(found, X / spread, rtol=1e-6)
    elif (spread < np.finfo(np.float64).tiny).all():  # too narrow to scale: only moved
        assert np.abs(found).max() <= 1e-307
    assert np.isfinite(found).all()
    assert not recwarn.list


@pytest.mark.parametrize(("dtype", "far"), [(np.float64, 1e80), (np.float32, 1e20)])
def test_a_row_too_far_away_to_be_scaled_is_named(dtype, far, recwarn):
    narrow = np.array([[0, 0], [1e-30, 1]], dtype)
    preparation = Preparation(scale="minmax").from_statistics(ColumnStatistics.of(narrow))
    source = read_chunks(np.array([[0, 0], [far, 1]], dtype))
    with pytest.raises(ValueError, match=r"column 0 is 1e\+[28]0 in row 1, too far from 0 to be scaled by 1e\+30"):
        preparation.apply(next(source.chunks()), source)
    assert not recwarn.list


def test_rows_that_are_left_out_need_not_be_scalable():
    X = np.array([[1e10, 0], [1e10 + 1e-5, 1], [np.nan, 1]])
    preparation = Preparation("drop", "minmax", shift=np.array([1e10, 0]), factor=np.array([1e295, 1]))
    source = read_chunks(X[[0, 2]])
    found = preparation.apply(next(source.chunks()), source)
    assert found.weight.tolist() == [1, 0]
    assert np.isfinite(found.rows).all()


def test_a_signalling_nan_is_a_missing_value_without_a_warning(recwarn):
    X = table(100)
    X.view(np.uint64)[7, 1] = 0x7FF4000000000000
    found, kept = prepared(X, Preparation("drop", "standard"))
    assert np.flatnonzero(~kept).tolist() == [7]
    assert np.isfinite(found).all()
    assert not recwarn.list


@pytest.mark.parametrize("scale", SCALERS)
@pytest.mark.parametrize("missing", ["error", "drop", "mean"])
def test_a_stored_preparation_prepares_alike(missing, scale):
    preparation = Preparation(missing, scale)
    if preparation.needs_statistics:
        preparation = preparation.from_statistics(ColumnStatistics.of(table()))
    again = Preparation.from_state(*preparation.to_state(), n_dimensions=4)
    np.testing.assert_array_equal(prepared(table(seed=1), again)[0], prepared(table(seed=1), preparation)[0])


@pytest.mark.parametrize(
    "damage",
    [
        lambda state, arrays: arrays.pop("factor"),
        lambda state, arrays: arrays.update(shift=arrays["shift"][:2]),
        lambda state, arrays: arrays["factor"].__setitem__(0, np.nan),
        lambda state, arrays: state.update(scale="logarithmic"),
        lambda state, arrays: state.pop("metric"),
        lambda state, arrays: state.update(missing="mean"),
    ],
)
def test_a_damaged_preparation_is_refused(damage):
    state, arrays = Preparation("error", "standard").from_statistics(ColumnStatistics.of(table())).to_state()
    damage(state, arrays)
    with pytest.raises((ValueError, KeyError)):
        Preparation.from_state(state, arrays, n_dimensions=4)


@pytest.mark.parametrize("parameter", ["missing", "scale", "metric"])
def test_a_wrong_name_is_refused_with_those_there_are(parameter):
    with pytest.raises(ValueError, match=f"{parameter}='wrong': must be one of"):
        Preparation(**{parameter: "wrong"})


@pytest.mark.parametrize("missing", ["drop", "mean"])
@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_rows_of_another_width_are_refused_and_one_column_is_not_taken_for_all(missing, scale):
    preparation = Preparation(missing, scale).from_statistics(ColumnStatistics.of(table()))
    source = read_chunks(table()[:, :1])
    with pytest.raises(ValueError, match="the rows have 1 columns but the model has 4"):
        preparation.apply(next(source.chunks()), source)

"""Preparation agrees with scikit-learn's transformers and does not depend on the chunks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from silverbirch import CFTree
from silverbirch.directions import directions
from silverbirch.model import AggregateModel
from silverbirch.pipeline.aggregation import Aggregation, Counts
from silverbirch.pipeline.preparation import ColumnStatistics, Preparation
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
        statistics = None
        for chunk in source.chunks():
            found = ColumnStatistics.of(preparation.complete(chunk, source).counted)
            statistics = found if statistics is None else statistics.joined_with(found)
        preparation = preparation.from_statistics(statistics)
    parts = [preparation.apply(chunk, source) for chunk in source.chunks()]
    kept = np.concatenate([np.ones(len(part), bool) if part.weight is None else part.weight > 0 for part in parts])
    return np.concatenate([part.counted for part in parts]), kept


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


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(1, 40), st.integers(1, 3)),
        elements=st.one_of(st.just(np.nan), st.floats(-1e6, 1e6)),
    ),
    st.integers(1, 39),
)
def test_statistics_of_two_parts_join_to_those_of_the_whole(X, cut):
    joined = ColumnStatistics.of(X[:cut]).joined_with(ColumnStatistics.of(X[cut:]))
    for column in range(X.shape[1]):
        values = X[:, column][~np.isnan(X[:, column])]
        assert joined.values[column] == len(values)
        if len(values):
            spread = np.abs(values).max()
            assert joined.mean[column] == pytest.approx(values.mean(), rel=1e-9, abs=1e-9 * spread)
            rounding = 1e-9 * spread**2 + 1e-300  # squares that small have few digits, or none
            assert joined.squares[column] == pytest.approx(values.var() * len(values), rel=1e-6, abs=rounding)
            assert (joined.least[column], joined.most[column]) == (values.min(), values.max())


def test_statistics_do_not_suffer_from_a_far_origin():
    X = np.random.default_rng(0).normal(size=(5000, 2))
    near, far = ColumnStatistics.of(X), ColumnStatistics.of(X + 2.0**30)
    np.testing.assert_allclose(far.squares, near.squares, rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "words"),
    [(np.nan, ["missing", "row 129", "column 2", "--missing"]), (np.inf, ["infinite", "row 129", "column 2"])],
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


def test_a_column_without_values_is_named():
    X = table(100)
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match="column 'b' has no value"):
        ColumnStatistics.of(X).checked(("a", "b", "c", "d"))


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
    _, columns = ColumnStatistics.of(table()).to_state()
    preparation = Preparation(missing, scale).from_statistics(ColumnStatistics(1000, **columns))
    source = read_chunks(table()[:, :1])
    with pytest.raises(ValueError, match="the rows have 1 columns but the model has 4"):
        preparation.apply(next(source.chunks()), source)

"""Errors of data frames name the row and the column, as those of files do."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

import silverbirch as sb

TAKERS = {
    "fit": lambda frame: sb.Betula().fit(frame),
    "partial_fit": lambda frame: sb.Betula().partial_fit(frame),
    "insert": lambda frame: sb.CFTree().insert(frame),
    "linkage": lambda frame: sb.linkage(frame, "ward"),
    "AgglomerativeClustering": lambda frame: sb.AgglomerativeClustering().fit(frame),
}


def numbers(rows=20):
    return {"x": np.arange(float(rows)), "y": np.ones(rows)}


def with_value(value, row=17, rows=20):
    values = [float(i) for i in range(rows)]
    values[row] = value
    return values


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_is_named_with_its_row_and_column(frame, taker):
    table = frame(numbers() | {"carrier": ["1"] * 17 + ["UA"] * 3})
    with pytest.raises(
        ValueError, match=r"^X: row 17, column 'carrier' is 'UA': only numbers .*columns=.*numeric_only"
    ):
        TAKERS[taker](table)


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "is nan: every value must be a finite number; drop or fill"),
        (None, "is nan: every value"),
        (np.inf, "is inf: every value"),
        (1e200, r"is 1e\+200: .*rescale"),
    ],
)
def test_values_that_cannot_be_clustered_are_named_with_their_row_and_column(frame, taker, value, message):
    with pytest.raises(ValueError, match=f"^X: row 17, column 'delay' {message}"):
        TAKERS[taker](frame(numbers() | {"delay": with_value(value)}))


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "boolean", pd.ArrowDtype(pa.int64())], ids=str)
def test_missing_values_of_nullable_types_are_named(dtype):
    column = pd.Series([1] * 17 + [None, 1, 1], dtype=dtype)
    with pytest.raises(ValueError, match="X: row 17, column 'n' is nan"):
        sb.Betula().fit(pd.DataFrame(numbers() | {"n": column}))


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "boolean", "UInt8", pd.ArrowDtype(pa.float32())], ids=str)
def test_nullable_types_without_missing_values_are_numbers(dtype):
    column = np.arange(20) % 2
    table = pd.DataFrame(numbers()).assign(n=pd.Series(column).astype(dtype))
    expected = sb.CFTree().insert(np.column_stack([*numbers().values(), column])).features
    assert sb.CFTree().insert(table).features == expected


DATES = [datetime.datetime(2026, 1, 1)] * 20


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pd.Series(DATES), "dates or times"),
        (pd.Series(DATES).dt.tz_localize("UTC"), "dates or times"),
        (pd.Series(DATES).diff(), "time spans"),
        (pd.Series(np.arange(20) * 1j), "complex numbers"),
        (pl.Series(DATES), "dates or times"),
        (pl.Series(DATES).dt.date(), "dates or times"),
        (pl.Series(DATES).diff(), "time spans"),
    ],
    ids=["pandas", "with zone", "pandas spans", "complex", "polars", "polars dates", "polars spans"],
)
def test_dates_and_spans_are_named_by_their_column(column, what):
    table = pd.DataFrame(numbers()) if isinstance(column, pd.Series) else pl.DataFrame(numbers())
    table = table.assign(when=column) if isinstance(column, pd.Series) else table.with_columns(column.alias("when"))
    with pytest.raises(ValueError, match=rf"X: column 'when' holds {what} \(.*\): only numbers"):
        sb.Betula().fit(table)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_categories_are_named_by_their_first_row(frame):
    kinds = ["ash"] * 10 + ["oak"] * 10
    column = pd.Categorical(kinds) if frame is pd.DataFrame else pl.Series(kinds, dtype=pl.Categorical)
    with pytest.raises(ValueError, match="X: row 0, column 'kind' is 'ash'"):
        sb.Betula().fit(frame(numbers() | {"kind": column}))


def test_categories_and_decimals_that_are_numbers_stay_numbers():
    table = pd.DataFrame(numbers() | {"c": pd.Categorical([1, 2] * 10), "d": [decimal.Decimal("1.5")] * 20})
    features = sb.CFTree().insert(table).features
    assert features.total().mean.tolist() == [[9.5, 1.0, 1.5, 1.5]]


def test_the_row_is_counted_over_all_slices():
    table = pd.DataFrame({"x": pd.Series([1.0] * 70_000 + ["?"] + [1.0], dtype=object)})
    with pytest.raises(ValueError, match=r"X: row 70000, column 'x' is '\?'"):
        sb.CFTree().insert(table)


def test_a_long_value_is_shortened():
    table = pd.DataFrame(numbers() | {"text": ["word " * 1000] * 20})
    with pytest.raises(ValueError, match="column 'text' is 'word") as caught:
        sb.Betula().fit(table)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_without_rows_is_refused_and_nothing_is_fitted(frame):
    model = sb.Betula()
    with pytest.raises(ValueError, match="at least one row"):
        model.fit(frame({"x": np.empty(0), "y": np.empty(0)}))
    with pytest.raises(NotFittedError):
        model.predict([[1.0, 2.0]])

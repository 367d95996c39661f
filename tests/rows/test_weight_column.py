"""A column of weights: a row of weight 3 is three rows, one of weight 0 is none, and every row gets a label."""

import re
import tempfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import silverbirch as sb
from carriers import CARRIERS
from tables import FORMATS, write


def weighted(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.integers(0, 9, n) / 2, "n": rng.integers(0, 4, n), "y": rng.integers(0, 9, n) / 4})


def weights_of(source):
    return np.concatenate([chunk.weight for chunk in source.chunks()])


@pytest.mark.parametrize("name", FORMATS)
def test_weights_come_with_the_rows_of_every_format(name, tmp_path):
    table = weighted()
    source = sb.read_chunks(write(table, tmp_path / name), weight_column="n", chunk_rows=70)
    assert (source.names, source.weight_column) == (("x", "y"), "n")
    np.testing.assert_array_equal(weights_of(source), table["n"])
    np.testing.assert_array_equal(np.concatenate(list(source)), table[["x", "y"]])


@pytest.mark.parametrize("carrier", CARRIERS)
@given(
    weights=st.lists(st.sampled_from([0.0, 1.0, 2.5, 1e-20, 1e20]), min_size=1, max_size=12),
    kind=st.sampled_from([pa.float64(), pa.float32()]),
    batch=st.integers(1, 5),
    chunk_rows=st.integers(1, 9),
)
def test_weights_keep_their_rows_however_they_are_cut(carrier, weights, kind, batch, chunk_rows):
    table = pa.table({"w": pa.array(weights, kind), "x": np.arange(float(len(weights)))})
    with tempfile.TemporaryDirectory() as folder:
        read = CARRIERS[carrier](table, folder, batch)
        chunks = list(sb.read_chunks(read, weight_column="w", chunk_rows=chunk_rows).chunks())
    np.testing.assert_array_equal(np.concatenate([c.weight for c in chunks]), table["w"].to_numpy())
    np.testing.assert_array_equal(np.concatenate([c.rows for c in chunks]).ravel(), table["x"].to_numpy())


def test_columns_of_arrays_can_be_weights():
    rows = np.array([[1.0, 2.0, 5.0], [3.0, 0.0, 6.0]])
    source = sb.read_chunks(rows, weight_column=1)
    assert weights_of(source).tolist() == [2.0, 0.0]
    np.testing.assert_array_equal(np.concatenate(list(source)), rows[:, [0, 2]])


def test_a_model_of_weighted_rows_is_that_of_repeated_rows_and_labels_every_row():
    table = weighted()
    repeated = table.loc[table.index.repeat(table["n"]), ["x", "y"]]
    source = sb.read_chunks(table, weight_column="n")
    found, expected = sb.Betula(4).fit(source), sb.Betula(4).fit(repeated.reset_index(drop=True))
    order, other = (np.lexsort(model.features_.mean.T) for model in (found, expected))
    np.testing.assert_array_equal(found.features_.mean[order], expected.features_.mean[other])
    np.testing.assert_array_equal(found.features_.weight[order], expected.features_.weight[other])
    assert found.clusters_.weight.sum() == len(repeated)
    labels = found.labels_
    assert len(labels) == len(table)
    np.testing.assert_array_equal(labels, found.predict(sb.read_chunks(table, columns=["x", "y"])))


def test_a_tree_takes_the_weights_of_the_column():
    table = weighted()
    tree = sb.CFTree().insert(sb.read_chunks(table, weight_column="n"))
    given = sb.CFTree().insert(table[["x", "y"]], weight=table["n"])
    assert tree.n_points == table["n"].sum()
    np.testing.assert_array_equal(tree.features.mean, given.features.mean)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.arrow"])
@pytest.mark.parametrize(("value", "text"), [(-2.0, "-2.0"), (np.nan, "nan"), (np.inf, "inf")])
def test_a_weight_that_is_none_is_refused_with_row_and_value(name, value, text, tmp_path):
    table = weighted(90)
    table["n"] = table["n"].astype(float)
    table.loc[57, "n"] = value
    source = sb.read_chunks(write(table, tmp_path / name), weight_column="n", chunk_rows=20)
    with pytest.raises(
        ValueError, match=rf"row 57 of .*{re.escape(name)}, weight column 'n' is {text}: must be finite"
    ):
        list(source.chunks())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight_column": "w"}, "has no column 'w'; it has 'x', 't'"),
        ({"weight_column": "t"}, "weight_column='t' holds string: weights are numbers"),
        ({"weight_column": "x"}, "has columns that are not numbers: 't'"),
        ({"weight_column": "x", "numeric_only": True}, "has no column of numbers"),
    ],
)
def test_what_cannot_be_a_weight_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        sb.read_chunks(pa.table({"x": [1.0], "t": ["a"]}), **options)


def test_two_kinds_of_weights_are_refused():
    source = sb.read_chunks(weighted(), weight_column="n")
    with pytest.raises(ValueError, match="weight_column='n': leave sample_weight out"):
        sb.Betula(2).fit(source, sample_weight=np.ones(300))
    with pytest.raises(ValueError, match="weight_column='n': leave weight out"):
        sb.CFTree().insert(source, weight=2.0)


def test_extremes_of_metadata_are_not_those_of_rows_that_count(tmp_path):
    path = write(pa.table({"x": [1.0, 99.0], "w": [1.0, 0.0]}), tmp_path / "rows.parquet")
    assert sb.read_chunks(path, weight_column="w").extremes() is None


def test_a_linkage_of_points_does_not_ignore_the_weights_of_a_source():
    source = sb.read_chunks(weighted(), weight_column="n")
    with pytest.raises(ValueError, match=r"weight_column='n' .*pass the weights by weights"):
        sb.linkage(source)

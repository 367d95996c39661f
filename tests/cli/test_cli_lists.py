"""The command line reads columns of lists as the Python interface does."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import silverbirch as sb
from commands import done, silverbirch
from models import points


@pytest.fixture
def rows(tmp_path):
    """A matrix, and a file that holds it as a column of lists beside text and another number."""
    X = points(300, 5)
    table = pa.table({"name": [f"n{i}" for i in range(300)], "size": X[:, 0], "e": pa.array(list(X))})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=70)
    return X, tmp_path / "rows.parquet"


def beside(X, scaled):
    """The columns that the file holds as 'e' and 'size'."""
    low, high = X.min(axis=0), X.max(axis=0)
    rows = (X - low) / (high - low) if scaled else X
    return np.column_stack([rows, rows[:, 0]])


@pytest.mark.parametrize("scaled", [False, True])
def test_a_column_of_lists_is_clustered_and_cut_again_by_its_name(rows, scaled, tmp_path):
    X, path = rows
    labels, coarse, run = (tmp_path / name for name in ("labels.npy", "coarse.npy", "run.sb"))
    options = ("--scale", "minmax") if scaled else ()
    done("cluster", path, "-k", 4, "--columns", "e,size", "--labels", labels, "--model", run, *options)
    expected = sb.Betula(4).fit(beside(X, scaled))
    np.testing.assert_array_equal(np.load(labels), expected.labels_)
    again = path if scaled else sb.read_chunks(path, columns=["e", "size"])  # a preparation chooses its own columns
    np.testing.assert_array_equal(sb.load(run).predict(again), expected.labels_)
    done("cut", run, "-k", 2, path, "--labels", coarse)
    np.testing.assert_array_equal(np.load(coarse), sb.Betula(2).fit_predict(beside(X, scaled)))


def test_a_model_with_a_projection_labels_the_rows_of_a_file(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"e": list(points(300, 5))}), path)
    model = sb.Betula(4, projection=3).fit(path)
    model.save(tmp_path / "run.sb")
    done("cut", tmp_path / "run.sb", "-k", 4, path, "--labels", tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)


def test_the_features_of_a_projected_model_are_not_clustered_as_rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(100, 8))
    sb.Betula(4, projection=3).fit(X).save(tmp_path / "model.sb")
    result = silverbirch("cluster", tmp_path / "model.sb", "-k", 2)
    assert result.exit_code == 1
    assert "model of projected rows" in " ".join(result.stderr.split())


def test_info_shows_some_of_many_columns_and_lists_all_in_json(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"e": list(points(50, 40))}), path)
    done("cluster", path, "-k", 2, "--model", tmp_path / "run.sb")
    assert "e[0], e[1], e[2], e[3], e[4], e[5], … e[39] (40 in all)\n" in done("info", tmp_path / "run.sb").stdout
    assert len(json.loads(done("info", tmp_path / "run.sb", "--json").stdout)["names"]) == 40


def test_rows_without_a_direction_are_not_called_missing(tmp_path):
    np.save(tmp_path / "rows.npy", np.vstack([np.zeros(3), points(50, 3)]))
    told = done("cluster", tmp_path / "rows.npy", "-k", 2, "--metric", "cosine", "--missing", "drop").stdout
    assert "51, 1 of them left out for missing values or no direction\n" in told

"""Columns on the command line: names with commas, weights, times, and names of folders."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import silverbirch as sb
from commands import done, refused


@pytest.fixture
def weighted(tmp_path):
    """Rows with whole weights from 0 to 3, and the same rows as often as their weights say."""
    rng = np.random.default_rng(1)
    centre = rng.integers(0, 4, 400)
    table = pd.DataFrame({"x": centre * 8 + rng.normal(size=400), "y": rng.normal(size=400), "n": centre[::-1]})
    repeated = table.loc[table.index.repeat(table["n"]), ["x", "y"]]
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    repeated.to_parquet(tmp_path / "repeated.parquet", index=False)
    return table, repeated


@pytest.mark.parametrize("options", [(), ("--scale", "standard"), ("--scale", "minmax"), ("--metric", "cosine")])
def test_a_weight_is_how_often_a_row_counts_and_every_row_gets_a_label(options, weighted, tmp_path):
    table, repeated = weighted
    shared = ("-k", 4, "--record", tmp_path / "record.json", "--force", *options)
    files = {name: (tmp_path / f"{name}.sb", tmp_path / f"{name}.npy") for name in ("rows", "repeated")}
    for name, (model, labels) in files.items():
        weight = ("--weight-column", "n") if name == "rows" else ()
        done("cluster", tmp_path / f"{name}.parquet", "--model", model, "--labels", labels, *weight, *shared)
        if name == "rows":
            counts = json.loads((tmp_path / "record.json").read_text())["counts"]
    assert (counts["rows"], counts["weight"], counts["dropped"]) == (400, len(repeated), 0)
    assert (counts["labelled"], counts["unlabelled"]) == (400, 0)
    labels = np.load(files["rows"][1])
    np.testing.assert_array_equal(np.repeat(labels, table["n"]), np.load(files["repeated"][1]))
    again = tmp_path / "again.npy"
    table.drop(columns="n").to_parquet(tmp_path / "without.parquet")
    done("cut", files["rows"][0], "-k", 4, tmp_path / "without.parquet", "--labels", again)
    np.testing.assert_array_equal(np.load(again), labels)


def test_features_of_weighted_rows_have_their_weight(weighted, tmp_path):
    _, repeated = weighted
    said = done("aggregate", tmp_path / "rows.parquet", "--weight-column", "n", "-o", tmp_path / "rows.sb").stdout
    assert f"rows      400 of weight {len(repeated)}" in said
    features = sb.ClusterFeatures.load(tmp_path / "rows.sb")
    assert features.weight.sum() == len(repeated)
    total = features.total()
    np.testing.assert_allclose(total.mean[0], repeated.mean())
    np.testing.assert_allclose(total.sse[0], repeated.var(ddof=0).sum() * len(repeated))
    assert "weight column  n" in done("info", tmp_path / "rows.sb").stdout


def test_the_summary_gives_the_weight_of_clusters_of_weighted_rows(weighted, tmp_path):
    _, repeated = weighted
    model, rows = tmp_path / "m.sb", tmp_path / "rows.parquet"
    files = ("--model", model, "--labels", tmp_path / "l.npy")
    first = done("cluster", rows, "-k", 2, "--weight-column", "n", *files).stdout
    weights = np.bincount(np.load(tmp_path / "l.npy"), pd.read_parquet(rows)["n"]).astype(int)
    assert f"clusters  2, of weight {weights.min()} to {weights.max()}; 400 rows labelled" in first
    assert f"rows      of weight {len(repeated)}" in done("cut", model, "-k", 3).stdout


@pytest.mark.parametrize("missing", ["drop", "mean"])
def test_rows_of_weight_0_with_missing_values_are_counted_like_others(missing, tmp_path):
    table = pd.DataFrame({"x": [1.0, np.nan, np.nan, 4.0, 5.0], "w": [1, 0, 1, 0, 3]})
    table.to_parquet(tmp_path / "rows.parquet")
    files = ("--labels", tmp_path / "labels.npy", "--record", tmp_path / "record.json")
    done("cluster", tmp_path / "rows.parquet", "-k", 1, "--weight-column", "w", "--missing", missing, *files)
    counts = json.loads((tmp_path / "record.json").read_text())["counts"]
    left_out = 2 if missing == "drop" else 0
    assert (counts["dropped"], counts["filled"], counts["unlabelled"]) == (left_out, 2 - left_out, left_out)
    assert counts["weight"] == (4 if missing == "drop" else 5)
    assert np.load(tmp_path / "labels.npy").tolist() == ([0, -2, -2, 0, 0] if missing == "drop" else [0] * 5)


def test_rows_that_all_have_weight_0_are_refused(tmp_path):
    pd.DataFrame({"x": [1.0, 2.0], "w": [0, 0]}).to_parquet(tmp_path / "rows.parquet")
    for options in ((), ("--scale", "standard")):
        wrong = refused("cluster", tmp_path / "rows.parquet", "--weight-column", "w", *options)
        assert "no row is left of 2: each one has a missing value or weight 0" in wrong


def test_a_column_of_an_array_can_hold_weights(tmp_path):
    rows = np.array([[0.0, 2.0, 1.0], [9.0, 0.0, 1.0], [10.0, 5.0, 2.0]])
    np.save(tmp_path / "rows.npy", rows)
    np.save(tmp_path / "new.npy", rows[:, [0, 2, 2]])
    model, labels = tmp_path / "run.sb", tmp_path / "labels.npy"
    done("cluster", tmp_path / "rows.npy", "-k", 2, "--weight-column", "1", "--model", model)
    features = sb.load(model).features_
    assert (features.n_dimensions, features.weight.sum()) == (2, 7)
    done("cut", model, "-k", 2, tmp_path / "rows.npy", "--labels", labels)
    assert np.load(labels).tolist() == [1, 0, 0]


def test_a_name_with_a_comma_is_a_column_and_the_option_can_be_repeated(tmp_path):
    table = pa.table({"a": [1.0, 2.0], "a,b": [3.0, 9.0], "b": [5.0, 6.0], "c": ["x", "y"]})
    pq.write_table(table, tmp_path / "rows.parquet")
    model = tmp_path / "run.sb"
    for options, names in (
        (("--columns", "a,b"), ["a,b"]),
        (("--columns", "b, a"), ["b", "a"]),
        (("--columns", "b", "--columns", "a,b"), ["b", "a,b"]),
    ):
        done("cluster", tmp_path / "rows.parquet", "-k", 2, "--model", model, "--force", *options)
        assert sb.load(model).feature_names_in_.tolist() == names
        done("cut", model, "-k", 2, tmp_path / "rows.parquet", "--labels", tmp_path / "labels.npy", "--force")


def test_kept_columns_are_named_like_columns_to_cluster(tmp_path):
    table = pa.table({"x": [1.0, 9.0], "a": ["p", "q"], "a,b": ["r", "s"], "id": ["0", "1"]})
    pq.write_table(table, tmp_path / "rows.parquet")
    labels, model = tmp_path / "labels.csv", tmp_path / "run.sb"
    written = ("--labels", labels, "--force")
    for options, header in (
        (("--keep", "a,b"), 'id,"a,b",label'),
        (("--keep", "a,b", "--keep", "a"), 'id,"a,b",a,label'),
        (("--keep", "a, id"), "id,a,label"),
    ):
        chosen = ("--columns", "x", "--id-column", "id", *options)
        done("cluster", tmp_path / "rows.parquet", "-k", 2, "--model", model, *chosen, *written)
        assert labels.read_text().splitlines()[0] == header
        done("cut", model, "-k", 2, tmp_path / "rows.parquet", *options, *written)
        assert labels.read_text().splitlines()[0] == header


def test_a_kept_column_called_label_is_refused_wherever_it_is_named(tmp_path):
    pq.write_table(pa.table({"x": [1.0, 9.0], "label": ["p", "q"], "a": [1, 2]}), tmp_path / "rows.parquet")
    options = ("-k", 2, "--columns", "x", "--labels", tmp_path / "labels.csv", "--keep", "a,label")
    assert "label" in refused("cluster", tmp_path / "rows.parquet", *options)
    assert not (tmp_path / "labels.csv").exists()


def test_times_are_clustered_on_request_and_again_by_the_model(tmp_path):
    days = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-06-01", "2024-06-03"])
    pd.DataFrame({"when": days, "x": [1.0, 2.0, 1.0, 2.0]}).to_parquet(tmp_path / "rows.parquet")
    assert "'when' (timestamp" in (wrong := refused("cluster", tmp_path / "rows.parquet", "-k", 2))
    assert "--times" in wrong
    for scale in ("none", "standard"):
        model, labels = tmp_path / f"{scale}.sb", tmp_path / f"{scale}.npy"
        options = ("--times", "--scale", scale, "--columns", "when")
        done("cluster", tmp_path / "rows.parquet", "-k", 2, "--model", model, "--labels", labels, *options)
        first = np.load(labels)
        assert first[0] == first[1] != first[2] == first[3]
        done("cut", model, "-k", 2, tmp_path / "rows.parquet", "--labels", labels, "--force")
        np.testing.assert_array_equal(np.load(labels), first)
        assert "seconds" in done("info", model).stdout
    np.testing.assert_array_equal(sb.load(model).predict(tmp_path / "rows.parquet"), first)


def test_the_names_of_folders_are_clustered_and_left_out_by_columns(tmp_path):
    for year in (2020, 2024):
        (tmp_path / f"data/year={year}").mkdir(parents=True)
        pq.write_table(pa.table({"x": [1.0, 2.0, 3.0]}), tmp_path / f"data/year={year}/part.parquet")
    labels = tmp_path / "labels.npy"
    assert "columns   x, year" in done("cluster", tmp_path / "data", "-k", 2, "--labels", labels).stdout
    found = np.load(labels)
    assert len({*found[:3]}) == len({*found[3:]}) == 1
    assert found[0] != found[3]
    done("cluster", tmp_path / "data", "-k", 2, "--columns", "x", "--labels", labels, "--force")
    assert np.load(labels)[:3].tolist() == np.load(labels)[3:].tolist()

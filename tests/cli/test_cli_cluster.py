"""`cluster`, `aggregate`, `merge` and `cut` give what the Python interface, pandas and scipy give."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.cluster.hierarchy import fcluster
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import silverbirch as sb
from commands import done, silverbirch
from silverbirch.pipeline.labelling import Labelling

NAMES = list("xyz")


def blobs(count=3000, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(count, 3)) + 15 * random.integers(0, 2, size=(count, 3))


@pytest.fixture
def frame():
    X = blobs()
    return pd.DataFrame(X, columns=NAMES).assign(id=[f"row-{i:05}" for i in range(len(X))])


@pytest.fixture
def table(frame, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=700)
    return tmp_path / "rows.parquet"


def as_npy(frame, path):
    np.save(path, frame[NAMES].to_numpy())


WRITERS = {
    "parquet": lambda frame, path: frame[NAMES].to_parquet(path),
    "csv": lambda frame, path: frame[NAMES].to_csv(path, index=False),
    "csv.gz": lambda frame, path: frame[NAMES].to_csv(path, index=False),
    "tsv": lambda frame, path: frame[NAMES].to_csv(path, index=False, sep="\t"),
    "feather": lambda frame, path: frame[NAMES].to_feather(path),
    "npy": as_npy,
}


# --- labels


@pytest.mark.parametrize("suffix", WRITERS)
def test_labels_of_a_file_are_those_of_fit(suffix, frame, tmp_path):
    path = tmp_path / f"rows.{suffix}"
    WRITERS[suffix](frame, path)
    done("cluster", path, "-k", 6, "--max-leaves", 200, "--labels", tmp_path / "labels.npy")
    expected = sb.Betula(6, max_leaves=200).fit(frame[NAMES].to_numpy()).labels_
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), expected)


@pytest.mark.parametrize("linkage", ["ward", "average", "centroid", "single", "complete"])
def test_the_linkage_decides_the_tree_and_the_dendrogram_as_in_betula(linkage, frame, table, tmp_path):
    command = ["cluster", table, "-k", 5, "--linkage", linkage, "--max-leaves", 100, "--columns", "x,y,z"]
    done(*command, "--labels", tmp_path / "labels.npy", "--model", tmp_path / "run.sb")
    model = sb.Betula(5, linkage=linkage, max_leaves=100).fit(frame[NAMES])
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)
    np.testing.assert_array_equal(sb.load(tmp_path / "run.sb").linkage_matrix_, model.linkage_matrix_)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "tsv.gz"])
def test_ids_are_kept_through_to_the_labels_in_input_order(suffix, frame, table, tmp_path):
    path = tmp_path / f"labels.{suffix}"
    done("cluster", table, "-k", 4, "--id-column", "id", "--labels", path)
    read = pd.read_parquet if suffix == "parquet" else lambda p: pd.read_csv(p, sep="\t" if "tsv" in suffix else ",")
    labels = read(path)
    assert list(labels) == ["id", "label"]
    assert labels["id"].tolist() == frame["id"].tolist()
    np.testing.assert_array_equal(labels["label"], sb.Betula(4).fit(frame[NAMES]).labels_)


def test_ids_of_different_files_are_text_where_their_types_differ(frame, tmp_path):
    frame = frame.assign(id=np.arange(len(frame)))
    frame.iloc[:2000].to_parquet(tmp_path / "a.parquet")
    frame.iloc[2000:].to_csv(tmp_path / "b.csv", index=False)
    inputs = [tmp_path / "a.parquet", tmp_path / "b.csv"]
    done("cluster", *inputs, "-k", 4, "--id-column", "id", "--labels", tmp_path / "l.parquet")
    assert pd.read_parquet(tmp_path / "l.parquet")["id"].tolist() == [str(i) for i in range(len(frame))]


def test_several_files_are_one_input_in_the_order_given(frame, tmp_path):
    for number, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame[NAMES].iloc[part].to_csv(tmp_path / f"{number}.csv", index=False)
    parts = [tmp_path / f"{number}.csv" for number in (2, 0, 1)]
    done("cluster", *parts, "-k", 7, "--max-leaves", 90, "--labels", tmp_path / "labels.npy")
    X = np.concatenate([pd.read_csv(part).to_numpy() for part in parts])
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), sb.Betula(7, max_leaves=90).fit(X).labels_)


def test_a_cut_by_height_is_scipys(frame, table, tmp_path):
    outputs = ["--labels", tmp_path / "l.npy", "--model", tmp_path / "m.sb"]
    done("cluster", table, "--height", 30, "--columns", "x,y,z", *outputs)
    model = sb.load(tmp_path / "m.sb")
    expected = fcluster(model.linkage_matrix_, 30, "distance")
    assert adjusted_rand_score(model.subcluster_labels_, expected) == 1
    assert len(np.unique(np.load(tmp_path / "l.npy"))) == expected.max()


def test_rows_with_missing_values_are_refused_by_default_and_nothing_is_written(frame, tmp_path):
    frame.loc[1234, "y"] = None
    frame.to_parquet(tmp_path / "rows.parquet")
    result = silverbirch(
        "cluster", tmp_path / "rows.parquet", "-k", 4, "--id-column", "id", "--labels", tmp_path / "l.csv"
    )
    assert result.exit_code == 1
    assert "column 'y' is missing in row 1234 of" in result.stderr
    assert "--missing" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def test_dropped_rows_get_no_label_and_are_counted(frame, tmp_path):
    holes = [5, 6, 2999]
    frame.loc[holes, "z"] = np.nan
    frame.to_csv(tmp_path / "rows.csv", index=False)
    command = ["cluster", tmp_path / "rows.csv", "-k", 4, "--id-column", "id", "--missing", "drop", "--json"]
    record = json.loads(done(*command, "--labels", tmp_path / "labels.csv").stdout)
    assert (record["counts"]["rows"], record["counts"]["dropped"]) == (3000, 3)
    labels = pd.read_csv(tmp_path / "labels.csv")["label"].to_numpy()
    assert np.flatnonzero(np.isnan(labels)).tolist() == holes
    kept = frame[NAMES].dropna()
    np.testing.assert_array_equal(labels[labels >= 0], sb.Betula(4).fit(kept).labels_)


def test_filled_values_are_counted(frame, tmp_path):
    frame.loc[[5, 6], ["y", "z"]] = np.nan
    frame.to_csv(tmp_path / "rows.csv", index=False)
    command = ["cluster", tmp_path / "rows.csv", "-k", 4, "--columns", "x,y,z", "--missing", "mean", "--json"]
    record = json.loads(done(*command, "--labels", tmp_path / "labels.npy").stdout)
    assert record["counts"]["filled"] == 4
    expected = sb.Betula(4).fit(frame[NAMES].fillna(frame[NAMES].mean())).labels_
    assert adjusted_rand_score(np.load(tmp_path / "labels.npy"), expected) == 1


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_minmax_needs_no_pass_of_its_own_where_parquet_has_the_extremes(suffix, frame, tmp_path):
    WRITERS[suffix](frame, tmp_path / f"rows.{suffix}")
    done("cluster", tmp_path / f"rows.{suffix}", "-k", 4, "--scale", "minmax", "--model", tmp_path / "run.sb")
    means = sb.ClusterFeatures.load(tmp_path / "run.sb").mean
    X = pd.read_csv(tmp_path / "rows.csv").to_numpy() if suffix == "csv" else frame[NAMES].to_numpy()
    expected = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    np.testing.assert_allclose(np.sort(means, axis=0), np.sort(expected, axis=0), atol=1e-12)


# --- models


def test_a_model_labels_rows_as_the_run_did_whatever_the_preparation(frame, table, tmp_path):
    command = ["cluster", table, "-k", 6, "--scale", "standard", "--id-column", "id", "--labels", tmp_path / "a.csv"]
    done(*command, "--model", tmp_path / "run.sb")
    done("cut", tmp_path / "run.sb", table, "-k", 6, "--labels", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    scaled = StandardScaler().fit_transform(frame[NAMES])
    expected = sb.Betula(6).fit(scaled).labels_
    assert adjusted_rand_score(pd.read_csv(tmp_path / "a.csv")["label"], expected) == 1


def test_a_model_of_scaled_rows_takes_rows_as_they_come_in_python_too(frame, table, tmp_path):
    command = ["cluster", table, "-k", 6, "--scale", "standard", "--id-column", "id", "--labels", tmp_path / "l.csv"]
    done(*command, "--model", tmp_path / "run.sb")
    expected = pd.read_csv(tmp_path / "l.csv")["label"]
    np.testing.assert_array_equal(sb.load(tmp_path / "run.sb").predict(frame[NAMES]), expected)
    with pytest.raises(sb.ModelFileError, match=r"silverbirch\.load"):
        sb.Betula.load(tmp_path / "run.sb")


@pytest.mark.parametrize("k", [1, 2, 20])
def test_cutting_again_equals_clustering_with_that_number(k, table, tmp_path):
    columns = ["--columns", "x,y,z", "--max-leaves", 150]
    done("cluster", table, "-k", 6, *columns, "--model", tmp_path / "run.sb")
    done("cut", tmp_path / "run.sb", table, "-k", k, "--labels", tmp_path / "cut.npy", "--model", tmp_path / "cut.sb")
    done("cluster", table, "-k", k, *columns, "--labels", tmp_path / "whole.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "cut.npy"), np.load(tmp_path / "whole.npy"))
    assert sb.load(tmp_path / "cut.sb").n_clusters_ == k


def test_a_cut_tells_of_the_rows_it_labelled(frame, table, tmp_path):
    done("cluster", table, "-k", 6, "--id-column", "id", "--missing", "drop", "--model", tmp_path / "run.sb")
    new = frame[NAMES].iloc[:10].copy()
    new.loc[3, "x"] = np.nan
    new.to_csv(tmp_path / "new.csv", index=False)
    command = ["cut", tmp_path / "run.sb", tmp_path / "new.csv", "-k", 6, "--no-ids", "--labels", tmp_path / "l.csv"]
    assert "9 rows labelled, 1 left out" in done(*command).stdout


def test_the_summary_names_the_columns_that_were_clustered_by(table):
    lines = done("cluster", table, "-k", 6, "--id-column", "id").stdout.splitlines()
    assert "columns   x, y, z" in lines
    assert lines == [line.rstrip() for line in lines]


def test_without_rows_a_cut_labels_the_features(table, tmp_path):
    done("cluster", table, "--columns", "x,y", "--max-leaves", 150, "--model", tmp_path / "run.sb")
    done("cut", tmp_path / "run.sb", "-k", 4, "--labels", tmp_path / "leaves.npy")
    model = sb.load(tmp_path / "run.sb")
    expected = model.recut(n_clusters=4).subcluster_labels_
    np.testing.assert_array_equal(np.load(tmp_path / "leaves.npy"), expected)


def test_the_same_run_writes_the_same_bytes(table, tmp_path):
    for name in "ab":
        done("cluster", table, "-k", 4, "--id-column", "id", "--model", tmp_path / f"{name}.sb")
    assert (tmp_path / "a.sb").read_bytes() == (tmp_path / "b.sb").read_bytes()


# --- features of many machines


def test_merged_parts_hold_all_rows_and_cluster_like_the_whole(frame, tmp_path):
    parts = []
    for number, part in enumerate(np.array_split(frame[NAMES], 3)):
        np.save(tmp_path / f"{number}.npy", part)
        done("aggregate", tmp_path / f"{number}.npy", "--max-leaves", 300, "-o", tmp_path / f"{number}.sb")
        parts.append(tmp_path / f"{number}.sb")
    done("merge", *parts, "--max-leaves", 400, "-o", tmp_path / "all.sb")
    merged = sb.ClusterFeatures.load(tmp_path / "all.sb")
    assert len(merged) <= 400
    X = frame[NAMES].to_numpy()
    assert merged.weight.sum() == len(X)
    np.testing.assert_allclose(merged.total().mean[0], X.mean(axis=0), rtol=1e-12)
    assert merged.total().sse[0] == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-12)

    done("cluster", tmp_path / "all.sb", "-k", 8, "--model", tmp_path / "run.sb")
    np.save(tmp_path / "whole.npy", X)
    done("cut", tmp_path / "run.sb", tmp_path / "whole.npy", "-k", 8, "--labels", tmp_path / "labels.npy")
    expected = sb.Betula(8).fit(X).labels_
    assert adjusted_rand_score(np.load(tmp_path / "labels.npy"), expected) > 0.99


def test_features_of_other_columns_or_scales_do_not_merge(frame, tmp_path):
    frame[NAMES].to_parquet(tmp_path / "a.parquet")
    frame[NAMES].iloc[:1000].to_parquet(tmp_path / "b.parquet")
    for name, options in {"xy": ["--columns", "x,y"], "yx": ["--columns", "y,x"], "plain": []}.items():
        done("aggregate", tmp_path / "a.parquet", *options, "-o", tmp_path / f"{name}.sb")
    for name in "ab":
        done("aggregate", tmp_path / f"{name}.parquet", "--scale", "standard", "-o", tmp_path / f"{name}-scaled.sb")
    for pair, words in {
        ("xy", "yx"): "the columns are y, x, not x, y",
        ("plain", "xy"): "the columns are x, y, not x, y, z",
        ("plain", "a-scaled"): "--scale was standard, not none",
        ("a-scaled", "b-scaled"): "column 'x' was moved by",
    }.items():
        result = silverbirch("merge", *(tmp_path / f"{name}.sb" for name in pair), "-o", tmp_path / "all.sb")
        assert result.exit_code == 1
        assert words in result.stderr
        assert not (tmp_path / "all.sb").exists()


def test_aggregated_features_are_those_of_the_tree(frame, table, tmp_path):
    done("aggregate", table, "--columns", "x,z", "--max-leaves", 100, "-o", tmp_path / "part.sb")
    expected = sb.CFTree(max_leaves=100).insert(frame[["x", "z"]].to_numpy()).features
    for found, wanted in zip(sb.ClusterFeatures.load(tmp_path / "part.sb").arrays(), expected.arrays(), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_float32_columns_stay_float32_on_the_way(tmp_path):
    X = blobs().astype(np.float32)
    pq.write_table(pa.table({name: X[:, i] for i, name in enumerate(NAMES)}), tmp_path / "rows.parquet")
    done("aggregate", tmp_path / "rows.parquet", "--max-leaves", 100, "-o", tmp_path / "part.sb")
    expected = sb.CFTree(max_leaves=100).insert(X).features
    np.testing.assert_array_equal(sb.ClusterFeatures.load(tmp_path / "part.sb").mean, expected.mean)


@pytest.mark.parametrize("options", [[], ["--scale", "standard"]])
def test_columns_chosen_by_number_are_chosen_again_by_a_cut_and_in_python(options, tmp_path):
    X = np.random.default_rng(0).normal(size=(2000, 2)) * [1, 50]
    np.save(tmp_path / "rows.npy", X)
    command = ["cluster", tmp_path / "rows.npy", "-k", 4, "--columns", "1,0", "--max-leaves", 300, *options]
    done(*command, "--labels", tmp_path / "a.npy", "--model", tmp_path / "run.sb")
    done("cut", tmp_path / "run.sb", "-k", 4, tmp_path / "rows.npy", "--labels", tmp_path / "b.npy")
    expected = np.load(tmp_path / "a.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), expected)
    model = sb.load(tmp_path / "run.sb")
    np.testing.assert_array_equal(model.predict(X[:, [1, 0]]), expected)
    if options:  # a plain model takes rows as they are; one that prepares them knows its columns
        np.testing.assert_array_equal(model.predict([tmp_path / "rows.npy"]), expected)


@pytest.mark.parametrize("options", [[], ["--missing", "mean"], ["--scale", "standard"], ["--metric", "cosine"]])
@pytest.mark.parametrize("value", [np.inf, 1e200])
def test_a_value_too_large_is_named_by_its_place_whatever_the_pass(value, options, tmp_path, recwarn):
    X = np.random.default_rng(0).normal(size=(200_000, 2))
    X[150_000, 1] = value
    np.save(tmp_path / "rows.npy", X)
    result = silverbirch("cluster", tmp_path / "rows.npy", "-k", 2, "--max-leaves", 100, *options)
    assert result.exit_code == 1
    what = "infinite" if value == np.inf else "beyond 1e+100"
    assert f"column 1 is {what} in row 150000 of {tmp_path / 'rows.npy'}" in result.stderr
    assert not recwarn.list


@pytest.mark.parametrize("count", [3000, 2500])
def test_rows_that_change_between_the_passes_get_no_labels(count, tmp_path, monkeypatch):
    label = Labelling.run

    def change_and_label(*arguments, **options):
        np.save(tmp_path / "rows.npy", blobs(count, seed=1))
        return label(*arguments, **options)

    monkeypatch.setattr(Labelling, "run", change_and_label)
    np.save(tmp_path / "rows.npy", blobs())
    result = silverbirch("cluster", tmp_path / "rows.npy", "-k", 3, "--labels", tmp_path / "labels.npy")
    assert result.exit_code == 1
    assert "rows.npy was c" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rows.npy"]


def test_rows_without_the_id_column_of_the_model_can_be_labelled(frame, table, tmp_path):
    run = tmp_path / "run.sb"
    done("cluster", table, "-k", 4, "--id-column", "id", "--labels", tmp_path / "a.parquet", "--model", run)
    frame[NAMES[::-1]].to_parquet(tmp_path / "other.parquet")
    command = ["cut", run, "-k", 4, tmp_path / "other.parquet", "--labels", tmp_path / "b.npy"]
    assert silverbirch(*command).exit_code == 1
    done(*command, "--no-ids")
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), pd.read_parquet(tmp_path / "a.parquet")["label"])
    assert silverbirch(*command, "--no-ids", "--id-column", "id").exit_code == 2

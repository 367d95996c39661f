"""Adaptive cuts on the command line: those of the estimator, with noise in the label files."""

import json

import numpy as np
import pandas as pd
import pytest

import silverbirch as sb
from commands import silverbirch

ADAPTIVE = {
    "eom": (["--cut-method", "eom", "--min-size", 20], {"method": "eom", "min_size": 20}),
    "eom with noise": (["--cut-method", "eom", "--min-size", 20, "--noise"],
                       {"method": "eom", "min_size": 20, "noise": True}),
    "dynamic": (["--cut-method", "dynamic", "--min-size", 20], {"method": "dynamic", "min_size": 20}),
    "least size": (["-k", 3, "--min-size", 20, "--noise"], {"n_clusters": 3, "min_size": 20, "noise": True}),
    "largest size": (["--max-size", 200], {"max_size": 200}),
}  # fmt: skip


@pytest.fixture
def rows(tmp_path):
    """Three groups and a few rows far from all of them, one of which has a missing value."""
    random = np.random.default_rng(0)
    groups = [random.normal(center, 0.3, size=(150, 2)) for center in ([0, 0], [8, 0], [0, 8])]
    X = np.concatenate([*groups, random.uniform(20, 90, size=(9, 2))])
    X[-1, 0] = np.nan
    pd.DataFrame(X, columns=["x", "y"]).to_parquet(tmp_path / "rows.parquet")
    return X


def model_of(X, linkage="single"):
    return sb.Betula(linkage=linkage, max_leaves=None).fit(X[~np.isnan(X).any(axis=1)])


@pytest.mark.parametrize("case", ADAPTIVE)
def test_cluster_and_cut_give_the_labels_of_recut(case, rows, tmp_path):
    options, keywords = ADAPTIVE[case]
    expected = model_of(rows).recut(**keywords)
    clustering = ["--linkage", "single", "--max-leaves", 1000, "--missing", "drop"]
    files = ["--labels", tmp_path / "first.npy", "--model", tmp_path / "run.sb"]
    made = silverbirch("cluster", tmp_path / "rows.parquet", *clustering, *options, *files)
    assert made.exit_code == 0, made.stderr
    again = ["--labels", tmp_path / "second.csv", "--model", tmp_path / "second.sb", "--json"]
    cut = silverbirch("cut", tmp_path / "run.sb", tmp_path / "rows.parquet", *options, *again)
    assert cut.exit_code == 0, cut.stderr

    first, second = np.load(tmp_path / "first.npy"), pd.read_csv(tmp_path / "second.csv")["label"]
    np.testing.assert_array_equal(first[:-1], expected.labels_)
    np.testing.assert_array_equal(second[:-1], expected.labels_)
    assert first[-1] == -2
    assert np.isnan(second.iloc[-1])
    noise = int((expected.labels_ == -1).sum())
    assert json.loads(cut.stdout)["counts"].get("noise", 0) == noise
    assert (f"{noise} of them noise" in made.stdout) == (noise > 0)
    for path in ("run.sb", "second.sb"):  # the cut is remembered
        np.testing.assert_array_equal(sb.load(tmp_path / path).predict(rows[:-1]), expected.labels_)


def test_at_least_one_case_has_noise(rows):
    assert any((model_of(rows).recut(**keywords).labels_ == -1).any() for _, keywords in ADAPTIVE.values())


def test_a_report_shows_another_cut(rows, tmp_path):
    arguments = ["--missing", "drop", "--max-leaves", 1000, "--linkage", "single", "--model", tmp_path / "run.sb"]
    assert silverbirch("cluster", tmp_path / "rows.parquet", "-k", 2, *arguments).exit_code == 0
    options = ["--cut-method", "eom", "--min-size", 20, "-o", tmp_path / "run.html"]
    assert silverbirch("report", tmp_path / "run.sb", *options).exit_code == 0
    assert "cut into 3 clusters" in (tmp_path / "run.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cut-method", "eom"], "--cut-method eom needs --min-size"),
        (["--cut-method", "eom", "--min-size", 5, "-k", 3], "finds the number of clusters"),
        (["--min-size", 5], "need a cut"),
        (["-k", 3, "--min-size", 0], "--min-size 0: must be a positive number of rows"),
        (["-k", 3, "--height", 2], "give only one of them"),
        (["--cut-method", "dynamic", "--min-size", 5, "--max-size", 50], "--cut-method dynamic takes no --max-size"),
        (["--cut-method", "kmeans"], "is not one of level, eom, dynamic"),
        ([], "labels need a cut"),
    ],
)
def test_options_that_contradict_each_other_are_refused_before_anything_is_read(options, message, tmp_path):
    result = silverbirch("cluster", tmp_path / "absent.parquet", *options, "--labels", tmp_path / "labels.csv")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())

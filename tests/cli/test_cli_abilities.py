"""What the estimator can do, the command line can do: refine, project, choose the number of clusters, or not cut."""

import inspect
import json
import re

import numpy as np
import pytest

import silverbirch as sb
from commands import silverbirch
from silverbirch.cli.cluster import cluster
from silverbirch.cli.cutting import Cutting
from silverbirch.cli.grouping import grouped
from silverbirch.cli.wording import OPTIONS, options_of

WITHOUT_AN_OPTION = {
    "forget": "it is for `partial_fit`: each batch forgets a share of those before, and a run over files is one batch",
    "device": "the command line computes on the CPU",
    "progress": "a terminal shows the progress, and --quiet leaves it out",
}


@pytest.fixture
def groups(tmp_path):
    """Five groups in eight columns of different scales, one value missing."""
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 8)) + 12 * np.eye(8)[np.arange(3000) % 5]
    X *= np.geomspace(1, 50, 8)
    X[7, 2] = np.nan
    np.save(tmp_path / "rows.npy", X)
    return X


@pytest.fixture
def cloud(tmp_path):
    """Uniform rows, which have no clear number of clusters."""
    X = np.random.default_rng(1).uniform(size=(2000, 2))
    np.save(tmp_path / "rows.npy", X)
    return X


def run(*arguments):
    result = silverbirch(*arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_every_parameter_of_the_estimator_has_an_option_or_a_reason():
    parameters = set(inspect.signature(sb.Betula).parameters)
    assert {OPTIONS[name] for name in parameters - WITHOUT_AN_OPTION.keys()} <= options_of(grouped(cluster))
    assert parameters >= WITHOUT_AN_OPTION.keys()


def test_every_way_to_cut_has_an_option():
    names = {"n_clusters": "clusters", "distance_threshold": "height", "method": "cut_method"}
    parameters = set(inspect.signature(sb.Betula.recut).parameters) - {"self"}
    assert {names.get(name, name) for name in parameters} <= set(inspect.signature(Cutting).parameters)


# --- refine and projection


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--refine", 2], {"refine": 2}),
        (["--projection", 3], {"projection": 3}),
        (["--projection", 3, "--refine", 1, "--metric", "cosine"], {"projection": 3, "refine": 1, "metric": "cosine"}),
    ],
)
def test_labels_and_model_are_those_of_the_estimator(options, parameters, groups, tmp_path):
    scaled = groups[~np.isnan(groups).any(axis=1)]
    expected = sb.Betula(5, max_leaves=200, **parameters).fit(scaled)
    files = ["--labels", tmp_path / "labels.npy", "--model", tmp_path / "run.sb", "--report", tmp_path / "run.html"]
    clustering = ["--missing", "drop", "-k", 5, "--max-leaves", 200]
    run("cluster", tmp_path / "rows.npy", *clustering, *options, *files)
    labels = np.load(tmp_path / "labels.npy")
    assert labels[7] == -2
    np.testing.assert_array_equal(np.delete(labels, 7), expected.labels_)
    model = sb.load(tmp_path / "run.sb")
    np.testing.assert_allclose(model.features_.mean, expected.features_.mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict(scaled), expected.labels_)
    facts = json.loads(run("info", tmp_path / "run.sb", "--json"))
    assert facts["columns"] == 8
    assert facts.get("projection") == parameters.get("projection")
    again = ["--labels", tmp_path / "again.npy"]
    run("cut", tmp_path / "run.sb", tmp_path / "rows.npy", "-k", 5, *again)
    np.testing.assert_array_equal(np.load(tmp_path / "again.npy"), labels)


def test_refined_features_are_closer_to_the_rows(groups, tmp_path):
    sums = []
    for passes in (0, 1, 3):
        made = ["--missing", "mean", "--scale", "standard", "--max-leaves", 100, "--refine", passes]
        run("aggregate", tmp_path / "rows.npy", *made, "-o", tmp_path / f"{passes}.sb")
        sums.append(sb.ClusterFeatures.load(tmp_path / f"{passes}.sb").sse.sum())
    assert sums[0] > sums[1] > sums[2]


def test_a_refined_run_that_failed_is_resumed_with_the_same_result(groups, tmp_path):
    command = ["cluster", tmp_path / "rows.npy", "--missing", "drop", "--max-leaves", 100, "--refine", 1]
    run(*command, "-k", 5, "--labels", tmp_path / "whole.npy")
    kept = ["--checkpoint", tmp_path / "state.sb"]
    assert silverbirch(*command, *kept, "-k", 100).exit_code == 1
    assert "resuming" in run(*command, *kept, "-k", 5, "--labels", tmp_path / "resumed.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "resumed.npy"), np.load(tmp_path / "whole.npy"))
    assert silverbirch(*command, *kept, "-k", 100).exit_code == 1
    other = silverbirch(*command, "--refine", 2, *kept, "-k", 5)
    assert "other --refine (1, now 2)" in other.stderr


@pytest.mark.parametrize("option", ["--refine", "--projection"])
def test_features_have_no_rows_to_refine_or_to_project(option, groups, tmp_path):
    run("aggregate", tmp_path / "rows.npy", "--missing", "drop", "-o", tmp_path / "all.sb")
    result = silverbirch("cluster", tmp_path / "all.sb", "-k", 3, option, 1)
    assert result.exit_code == 2
    assert "need the rows" in result.stderr


# --- choose-k


def test_the_number_that_the_criteria_agree_on_is_taken(groups, tmp_path):
    expected = sb.Betula(max_leaves=200).fit(groups[~np.isnan(groups).any(axis=1)] / np.geomspace(1, 50, 8))
    assert expected.choose_k(20).n_clusters == 5
    np.save(tmp_path / "rows.npy", groups / np.geomspace(1, 50, 8))
    clustering = ["--missing", "drop", "--max-leaves", 200, "--choose-k", "--k-max", 20]
    files = ["--labels", tmp_path / "labels.npy", "--model", tmp_path / "run.sb"]
    shown = run("cluster", tmp_path / "rows.npy", *clustering, *files)
    assert np.load(tmp_path / "labels.npy").max() == 4
    assert re.search(r"choose-k +5: \d of 6 criteria vote for it", shown)
    table = repr(expected.choose_k(20)).splitlines()[1:]
    assert "\n".join(line.rstrip() for line in shown.splitlines()[: len(table)]) == "\n".join(table)
    assert "choose-k  5: " in run("cut", tmp_path / "run.sb", "--choose-k", "--k-max", 20)
    told = json.loads(run("cut", tmp_path / "run.sb", "--choose-k", "--json"))
    assert told["suggestion"]["n_clusters"] == told["counts"]["clusters"] == 5
    assert told["parameters"]["choose_k"] is True


def test_without_a_clear_number_the_run_is_not_cut_and_says_so(cloud, tmp_path):
    shown = run("cluster", tmp_path / "rows.npy", "--choose-k", "--model", tmp_path / "run.sb")
    assert re.search("choose-k +no clear number: ", shown)
    assert re.search("clusters +not cut", shown)
    result = silverbirch("cut", tmp_path / "run.sb", "--choose-k")
    assert result.exit_code == 1
    assert "no clear number of clusters" in result.stderr


def test_without_a_clear_number_the_model_is_kept_and_no_labels_are_written(cloud, tmp_path):
    files = ["--labels", tmp_path / "labels.npy", "--model", tmp_path / "run.sb"]
    result = silverbirch("cluster", tmp_path / "rows.npy", "--choose-k", *files)
    assert result.exit_code == 1
    assert "no labels are written, because there is no clear number of clusters" in result.stderr
    assert "-k K --labels FILE" in result.stderr
    assert sb.load(tmp_path / "run.sb").dendrogram_.n_leaves == 2000
    assert not (tmp_path / "labels.npy").exists()


@pytest.mark.parametrize("other", [["-k", 3], ["--height", 2], ["--cut-method", "eom", "--min-size", 5]])
def test_the_number_is_chosen_or_given(other, tmp_path):
    result = silverbirch("cluster", tmp_path / "absent.npy", "--choose-k", *other)
    assert result.exit_code == 2
    assert "--choose-k" in result.stderr


# --- no cut


def test_without_a_cut_the_summary_shows_what_cuts_would_give(groups, tmp_path):
    rows = groups[~np.isnan(groups).any(axis=1)]
    shown = run("cluster", tmp_path / "rows.npy", "--missing", "drop", "--model", tmp_path / "run.sb")
    assert re.search(r"^clusters +not cut$", shown, re.MULTILINE)
    dendrogram = sb.Betula().fit(rows).dendrogram_
    lines = [line.split() for line in shown.splitlines()]
    cuts = lines[lines.index(["clusters", "height", "rmsd"]) + 1 : -1]
    assert [int(k) for k, _, _ in cuts] == [2, 5, 10, 20, 50, 100, 200]
    for k, height, rmsd in cuts:
        assert dendrogram.cut(height=float(height)).max() + 1 == int(k)
        assert float(rmsd) == pytest.approx(dendrogram.rmsd(int(k)), rel=1e-5)
    how = shown.splitlines()[-1].removeprefix("To cut: silverbirch ")
    words = how.replace("-k K", "-k 3").replace("FILE", str(tmp_path / "labels.npy")).split()
    run(*words)
    assert np.load(tmp_path / "labels.npy").max() == 2


def test_a_file_that_is_not_cut_says_so(cloud, tmp_path):
    command = ["cluster", tmp_path / "rows.npy", "--max-leaves", 100]
    told = json.loads(run(*command, "--model", tmp_path / "run.sb", "--json"))
    assert "clusters" not in told["counts"]
    assert [cut["clusters"] for cut in told["cuts"]] == [2, 5, 10, 20, 50]
    assert re.search(r"^clusters +not cut$", run("info", tmp_path / "run.sb"), re.MULTILINE)
    assert json.loads(run("info", tmp_path / "run.sb", "--json"))["clusters"] is None
    run("report", tmp_path / "run.sb", "-o", tmp_path / "run.html")
    assert "The dendrogram is not cut" in (tmp_path / "run.html").read_text()
    assert "add -k, --height or --choose-k" in run(*command)


def test_rows_that_are_all_equal_have_no_cut_to_show(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones((10, 2)))
    shown = run("cluster", tmp_path / "rows.npy", "--report", tmp_path / "run.html")
    assert "not cut" in shown
    assert "rmsd" not in shown

"""Linkage: errors for bad input, interrupts and progress of long jobs, memory of large ones."""

import logging
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import pdist

import silverbirch as sb
from brute_force import METHODS, linkage_module, random_features, random_points
from silverbirch.linkage import job as linkage_job

POINTS = random_points(6)
FEATURES = random_features(6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "wards"}, "method='wards': must be one of 'single', 'complete'.*'medoid'"),
        ({"method": 3}, "method=3: must be one of"),
        ({"method": "diameter"}, "method='diameter' needs mode='aggregation'; .*one of single"),
        (
            {"method": "single", "mode": "aggregation"},
            "method='single' needs mode='linkage'; .* one of centroid, manhattan",
        ),
        ({"mode": "center"}, "mode='center': must be one of 'centers', 'linkage', 'aggregation'"),
        ({"algorithm": "slink"}, "algorithm='slink': must be one of 'auto', 'agnes'"),
        (
            {"method": "ward", "algorithm": "mst"},
            "algorithm='mst' does not compute 'ward' linkage of points.*use algorithm='auto', 'agnes'",
        ),
        (
            {"method": "complete", "algorithm": "mst"},
            "does not compute 'complete' linkage of points: use algorithm='auto'",
        ),
        ({"method": "medoid", "algorithm": "mst"}, "does not compute 'medoid' linkage of points: use algorithm='auto'"),
        (
            {"method": "radius", "mode": "aggregation", "algorithm": "mst"},
            "does not compute 'radius' linkage of .*features: use algorithm='auto'",
        ),
        ({"method": "ward", "mode": "aggregation", "metric": "cosine"}, "metric='cosine' with mode='aggregation'"),
        ({"metric": "nearness"}, "nearness"),
        ({"n_jobs": 0}, "n_jobs=0: must be a number of threads, or -1 for all"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(arguments, message):
    with pytest.raises(ValueError, match=message):
        sb.linkage(POINTS, **arguments)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([], ValueError, r"0 distances: .* n\(n-1\)/2"),
        (np.zeros((0, 3)), ValueError, r"shape \(0, 3\): at least one row"),
        (np.zeros((3, 0)), ValueError, r"shape \(3, 0\): at least one row and one column"),
        (np.zeros((2, 2, 2)), ValueError, r"3-D: rows need a 2-D array; use \(rows, columns\)"),
        (5.0, TypeError, "y is a float: rows need a 2-D array"),
        (np.arange(4.0), ValueError, r"4 distances: .*n\(n-1\)/2; .* y.reshape\(-1, 1\)"),
        ([["a"], ["b"]], TypeError, "strings: only real numbers can be clustered; encode or drop"),
        (["a", "b", "c"], TypeError, r"y holds texts .*turn texts into rows of numbers first"),
        ([[1 + 2j], [3]], TypeError, "complex numbers: only real numbers"),
        ([[1.0], [np.nan]], ValueError, "row 1, column 0 is nan: .*drop or fill"),
        ([[1.0, np.inf], [0, 0]], ValueError, "row 0, column 1 is inf: .*drop or fill"),
        ([[1e200], [0]], ValueError, r"row 0, column 0 is 1e\+200: .*rescale"),
        ([1.0, np.nan, 2.0], ValueError, "distance nan at position 1: distances must be finite"),
        ([1.0, 2.0, np.inf], ValueError, "distance inf at position 2: distances must be finite"),
        (
            [1.0, -2.0, 3.0],
            ValueError,
            r"distance -2\.0 at position 1: .*not negative .*similarities",
        ),
    ],
)
@pytest.mark.parametrize("method", ["single", "average", "ward", "minimax"])
def test_data_that_cannot_be_clustered_is_refused_with_the_reason(data, error, message, method):
    with pytest.raises(error, match=message):
        sb.linkage(data, method)


@pytest.mark.parametrize("method", ["ward", "centroid", "median"])
def test_distances_whose_squares_overflow_are_refused(method):
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=r"1e\+200"):
        sb.linkage([1e200, 1e200, 1e200], method)


def test_cluster_features_take_no_weights_and_no_other_metric():
    with pytest.raises(ValueError, match="weights of their own: leave `weights` out"):
        sb.linkage(FEATURES, "ward", weights=np.ones(6))
    with pytest.raises(ValueError, match="metric='cityblock' with cluster features: only euclidean, cosine"):
        sb.linkage(FEATURES, "single", "cityblock")


@pytest.mark.parametrize("mode", ["centers", "aggregation"])
def test_condensed_distances_have_no_features_to_treat(mode):
    with pytest.raises(ValueError, match=f"mode='{mode}' .*distances have mode='linkage' only"):
        sb.linkage(pdist(POINTS), "ward", mode=mode)


def test_a_metric_that_gives_nan_is_refused():
    with pytest.raises(ValueError, match="gave distance nan at position 0"):
        sb.linkage(np.ones((3, 2)), "average", lambda x, y: np.nan)


@pytest.mark.parametrize("method", [*METHODS, "minimax", "medoid"])
def test_one_object_is_a_tree_without_merges(method):
    assert sb.linkage([[1.0, 2.0]], method).shape == (0, 4)
    assert sb.linkage(FEATURES[:1], method, optimal_ordering=True).shape == (0, 4)


# Long jobs


@pytest.mark.parametrize("method", ["single", "complete", "ward", "centroid", "minimax"])
def test_progress_goes_to_stderr_only_when_asked_for(method, capsys):
    quiet = sb.linkage(POINTS, method)
    assert capsys.readouterr() == ("", "")
    assert_array_equal(sb.linkage(POINTS, method, progress=True), quiet)
    shown = capsys.readouterr()
    assert f"{method} linkage: 100%" in shown.err
    assert shown.out == ""


LONG_JOB = """
import numpy, silverbirch
X = numpy.random.default_rng(0).normal(size=({rows}, {columns}))
print("ready", flush=True)
silverbirch.linkage(X, {method!r}, {metric!r}, algorithm={algorithm!r})
print("finished", flush=True)
"""


@pytest.mark.parametrize(
    ("method", "metric", "algorithm", "rows", "columns"),
    [
        ("ward", "euclidean", "agnes", 5000, 3),
        ("centroid", "euclidean", "generic", 60_000, 100),
        ("minimax", "euclidean", "nn_chain", 8000, 1500),
        ("complete", "euclidean", "rounds", 300_000, 8),
        ("average", "euclidean", "rounds", 20_000, 60),
        ("ward", "euclidean", "blocked", 60_000, 100),
        ("average", "canberra", "auto", 8000, 1500),
    ],
)
def test_ctrl_c_stops_a_long_linkage(method, metric, algorithm, rows, columns):
    script = LONG_JOB.format(method=method, metric=metric, algorithm=algorithm, rows=rows, columns=columns)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as job:
        try:
            assert job.stdout.readline() == "ready\n"
            time.sleep(0.5)  # into the native loop
            job.send_signal(signal.SIGINT)
            output, errors = job.communicate(timeout=10)
        finally:
            job.kill()
    assert output == ""
    assert errors.rstrip().endswith("KeyboardInterrupt")


# Memory


def test_pairs_that_do_not_fit_are_refused_before_they_are_allocated():
    X = np.zeros((3_000_000, 1))
    with pytest.raises(sb.MemoryLimitError, match=r"of 3000000 objects needs 36 TB .*aggregate first with CFTree"):
        sb.linkage(X, "minimax")


@pytest.mark.parametrize("method", ["complete", "average", "weighted"])
def test_pairs_are_refused_where_no_index_pays(method, monkeypatch):
    monkeypatch.setattr(linkage_job, "free_memory", lambda: 100)
    structureless = np.random.default_rng(0).normal(size=(1200, 30))
    with pytest.raises(sb.MemoryLimitError, match=r"needs 5.76 MB .*100 B of memory are free.*algorithm='rounds'"):
        sb.linkage(structureless, method)
    assert len(sb.linkage(structureless, method, algorithm="rounds")) == 1199


@pytest.mark.parametrize("algorithm", ["agnes", "anderberg"])
def test_algorithms_on_a_matrix_need_memory_for_all_pairs(algorithm, monkeypatch):
    monkeypatch.setattr(linkage_job, "free_memory", lambda: 100)
    with pytest.raises(sb.MemoryLimitError, match=r"needs 120 B .*100 B of memory are free"):
        sb.linkage(POINTS, "ward", algorithm=algorithm)


@pytest.mark.parametrize("metric", ["cityblock", lambda x, y: abs(x - y).sum()])
def test_other_metrics_need_memory_for_all_pairs(metric, monkeypatch):
    monkeypatch.setattr(linkage_job, "free_memory", lambda: 100)
    with pytest.raises(sb.MemoryLimitError, match="needs 120 B"):
        sb.linkage(POINTS, "average", metric)


@pytest.mark.parametrize("data", [POINTS, FEATURES], ids=["points", "features"])
@pytest.mark.parametrize(
    "method", ["ward", "centroid", "median", "single", "medoid", "complete", "average", "weighted"]
)
def test_linear_linkages_need_no_memory_for_pairs(data, method, monkeypatch):
    monkeypatch.setattr(linkage_job, "free_memory", lambda: 0)
    assert len(sb.linkage(data, method)) == 5


def test_averages_of_squared_distances_need_no_memory_for_pairs(monkeypatch):
    monkeypatch.setattr(linkage_job, "free_memory", lambda: 0)
    assert len(sb.linkage(POINTS, "average", "sqeuclidean")) == len(sb.linkage(FEATURES, "weighted")) == 5


def test_the_need_for_memory_is_logged(caplog):
    with caplog.at_level(logging.INFO, "silverbirch"):
        sb.linkage(random_points(100), "minimax")
    assert "minimax linkage of 100 objects: 39.6 kB for the distances of all pairs" in caplog.messages


def test_the_leaves_a_memory_error_proposes_do_fit():
    run = linkage_module.cluster_features
    with pytest.raises(sb.MemoryLimitError, match="leaves 10 kB: lower max_leaves to 50 or raise max_memory"):
        run(random_features(60), "minimax", "linkage", "auto", max_memory=10_000)
    assert len(run(random_features(50), "minimax", "linkage", "auto", max_memory=10_000)) == 49


@pytest.mark.parametrize("physical", [None, 10**12])
def test_a_memory_that_suffices_or_is_unknown_refuses_nothing(physical, monkeypatch):
    monkeypatch.setattr(linkage_job, "free_memory", lambda: None)
    monkeypatch.setattr(linkage_job, "physical_memory", lambda: physical)
    assert len(sb.linkage(POINTS, "minimax")) == 5

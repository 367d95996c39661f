"""The distances of all pairs: pdist's bits, in blocks, and no more memory than was announced."""

import logging
import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial import distance
from scipy.spatial.distance import pdist

import silverbirch as sb
from silverbirch.linkage import distances
from silverbirch.linkage import job as linkage_job

METRICS = ["braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "dice", "euclidean", "hamming"]
METRICS += ["jaccard", "jensenshannon", "mahalanobis", "minkowski", "rogerstanimoto", "russellrao", "seuclidean"]
METRICS += ["sokalsneath", "sqeuclidean", "yule", "mahal", "se", "chebychev"]
X = np.random.default_rng(0).random((70, 5))


def far(u, v):
    return float(np.abs(u - 2 * v).max())


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(distances, "_BLOCK_DISTANCES", 300)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("metric", [*METRICS, far, distance.seuclidean])
def test_blocks_give_the_bits_of_pdist(metric):
    for rows in (X, X.round(), X[:6]):
        with np.errstate(invalid="ignore", divide="ignore"):
            blocks = distances.pairwise_distances(rows, distances.full_metric_name(metric))
            assert_array_equal(blocks, pdist(rows, metric))


def test_one_row_has_no_distances():
    for metric in ("cityblock", far):
        assert len(distances.pairwise_distances(X[:1], metric)) == 0


def test_mahalanobis_of_few_rows_is_refused():
    with pytest.raises(ValueError, match=r"mahalanobis' of 5 rows with 5 columns: .*at least 6 rows"):
        sb.linkage(X[:5], "average", "mahalanobis")


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("metric", ["cityblock", far])
def test_progress_of_the_distances_is_shown(metric, capsys, monkeypatch):
    monkeypatch.setattr("silverbirch.progress._LogLines.interval", 0.0)
    quiet = sb.linkage(X, "average", metric)
    assert_array_equal(sb.linkage(X, "average", metric, progress=True), quiet)
    shown = capsys.readouterr().err
    assert shown.count("distances: ") > 5
    assert "distances: 100%" in shown
    assert "average linkage: 100%" in shown


@pytest.mark.usefixtures("small_blocks")
def test_the_distances_can_be_interrupted_between_blocks():
    reports = []

    def stop(done, total):
        reports.append((done, total))
        if len(reports) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        distances.pairwise_distances(X, "cityblock", stop)
    assert reports[2][0] < reports[2][1] == 70 * 69 // 2


def test_distances_that_cannot_be_clustered_are_found_in_every_block(monkeypatch):
    monkeypatch.setattr(distances, "_BLOCK_DISTANCES", 7)
    for position in (0, 6, 7, 20):
        y = np.ones(21)
        y[position] = np.nan
        with pytest.raises(ValueError, match=f"distance nan at position {position}:"):
            sb.linkage(y)


def test_selected_distances_are_those_of_the_selected_rows():
    chosen = np.random.default_rng(1).random(70) < 0.5
    assert_array_equal(distances.selected_distances(pdist(X), chosen), pdist(X[chosen]))


def test_the_given_distances_are_left_as_they_are():
    for y in (pdist(X), pdist(X).astype(np.float32)):
        before = y.copy()
        for method in ("single", "average", "ward", "minimax"):
            sb.linkage(y, method, optimal_ordering=method == "average")
            assert_array_equal(y, before)


# Memory. A job prints the bytes that it took beyond those it had, in units of one number for each pair.

JOB = """
import sys
import numpy as np
import scipy.cluster.hierarchy
from scipy.spatial.distance import pdist
import silverbirch as sb
from silverbirch.machine import memory_now, peak_memory

rows, method, metric, kind = {rows}, {method!r}, {metric!r}, {kind!r}
X = np.random.default_rng(0).normal(size=(rows, 4))
sb.linkage(X[:20], method, metric, optimal_ordering=True)
y = X if kind in ("points", "ordered") else pdist(X).astype(np.float32 if kind == "float32" else np.float64)
weights = np.r_[0, np.ones(rows - 1)] if kind == "weights" else None
before = memory_now()
sb.linkage(y, method, metric, kind == "ordered", weights=weights)
print((peak_memory() - before) / (4 * rows * (rows - 1)))
"""


def announced_vectors(caplog, job):
    y = X if job["kind"] in ("points", "ordered") else pdist(X)
    weights = np.r_[0, np.ones(len(X) - 1)] if job["kind"] == "weights" else None
    y = y.astype(np.float32) if job["kind"] == "float32" else y
    with caplog.at_level(logging.INFO, "silverbirch"):
        sb.linkage(y, job["method"], job["metric"], job["kind"] == "ordered", weights=weights)
    sizes = [float(message.split(": ")[1].split(" kB")[0]) for message in caplog.messages]
    return max(sizes) * 1000 / (4 * len(X) * (len(X) - 1))


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak of a process is read from /proc")
@pytest.mark.parametrize(
    ("method", "metric", "kind"),
    [
        ("average", "cityblock", "points"),
        ("minimax", "cityblock", "points"),
        ("medoid", "cosine", "points"),
        ("complete", "euclidean", "condensed"),
        ("minimax", "euclidean", "condensed"),
        ("average", "euclidean", "float32"),
        ("average", "euclidean", "weights"),
        ("average", "cityblock", "ordered"),
    ],
)
def test_what_is_announced_is_what_is_taken(method, metric, kind, caplog):
    job = {"method": method, "metric": metric, "kind": kind}
    rows = 1500 if method in ("minimax", "medoid") or kind == "ordered" else 4000
    run = subprocess.run(
        [sys.executable, "-c", JOB.format(rows=rows, **job)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    taken, announced = float(run.stdout), announced_vectors(caplog, job)
    blocks = 2 * 8 * 2**20 / (4 * rows * (rows - 1))  # what two blocks of distances take
    assert announced - 1 < taken + 0.1
    assert taken < announced + blocks + 0.1


def test_memory_is_compared_with_what_is_free(monkeypatch):
    pairs = 8 * 70 * 69 // 2
    monkeypatch.setattr(linkage_job, "physical_memory", lambda: 10**15)
    monkeypatch.setattr(linkage_job, "free_memory", lambda: pairs)
    assert len(sb.linkage(X, "average", "cityblock")) == 69
    monkeypatch.setattr(linkage_job, "free_memory", lambda: pairs - 1)
    with pytest.raises(sb.MemoryLimitError, match=r"needs 19.3 kB .* 19.3 kB of memory are free"):
        sb.linkage(X, "average", "cityblock")
    with pytest.raises(sb.MemoryLimitError, match=r"needs 38.6 kB"):  # its own numbers and the distances
        sb.linkage(X, "minimax", "cityblock")
    with pytest.raises(sb.MemoryLimitError):
        sb.linkage(X, "complete", algorithm="agnes")
    monkeypatch.setattr(linkage_job, "free_memory", lambda: None)
    assert len(sb.linkage(X, "minimax", "cityblock")) == 69

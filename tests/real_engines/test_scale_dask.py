"""The part of the study of scale that needs Dask: quick runs on a real cluster of processes."""

import argparse
import importlib

import pytest

pytest.importorskip("distributed")

cluster = importlib.import_module("benchmarks.scale.cluster")


@pytest.fixture(scope="module")
def client():
    with cluster.cluster(2) as client:
        yield client


def test_results_move_between_workers_and_graphs_without_work_are_timed(client):
    rows = [*cluster.transfers(client, 100_000), *cluster.scheduler(client, [3, 20])]
    assert [(row["cost"], row.get("bytes", row.get("partitions"))) for row in rows] == [
        ("stays", 8),
        ("moves", 8),
        ("stays", 100_000),
        ("moves", 100_000),
        ("scheduler", 3),
        ("scheduler", 20),
    ]
    assert all(row["seconds"] > 0 for row in rows)


def test_what_all_workers_need_is_sent_once_to_each(client):
    assert cluster.broadcast(client, 2, 1000) == {
        "cost": "broadcast",
        "workers": 2,
        "copies": 1,
        "depth": 1,
        "most_copies_of_one": 1,
    }


def test_costs_are_measured_in_the_environment_that_workers_have():
    import dask

    study = importlib.import_module("benchmarks.studies.scale")
    of_workers = dask.config.get("distributed.nanny.pre-spawn-environ")
    assert {name: str(of_workers.get(name)) for name in study.OF_WORKERS} == study.OF_WORKERS


def test_whole_runs_count_all_rows_and_time_the_trees_within():
    options = argparse.Namespace(folder=None, rows=3000, partitions=2, repeats=1, max_leaves=2500)
    rows = list(cluster.whole_runs(options))
    assert [(row["workers"], row["refine"], row["cost"]) for row in rows] == [
        (workers, refine, cost) for workers in (1, 2) for refine in (0, 1) for cost in ("fit", "predict")
    ]
    for row in rows:
        if row["cost"] == "fit":
            assert row["counted"] == row["rows"] == 6000
            assert 0 < row["tree_seconds"] < row["seconds"] * row["workers"]

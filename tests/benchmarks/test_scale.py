"""The study of scale: its model, its page and its raw rows. No test depends on a measured time."""

import importlib
import json
import sys

import pytest
from benchmarks.scale import model, page
from benchmarks.scale.costs import median_of
from benchmarks.studies import merge_quality

from benchmarks import raw_rows
from silverbirch.engines.job import rounds_of_merges

study = importlib.import_module("benchmarks.studies.scale")

ROUND = model.Costs(
    aggregate=1e-6,
    count=2e-6,
    label=3e-6,
    merge=0.8,
    merge_counts=0.08,
    set_bytes=1e6,
    counts_bytes=2e6,
    counted_model_bytes=3e6,
    model_bytes=4e6,
    pack_model=0.1,
    open_model=0.2,
    take=0.5,
    linkage=1.5,
    next_task=0.01,
    bytes_a_second=1e8,
    partition=0.001,
)


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["scale", *map(str, arguments)])
    study.main()


# -- the model


def test_the_terms_of_fit_are_those_computed_by_hand():
    # 100 partitions: 13 groups of at most 8, then 2 of at most 8, then 1 of 2, so 18 sets are merged in turn.
    terms = model.fit(ROUND, workers=100, rows=10_000_000)
    assert terms == pytest.approx(
        {
            "aggregate": 10,
            "refine": 20,
            "merges": 18 / 8 * 0.88,
            "transfers": 19 * (0.01 + 0.01 + 0.01 + 0.02),
            "scheduler": 0.2,
            "model": 0.1 + 0.2 + 0.03 + 101 * 0.03,
            "client": 2,
        }
    )
    assert model.total(terms) == pytest.approx(30 + 1.98 + 0.95 + 0.2 + 3.36 + 2)
    assert model.overhead(terms) == pytest.approx(1 - 30 / 38.49)


def test_the_terms_of_labels_are_those_computed_by_hand():
    terms = model.label(ROUND, workers=10, rows=20_000_000)
    assert terms == pytest.approx({"label": 60, "scheduler": 0.02, "model": 0.1 + 0.2 + 0.03 + 11 * 0.04})


def test_a_worker_with_many_partitions_merges_several_groups_in_turn():
    # 16 partitions on one worker: two groups of 8, then one of 2.
    assert model.merges_in_turn(16, 1) == (18 / 8, 18)
    assert model.merges_in_turn(16, 2) == (10 / 8, 10)
    assert [len(groups) for groups in rounds_of_merges(16)] == [2, 1]


def test_larger_partitions_cost_the_scheduler_less_and_the_work_the_same():
    small, large = (model.fit(ROUND, 1000, 100_000_000, partition) for partition in (10_000_000, 100_000_000))
    assert large["scheduler"] == pytest.approx(small["scheduler"] / 10)
    assert large["aggregate"] == small["aggregate"]


def test_overhead_passes_a_share_where_the_model_says_so():
    def terms(workers):
        return {"aggregate": 9.0, "scheduler": workers / 100}

    assert model.workers_at(0.1, terms) == pytest.approx(100, rel=0.02)
    assert model.workers_at(0.1, lambda workers: {"aggregate": 1.0}) is None


def test_a_cost_is_the_median_and_the_larger_one_of_wall_and_cpu_time():
    rows = [{"cost": "merge", "data": "uniform", "seconds": s, "cpu": c} for s, c in ((1, 3), (2, 1), (9, 9))]
    assert median_of(rows, "merge", "uniform") == 3
    with pytest.raises(SystemExit, match="measure"):
        median_of(rows, "merge", "mixture")


# -- the page


def test_the_page_is_that_of_the_raw_rows():
    text = page.PAGE.read_text(encoding="utf-8")
    for name, section in page.sections(raw_rows.read(study.RESULTS)).items():
        begin, end = page.marks(name)
        assert f"{begin}\n{section}\n{end}" in text, f"{name}: run python -m benchmarks.studies.scale render"


def test_only_the_last_run_of_a_command_counts():
    days = ("2026-01-02", "2026-01-01")
    rows = [{"command": "measure", "started": day, "number": i, "as_a_worker": True} for i, day in enumerate(days)]
    assert [row["number"] for row in page.last_run(rows, "measure")] == [0]
    with pytest.raises(SystemExit, match="merges"):
        page.last_run(rows, "merges")


def test_costs_that_were_not_measured_as_a_worker_has_them_make_no_page():
    with pytest.raises(SystemExit, match="environment of a worker"):
        page.last_run([{"command": "measure", "started": "2026-01-01", "as_a_worker": False}], "measure")


# -- quick runs


def test_every_cost_of_one_process_is_measured_for_all_data(tmp_path, monkeypatch):
    output = tmp_path / "raw.jsonl"
    tiny = ["--rows", 2000, "--set-rows", 1000, "--max-leaves", 600, "--repeats", 2, "--without-dask"]
    run(monkeypatch, "measure", *tiny, "--output", output)
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    for data in ("uniform", "mixture"):
        for cost, *_ in page.ALONE:
            assert median_of(rows, cost, data) > 0
            assert sum(row["cost"] == cost and row["data"] == data for row in rows) == 2
    assert all({"command", "started", "load", "machine"} <= set(row) for row in rows)
    assert page.alone(rows).count("|\n") == len(page.ALONE) + 1


def test_merges_keep_the_weight_and_come_near_the_spread_of_the_generator(tmp_path, monkeypatch):
    output = tmp_path / "raw.jsonl"
    run(monkeypatch, "merges", "--sets", 9, "--set-rows", 3000, "--max-leaves", 1500, "--output", output)
    *rounds, result = (json.loads(line) for line in output.read_text().splitlines())
    assert [row["sets"] for row in rounds] == [[8, 1], [2]]
    assert result["weight"] == 27_000
    assert result["rmsd"] == pytest.approx(result["rmsd_of_generator"], rel=0.05)
    cost = {"cost": "merge", "data": "mixture", "seconds": 0.8, "cpu": 0.0}
    checked = page.checked_merges([*rounds, result], [cost])
    assert "| all | 3 | 1.10 |" in checked  # nine sets, then two
    assert "exactly that of the rows: 27,000" in checked


def test_a_merge_set_after_set_and_one_by_ward_keep_the_weight():
    partitions = [merge_quality.uniform(500, seed) for seed in range(3)]
    for join in merge_quality.JOINS:
        plain, refined = merge_quality.measure(partitions, partitions[0], join, 600)
        assert (plain["recipe"], refined["recipe"]) == (join, f"{join}+refined")
        assert plain["leaves"] <= 600
        assert refined["leaf_sse"] <= plain["leaf_sse"]

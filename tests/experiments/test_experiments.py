"""The paper's experiments: the data, the raw rows, the conclusions, and the claims on small data."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from experiments.data_sets import DataSet
from experiments.experiment import published
from experiments.jobs import (
    FULL,
    LINKAGE,
    QUICK,
    SAMPLE,
    WHOLE,
    ClusterJob,
    MovedTreeJob,
    VarianceErrorJob,
    as_dict,
    from_dict,
)
from experiments.merge_order import size_before_height
from experiments.raw_rows import RawRows
from experiments.reproduction import EXPERIMENTS, chosen, jobs_of, reproduce
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_valid_linkage

import silverbirch as sb
from experiments import alternatives, claims, moved_data, runner, table4
from silverbirch.demo import gaussian_mixture

ROOT = Path(__file__).parents[2]
SMALL = ClusterJob("uniform", 300, LINKAGE, "ward", 10, max_leaves=50, distance="ward", absorption="ward")


def quiet(_):
    pass


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The rows that the claims use, measured on small data in this process."""
    rows = RawRows(tmp_path_factory.mktemp("quick") / "rows.jsonl")
    runner.run(claims.jobs(QUICK), rows, isolated=False, say=quiet)
    return rows


# -- the paper's claims


@pytest.mark.parametrize("claim", claims.CLAIMS)
def test_claim_holds_on_small_data(quick, claim):
    finding = next(f for f in claims.findings(QUICK, quick) if f.claim == claim)
    assert finding.holds, finding.measured


def test_claims_of_missing_rows_are_neither_true_nor_false(tmp_path):
    assert {f.holds for f in claims.findings(QUICK, RawRows(tmp_path / "none.jsonl"))} == {None}


@pytest.mark.parametrize(
    ("decide", "quantity", "factor", "of"),
    [
        (claims.order_of_quality, "rmsd", 1.02, lambda j: j.input == LINKAGE),
        (claims.order_of_quality, "rmsd", 1.02, lambda j: j.input == FULL),
        (claims.small_loss, "rmsd", 1.05, lambda j: j.input == LINKAGE),
        (claims.weights_help_on_uniform_data, "rmsd", 1.03, lambda j: j.input == LINKAGE),
        (claims.bounded_work, "features", 2.0, lambda j: j.rows == max(QUICK.sizes)),
        (claims.no_aggregation_for_few_rows, "rmsd", 1.000001, lambda j: j.input == LINKAGE),
        (claims.chain_agrees_for_ward, "height_sum", 1.000001, lambda j: j.algorithm == "nn_chain"),
        (claims.order_of_merges_explains_the_published_chain, "rmsd_size_order", 0.5, lambda j: True),
    ],
)
def test_claim_fails_where_rows_contradict_it(quick, tmp_path, decide, quantity, factor, of):
    changed = RawRows(tmp_path / "changed.jsonl")
    for job in dict.fromkeys(claims.jobs(QUICK)):
        row = {name: value for name, value in quick.good(job).items() if name not in ("job", "machine")}
        if isinstance(job, ClusterJob) and of(job) and quantity in row:
            row[quantity] *= factor
        changed.add(job, row, "here")
    assert decide(QUICK, quick)[0]
    assert not decide(QUICK, changed)[0]


# -- the data


def test_gaussian_data_is_the_demos():
    expected = np.concatenate([chunk for chunk, _ in gaussian_mixture(1_000, seed=0)])
    np.testing.assert_array_equal(DataSet("Gaussian", 1_000, 500).make(), expected)


@pytest.mark.parametrize("name", ["uniform", "Gaussian", "Gaussian, equal shares", "imbalanced"])
def test_an_order_permutes_the_same_rows_and_a_draw_makes_others(name):
    made, ordered, drawn = (DataSet(name, 200, 10, order, draw).make() for order, draw in ((0, 0), (3, 0), (0, 1)))
    assert not np.array_equal(made, ordered)
    assert {*map(tuple, made)} == {*map(tuple, ordered)}
    assert not {*map(tuple, made)} & {*map(tuple, drawn)}
    np.testing.assert_array_equal(ordered, DataSet(name, 200, 10, 3).make())


# -- the order of merges


def members(Z):
    """The leaves and the height of every cluster in Z."""
    sets = [frozenset([i]) for i in range(len(Z) + 1)]
    for a, b, _, _ in Z:
        sets.append(sets[int(a)] | sets[int(b)])
    return sets[len(Z) + 1 :]


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_size_order_has_the_same_merges_smaller_clusters_first(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    Z = sb.linkage(X, "centroid", algorithm="nn_chain")
    ordered = size_before_height(Z, Z[:, 3])
    assert is_valid_linkage(ordered)
    assert (np.diff(ordered[:, 3]) >= 0).all()
    by_cluster = dict(zip(members(Z), Z[:, 2], strict=True))
    assert dict(zip(members(ordered), ordered[:, 2], strict=True)) == by_cluster


def test_size_order_undoes_large_clusters_where_height_order_undoes_high_ones():
    X = np.array([[0], [8], [100], [100.1], [100.3]])
    Z = sb.linkage(X, "single")
    assert sb.Dendrogram(Z).cut(n_clusters=3).tolist() == [1, 2, 0, 0, 0]
    assert sb.Dendrogram(size_before_height(Z, Z[:, 3])).cut(n_clusters=3).tolist() == [0, 0, 1, 1, 2]


# -- features far from the origin


def test_classic_and_betula_features_agree_with_exact_arithmetic_at_the_origin():
    groups = np.random.default_rng(0).normal(size=(3, 40, 2))
    exact = [float(sum(Fraction(x) ** 2 for x in g.ravel()) / 40 - _square_of_mean(g)) for g in groups]
    for kept in (moved_data.classic, moved_data.betula, moved_data.silverbirch):
        np.testing.assert_allclose(kept(groups), exact, rtol=1e-12)


def _square_of_mean(group):
    return sum((sum(map(Fraction, column)) / len(group)) ** 2 for column in group.T.tolist())


def test_a_group_without_spread_has_no_relative_error():
    assert moved_data.measure_variance_error(VarianceErrorJob("classic, float32", 1e10, 200))["worst_error"] is None


# -- rows on disk


@pytest.mark.parametrize(
    "job", [SMALL, VarianceErrorJob("classic, float64", 1e8, 100), MovedTreeJob("silverbirch", "float32", 0.0, 500, 5)]
)
def test_a_job_comes_back_from_its_row(job):
    assert from_dict(json.loads(json.dumps(as_dict(job)))) == job


def test_rows_that_are_there_are_not_measured_again(tmp_path, monkeypatch):
    path, jobs = tmp_path / "rows.jsonl", SMALL.over(3)
    runner.run(jobs[:2], RawRows(path), isolated=False, say=quiet)
    with path.open("a") as file:
        file.write('{"job": {"task": "clus')  # killed while it wrote the third
    measured = []
    monkeypatch.setattr(runner, "measure", lambda job: measured.append(job) or {"rmsd": 1.0})
    runner.run(jobs, RawRows(path), isolated=False, say=quiet)
    assert measured == jobs[2:]
    again = RawRows(path)
    assert [again.good(job) is not None for job in jobs] == [True] * 3
    assert again.good(jobs[2])["rmsd"] == 1.0


def test_a_job_has_a_process_and_a_peak_of_its_own_and_failure_is_a_row_that_is_tried_again(tmp_path):
    rows = RawRows(tmp_path / "rows.jsonl")
    bad = replace(SMALL, linkage="nearest")
    runner.run([SMALL, bad], rows, say=quiet)
    assert rows.good(SMALL)["peak_mb"] > 1
    assert rows.good(SMALL)["rmsd"] == runner.measure(SMALL)["rmsd"]
    assert rows.good(bad) is None
    assert "method='nearest'" in rows.any(bad)["reason"]


def test_a_matrix_that_does_not_fit_is_left_out_and_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "free_memory", lambda: 1_000)
    job = ClusterJob("uniform", 300, FULL, "ward", 10, algorithm="anderberg")
    rows = RawRows(tmp_path / "rows.jsonl")
    runner.run([job], rows, isolated=False, say=quiet)
    assert rows.any(job)["status"] == "left out"
    assert "359 kB" in rows.any(job)["reason"]


def test_jobs_take_turns_over_orders_and_large_matrices_come_last():
    large = ClusterJob("uniform", 50_000, FULL, "ward", 500, algorithm="anderberg")
    jobs = [large, *SMALL.over(2), *replace(SMALL, linkage="average").over(2)]
    assert [(job.rows, job.order) for job in runner.in_turn(jobs)] == [(300, 0)] * 2 + [(300, 1)] * 2 + [(50_000, 0)]


# -- what is written


def test_published_tables_are_whole():
    assert len(published("table3")) == 2 * 6
    assert len(published("table4")) == 2 * (4 * 2 + 2)  # NN-chain has no UPGMA
    assert all(float(line["rmsd"]) > 3 for line in published("table4"))


def test_every_experiment_asks_for_rows_in_both_sizes():
    for experiment in EXPERIMENTS.values():
        assert experiment.jobs(QUICK)
        assert set(experiment.jobs(WHOLE)) <= set(jobs_of(chosen(()), WHOLE))


def as_if_measured(path, jobs, values):
    rows = RawRows(path)
    for job in jobs:
        rows.add(job, {"status": "ok", "date": "2026-01-01", "features": 9} | values(job), "a machine")
    return rows


def test_table_4_explains_differences_beyond_the_published_spread_only(tmp_path):
    line = table4.Line("Anderberg", LINKAGE)
    jobs = {x: line.job(WHOLE, "uniform", x).over(2) for x in ("average", "ward")}
    off = {"average": 10.29 + 0.015, "ward": 10.27 + 0.015}  # published with a deviation of 0.02 and 0.01
    rows = as_if_measured(
        tmp_path / "rows.jsonl", [j for x in jobs.values() for j in x], lambda job: {"rmsd": off[job.linkage]}
    )
    text = table4.section(WHOLE, rows, tmp_path)
    upgma, ward = (
        next(t for t in text.splitlines() if t.startswith(f"| {x} | Anderberg | CF")) for x in ("UPGMA", "Ward")
    )
    assert "within the spread" in upgma
    assert upgma.count("10.305 ± 0.000 | 10.29 ± 0.02 | +0.015 (+0.1%)") == 1
    assert "(d)" in ward
    assert "- (d) " in text
    assert "- (a) " not in text


@pytest.mark.parametrize(
    ("sample", "expected"), [(3.0, "A random sample is better in 2, 2 of them"), (5.0, "better nowhere")]
)
def test_a_sample_that_beats_the_features_is_named_in_words(tmp_path, sample, expected):
    case = next(alternatives.cases(QUICK))
    jobs = [j for x in (LINKAGE, SAMPLE) for j in alternatives.jobs_of(QUICK, case, x)]

    def values(job):
        value = sample if job.input == SAMPLE else 4.0
        return {"rmsd_nearest": value, "rmsd_nearest_mean": value, "cpu": 1.0}

    words = alternatives.verdict(QUICK, as_if_measured(tmp_path / "rows.jsonl", jobs, values), SAMPLE)
    assert expected in words
    assert (case.text() + ", nearest feature: features +33.33%" in words) == (sample == 3.0)


def test_page_and_figures_are_the_same_when_made_again_from_the_rows(tmp_path):
    names = ["table3", "stability"]
    moved = [j for j in EXPERIMENTS["stability"].jobs(QUICK) if isinstance(j, VarianceErrorJob)]
    runner.run(moved, RawRows(tmp_path / "reproduction.jsonl"), isolated=False, say=quiet)
    made = []
    for _ in range(2):
        page = reproduce(names, quick=True, out=tmp_path, render_only=True)
        made.append((page.read_text(), (tmp_path / "images" / "reproduction-stability.png").read_bytes()))
    assert made[0] == made[1]
    assert made[0][1].startswith(b"\x89PNG")
    assert "## Table 3" in made[0][0]
    assert "| classic, float64 | " in made[0][0]
    assert "## Table 4" not in made[0][0]


def test_a_name_that_is_no_experiment_and_a_page_without_rows_are_refused(tmp_path):
    with pytest.raises(ValueError, match="experiment 'table5': must be one of claims, table3"):
        reproduce(["table5"], out=tmp_path)
    with pytest.raises(ValueError, match="no rows to render: run without --render-only first"):
        reproduce(["table3"], out=tmp_path, render_only=True)
    assert not list(tmp_path.iterdir())


def test_the_command_prints_the_page_it_writes_and_refuses_in_one_line(tmp_path):
    def experiments(*arguments):
        command = [sys.executable, "-m", "experiments", *arguments, "--quick", "--out", str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)

    rows = RawRows(tmp_path / "reproduction.jsonl")
    runner.run(EXPERIMENTS["draws"].jobs(QUICK)[:1], rows, isolated=False, say=quiet)
    done = experiments("draws", "--render-only")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "reproduction.md").read_text() in done.stdout
    refused = experiments("table5")
    assert refused.returncode == 1
    assert refused.stderr.strip().count("\n") == 0
    assert "experiment 'table5': must be one of" in refused.stderr

"""The benchmark package: the rows it writes and its conclusions. No test depends on a measured time."""

import importlib
import json
import shutil
import sys

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.adapters import ADAPTERS
from benchmarks.jobs import SUITES, Case, Job, Suite, suite_named
from benchmarks.summary import exponent, read_rows, select, summarize
from benchmarks.targets import TARGETS, FasterThan, MoreThreads, Within
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from benchmarks import data, heights, instructions, machine, partition, raw_rows, render, runner, studies
from silverbirch.demo import gaussian_mixture

PLACE = {"instruction_set": "avx2", "system": "s", "python": "p", "numpy": "n", "versions": {}, "commit": "c"}
TINY = Suite("ward", "Ward of few points", (Case(300), Case(600)), peers={"scipy": 600, "fastcluster": 300})


@pytest.fixture(scope="module")
def tiny_results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    runner.run([TINY], folder, repeats=2)
    return folder


def row(seconds, implementation="silverbirch", *, repeat=1, status="ok", extra=None, **job):
    """A raw row as a run writes it."""
    job = {"rows": 50_000, "suite": "ward"} | job
    measured = {"wall": seconds, "cpu": seconds, "beyond_mb": 10.0} if status == "ok" else {"process_seconds": 9.0}
    row = Job(**job, implementation=implementation).as_dict() | {"repeat": repeat, "status": status}
    return row | measured | (extra or {})


def verdict(target, *rows):
    return target.verdict(summarize(rows))


# -- what there is


def test_all_suites_and_studies_are_listed(capsys):
    main(["list"])
    listed = capsys.readouterr().out
    assert all(suite.title in listed for suite in SUITES)
    assert {"sample_quality", "tree_quality"} <= {*studies.questions()}
    assert all(question.endswith(".") and question in listed for question in studies.questions().values())


@pytest.mark.parametrize("name", studies.questions())
def test_a_study_starts_and_says_what_it_asks(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit, match="0"):
        importlib.import_module(f"benchmarks.studies.{name}").main()
    assert studies.questions()[name] in capsys.readouterr().out


# -- running


def test_each_run_is_one_raw_row_and_implementations_take_turns(tiny_results):
    rows = read_rows(tiny_results)
    order = [("scipy", 300), ("fastcluster", 300), ("silverbirch", 300), ("scipy", 600), ("silverbirch", 600)]
    assert [(r["repeat"], r["implementation"], r["rows"]) for r in rows] == [(i, *who) for i in (1, 2) for who in order]
    for r in rows:
        assert r["status"] == "ok"
        assert r["wall"] > 0
        assert r["rss_peak_mb"] >= r["beyond_mb"] >= 0
        assert {"cpu", "cores", "instruction_set", "versions", "commit"} <= set(r["machine"])


def test_heights_and_partitions_of_a_run_are_those_of_the_peers(tiny_results):
    rows = read_rows(tiny_results)
    compared = [r for r in rows if "height_difference" in r]
    assert len(compared) == len(rows) - 2  # the first run of each case is what the others are compared with
    assert all(r["height_difference"] < 1e-12 and r["height_reference"] == "scipy" for r in compared)
    for n in (300, 600):
        assert np.ptp([r["rmsd"] for r in rows if r["rows"] == n]) < 1e-9


def test_tables_and_figure_are_made_from_raw_rows_alone(tiny_results, tmp_path):
    (tmp_path / "README.md").write_text("before\n<!-- benchmark -->\nold\n<!-- /benchmark -->\nafter\n")
    render.render(tiny_results, tmp_path)
    page = (tmp_path / "docs" / "benchmarks.md").read_text()
    for r in read_rows(tiny_results):
        assert f"| uniform {r['rows']:,} × 5 | " in page
        assert r["machine"]["cpu"] in page
    assert page.count("| **silverbirch** | 2 |") == 2
    readme = (tmp_path / "README.md").read_text()
    assert readme.startswith("before\n<!-- benchmark -->\n| work |")
    assert readme.endswith("<!-- /benchmark -->\nafter\n")
    assert "old" not in readme
    assert (tmp_path / "docs" / "images" / "benchmark.png").stat().st_size > 10_000


def test_the_page_and_the_table_in_the_readme_are_made_from_the_raw_rows_beside_those_of_studies(tmp_path):
    shutil.copy(runner.ROOT / "README.md", tmp_path)
    render.render(runner.RESULTS, tmp_path)
    for name in ("README.md", "docs/benchmarks.md"):
        assert (tmp_path / name).read_text(encoding="utf-8") == (runner.ROOT / name).read_text(encoding="utf-8")


def test_a_failure_and_a_timeout_are_rows_too(tmp_path):
    failed = runner.run_job(Job(rows=300, data="no such data"), tmp_path, timeout=60)
    assert failed["status"] == "failed"
    assert "no such data" in failed["reason"]
    stopped = runner.run_job(Job(rows=300), tmp_path, timeout=0.01)
    assert stopped["status"] == "timeout"
    rows = [Job(rows=300).as_dict() | {"repeat": 1} | r for r in (failed, stopped)]
    assert summarize(rows)[0].failure == "stopped after 0 s"


def test_a_peer_that_is_not_installed_is_left_out_and_said_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(machine, "installed", lambda name: name == "silverbirch")
    monkeypatch.setattr(runner, "run_job", lambda job, folder, timeout: {"status": "ok", "wall": 0.1})
    rows = list(runner.rows_of(TINY, repeats=1))
    assert {r["implementation"] for r in rows} == {"silverbirch"}
    assert "scipy is not installed and left out" in capsys.readouterr().out


def test_what_takes_long_or_fails_is_not_run_again(monkeypatch):
    outcome = {300: {"status": "ok", "wall": 100.0}, 600: {"status": "timeout"}}
    monkeypatch.setattr(runner, "run_job", lambda job, folder, timeout: outcome[job.rows])
    rows = list(runner.rows_of(Suite("ward", "", TINY.cases), repeats=3))
    assert [r["rows"] for r in rows] == [300, 600]


def test_every_job_of_every_suite_has_an_adapter():
    for suite in SUITES:
        for job in (*suite.jobs(), *suite.small(1_000).jobs()):
            assert (job.task, job.implementation) in ADAPTERS


@pytest.mark.parametrize("implementation", ["silverbirch", "betula-cluster", "betulars"])
def test_the_leaves_of_a_tree_hold_all_rows(implementation):
    X = data.make("mixture", 2_000, 3, "float32")
    job = Job(rows=2_000, columns=3, dtype="float32", task="tree", max_leaves=100, implementation=implementation)
    work = ADAPTERS["tree", implementation](X, job)
    row = work.describe(work.run())
    total = ((X - X.mean(axis=0)) ** 2).sum() / len(X)
    assert 10 < row["leaves"] <= 100
    assert row["rebuilds"] > 0
    assert 0 < row["leaf_sse"] < 0.1 * total
    assert 0 < row["nearest_mse"] <= 1.001 * row["leaf_sse"]


def test_the_machine_itself_is_measured(tmp_path):
    suite = Suite("cores", "", (Case(1, task="loops", threads=2), Case(1_000, task="copy", threads=2)))
    jobs = list(suite.jobs())
    assert [job.implementation for job in jobs] == ["the machine"] * 2
    assert [runner.run_job(job, tmp_path, timeout=60)["status"] for job in jobs] == ["ok", "ok"]


def test_more_threads_than_cores_are_left_out_and_said_so(monkeypatch, capsys):
    monkeypatch.setattr(runner, "usable_cores", lambda: 4)
    monkeypatch.setattr(runner, "run_job", lambda job, folder, timeout: {"status": "ok", "wall": 0.1})
    rows = list(runner.rows_of(suite_named("cores"), repeats=1))
    assert {r["threads"] for r in rows} == {1, 2, 4}
    assert "more than 4 threads are left out" in capsys.readouterr().out


def test_every_target_is_about_jobs_that_are_run():
    jobs = [job for suite in SUITES for job in suite.jobs()]
    everything = summarize(json.loads(json.dumps(row(1.0, **job.as_dict()))) for job in jobs)
    for target in TARGETS:
        ours = select(everything, suite=target.suite, implementation="silverbirch", threads=1, **target.where)
        assert ours, target.work
        for peer in getattr(target, "peers", ()):
            cases = {s.job.name() for s in select(everything, suite=target.suite, implementation=peer)}
            assert {s.job.name() for s in ours} <= cases, (target.work, peer)


# -- data and quality


def test_the_mixture_is_the_rows_of_the_demo():
    expected = np.concatenate([chunk for chunk, _ in gaussian_mixture(150_000, data.SEED)])
    np.testing.assert_array_equal(data.make("mixture", 150_000, 5, "float64"), expected)


def test_embeddings_are_unit_rows_and_normal_rows_are_spread_alike():
    embeddings, normal = (data.make(kind, 3_000, 20, "float64") for kind in ("embeddings", "normal"))
    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1)
    np.testing.assert_allclose(normal.std(axis=0), 1, atol=0.1)


@pytest.mark.parametrize("method", ["ward", "centroid"])
def test_cut_and_rmsd_agree_with_scipy_and_with_the_definition(method):
    X = np.random.default_rng(3).normal(size=(200, 3))
    Z = linkage(X, method)
    labels = partition.cut(Z, 200, 12)
    assert len(set(labels)) == 12
    if method == "ward":
        theirs = fcluster(Z, 12, criterion="maxclust")
        assert len(set(zip(labels, theirs, strict=True))) == 12
    squared = sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in range(12))
    assert partition.rmsd(X, labels) == pytest.approx(np.sqrt(squared / 200))
    ones, zeros = np.ones(200), np.zeros(200)
    assert partition.rmsd_of_features(ones, X, zeros, labels) == pytest.approx(np.sqrt(squared / 200))


@pytest.mark.parametrize("columns", [3, 40])
def test_nearest_mse_is_that_of_brute_force(columns):
    random = np.random.default_rng(4)
    X, centers = random.normal(size=(50, columns)) + 100, random.normal(size=(20, columns)) + 100
    chosen = X if columns <= 16 else X[::10]
    expected = ((chosen[:, None] - centers) ** 2).sum(axis=2).min(axis=1).mean()
    assert partition.nearest_mse(X, centers) == pytest.approx(expected)


def test_one_changed_height_is_seen_and_rounding_is_not(tmp_path):
    values = np.array([3.0, 1.0, 2.0])
    assert "height_difference" not in heights.compare(values, tmp_path, "case", "scipy")
    assert heights.compare(values[::-1], tmp_path, "case", "b")["height_difference"] == 0.0
    assert heights.compare(values * (1 + 1e-15), tmp_path, "case", "b")["height_difference"] < 1e-14
    assert heights.compare(values + np.array([0, 0, 0.02]), tmp_path, "case", "b")[
        "height_difference"
    ] == pytest.approx(0.02 / 2.02)
    assert heights.compare(values[:2], tmp_path, "case", "b")["height_difference"] == np.inf


# -- conclusions


@given(st.floats(-1, 3), st.floats(1e-6, 1e3), st.lists(st.integers(10, 10**7), min_size=2, max_size=6, unique=True))
def test_the_exponent_of_a_power_law_is_found(power, scale, sizes):
    assert exponent(sizes, [scale * n**power for n in sizes]) == pytest.approx(power, abs=1e-6)


def test_there_is_no_exponent_of_one_size():
    assert exponent([100, 100], [1.0, 2.0]) is None


def test_a_target_is_met_by_the_median_of_runs_on_all_data():
    target = FasterThan(work="w", suite="ward", peers=("scipy",), at_least=10)
    rows = [row(t, repeat=i) for i, t in enumerate((0.1, 0.1, 5.0))] + [row(1.1, "scipy")]
    assert verdict(target, *rows).met is True
    slow = [row(0.1, data="mixture"), row(0.9, "scipy", data="mixture")]
    assert verdict(target, *rows, *slow).met is False
    assert verdict(target, *rows, *slow).reached == "uniform: 11 ×; mixture: 9 ×"


def test_a_target_is_missed_where_our_run_fails_and_not_measured_where_the_peer_does():
    target = FasterThan(work="w", suite="ward", peers=("scipy",), at_least=1)
    assert verdict(target, row(None, status="timeout"), row(1.0, "scipy")).met is False
    assert verdict(target, row(1.0), row(None, "scipy", status="timeout")).met is None
    assert verdict(target, row(1.0)).met is None
    assert verdict(target).met is None


def test_speed_does_not_count_at_other_heights_or_worse_leaves():
    exact = FasterThan(work="w", suite="ward", peers=("scipy",), at_least=2)
    assert verdict(exact, row(0.1, extra={"height_difference": 1e-13}), row(1.0, "scipy")).met is True
    assert verdict(exact, row(0.1, extra={"height_difference": 1e-3}), row(1.0, "scipy")).met is False
    tree = FasterThan(work="w", suite="ward", peers=("scipy",), at_least=2, no_more="leaf_sse")
    peer = row(1.0, "scipy", extra={"leaf_sse": 100.0})
    assert verdict(tree, row(0.1, extra={"leaf_sse": 99.0}), peer).met is True
    assert verdict(tree, row(0.1, extra={"leaf_sse": 101.0}), peer).met is False


def test_limits_and_second_threads_are_judged():
    limit = Within(work="w", suite="ward", below={"wall": 10, "beyond_mb": 500})
    assert verdict(limit, row(9.0)).met is True
    assert verdict(limit, row(11.0)).met is False
    assert verdict(limit, row(9.0, extra={"beyond_mb": 600.0})).met is False
    second = MoreThreads(work="w", at_least=1.6)
    one, two = row(1.0, suite="threads"), row(0.6, suite="threads", threads=2)
    assert verdict(second, one, two).met is True
    assert verdict(second, one, row(0.7, suite="threads", threads=2)).met is False
    assert verdict(second, one).met is None
    assert verdict(second, one, row(0.6, suite="threads", threads=2, extra={"height_difference": 1e-16})).met is False
    coarser = row(0.6, suite="threads", threads=2, extra={"leaf_sse": 102.0})
    assert verdict(second, row(1.0, suite="threads", extra={"leaf_sse": 100.0}), coarser).met is False


def test_speed_ups_are_in_a_table_of_their_own_with_the_machine_that_ran_them():
    here = {"machine": {"cpu": "A", "cores": 2} | PLACE, "started": "2026-01-01", "load": 0.5}
    there = here | {"machine": {"cpu": "B", "cores": 16} | PLACE}
    single = {"suite": "cores", "method": "single"}
    rows = [
        row(1.0, extra=here),
        row(8.0, **single, extra=there | {"height_difference": 0.0}),
        row(2.0, **single, threads=4, extra=there | {"height_difference": 0.0}),
        row(3.0, suite="cores", task="loops", extra=there),
        row(4.0, suite="cores", task="loops", threads=4, extra=there),
    ]
    page = render.page(rows, summarize(rows), [])
    top, cores = page.split("## More threads")
    cores = cores.split("##")[0]
    assert "Measured on: A, 2 cores" in top
    assert "B, 16 cores" not in top
    assert "Measured on: B, 16 cores" in cores
    assert "| single, uniform 50,000 × 5 | 8 s | 4.0 × | to the bit |" in cores
    assert "| processes of pure loops | 3 s | 3.0 × |  |" in cores
    assert "A, 2 cores" not in page.split("## Exact Ward of points")[1]


def test_where_silverbirch_is_slower_is_written_down():
    summaries = summarize([row(1.0), row(0.5, "scipy"), row(2.0, "fastcluster")])
    assert (
        render.losses(summaries) == "- Exact Ward of points, uniform 50,000 × 5: scipy takes 0.5 of silverbirch's time"
    )


def test_exponents_are_of_series_that_differ_in_one_size():
    rows = [row(n**2 / 1e6, rows=n) for n in (1_000, 10_000, 100_000)] + [row(7.0, columns=9)]
    lines = render.exponents(summarize(rows)).splitlines()[2:]
    assert lines == ["| silverbirch | ward linkage, uniform, d = 5 | N = 1,000 … 100,000 | N^2.00 | N^0.00 |"]


def test_more_instructions_than_tolerated_are_an_error():
    expected = {"tree": 1_000, "ward": 2_000}
    assert instructions.report(instructions.compare({"tree": 1_020, "ward": 1_500}, expected)) == 0
    assert instructions.report(instructions.compare({"tree": 1_040, "ward": 2_000}, expected)) == 1


# -- studies


def test_the_study_of_cosine_measures_every_library_apart_and_renders_its_raw_rows(tmp_path, monkeypatch, capsys):
    study, output = importlib.import_module("benchmarks.studies.cosine"), tmp_path / "raw.jsonl"
    arguments = ["--rows", "60", "--columns", "5", "--methods", "average", "--repeats", "1", "--output", str(output)]
    monkeypatch.setattr(sys, "argv", ["cosine", *arguments])
    study.main()
    table = capsys.readouterr().out
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert {"silverbirch", "scipy"} <= {row["library"] for row in rows}
    assert all(row["cpu"] > 0 and row["height_difference"] < 1e-12 for row in rows)
    monkeypatch.setattr(sys, "argv", ["cosine", *arguments, "--render"])
    study.main()
    assert capsys.readouterr().out == table


def test_the_study_of_memory_measures_processes_or_says_what_they_would_need(tmp_path, monkeypatch, capsys):
    study, output = importlib.import_module("benchmarks.studies.memory"), tmp_path / "raw.jsonl"
    arguments = ["--kinds", "npy", "--columns", "2", "--rows", "1000", "--limits", "1MB", "200MB"]
    monkeypatch.setattr(sys, "argv", ["memory", *arguments, "--output", str(output)])
    study.main()
    refused, kept = (json.loads(line) for line in output.read_text().splitlines())
    assert "take at least" in refused["refused"]
    assert kept["features"] == 1000
    assert 0 < kept["peak_memory_bytes"] <= 200_000_000
    assert "refused, needs" in capsys.readouterr().out


def test_the_table_of_memory_in_the_docs_is_that_of_the_raw_rows_which_keep_every_limit():
    study = importlib.import_module("benchmarks.studies.memory")
    rows = [json.loads(line) for line in study.RESULTS.read_text().splitlines()]
    table = study.rendered(rows)
    assert table in study.PAGE.read_text()
    assert {(row["kind"], row["columns"]) for row in rows} == {(kind, n) for kind in study.KINDS for n in study.ROWS}
    assert "too much" not in table
    assert all("take at least" in row.get("refused", "take at least") for row in rows)


def test_the_table_of_the_page_in_the_docs_is_that_of_the_raw_rows():
    study = importlib.import_module("benchmarks.studies.page")
    assert study.rendered(raw_rows.read(study.RESULTS)) in study.PAGE.read_text(encoding="utf-8")

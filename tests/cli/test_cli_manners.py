"""The command line: exit codes, one-line errors, overwritten files, output for people and for programs."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import silverbirch as sb
from commands import silverbirch
from silverbirch.cli import app
from silverbirch.cli.options import PANELS
from silverbirch.storage import container
from terminals import errors_on_terminal, lines_left

COMMANDS = ["cluster", "prepare", "aggregate", "merge", "cut", "info", "report", "demo"]


@pytest.fixture
def rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(500, 3)) + 9 * np.arange(5).repeat(100)[:, None]
    np.save(tmp_path / "rows.npy", X)
    return tmp_path / "rows.npy"


@pytest.fixture
def model(rows, tmp_path):
    result = silverbirch("cluster", rows, "-k", 5, "--model", tmp_path / "run.sb")
    assert result.exit_code == 0, result.stderr
    return tmp_path / "run.sb"


# --- errors


def wrong_usage(rows, model, folder):
    return {
        "no command": ["paint"],
        "no input": ["cluster"],
        "k that is no number": ["cluster", rows, "-k", "many"],
        "k of zero": ["cluster", rows, "-k", "0"],
        "more clusters than features can be": ["cluster", rows, "-k", "30", "--max-leaves", "20"],
        "two cuts": ["cluster", rows, "-k", "3", "--height", "2"],
        "labels without a cut": ["cluster", rows, "--labels", folder / "l.npy"],
        "a linkage that is none": ["cluster", rows, "-k", "3", "--linkage", "warp"],
        "a linkage of another mode": ["cluster", rows, "-k", "3", "--linkage", "radius"],
        "a memory that is none": ["cluster", rows, "-k", "3", "--max-memory", "lots"],
        "threads that cannot be": ["cluster", rows, "-k", "3", "-j", "0"],
        "labels of features": ["cluster", folder / "all.sb", "-k", "3", "--labels", folder / "l.npy"],
        "features and rows": ["cluster", folder / "all.sb", rows, "-k", "3"],
        "no cut": ["cut", model],
        "rows without labels": ["cut", model, rows, "-k", "3"],
        "no output": ["merge", folder / "all.sb"],
    }


def failures(rows, model, folder):
    return {
        "no such file": (["cluster", folder / "none.parquet", "-k", "3"], "none.parquet"),
        "no such column": (["cluster", folder / "rows.csv", "-k", "3", "--columns", "x,y"], "'y'"),
        "text": (["cluster", folder / "rows.csv", "-k", "2"], "'name'"),
        "an unknown format": (["cluster", folder / "rows.xlsx", "-k", "2"], ".xlsx"),
        "a file cut short": (["cluster", folder / "short.npy", "-k", "3"], "short.npy"),
        "more clusters than features": (["cluster", rows, "-k", "501"], "-k 501"),
        "more clusters than the model has": (["cut", model, "-k", "501"], "-k 501"),
        "a model cut short": (["info", folder / "broken.sb"], "broken.sb"),
        "no model": (["cut", rows, "-k", "2"], "rows.npy"),
        "no folder": (["cluster", rows, "-k", "3", "--labels", folder / "none" / "l.npy"], "no folder"),
    }


@pytest.mark.parametrize("case", wrong_usage("", "", Path()))
def test_wrong_usage_is_exit_code_2_with_a_hint_and_no_traceback(case, rows, model, tmp_path):
    result = silverbirch(*wrong_usage(rows, model, tmp_path)[case])
    assert result.exit_code == 2
    assert "Usage:" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("case", failures("", "", Path()))
def test_a_failure_is_exit_code_1_and_one_line_that_names_the_cause(case, rows, model, tmp_path):
    (tmp_path / "rows.csv").write_text("x,name\n1,a\n2,b\n")
    (tmp_path / "short.npy").write_bytes(rows.read_bytes()[:-100])
    (tmp_path / "broken.sb").write_bytes(model.read_bytes()[:-1])
    (tmp_path / "rows.xlsx").write_bytes(b"PK")
    before = set(tmp_path.iterdir())
    arguments, cause = failures(rows, model, tmp_path)[case]
    result = silverbirch(*arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert cause in result.stderr
    assert result.stdout == ""
    assert set(tmp_path.iterdir()) == before


def test_nothing_is_overwritten_without_force(rows, model, tmp_path):
    outputs = {"labels": "l.npy", "model": "m.sb", "report": "r.html", "record": "r.json"}
    for option, name in outputs.items():
        (tmp_path / name).write_text("precious")
        command = ["cluster", rows, "-k", 3, f"--{option}", tmp_path / name]
        result = silverbirch(*command)
        assert result.exit_code == 1
        assert "exists" in result.stderr
        assert (tmp_path / name).read_text() == "precious"
        assert silverbirch(*command, "--force").exit_code == 0
        assert (tmp_path / name).read_bytes() != b"precious"


# --- files that must not be touched


def same_files(rows, model, folder):
    """Commands that would overwrite a file they also read or write; --force does not allow it."""
    return {
        "labels over the rows": ["cluster", rows, "-k", 3, "--labels", rows],
        "labels over the rows, by a link": ["cluster", rows, "-k", 3, "--labels", folder / "link.npy"],
        "rows of a folder": ["cluster", folder, "--allow-overlap", "-k", 3, "--labels", rows],
        "features over the rows": ["aggregate", rows, "-o", rows],
        "two outputs of one name": ["cluster", rows, "-k", 3, "--model", folder / "a.sb", "--record", folder / "a.sb"],
        "an output that is the checkpoint": ["cluster", rows, "--model", folder / "a", "--checkpoint", folder / "a"],
        "merged over its parts": ["merge", model, "-o", model],
        "a page over its model": ["report", model, "-o", folder / "link.html"],
        "a page over the model that is cut": ["cut", model, "-k", 2, "--report", folder / "link.html"],
        "labels of a cut over the rows": ["cut", model, "-k", 2, rows, "--labels", rows],
    }


@pytest.mark.parametrize("case", same_files("", "", Path()))
def test_no_file_serves_two_purposes_not_even_by_force(case, rows, model, tmp_path):
    (tmp_path / "link.npy").symlink_to(rows)
    (tmp_path / "link.html").symlink_to(model)
    command = same_files(rows, model, tmp_path)[case]
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    result = silverbirch(*command, "--force")
    assert result.exit_code == 1
    assert "give each file its own name" in result.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_model_can_be_replaced_by_itself_with_another_cut(rows, model):
    assert silverbirch("cut", model, "-k", 2, "--model", model, "--force").exit_code == 0
    assert sb.Betula.load(model).n_clusters_ == 2


@pytest.mark.parametrize("option", ["--model", "--checkpoint"])
def test_a_place_that_cannot_be_written_is_found_before_the_rows_are_read(option, rows, tmp_path, monkeypatch):
    (tmp_path / "link.sb").symlink_to(tmp_path / "nowhere" / "run.sb")
    monkeypatch.setattr("silverbirch.pipeline.aggregation.Aggregation.run", None)
    result = silverbirch("cluster", rows, option, tmp_path / "link.sb")
    assert result.exit_code == 1
    assert "there is no folder" in result.stderr


def test_a_page_that_cannot_be_drawn_is_refused_before_the_rows_are_read(rows, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("silverbirch.pipeline.aggregation.Aggregation.run", None)
    result = silverbirch("cluster", rows, "-k", 3, "--report", tmp_path / "run.html")
    assert result.exit_code == 1
    assert "pip install 'silverbirch[plot]'" in result.stderr


def test_a_defect_is_one_line_too_unless_the_traceback_is_asked_for(rows, monkeypatch):
    def broken(*_):
        raise IndexError("list index out of range")

    monkeypatch.setattr("silverbirch.pipeline.preparation.Preparation.apply", broken)
    result = silverbirch("cluster", rows, "-k", 3)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: unexpected IndexError: list index out of range")
    assert result.stderr.count("\n") == 1


# --- what it tells


def test_json_is_the_record_and_nothing_else(rows, tmp_path):
    command = ["cluster", rows, "-k", 3, "--labels", tmp_path / "l.npy", "--record", tmp_path / "run.json", "--json"]
    result = silverbirch(*command)
    told, kept = json.loads(result.stdout), json.loads((tmp_path / "run.json").read_text())
    assert result.stderr == ""
    assert told["counts"] == kept["counts"]
    assert told["counts"] == {
        "rows": 500,
        "dropped": 0,
        "filled": 0,
        "columns": 3,
        "features": 500,
        "rebuilds": 0,
        "threshold": 0.0,
        "clusters": 3,
        "labelled": 500,
        "unlabelled": 0,
    }
    assert told["parameters"]["linkage"] == "ward"
    assert told["input"][0]["bytes"] == rows.stat().st_size
    assert told["versions"]["silverbirch"] == sb.__version__
    assert {"aggregate", "cluster", "label", "total"} <= told["seconds"].keys()
    assert told["peak_memory_bytes"] > 10_000_000


@pytest.mark.parametrize("command", [["cluster", "-k", 3], ["aggregate", "-o", "{folder}/features.sb"]])
def test_the_record_has_the_limit_of_memory_as_it_was_given(command, rows, tmp_path):
    name, *options = [str(word).replace("{folder}", str(tmp_path)) for word in command]
    told = json.loads(silverbirch(name, rows, *options, "--max-memory", "300MB", "--json").stdout)
    assert told["parameters"]["max_memory"] == "300MB"


def test_quiet_prints_nothing(rows):
    result = silverbirch("cluster", rows, "-k", 3, "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_without_a_terminal_there_is_no_progress_bar(rows):
    assert silverbirch("cluster", rows, "-k", 3).stderr == ""


@pytest.mark.parametrize(
    ("columns", "words"),
    [(200, ["tree", "rows/s", "leaves", "rebuilds", "threshold", "MB"]), (60, ["tree", "%", "rows"])],
)
def test_on_a_terminal_progress_shows_a_bar_and_what_fits_beside_it(columns, words, tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(300_000, 2)))
    shown = errors_on_terminal("cluster", tmp_path / "rows.npy", "-k", 3, columns=columns)
    with_rows = [line for line in shown.split("\r") if " rows" in line]
    assert with_rows
    assert all(word in line for line in with_rows for word in words)
    assert any("━" * 19 in line for line in with_rows)  # a whole bar: earlier ones end in half a character


def test_progress_leaves_nothing_on_the_terminal(tmp_path):
    X = np.random.default_rng(0).normal(size=(200_000, 3))
    np.save(tmp_path / "rows.npy", X)
    sb.Betula(4, max_leaves=3000, progress=True).fit(X[:50_000]).save(tmp_path / "talkative.sb")
    rows, labels = tmp_path / "rows.npy", ["--labels", tmp_path / "labels.npy", "--force"]
    for command, tasks in {
        ("cluster", rows, "-k", 3, "--refine", 1, *labels): ["tree", "finer leaves", "ward linkage", "labels"],
        ("cut", tmp_path / "talkative.sb", rows, "-k", 3, *labels): ["labels"],
    }.items():
        written = errors_on_terminal(*command)
        assert all(task in written for task in tasks)
        assert "nearest leaves" not in written
        assert lines_left(written) == []


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=lambda words: " ".join(words) or "all")
def test_help_fits_the_terminal_and_shows_no_type_of_python(command, columns):
    result = CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1", "TERMINAL_WIDTH": str(columns)}).invoke(
        app, [*command, "--help"]
    )
    assert result.exit_code == 0
    assert not re.search(r"<(bool|list|int|float|str|path)\b", result.stdout)
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= columns
    panels = re.findall(r"╭─ ([\w ]+?) ─", result.stdout)
    assert [name for name in panels if name in PANELS] == [name for name in PANELS if name in panels]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    result = silverbirch(command, "--help")
    assert result.exit_code == 0
    assert re.search(rf"Examples?:\s+silverbirch {command} ", result.stdout)


def test_the_commands_are_those_of_the_contract():
    listed = silverbirch("--help").stdout
    assert all(command in listed for command in COMMANDS)
    assert "--install-completion" in listed


def test_the_shell_completes_names():
    environment = {
        "_SILVERBIRCH_COMPLETE": "complete_bash",
        "COMP_WORDS": "silverbirch cluster rows.npy --linkage w",
        "COMP_CWORD": "4",
    }
    result = CliRunner().invoke(app, [], env=environment, prog_name="silverbirch")
    assert result.stdout.split() == ["weighted", "ward"]


# --- info


def test_info_tells_what_each_kind_of_file_holds(rows, model, tmp_path):
    X = np.load(rows)
    sb.CFTree(max_leaves=50).insert(X).save(tmp_path / "tree.sb")
    sb.ClusterFeatures(1, X, 0).save(tmp_path / "features.sb")
    sb.Dendrogram(sb.linkage(X)).save(tmp_path / "dendrogram.sb")
    for name, facts in {
        "tree": {"rows": 500, "columns": 3, "max_leaves": 50},
        "features": {"rows": 500, "features": 500},
        "dendrogram": {"leaves": 500},
        "run": {"clusters": 5, "linkage": "ward", "input": [str(rows)]},
    }.items():
        told = json.loads(silverbirch("info", tmp_path / f"{name}.sb", "--json").stdout)
        assert told["holds"] == ("model" if name == "run" else name)
        assert told.items() >= facts.items()
        assert silverbirch("info", tmp_path / f"{name}.sb").stdout.startswith("holds")


def test_info_shows_names_as_they_are_and_does_not_obey_them(rows, tmp_path):
    odd = tmp_path / "\x1b[31m:smile:[bold].npy"
    rows.rename(odd)
    assert silverbirch("cluster", odd, "-k", 3, "--model", tmp_path / "run.sb").exit_code == 0
    shown = "".join(silverbirch("info", tmp_path / "run.sb").stdout.split())  # long names are folded
    assert "\x1b" not in shown
    assert "?[31m:smile:[bold].npy" in shown
    missing = silverbirch("info", tmp_path / "\x1b[31m.sb").stderr
    assert "\x1b" not in missing


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("checkpoint", lambda state: state.clear()),
        ("model", lambda state: state["run"]["record"].update(input=[1])),
        ("model", lambda state: state["run"]["record"].update(input=5)),
        ("model", lambda state: state.update(run=[])),
    ],
)
def test_info_of_a_file_with_wrong_content_is_one_line_that_names_it(kind, change, model):
    _, state, arrays = container.read(model)
    change(state)
    container.write(model, kind, state, arrays)
    result = silverbirch("info", model)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {model} has no valid ")


def test_a_report_has_the_clusters_and_the_run_and_escapes_what_comes_from_the_data(tmp_path):
    nasty = "<script>alert(1)</script>"
    X = np.random.default_rng(0).normal(size=(300, 2))
    pd.DataFrame(X, columns=[nasty, "b"]).to_csv(tmp_path / "rows.csv", index=False)
    command = [
        "cluster",
        tmp_path / "rows.csv",
        "-k",
        4,
        "--model",
        tmp_path / "run.sb",
        "--report",
        tmp_path / "a.html",
    ]
    assert silverbirch(*command).exit_code == 0
    assert silverbirch("report", tmp_path / "run.sb", "-o", tmp_path / "b.html").exit_code == 0
    assert silverbirch("cut", tmp_path / "run.sb", "-k", 3, "--report", tmp_path / "c.html").exit_code == 0
    for name in "abc":
        page = (tmp_path / f"{name}.html").read_text()
        assert nasty not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "rows.csv" in page


def test_a_report_of_scaled_rows_shows_centres_as_the_rows_came(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 2)) * [1, 1000] + [0, 123_456]
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "rows.csv", index=False)
    command = ["cluster", tmp_path / "rows.csv", "-k", 1, "--scale", "standard", "--report", tmp_path / "a.html"]
    assert silverbirch(*command).exit_code == 0
    page = (tmp_path / "a.html").read_text()
    assert "<title>rows.csv</title>" in page
    assert "units before they were scaled" in page
    assert f"{X[:, 1].mean():,.1f}" in page

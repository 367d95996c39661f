"""The same kind of fault has the same exit code in every command: 1 for files and data, 2 for the command line."""

import numpy as np
import pytest

import silverbirch as sb
from commands import silverbirch
from silverbirch.cli import app

COMMANDS = [command.callback.__name__ for command in app.registered_commands]

# {kind of fault: {command: the rest of the command line}}; {…} is a file of the fixture `files`.
VISIBLE_IN_THE_COMMAND_LINE = {
    "unknown option": dict.fromkeys(COMMANDS, "--sheep"),
    "no argument": {
        "cluster": "",
        "prepare": "-o {new}.sb",
        "aggregate": "-o {new}.sb",
        "merge": "-o {new}.sb",
        "cut": "-k 2",
        "report": "-o {new}.html",
        "info": "",
    },
    "no output": {"prepare": "{rows}", "aggregate": "{rows}", "merge": "{features}", "report": "{model}"},
    "no number": {
        "cluster": "{rows} -k many",
        "aggregate": "{rows} -o {new}.sb --max-leaves many",
        "merge": "{features} -o {new}.sb --max-leaves many",
        "cut": "{model} -k many",
        "report": "{model} -o {new}.html --height high",
        "demo": "--rows many",
    },
    "number out of range": {
        "cluster": "{rows} -k 0",
        "aggregate": "{rows} -o {new}.sb --max-leaves 0",
        "merge": "{features} -o {new}.sb --max-leaves 0",
        "cut": "{model} -k 0",
        "report": "{model} -o {new}.html --height -1",
        "demo": "--rows 1",
    },
    "unknown name": {
        "cluster": "{rows} -k 2 --linkage warp",
        "prepare": "{rows} -o {new}.sb --scale fish",
        "aggregate": "{rows} -o {new}.sb --scale fish",
        "cut": "{model} --cut-method deep",
        "report": "{model} -o {new}.html --cut-method deep",
    },
    "amount of memory": {
        "cluster": "{rows} -k 2 --max-memory lots",
        "aggregate": "{rows} -o {new}.sb --max-memory lots",
        "merge": "{features} -o {new}.sb --max-memory lots",
        "cut": "{model} -k 2 --max-memory lots",
    },
    "contradicting options": {
        "cluster": "{rows} -k 2 --height 3",
        "prepare": "{preparation} -o {new}.sb --scale none",
        "cut": "{model} -k 2 --height 3",
        "report": "{model} -o {new}.html -k 2 --height 3",
        "demo": "-o {new} --rows 1000 -k 500 --max-leaves 100",
    },
    "more clusters than features": {"cluster": "{rows} -k 30 --max-leaves 20"},
    "labels of an unknown format": {
        "cluster": "{rows} -k 2 --labels {new}.doc",
        "cut": "{model} {rows} -k 2 --labels {new}.doc",
    },
    "ids in .npy": {
        "cluster": "{table} -k 2 --id-column name --labels {new}.npy",
        "cut": "{model} {table} -k 2 --id-column name --labels {new}.npy",
    },
    "a report of an unknown format": {
        "cluster": "{rows} -k 2 --report {new}.pdf",
        "cut": "{model} -k 2 --report {new}.pdf",
        "report": "{model} -o {new}.pdf",
    },
}

OF_FILES_AND_DATA = {
    "no such file": {
        "cluster": "{none}.npy -k 2",
        "prepare": "{none}.npy -o {new}.sb",
        "aggregate": "{none}.npy -o {new}.sb",
        "merge": "{none}.sb -o {new}.sb",
        "cut": "{none}.sb -k 2",
        "report": "{none}.sb -o {new}.html",
        "info": "{none}.sb",
    },
    "no such preparation": {
        "cluster": "{rows} -k 2 --prepare {none}.sb",
        "aggregate": "{rows} -o {new}.sb --prepare {none}.sb",
    },
    "options that contradict a file": {
        "cluster": "{rows} -k 2 --prepare {preparation} --scale none",
        "aggregate": "{rows} -o {new}.sb --prepare {preparation} --scale none",
    },
    "rows given twice": {
        "cluster": "{rows} {rows} -k 2",
        "prepare": "{rows} {rows} -o {new}.sb",
        "aggregate": "{rows} {rows} -o {new}.sb",
        "merge": "{features} {features} -o {new}.sb",
    },
    "no such rows to label": {"cut": "{model} {none}.npy -k 2 --labels {new}.npy"},
    "an unknown format": {
        "cluster": "{picture} -k 2",
        "aggregate": "{picture} -o {new}.sb",
        "merge": "{picture} -o {new}.sb",
        "cut": "{picture} -k 2",
        "report": "{picture} -o {new}.html",
        "info": "{picture}",
    },
    "a file cut short": {
        "cluster": "{short_rows} -k 2",
        "prepare": "{short_rows} -o {new}.sb",
        "aggregate": "{short_rows} -o {new}.sb",
        "merge": "{short_model} -o {new}.sb",
        "cut": "{short_model} -k 2",
        "report": "{short_model} -o {new}.html",
        "info": "{short_model}",
    },
    "a folder without files": {
        "cluster": "{folder} -k 2",
        "prepare": "{folder} -o {new}.sb",
        "aggregate": "{folder} -o {new}.sb",
        "merge": "{folder} -o {new}.sb",
        "cut": "{folder} -k 2",
        "report": "{folder} -o {new}.html",
        "info": "{folder}",
    },
    "no such column": {
        "cluster": "{table} -k 2 --columns x,sheep",
        "aggregate": "{table} -o {new}.sb --columns x,sheep",
        "cut": "{model} {table} -k 2 --labels {new}.csv --id-column sheep",
    },
    "text instead of numbers": {"cluster": "{table} -k 2", "aggregate": "{table} -o {new}.sb"},
    "files that do not go together": {
        "cluster": "{features} {narrow} -k 2",
        "merge": "{features} {narrow} -o {new}.sb",
        "aggregate": "{narrow_rows} -o {new}.sb --prepare {preparation}",
    },
    "rows that do not fit the model": {"cut": "{model} {narrow_rows} -k 2 --labels {new}.npy"},
    "more clusters than rows": {
        "cluster": "{rows} -k 501",
        "cut": "{model} -k 501",
        "report": "{model} -o {new}.html -k 501",
    },
    "less memory than the rows need": {
        "cluster": "{rows} -k 2 --max-memory 20MB",
        "aggregate": "{rows} -o {new}.sb --max-memory 20MB",
        "merge": "{features} -o {new}.sb --max-memory 20MB",
    },
    "an output that exists": {
        "cluster": "{rows} -k 2 --model {model}",
        "prepare": "{rows} -o {features}",
        "aggregate": "{rows} -o {features}",
        "merge": "{features} -o {model}",
        "cut": "{model} -k 2 --report {page}",
        "report": "{model} -o {page}",
        "demo": "-o {demo} --rows 1000 -k 2 --max-leaves 10",
    },
    "an output in no folder": {
        "cluster": "{rows} -k 2 --labels {none}/l.npy",
        "aggregate": "{rows} -o {none}/f.sb",
        "merge": "{features} -o {none}/f.sb",
        "cut": "{model} -k 2 --labels {none}/l.npy",
        "report": "{model} -o {none}/r.html",
    },
    "an output that is a folder": {
        "cluster": "{rows} -k 2 --model {folder}",
        "aggregate": "{rows} -o {folder}",
        "merge": "{features} -o {folder}",
        "cut": "{model} -k 2 --model {folder}",
        "demo": "-o {page} --rows 1000 -k 2 --max-leaves 10",
    },
    "an output that is an input": {
        "cluster": "{rows} -k 2 --labels {rows} --force",
        "prepare": "{rows} -o {rows} --force",
        "aggregate": "{rows} -o {rows} --force",
        "merge": "{features} -o {features} --force",
        "cut": "{model} {rows} -k 2 --labels {rows} --force",
        "report": "{page} -o {page} --force",
    },
    "a checkpoint of something else": {
        "cluster": "{rows} -k 2 --checkpoint {model}",
        "prepare": "{rows} -o {new}.sb --checkpoint {model}",
        "aggregate": "{rows} -o {new}.sb --checkpoint {model}",
        "merge": "{features} -o {new}.sb --checkpoint {model}",
        "cut": "{model} {rows} -k 2 --labels {new}.npy --checkpoint {features}",
    },
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    names = {
        **{"rows": "rows.npy", "narrow_rows": "narrow.npy", "short_rows": "short.npy", "table": "table.csv"},
        **{"model": "run.sb", "short_model": "short.sb", "features": "features.sb", "narrow": "narrow.sb"},
        **{"preparation": "prep.sb", "page": "page.html", "picture": "picture.png", "folder": "folder", "demo": "demo"},
        **{"new": "new", "none": "nowhere/nothing"},
    }
    files = {name: folder / file for name, file in names.items()}
    X = np.random.default_rng(0).normal(size=(500, 3))
    np.save(files["rows"], X)
    np.save(files["narrow_rows"], X[:, :2])
    files["short_rows"].write_bytes(files["rows"].read_bytes()[:-100])
    files["table"].write_text("x,name\n1,a\n2,b\n")
    sb.Betula(5).fit(X).save(files["model"])
    files["short_model"].write_bytes(files["model"].read_bytes()[:-1])
    sb.ClusterFeatures(1, X, 0).save(files["features"])
    sb.ClusterFeatures(1, X[:, :2], 0).save(files["narrow"])
    assert run("prepare", "{rows} --scale standard -o {preparation}", files).exit_code == 0
    files["page"].write_text("<html>")
    files["picture"].write_bytes(b"\x89PNG")
    for name in ("folder", "demo"):
        files[name].mkdir()
    (files["demo"] / "labels.npy").touch()
    return files


def run(command, rest, files):
    return silverbirch(command, *rest.format(**files).split())


def cases(faults):
    return [pytest.param(*case, id=f"{kind}: {case[0]}") for kind in faults for case in faults[kind].items()]


def content(files):
    return {path: path.read_bytes() for path in files["rows"].parent.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("command", "rest"), cases(VISIBLE_IN_THE_COMMAND_LINE))
def test_a_fault_of_the_command_line_is_2_with_a_hint(command, rest, files):
    before = content(files)
    result = run(command, rest, files)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr
    assert "Traceback" not in result.stderr
    assert content(files) == before


@pytest.mark.parametrize(("command", "rest"), cases(OF_FILES_AND_DATA))
def test_a_fault_of_files_or_data_is_1_with_one_line(command, rest, files):
    before = content(files)
    result = run(command, rest, files)
    assert result.exit_code == 1, result.stderr
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert "unexpected" not in result.stderr
    assert result.stdout == ""
    assert content(files) == before


def test_a_run_that_is_done_is_0(files, tmp_path):
    assert run("cluster", "{rows} -k 2", files).exit_code == 0


def test_every_command_is_in_both_tables():
    for faults in (VISIBLE_IN_THE_COMMAND_LINE, OF_FILES_AND_DATA):
        assert {command for kind in faults.values() for command in kind} == {*COMMANDS}

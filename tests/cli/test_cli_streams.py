"""Rows from pipes, and files that have to be explained: the options of `cluster`, `aggregate` and `cut`."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import silverbirch as sb
from commands import silverbirch as in_process

X = np.random.default_rng(0).normal(size=(3000, 3)) + 9 * np.arange(5).repeat(600)[:, None]
TEXT = pd.DataFrame(X, columns=["x", "y", "z"]).to_csv(index=False).encode()


def silverbirch(*arguments, stdin=TEXT, folder):
    """Runs a command in its own process and folder, with an empty folder for temporary files."""
    (folder / "temporary").mkdir(exist_ok=True)
    environment = os.environ | {"TMPDIR": str(folder / "temporary"), "PYTHONPATH": str(Path(sb.__file__).parents[1])}
    command = [sys.executable, "-m", "silverbirch", *map(str, arguments)]
    result = subprocess.run(command, input=stdin, cwd=folder, env=environment, capture_output=True, timeout=300)
    assert list((folder / "temporary").iterdir()) == []
    return result


def succeeds(*arguments, stdin=TEXT, folder):
    result = silverbirch(*arguments, stdin=stdin, folder=folder)
    assert result.returncode == 0, result.stderr
    return result


def test_rows_of_a_pipe_get_the_labels_that_those_of_the_file_get(tmp_path):
    (tmp_path / "rows.csv").write_bytes(TEXT)
    run = ["--max-leaves", 500, "-k", 5, "--force"]
    succeeds("cluster", "rows.csv", *run, "--labels", "file.npy", folder=tmp_path)
    succeeds("cluster", "-", "--format", "csv", *run, "--labels", "a.npy", "--model", "run.sb", folder=tmp_path)
    packed = gzip.compress(TEXT)
    succeeds("cut", "run.sb", "-", "--format", "csv", "-k", 5, "--labels", "b.npy", stdin=packed, folder=tmp_path)
    for name in ("a.npy", "b.npy"):
        np.testing.assert_array_equal(np.load(tmp_path / name), np.load(tmp_path / "file.npy"))


def test_the_record_names_the_pipe_and_what_was_said_about_it(tmp_path):
    text = TEXT.replace(b",", b";").replace(b".", b",")
    result = succeeds(
        "cluster", "-", "--format", "csv", "--decimal", ",", "-k", 5, "--json", stdin=text, folder=tmp_path
    )
    record = json.loads(result.stdout)
    assert record["input"][0].items() >= {"name": "-", "bytes": len(text)}.items()
    assert record["parameters"].items() >= {"format": "csv", "decimal": ","}.items()
    assert "separator" not in record["parameters"]
    assert record["counts"]["rows"] == len(X)


@pytest.mark.parametrize(
    ("command", "stdin", "message"),
    [
        (["cluster", "-", "-k", 3], TEXT, "say its format, for example by --format csv"),
        (["cluster", "-", "-", "--format", "csv", "-k", 3], TEXT, "- is given twice"),
        (["cluster", "-", "--format", "csv", "-k", 3], b"", "- is empty: at least one row is needed"),
        (["cluster", "-", "--format", "parquet", "-k", 3], TEXT, "- cannot be read"),
        (["cluster", "-", "--format", "npy", "-k", 3], TEXT, "- is not an array"),
        (["aggregate", "-", "--format", "csv", "-o", "a.sb"], b"x,name\n1,a\n", "'name'"),
    ],
)
def test_a_pipe_that_cannot_be_read_is_one_line_and_leaves_nothing_behind(command, stdin, message, tmp_path):
    result = silverbirch(*command, stdin=stdin, folder=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith(b"Error: ")
    assert message in result.stderr.decode()
    assert result.stderr.count(b"\n") == 1


def test_a_run_on_a_pipe_goes_on_if_the_bytes_are_the_same(tmp_path):
    command = ["cluster", "-", "--format", "csv", "--checkpoint", "state.sb"]
    assert silverbirch(*command, "-k", 4000, folder=tmp_path).returncode == 1  # more clusters than rows: after the tree
    assert (tmp_path / "state.sb").exists()
    other = silverbirch(*command, "-k", 4, stdin=TEXT + b"1,2,3\n", folder=tmp_path)
    assert (other.returncode, b"belongs to a run with other input" in other.stderr) == (1, True)
    assert b"resuming after" in succeeds(*command, "-k", 4, folder=tmp_path).stdout


def test_files_without_names_are_clustered_and_cut_by_numbers(tmp_path):
    (tmp_path / "rows.csv").write_bytes(TEXT.partition(b"\n")[2])
    rows, model, labels = tmp_path / "rows.csv", tmp_path / "run.sb", tmp_path / "l.npy"
    result = in_process("cluster", rows, "-k", 5, "--no-header", "--columns", "2,0", "--model", model)
    assert result.exit_code == 0, result.stderr
    assert in_process("cut", model, rows, "-k", 5, "--labels", labels).exit_code == 1
    assert in_process("cut", model, rows, "-k", 5, "--no-header", "--labels", labels).exit_code == 0
    np.testing.assert_array_equal(np.load(labels), sb.load(model).predict(X[:, [2, 0]]))


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--separator", ";;"], 2, "must be one ASCII character"),
        (["--decimal", "x"], 2, "must be '.' or ','"),
        (["--encoding", "klingon"], 2, "is not known"),
        (["--format", "docx"], 2, "is not known"),
        (["--separator", ";"], 1, "--separator ';' means nothing to"),
        (["--no-header"], 1, "--no-header means nothing to"),
    ],
)
def test_options_that_do_not_fit_are_refused_by_their_names(options, code, message, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    result = in_process("cluster", tmp_path / "rows.npy", "-k", 3, *options)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.replace("│", " ").split())

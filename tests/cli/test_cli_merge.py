"""`merge`: no row counts twice unless told, folders and patterns, and a run that was stopped resumes."""

import json

import numpy as np
import pytest

import silverbirch as sb
from commands import done, refused, silverbirch
from silverbirch.model import AggregateModel


@pytest.fixture
def parts(tmp_path):
    """Features of four files of rows, in a folder."""
    random = np.random.default_rng(0)
    (tmp_path / "parts").mkdir()
    for number in range(4):
        rows = tmp_path / f"rows-{number}.npy"
        np.save(rows, random.normal(size=(1000, 2)) + 9 * number)
        done("aggregate", rows, "--max-leaves", 200, "-o", tmp_path / "parts" / f"{number}.sb")
    return tmp_path / "parts"


def test_a_folder_a_pattern_and_a_list_of_files_merge_alike(parts, tmp_path):
    (parts / "notes.txt").write_text("not features")
    (parts / "_old.sb").write_text("not features")
    done("merge", parts, "-o", tmp_path / "folder.sb")
    done("merge", parts / "[0-9].sb", "-o", tmp_path / "pattern.sb")
    done("merge", *(parts / f"{number}.sb" for number in range(4)), "-o", tmp_path / "list.sb")
    assert sb.load(tmp_path / "list.sb").weight.sum() == 4000
    for name in ("pattern", "list"):
        assert (tmp_path / f"{name}.sb").read_bytes() == (tmp_path / "folder.sb").read_bytes()


def test_what_is_not_there_is_named(parts, tmp_path):
    assert "no such file or folder" in refused("merge", tmp_path / "absent.sb", "-o", tmp_path / "all.sb")
    assert "no such file or folder" in refused("merge", parts / "9*.sb", "-o", tmp_path / "all.sb")
    (tmp_path / "empty").mkdir()
    assert "no files in this folder" in refused("merge", tmp_path / "empty", "-o", tmp_path / "all.sb")


def test_a_model_and_the_features_of_its_rows_are_not_merged_unless_told(parts, tmp_path):
    done("cluster", tmp_path / "rows-1.npy", "-k", 2, "--model", tmp_path / "run.sb")
    out = ["-o", tmp_path / "all.sb"]
    message = refused("merge", parts, tmp_path / "run.sb", *out)
    assert f"{parts / '1.sb'} and {tmp_path / 'run.sb'} both hold the rows of {tmp_path / 'rows-1.npy'}" in message
    assert "--allow-overlap" in message
    assert not (tmp_path / "all.sb").exists()
    done("merge", parts, tmp_path / "run.sb", "--allow-overlap", *out)
    assert sb.load(tmp_path / "all.sb").weight.sum() == 5000


def test_rows_are_recognised_through_merges_and_copies(parts, tmp_path):
    done("merge", parts / "0.sb", parts / "1.sb", "-o", tmp_path / "first.sb")
    done("merge", tmp_path / "first.sb", parts / "2.sb", "-o", tmp_path / "both.sb")
    done("cluster", tmp_path / "both.sb", "-k", 2, "--model", tmp_path / "run.sb")
    (tmp_path / "copy.npy").write_bytes((tmp_path / "rows-0.npy").read_bytes())
    done("aggregate", tmp_path / "copy.npy", "--max-leaves", 50, "-o", tmp_path / "copy.sb")
    for whole in ("both", "run"):
        for command in (["merge", "-o", tmp_path / "all.sb"], ["cluster", "-k", 2]):
            message = refused(*command, tmp_path / f"{whole}.sb", tmp_path / "copy.sb")
            assert f"rows-0.npy, which holds the same as {tmp_path / 'copy.npy'}" in message
    done("merge", tmp_path / "both.sb", parts / "3.sb", "-o", tmp_path / "all.sb")


def test_a_file_given_twice_is_refused(parts, tmp_path):
    assert "0.sb is given twice" in refused("merge", parts, parts / "0.sb", "-o", tmp_path / "all.sb")
    assert "0.sb is given twice" in refused("cluster", parts, parts / "0.sb", "-k", 2)


def test_a_tree_that_python_saved_is_not_merged_with_its_copy(tmp_path):
    tree = sb.CFTree().insert(np.random.default_rng(0).normal(size=(100, 2)))
    tree.save(tmp_path / "a.sb")
    tree.save(tmp_path / "b.sb")
    message = refused("merge", tmp_path / "a.sb", tmp_path / "b.sb", "-o", tmp_path / "all.sb")
    assert "a.sb and" in message
    assert "b.sb hold the same" in message


@pytest.mark.parametrize("command", [["cluster", "-k", 2], ["aggregate", "-o"], ["prepare", "-o"]])
def test_rows_given_twice_are_refused_unless_told(command, tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(100, 2)))
    out = ["--record", tmp_path / "record.json"]
    command = [*command, *([tmp_path / "out.sb"] if "-o" in command else []), tmp_path / "rows.npy", *out]
    twice = [*command, tmp_path / "rows.npy"]
    assert "rows.npy is given twice" in refused(*twice)
    done(*twice, "--allow-overlap")
    assert json.loads((tmp_path / "record.json").read_text())["counts"]["rows"] == 200


def test_the_record_of_a_merge_says_what_was_merged(parts, tmp_path):
    done("merge", parts, "-o", tmp_path / "all.sb", "--record", tmp_path / "all.json")
    record = json.loads((tmp_path / "all.json").read_text())
    assert [file["name"] for file in record["input"]] == [str(parts / f"{number}.sb") for number in range(4)]
    assert record["counts"]["rows"] == 4000
    assert record["outputs"] == {"features": str(tmp_path / "all.sb"), "record": str(tmp_path / "all.json")}


@pytest.mark.parametrize(
    "command", [["merge", "--max-leaves", 300, "-o"], ["cluster", "-k", 3, "--max-leaves", 300, "--model"]]
)
@pytest.mark.parametrize("after", [1, 3])
def test_a_merge_that_was_stopped_resumes_with_the_same_bits(command, after, parts, tmp_path, monkeypatch):
    resumable = [*command, tmp_path / "all.sb", parts, "--checkpoint", tmp_path / "state.sb", "--checkpoint-every", 0]
    insert, calls = AggregateModel.insert, []

    def stopping(model, features):
        calls.append(len(features))
        if len(calls) == after + 1:
            raise KeyboardInterrupt
        return insert(model, features)

    monkeypatch.setattr(AggregateModel, "insert", stopping)
    assert silverbirch(*resumable).exit_code != 0
    facts = json.loads(done("info", tmp_path / "state.sb", "--json").stdout)
    assert (facts["files"], facts["rows"]) == (after, 1000 * after)
    monkeypatch.setattr(AggregateModel, "insert", insert)
    assert f"resuming after file {after} of 4" in done(*resumable).stdout
    assert not (tmp_path / "state.sb").exists()
    done(*command, tmp_path / "whole.sb", parts)
    assert (tmp_path / "all.sb").read_bytes() == (tmp_path / "whole.sb").read_bytes()


def test_a_checkpoint_of_other_files_is_refused(parts, tmp_path, monkeypatch):
    command = ["cluster", parts, "--max-leaves", 100, "--checkpoint", tmp_path / "state.sb"]
    assert "-k 100 but there are" in refused(*command, "-k", 100)
    np.save(tmp_path / "rows-3.npy", np.random.default_rng(1).normal(size=(1000, 2)))
    done("aggregate", tmp_path / "rows-3.npy", "-o", parts / "3.sb", "--force")
    assert "belongs to a run with other input" in refused(*command, "-k", 10)

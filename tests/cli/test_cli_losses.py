"""What is done is not lost: full disks, checkpoints that cannot be written, two runs on the same files."""

import errno
import resource
import shlex
import subprocess
import sys

import numpy as np
import pytest

import silverbirch as sb
from commands import silverbirch
from silverbirch.storage import container
from silverbirch.storage.locks import one_run_only

SIZE_LIMIT = 60_000  # bytes of a file: more than the model has, less than the labels need


@pytest.fixture
def rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(200_000, 2)) + 9 * np.arange(200_000)[:, None] % 5
    np.save(tmp_path / "rows.npy", X)
    return tmp_path / "rows.npy"


def with_small_files_only(*arguments):
    """Runs a command that cannot write files beyond SIZE_LIMIT, as on a full disk."""
    return subprocess.run(
        [sys.executable, "-m", "silverbirch", *map(str, arguments)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE_LIMIT, SIZE_LIMIT)),
    )


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".arrow"])
def test_labels_that_do_not_fit_on_the_disk_do_not_lose_the_model(suffix, rows, tmp_path):
    labels, model, record = tmp_path / f"l{suffix}", tmp_path / "run.sb", tmp_path / "run.json"
    command = ["cluster", rows, "-k", 5, "--max-leaves", 200]
    failed = with_small_files_only(*command, "--labels", labels, "--model", model, "--record", record)
    assert failed.returncode == 1
    assert failed.stderr.count("\n") == 1
    assert failed.stderr.startswith(f"Error: cannot write {labels}: ")
    assert f"written: {model}, {record}; " in failed.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"rows.npy", "run.sb", "run.json"}

    # The advice works as it stands, and gives the labels that the run would have given.
    advice = shlex.split(failed.stderr.partition("label later: silverbirch ")[2])
    assert advice[-2:] == ["--labels", "FILE"]
    assert silverbirch(*advice[:-1], labels).exit_code == 0
    assert silverbirch(*command, "--labels", tmp_path / f"whole{suffix}").exit_code == 0
    assert labels.read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()


@pytest.mark.parametrize(("model", "first"), [([], ["run.html"]), (["--model", "run.sb"], ["run.sb"])])
def test_a_report_is_written_before_the_labels_unless_a_model_is(model, first, rows, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("silverbirch.cli.aggregating.write_labels", full)
    monkeypatch.chdir(tmp_path)
    command = ["cluster", rows, "-k", 5, "--max-leaves", 50, "--report", "run.html", *model, "--labels", "l.npy"]
    failed = silverbirch(*command)
    assert failed.exit_code == 1
    assert f"written: {first[0]}" in failed.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"rows.npy", *first}


def test_the_advice_reads_the_rows_as_the_run_did(tmp_path):
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    lines = [f"a name;{x:.4f};{y:.4f}".replace(".", ",") for x, y in X]
    (tmp_path / "my rows.csv").write_text("\n".join(["name;x;y", *lines]) + "\n")
    command = ["cluster", tmp_path / "my rows.csv", "--columns", "x,y", "--decimal", ",", "-k", 3, "--max-leaves", 100]
    command += ["--keep", "name", "--model", tmp_path / "run.sb", "--labels", tmp_path / "l.csv"]
    failed = with_small_files_only(*command)
    assert failed.returncode == 1, failed.stderr
    advice = shlex.split(failed.stderr.partition("label later: silverbirch ")[2])
    advice[advice.index("FILE")] = tmp_path / "l.csv"
    result = silverbirch(*advice)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "l.csv").read_text().startswith("name,label\na name,")


def test_labels_that_do_not_fit_leave_the_checkpoint_from_which_the_same_command_goes_on(rows, tmp_path):
    command = ["cluster", rows, "-k", 5, "--max-leaves", 200, "--labels", tmp_path / "l.npy"]
    command += ["--checkpoint", tmp_path / "state.sb"]
    failed = with_small_files_only(*command)
    assert failed.returncode == 1
    assert f"run the same command again: it continues from {tmp_path / 'state.sb'}" in failed.stderr
    again = silverbirch(*command)
    assert again.exit_code == 0, again.stderr
    assert "resuming after row 200,000" in again.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"rows.npy", "l.npy"}


def test_the_model_written_before_the_labels_is_replaced_by_one_that_knows_the_labelled_rows(rows, tmp_path):
    command = ["cluster", rows, "-k", 5, "--max-leaves", 50, "--model", tmp_path / "run.sb"]
    result = silverbirch(*command, "--record", tmp_path / "run.json", "--labels", tmp_path / "l.npy")
    assert result.exit_code == 0, result.stderr
    sizes = sb.load(tmp_path / "run.sb").clusters_.rows
    assert np.array_equal(sizes, np.bincount(np.load(tmp_path / "l.npy")))
    assert '"labelled": 200000' in (tmp_path / "run.json").read_text()


# --- checkpoints that cannot be written


@pytest.fixture
def full_for_checkpoints(monkeypatch):
    """Lets the attempts to write a checkpoint fail whose numbers are in the list that it returns."""
    failing, write = [], container.write
    attempts = iter(range(1_000_000))

    def sometimes(path, kind, state, arrays):
        if kind == "checkpoint" and next(attempts) in failing:
            raise OSError(errno.ENOSPC, f"cannot write {path}: No space left on device")
        write(path, kind, state, arrays)

    monkeypatch.setattr(container, "write", sometimes)
    return failing


@pytest.fixture
def parts(tmp_path):
    """Rows in four files, each of which is one chunk."""
    for part in range(4):
        np.save(tmp_path / f"{part}.npy", np.random.default_rng(part).normal(size=(500, 2)))
    return [tmp_path / f"{part}.npy" for part in range(4)]


def test_a_checkpoint_that_cannot_be_written_warns_once_and_the_run_goes_on(full_for_checkpoints, parts, tmp_path):
    full_for_checkpoints += [1, 2]
    command = ["cluster", *parts, "-k", 3, "--quiet", "--model"]
    result = silverbirch(*command, tmp_path / "a.sb", "--checkpoint", tmp_path / "state.sb", "--checkpoint-every", 0)
    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: no checkpoint at row 1,000, the run goes on (the last one goes to row 500): "
        f"cannot write {tmp_path / 'state.sb'}: No space left on device\n"
    )
    assert silverbirch(*command, tmp_path / "b.sb").exit_code == 0
    assert (tmp_path / "a.sb").read_bytes() == (tmp_path / "b.sb").read_bytes()


def test_a_later_attempt_to_write_the_checkpoint_may_succeed(full_for_checkpoints, parts, tmp_path):
    full_for_checkpoints += [0, 1]
    command = ["cluster", *parts, "--checkpoint", tmp_path / "state.sb", "--checkpoint-every", 0]
    result = silverbirch(*command, "-k", 2001)  # of 2000 features: the run fails after the first pass
    assert result.exit_code == 1
    assert result.stderr.startswith("Warning: no checkpoint at row 500, the run goes on (there is none yet): ")
    assert "resuming after row 2,000" in silverbirch(*command, "-k", 3).stdout


# --- two runs


def test_a_second_run_on_the_same_checkpoint_is_refused_and_leaves_the_files_of_the_first(rows, tmp_path):
    checkpoint = tmp_path / "state.sb"
    (tmp_path / "state.sb.12-345.part").touch()
    with one_run_only(checkpoint):
        for command in (["cluster", rows, "-k", 3], ["aggregate", rows, "-o", tmp_path / "f.sb"]):
            result = silverbirch(*command, "--checkpoint", checkpoint)
            assert result.exit_code == 1
            assert result.stderr == (
                f"Error: another run uses {checkpoint}: wait until it ends, or give this run its own file\n"
            )
        assert (tmp_path / "state.sb.12-345.part").exists()
    assert silverbirch("cluster", rows, "-k", 3, "--checkpoint", checkpoint).exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"rows.npy"}


def test_a_link_to_the_checkpoint_is_the_same_checkpoint(rows, tmp_path):
    (tmp_path / "link.sb").symlink_to(tmp_path / "state.sb")
    with one_run_only(tmp_path / "state.sb"):
        assert silverbirch("cluster", rows, "-k", 3, "--checkpoint", tmp_path / "link.sb").exit_code == 1

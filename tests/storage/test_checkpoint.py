"""Runs that are killed with SIGKILL at random moments end with the same bits as undisturbed ones."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import silverbirch as sb
from commands import silverbirch
from silverbirch.storage import container
from silverbirch.storage.journal import Journal

KILLING = Path(__file__).parents[1] / "killing.py"
KILLS = 10


def rows(count, columns, seed, holes=0.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, columns)) + 20 * random.integers(0, 5, size=(count, 1))
    X[random.random(X.shape) < holes] = np.nan
    return X


def parquet_folder(folder):
    for number in range(30):
        X = rows(400, 3, number, holes=0.02)
        names = [f"{number}-{row}" for row in range(400)]
        pq.write_table(
            pa.table({"id": names, **{name: X[:, i] for i, name in enumerate("xyz")}}), folder / f"{number:02}.parquet"
        )


def csv_file(folder):
    np.savetxt(folder / "rows.csv", rows(150_000, 2, 0), delimiter=",", header="x,y", comments="", fmt="%.5f")


def wide_file(folder):
    np.save(folder / "rows.npy", rows(12_000, 300, 0).astype(np.float32))


def features_folder(folder):
    for number in range(40):
        sb.ClusterFeatures(1, rows(2000, 3, number), 0).save(folder / f"{number:02}.sb")


CLUSTER = ["cluster", "{data}", "-k", "5", "--max-leaves", "300"]
AGGREGATE = ["aggregate", "{data}", "--max-leaves", "300"]
OF_CLUSTER = ["--labels", "{out}/labels.csv", "--model", "{out}/run.sb", "--record", "{out}/run.json"]
ONE_FILE = ["-o", "{out}/result.sb", "--record", "{out}/run.json"]

# What makes the rows, and the command.
JOBS = {
    "cluster parquet, scaled, ids": (
        parquet_folder,
        [*CLUSTER, "--scale", "standard", "--missing", "drop", "--id-column", "id", *OF_CLUSTER],
    ),
    "cluster parquet, filled, two threads": (
        parquet_folder,
        [*CLUSTER, "--missing", "mean", "--columns", "x,y,z", "-j", "2", "--max-leaves", "4000", *OF_CLUSTER],
    ),
    "cluster one csv": (csv_file, [*CLUSTER, "--max-leaves", "6000", *OF_CLUSTER]),
    "cluster one wide npy, cosine": (
        wide_file,
        [*CLUSTER, "--metric", "cosine", "--linkage", "average", "--scale", "minmax", *OF_CLUSTER],
    ),
    "aggregate parquet, scaled": (
        parquet_folder,
        [*AGGREGATE, "--columns", "x,y,z", "--scale", "standard", "--missing", "drop", *ONE_FILE],
    ),
    "aggregate one csv, two threads": (csv_file, [*AGGREGATE, "-j", "2", "--max-leaves", "6000", *ONE_FILE]),
    "merge": (features_folder, ["merge", "{data}", "--max-leaves", "3000", *ONE_FILE]),
    "prepare": (parquet_folder, ["prepare", "{data}", "--id-column", "id", "--missing", "mean", *ONE_FILE]),
}


def same_after_kills(arguments, tmp_path, beside=""):
    """Kills the command again and again; its outputs must have the same bytes as those of an undisturbed run.

    A third of the kills leave the checkpoint, or the file whose name has `beside` after that of the checkpoint.
    """
    out, checkpoint = tmp_path / "out", tmp_path / "state.sb"
    out.mkdir()
    plan = {
        "arguments": list(map(str, arguments)),
        "out": str(out),
        "checkpoint": str(checkpoint),
        "file": f"{checkpoint}{beside}",
        "kills": KILLS,
        "seed": 7,
    }
    before = {path.name for path in tmp_path.iterdir()}
    command = [sys.executable, str(KILLING)]
    done = subprocess.run(command, input=json.dumps(plan), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] >= KILLS
    assert told["with_file"] >= KILLS / 3

    undisturbed, *killed = map(Path, told["folders"])
    expected = contents(undisturbed)
    assert expected
    for folder in killed:
        found = contents(folder)
        assert found.keys() == expected.keys()  # nothing half written is left
        assert all(found[name] == expected[name] for name in expected if name != "run.json")  # it has times
    assert {path.name for path in tmp_path.iterdir()} == before  # nor the checkpoint


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("job", JOBS)
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(job, tmp_path):
    make, arguments = JOBS[job]
    data = tmp_path / "data"
    data.mkdir()
    make(data)
    same_after_kills([argument.replace("{data}", str(data)) for argument in arguments], tmp_path)


@pytest.mark.parametrize(
    ("command", "labels"),
    [
        ("cluster", ["--labels", "{out}/labels.parquet", "--keep", "id,place"]),
        ("cluster", ["--labels", "{out}/labels/", "--keep", "place"]),
        ("cut", ["--labels", "{out}/labels.parquet"]),
        ("cut", ["--labels", "{out}/labels.csv.gz", "--keep", "place"]),
    ],
)
def test_a_labelling_pass_killed_at_random_moments_ends_with_the_same_bits(command, labels, tmp_path):
    """Few leaves for many rows: most kills hit the second pass."""
    data = tmp_path / "data"
    for number in range(6):
        X = rows(20_000, 3, number, holes=0.001)
        columns = {
            "id": np.arange(20_000),
            "place": [f"p{row % 9}" for row in range(20_000)],
            "x": X[:, 0],
            "y": X[:, 1],
        }
        file = data / f"part={number}" / "rows.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.table(columns), file)
    choice = ["--columns", "x,y", "--missing", "drop", "--max-leaves", "2000"]
    arguments = ["cluster", data, "-k", "5", *choice, "--model", "{out}/run.sb"]
    if command == "cut":
        assert silverbirch("cluster", data, *choice, "--model", tmp_path / "run.sb").exit_code == 0
        arguments = ["cut", tmp_path / "run.sb", data, "-k", "5"]
    same_after_kills([*arguments, *labels], tmp_path, beside=".leaves")


@pytest.fixture
def run(tmp_path):
    """A command that was interrupted after its first pass: the checkpoint is there, the outputs are not."""
    np.save(tmp_path / "rows.npy", rows(2000, 3, 0))
    command = ["cluster", tmp_path / "rows.npy", "--checkpoint", tmp_path / "state.sb", "--checkpoint-every", "0"]
    too_many = silverbirch(*command, "-k", "100", "--max-leaves", "100", "--labels", tmp_path / "labels.npy")
    assert too_many.exit_code == 1
    assert "-k 100 but there are" in too_many.stderr
    return command


def test_a_cut_that_failed_is_made_good_without_reading_the_rows_again(run, tmp_path):
    again = silverbirch(*run, "-k", "9", "--max-leaves", "100", "--labels", tmp_path / "labels.npy")
    assert again.exit_code == 0, again.stderr
    assert "resuming after row 2,000" in again.stdout
    assert np.load(tmp_path / "labels.npy").max() == 8


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (["--max-leaves", "90"], "--max-leaves (100, now 90)"),
        (["--max-leaves", "100", "--linkage", "centroid"], "--distance (ward, now centroid)"),
        (["--max-leaves", "100", "--scale", "standard"], "--scale (none, now standard)"),
        (["--max-leaves", "100", "--columns", "0,1"], "--columns (None, now 0,1)"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(change, what, run, tmp_path):
    before = (tmp_path / "state.sb").read_bytes()
    other = silverbirch(*run, "-k", "9", *change)
    assert other.exit_code == 1
    assert f"belongs to a run with other {what}" in other.stderr
    assert (tmp_path / "state.sb").read_bytes() == before


def test_a_checkpoint_of_input_that_changed_is_refused(run, tmp_path):
    np.save(tmp_path / "rows.npy", rows(2000, 3, 1))
    other = silverbirch(*run, "-k", "9", "--max-leaves", "100")
    assert other.exit_code == 1
    assert "belongs to a run with other input" in other.stderr


def test_a_damaged_checkpoint_is_refused(run, tmp_path):
    content = bytearray((tmp_path / "state.sb").read_bytes())
    content[-1] ^= 1
    (tmp_path / "state.sb").write_bytes(content)
    damaged = silverbirch(*run, "-k", "9", "--max-leaves", "100")
    assert damaged.exit_code == 1
    assert damaged.stderr.startswith("Error: ")
    assert "checksum" in damaged.stderr


@pytest.mark.parametrize(
    "damage",
    [
        lambda state, arrays: state.pop("position"),
        lambda state, arrays: state.update(position="somewhere"),
        lambda state, arrays: state.update(position=[0, -3]),
        lambda state, arrays: state.update(counts={"rows": 3, "sheep": 4}),
        lambda state, arrays: state.update(model={}),
        lambda state, arrays: arrays.pop("model.tree.0.0.mean"),
    ],
)
def test_a_checkpoint_with_wrong_content_is_refused(damage, run, tmp_path):
    kind, state, arrays = container.read(tmp_path / "state.sb")
    damage(state, arrays)
    container.write(tmp_path / "state.sb", kind, state, arrays)
    wrong = silverbirch(*run, "-k", "9", "--max-leaves", "100")
    assert wrong.exit_code == 1
    assert "does not hold a whole checkpoint" in wrong.stderr


def test_a_checkpoint_goes_on_with_another_number_of_threads(run, tmp_path):
    again = silverbirch(*run, "-k", "9", "--max-leaves", "100", "-j", "2", "--labels", tmp_path / "labels.npy")
    assert again.exit_code == 0, again.stderr
    assert "resuming after row 2,000" in again.stdout


@pytest.fixture
def labelling(tmp_path, monkeypatch):
    """A function that runs a command and ends it after the second chunk of labels."""

    def interrupted(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "append", ending_after(2, Journal.append))
            result = silverbirch(*arguments, "--checkpoint", tmp_path / "state.sb", "--checkpoint-every", "0")
        assert result.exit_code == 1, result.stderr

    return interrupted


def ending_after(count, append):
    done = 0

    def counted(journal, numbers):
        nonlocal done
        if done == count:
            raise ValueError("the end")
        done += 1
        append(journal, numbers)

    return counted


@pytest.mark.parametrize("command", ["cluster", "cut"])
def test_labels_continue_where_the_checkpoint_says_by_another_cut_too(command, labelling, tmp_path):
    np.save(tmp_path / "rows.npy", rows(200_000, 2, 0))
    again = ["cluster", tmp_path / "rows.npy", "--max-leaves", "200", "--labels", tmp_path / "labels.npy"]
    if command == "cut":
        assert silverbirch(*again[:4], "--model", tmp_path / "run.sb").exit_code == 0
        again = ["cut", tmp_path / "run.sb", *again[1:2], *again[4:]]
    labelling(*again, "-k", "4")
    assert not (tmp_path / "labels.npy").exists()
    info = silverbirch("info", tmp_path / "state.sb")
    assert info.exit_code == 0, info.stderr
    assert re.search(r"^labels +131,072$", info.stdout, re.MULTILINE)

    done = silverbirch(*again, "-k", "3", "--checkpoint", tmp_path / "state.sb")
    assert "resuming after the label of row 131,072, from" in done.stdout
    found = np.load(tmp_path / "labels.npy")
    assert silverbirch(*again, "-k", "3", "--force").exit_code == 0
    np.testing.assert_array_equal(found, np.load(tmp_path / "labels.npy"))
    assert not list(tmp_path.glob("state.sb*"))


def test_a_checkpoint_of_labels_belongs_to_its_model_and_its_rows(labelling, tmp_path):
    np.save(tmp_path / "rows.npy", rows(200_000, 2, 0))
    np.save(tmp_path / "other.npy", rows(200_000, 2, 1))
    models = [tmp_path / f"{name}.sb" for name in ("rows", "other")]
    for model in models:
        made = silverbirch("cluster", model.with_suffix(".npy"), "--max-leaves", "200", "--model", model)
        assert made.exit_code == 0, made.stderr
    options = ["-k", "3", "--labels", tmp_path / "labels.npy"]
    labelling("cut", models[0], tmp_path / "rows.npy", *options)
    resuming = [*options, "--checkpoint", tmp_path / "state.sb"]
    for model, input_rows, what in ((models[1], "rows.npy", "model"), (models[0], "other.npy", "input")):
        other = silverbirch("cut", model, tmp_path / input_rows, *resuming)
        assert other.exit_code == 1
        assert f"belongs to a run with other {what}" in other.stderr


def test_a_checkpoint_of_labels_belongs_to_what_was_said_of_the_files(labelling, tmp_path):
    """With a comment, the file has other rows: the leaves that are known would be those of the rows above."""
    lines = [f"{x:.4f},{y:.4f}" for x, y in rows(140_000, 2, 0)]
    (tmp_path / "rows.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    made = silverbirch("cluster", tmp_path / "rows.csv", "--max-leaves", "200", "--model", tmp_path / "run.sb")
    assert made.exit_code == 0, made.stderr
    again = ["cut", tmp_path / "run.sb", tmp_path / "rows.csv", "-k", "3", "--labels", tmp_path / "labels.npy"]
    labelling(*again)
    other = silverbirch(*again, "--comment", lines[0][:3], "--checkpoint", tmp_path / "state.sb")
    assert other.exit_code == 1
    assert f"belongs to a run with other --comment (None, now {lines[0][:3]})" in other.stderr

"""Runs that are killed with SIGKILL at random moments end with the same bits as undisturbed ones."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from silverbirch import files

KILLING = Path(__file__).with_name("killing.py")
KILLS = 15


def silverbirch(*arguments, **options):
    command = [sys.executable, "-m", "silverbirch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def rows(count, columns, seed, holes=0.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, columns)) + 20 * random.integers(0, 5, size=(count, 1))
    X[random.random(X.shape) < holes] = np.nan
    return X


def parquet_folder(folder):
    for number in range(30):
        X = rows(400, 3, number, holes=0.02)
        names = [f"{number}-{row}" for row in range(400)]
        pq.write_table(pa.table({"id": names, **{name: X[:, i] for i, name in enumerate("xyz")}}), folder / f"{number:02}.parquet")


def csv_file(folder):
    np.savetxt(folder / "rows.csv", rows(150_000, 2, 0), delimiter=",", header="x,y", comments="", fmt="%.5f")


def wide_file(folder):
    np.save(folder / "rows.npy", rows(12_000, 300, 0).astype(np.float32))


JOBS = {
    "parquet, scaled, ids": (parquet_folder, ["--scale", "standard", "--missing", "drop", "--id-column", "id"]),
    "parquet, filled, two threads": (parquet_folder, ["--missing", "mean", "--columns", "x,y,z", "-j", "2"]),
    "one csv": (csv_file, ["--max-leaves", "500"]),
    "one wide npy, cosine": (wide_file, ["--metric", "cosine", "--linkage", "average", "--scale", "minmax"]),
}


@pytest.mark.parametrize("job", JOBS)
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(job, tmp_path):
    make, options = JOBS[job]
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    out.mkdir()
    make(data)
    outputs = ["--labels", "{out}/labels.csv", "--model", "{out}/run.sb", "--record", "{out}/run.json"]
    plan = {
        "arguments": ["cluster", str(data), "-k", "5", "--max-leaves", "300", *options, *outputs],
        "out": str(out),
        "checkpoint": str(tmp_path / "state.sb"),
        "kills": KILLS,
        "seed": 7,
    }
    command = [sys.executable, str(KILLING)]
    done = subprocess.run(command, input=json.dumps(plan), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] == KILLS
    assert told["with_checkpoint"] >= KILLS // 3

    undisturbed, *killed = map(Path, told["folders"])
    for name in ("labels.csv", "run.sb"):
        expected = (undisturbed / name).read_bytes()
        assert all((folder / name).read_bytes() == expected for folder in killed)
    assert not (tmp_path / "state.sb").exists()

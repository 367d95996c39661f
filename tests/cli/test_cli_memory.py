"""`--max-memory` bounds the memory of the whole process for every input."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from silverbirch.pipeline.budget import PROGRAM_BYTES, model_memory

ROWS, COLUMNS = 300_000, 8


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, COLUMNS))
    columns = {f"c{i}": X[:, i] for i in range(COLUMNS)}
    return pa.table({"id": [f"row-{i}" for i in range(ROWS)], **columns})


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_the_process_stays_below_the_limit(suffix, table, tmp_path):
    path = tmp_path / f"rows.{suffix}"
    if suffix == "csv":
        pa.csv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    limit = PROGRAM_BYTES + 20_000_000
    command = ["cluster", path, "-k", "20", "--id-column", "id", "--labels", tmp_path / f"labels.{suffix}"]
    options = ["--max-leaves", "1000000", "--max-memory", str(limit), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "silverbirch", *map(str, command), *options], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["peak_memory_bytes"] <= limit
    # The memory limit decides the number of features, and most of the memory is used.
    assert 10_000 < record["counts"]["features"] < 40_000


def test_a_linkage_that_would_pass_the_limit_is_refused_before_it_is_begun(table, tmp_path):
    pq.write_table(table.slice(0, 50_000), tmp_path / "rows.parquet")
    command = ["cluster", tmp_path / "rows.parquet", "-k", "20", "--columns", "c0,c1,c2,c3", "--linkage", "minimax"]
    done = subprocess.run(
        [sys.executable, "-m", "silverbirch", *map(str, command), "--max-memory", "300MB"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "raise --max-memory" in done.stderr


def test_a_limit_below_the_program_itself_is_refused_with_what_it_takes():
    assert model_memory(None) is None
    assert model_memory("1GB") == 1_000_000_000 - PROGRAM_BYTES
    with pytest.raises(ValueError, match="220 MB of it; allow more"):
        model_memory("200MB")

"""`--max-memory` bounds the memory of the whole process for every input."""

import json
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from silverbirch import ClusterFeatures

ROWS, COLUMNS = 300_000, 8


def run(*arguments):
    command = [sys.executable, "-m", "silverbirch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


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
    limit = 180_000_000
    command = ["cluster", path, "-k", "20", "--id-column", "id", "--labels", tmp_path / f"labels.{suffix}"]
    options = ["--max-leaves", "1000000", "--max-memory", str(limit), "--json"]
    done = run(*command, *options)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["peak_memory_bytes"] <= limit
    # The memory limit decides the number of features, and most of the memory is used.
    assert 10_000 < record["counts"]["features"] < 40_000


def test_a_linkage_that_would_pass_the_limit_is_refused_before_it_is_begun(table, tmp_path):
    pq.write_table(table.slice(0, 50_000), tmp_path / "rows.parquet")
    command = ["cluster", tmp_path / "rows.parquet", "-k", "20", "--columns", "c0,c1,c2,c3", "--linkage", "minimax"]
    done = run(*command, "--max-memory", "160MB")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "raise --max-memory" in done.stderr


WIDE = {384: 1500, 2000: 300}
SUFFIXES = ["npy", "csv", "parquet", "arrow", "feather"]


def write_wide(path, columns):
    """A row group or a batch as large as the file, with dictionaries that do not pay, as pyarrow writes them."""
    X = np.random.default_rng(0).normal(size=(WIDE[columns], columns))
    rows = pa.table({f"c{number}": column for number, column in enumerate(X.T)})
    write = {
        ".npy": lambda: np.save(path, X),
        ".csv": lambda: pa.csv.write_csv(rows, path),
        ".parquet": lambda: pq.write_table(rows, path),
        ".arrow": lambda: pa.feather.write_feather(rows, path, compression="uncompressed"),
        ".feather": lambda: pa.feather.write_feather(rows, path),
    }
    write[path.suffix]()
    return X


@pytest.mark.parametrize("columns", WIDE)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_limit_is_kept_for_wide_rows_or_refused_with_the_size_that_keeps_it(suffix, columns, tmp_path):
    path = tmp_path / f"rows.{suffix}"
    write_wide(path, columns)
    limit = 180_000_000
    done = run("aggregate", path, "-o", tmp_path / "rows.sb", "--max-memory", limit, "--json")
    if done.returncode:
        found = re.fullmatch(r"Error: .*--max-memory.* take at least (\d+) MB; allow more\n", done.stderr)
        assert done.returncode == 1
        assert found
        limit = int(found[1]) * 1_000_000 + 1_000_000
        done = run("aggregate", path, "-o", tmp_path / "rows.sb", "--max-memory", limit, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["peak_memory_bytes"] <= limit


def test_the_same_limit_gives_the_same_features(tmp_path):
    write_wide(tmp_path / "rows.parquet", 384)
    for name in ("one.sb", "two.sb"):
        done = run("aggregate", tmp_path / "rows.parquet", "-o", tmp_path / name, "--max-memory", "160MB")
        assert done.returncode == 0, done.stderr
    one, two = (ClusterFeatures.load(tmp_path / name) for name in ("one.sb", "two.sb"))
    assert len(one) < WIDE[384]  # the limit decides
    assert np.array_equal(one.mean, two.mean)
    assert np.array_equal(one.sse, two.sse)


def test_features_that_do_not_fit_are_refused_with_what_they_take(tmp_path):
    random = np.random.default_rng(0)
    ClusterFeatures(np.ones(1000), random.normal(size=(1000, 3)), np.zeros(1000)).save(tmp_path / "one.sb")
    done = run("merge", tmp_path / "one.sb", "-o", tmp_path / "all.sb", "--max-memory", "50MB")
    assert done.returncode == 1
    assert re.search(r"--max-memory 50MB.*: these features take at least 113 MB; allow more", done.stderr)

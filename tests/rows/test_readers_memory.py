"""Memory stays flat: a process with limited memory reads files that are several times larger."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import silverbirch as sb

MEGABYTE = 1 << 20
ALLOWED = 96 * MEGABYTE  # of address space, beyond the imports and one read of a small file
GROWTH = 48 * MEGABYTE  # of resident memory at most
COLUMNS = 8
BLOCK_ROWS = 65_536
BLOCKS = 80  # of 4 MB each: 336 MB

# A process that limits its own address space. Address space includes reserved memory that is never used, so Arrow's
# "system" pool is chosen, which reserves none. Resident memory is measured too.
LIMITED = """
import json, os, resource, sys
import numpy as np
import pyarrow, pyarrow.csv, pyarrow.ipc, pyarrow.parquet as pq
import silverbirch as sb
from silverbirch import machine

how, warm_up, path, allowed = sys.argv[1:]

def read(path):
    if how == "whole":
        return pq.read_table(path, memory_map=False).num_rows
    if how == "tree":
        return int(sb.CFTree(max_leaves=100).insert(path).n_points)
    return sum(len(rows) for rows in sb.read_chunks(path))

read(warm_up)
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + int(allowed),) * 2)
before = machine.peak_memory()
rows = read(path)
print(json.dumps({"rows": rows, "growth": machine.peak_memory() - before}))
"""

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the size of a process is read from Linux"
)


def block(rows=BLOCK_ROWS):
    X = np.random.default_rng(0).normal(size=(rows, COLUMNS))
    return pa.table({f"x{number}": column for number, column in enumerate(X.T)})


def write_parquet(path, blocks, *, one_group=False):
    table = block()
    plain = {"compression": "none", "use_dictionary": False}
    with pq.ParquetWriter(path, table.schema, **plain) as writer:
        if one_group:
            writer.write_table(pa.concat_tables([table] * blocks), row_group_size=blocks * BLOCK_ROWS)
        else:
            for _ in range(blocks):
                writer.write_table(table)
    return blocks * BLOCK_ROWS


def write_one_group(path, blocks):
    return write_parquet(path, blocks, one_group=True)


def write_lists(path, blocks):
    X = np.random.default_rng(0).normal(size=(BLOCK_ROWS, COLUMNS))
    table = pa.table({"e": pa.FixedSizeListArray.from_arrays(X.ravel(), COLUMNS).cast(pa.list_(pa.float64()))})
    whole = pa.concat_tables([table] * blocks)
    pq.write_table(whole, path, row_group_size=len(whole), compression="none", use_dictionary=False)
    return len(whole)


def write_csv(path, blocks, *, separator=","):
    rows = np.asarray(block(4096).to_pandas())
    lines = "".join(separator.join(f"{value:.17g}" for value in row) + "\n" for row in rows)
    with path.open("w") as file:
        file.write(separator.join(f"x{number}" for number in range(COLUMNS)) + "\n")
        for _ in range(blocks * BLOCK_ROWS // 4096 // 2):  # a number takes more letters than bytes
            file.write(lines)
    return blocks * BLOCK_ROWS // 2


def write_spaces(path, blocks):
    """A file whose text is changed before Arrow sees it."""
    return write_csv(path, 2 * blocks // 3, separator=" ; ")


def write_json_lines(path, blocks):
    lines = block(4096).to_pandas().to_json(orient="records", lines=True, double_precision=15)
    with path.open("w") as file:
        for _ in range(blocks * BLOCK_ROWS // 4096 // 2):
            file.write(lines)
    return blocks * BLOCK_ROWS // 2


def write_arrow(path, blocks):
    table = block()
    with pa.ipc.new_file(str(path), table.schema) as writer:
        for _ in range(blocks):
            writer.write_table(table)
    return blocks * BLOCK_ROWS


def write_npy(path, blocks):
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (blocks * BLOCK_ROWS * 2, COLUMNS))
    rows[:] = 1.0
    rows.flush()
    return len(rows)


WRITERS = {
    "rows.parquet": write_parquet,
    "one-row-group.parquet": write_one_group,
    "lists.parquet": write_lists,
    "rows.csv": write_csv,
    "spaces.csv": write_spaces,
    "rows.jsonl": write_json_lines,
    "rows.arrow": write_arrow,
    "rows.npy": write_npy,
}


def read_limited(how, warm_up, path):
    environment = os.environ | {
        "PYTHONPATH": str(Path(sb.__file__).parents[1]),
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "1",
        "MALLOC_MMAP_THRESHOLD_": "65536",  # what is freed goes back to the system at once
    }
    command = [sys.executable, "-c", LIMITED, how, str(warm_up), str(path), str(ALLOWED)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


# The tree takes the chunks of all text alike, so one kind of text is enough for it.
ONLY_CHUNKS = {("spaces.csv", "tree"), ("rows.jsonl", "tree")}
CASES = [(name, how) for name in WRITERS for how in ("chunks", "tree") if (name, how) not in ONLY_CHUNKS]


@pytest.fixture(scope="module")
def files(request, tmp_path_factory):
    """A small and a large file of the same format; the large one is removed after the test."""
    folder = tmp_path_factory.mktemp("large")
    small, large = folder / f"small-{request.param}", folder / request.param
    WRITERS[request.param](small, 2)
    rows = WRITERS[request.param](large, BLOCKS)
    yield small, large, rows
    large.unlink()


@pytest.mark.parametrize(("files", "how"), CASES, indirect=["files"], scope="module")
def test_files_several_times_larger_than_the_memory_are_read_in_it(how, files):
    small, large, rows = files
    assert large.stat().st_size > 3 * ALLOWED
    result = read_limited(how, small, large)
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["growth"] < GROWTH
    assert answer["rows"] == rows


def test_reading_a_file_whole_fails_under_the_same_limit(tmp_path):
    write_parquet(tmp_path / "small.parquet", 2)
    write_parquet(tmp_path / "rows.parquet", BLOCKS)
    result = read_limited("whole", tmp_path / "small.parquet", tmp_path / "rows.parquet")
    assert result.returncode != 0
    assert "failed" in result.stderr or "MemoryError" in result.stderr

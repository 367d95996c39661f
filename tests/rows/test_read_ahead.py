"""Processes that end while a thread of Arrow reads a text ahead."""

import lzma
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

LOOK = "import sys, silverbirch as sb; rows = iter(sb.read_chunks(sys.argv[1], chunk_rows=100)); print(len(next(rows)))"
READ = "import sys, silverbirch as sb; print(sum(map(len, sb.read_chunks(sys.argv[1]))))"
TEXT = pd.DataFrame(np.random.default_rng(0).normal(size=(100_000, 4)), columns=list("abcd")).to_csv(index=False)


@pytest.fixture(params=["xz", "utf-16"])
def file_of(request, tmp_path):
    """Writes a text as a file that Arrow reads through Python."""
    path = tmp_path / {"xz": "rows.csv.xz", "utf-16": "rows.csv"}[request.param]

    def written(text):
        path.write_bytes(lzma.compress(text.encode(), preset=0) if request.param == "xz" else text.encode("utf-16"))
        return path

    return written


def ended(script, path):
    found = subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, text=True, check=False, timeout=120
    )
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize("then", ["", "; rows.close()", "; sys.exit()"])
def test_a_process_may_end_after_the_first_rows(then, file_of):
    for _ in range(2):
        assert ended(LOOK + then, file_of(TEXT)) == (0, "100\n", "")


def test_a_process_that_ends_with_an_error_prints_it_and_nothing_else(file_of):
    path = file_of(f"{TEXT}no,1,2,3\n{TEXT.partition(chr(10))[2]}")
    for _ in range(2):
        status, _, printed = ended(READ, path)
        assert status == 1
        assert printed.splitlines()[-1].startswith(f"ValueError: {path}, line 100002: column 'a' holds 'no'")

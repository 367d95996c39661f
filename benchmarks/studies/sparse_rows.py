"""What sparse rows cost: exact linkage of TF-IDF rows, and Betula with a projection.

    python -m benchmarks.studies.sparse_rows packages.parquet       a Parquet file with a column `description`

Prints CPU seconds of one thread and the most memory beyond the rows, each measured in a process of its own:
- average linkage by cosine of 20 000 texts, and single linkage of all of them
- Betula(projection=256, max_leaves=2000).fit of a random matrix of 100 000 × 50 000 with 3 million values

It needs Linux.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import runner

JOBS = {"average": 20_000, "single": None, "projection": None}


def texts(file):
    import pyarrow.parquet as parquet
    from sklearn.feature_extraction.text import TfidfVectorizer

    X = TfidfVectorizer(min_df=2).fit_transform(parquet.read_table(file)["description"].to_pylist())
    return X[np.diff(X.indptr) > 0]  # a text without a known word has no direction


def made(rows=100_000, columns=50_000, values=5_000_000):
    """Words by Zipf's law, as many in each row; a word that comes twice in a row is one value."""
    from scipy import sparse

    random = np.random.default_rng(0)
    words = np.minimum(random.zipf(1.2, size=values) - 1, columns - 1)
    return sparse.csr_array((np.ones(values), (np.repeat(np.arange(rows), values // rows), words)), (rows, columns))


def measure(job, file):
    import silverbirch as sb
    from silverbirch.machine import memory_now, peak_memory

    X = made() if job == "projection" else texts(file)[: JOBS[job]]
    Path("/proc/self/clear_refs").write_text("5")  # Linux forgets the peak of making the rows
    before, begin = memory_now() or 0, time.process_time()
    if job == "projection":
        sb.Betula(projection=256, max_leaves=2000).fit(X)
    else:
        sb.linkage(X, job, "cosine")
    seconds = time.process_time() - begin
    return {"job": job, "rows": X.shape[0], "columns": X.shape[1], "values": int(X.nnz), "seconds": round(seconds, 2),
            "MB": round(((peak_memory() or 0) - before) / 1e6)}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--one", choices=JOBS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.file)))
        return
    one_thread = dict.fromkeys(runner.THREAD_VARIABLES, "1")
    for job in JOBS:
        command = [sys.executable, "-m", "benchmarks.studies.sparse_rows", options.file, "--one", job]
        subprocess.run(command, env=os.environ | one_thread, check=True)


if __name__ == "__main__":
    main()

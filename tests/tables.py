"""Tables for the readers, written in every format by other libraries."""

import bz2
import decimal
import gzip
import io
import json
import lzma
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.feather as feather
import pyarrow.parquet as pq


def frame(rows=1000, seed=0):
    """Columns of several number types, missing values, ids with leading zeros, and text."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "name": [f"{number:05d}" for number in range(rows)],
            "x": rng.normal(size=rows),
            "count": rng.integers(-1000, 1000, rows),
            "y": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "kind": rng.choice(["ash", "birch", "oak, or else"], rows),
        }
    )
    return table


NUMBERS = ["x", "count", "y"]


def write(table, path):
    """Writes a pandas data frame in the format of the suffix, with small batches and row groups."""
    arrow = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False)
    name = path.name
    if name.endswith((".parquet", ".pq")):
        pq.write_table(arrow, path, row_group_size=171)
    elif ".csv" in name or ".tsv" in name:
        text = io.BytesIO()
        csv.write_csv(arrow, text, csv.WriteOptions(delimiter="\t" if ".tsv" in name else ","))
        path.write_bytes(compressed(text.getvalue(), name))
    elif ".jsonl" in name:
        text = "".join(json.dumps(row, default=in_json) + "\n" for row in arrow.to_pylist())
        path.write_bytes(compressed(text.encode(), name))
    elif name.endswith(".arrows"):
        with pa.ipc.new_stream(str(path), arrow.schema) as writer:
            writer.write_table(arrow, max_chunksize=133)
    else:
        feather.write_feather(arrow, str(path), chunksize=133)
    return path


def in_json(value):
    return float(value) if isinstance(value, decimal.Decimal) else str(value)


def compressed(data, name):
    if name.endswith(".zst"):
        return pa.Codec("zstd").compress(data, asbytes=True)
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": partial(lzma.compress, preset=0)}
    return next((function(data) for end, function in compress.items() if name.endswith(end)), data)


FORMATS = [
    "rows.parquet", "rows.pq", "rows.csv", "rows.tsv", "rows.csv.gz", "rows.tsv.gz", "rows.csv.zst", "rows.tsv.zst",
    "rows.csv.bz2", "rows.csv.xz", "rows.jsonl", "rows.jsonl.gz", "rows.arrow", "rows.feather", "rows.ipc",
    "rows.arrows",
]  # fmt: skip


def all_rows(source, begin=(0, 0)):
    from silverbirch.rows import Position

    return np.concatenate([chunk.rows for chunk in source.chunks(Position(*begin))])

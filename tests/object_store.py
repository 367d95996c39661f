"""A real S3 server on this machine, and what it holds, as boto3 sees it."""

import gzip
import io
import socket
import urllib.request

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BUCKET = "birch"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def ask(port, what, body=b""):
    headers = {"Content-Type": "text/plain"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/moto-api/{what}", body, headers, method="POST")
    urllib.request.urlopen(request).read()


def put(store, key, content):
    store.put_object(Bucket=BUCKET, Key=key, Body=content)
    return f"s3://{BUCKET}/{key}"


def got(store, key):
    return store.get_object(Bucket=BUCKET, Key=key)["Body"].read()


def keys(store, prefix=""):
    return [one["Key"] for one in store.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])]


def in_bytes(frame, name):
    """The content of a file of that name, as others write it."""
    file, arrow = io.BytesIO(), pa.Table.from_pandas(frame, preserve_index=False)
    if name.endswith(".parquet"):
        pq.write_table(arrow, file, row_group_size=700)
    elif name.endswith(".arrow"):
        with pa.ipc.new_file(file, arrow.schema) as writer:
            writer.write_table(arrow, max_chunksize=700)
    elif name.endswith(".feather"):
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_file(file, arrow.schema, options=options) as writer:
            writer.write_table(arrow, max_chunksize=700)
    elif name.endswith(".arrows"):
        with pa.ipc.new_stream(file, arrow.schema) as writer:
            writer.write_table(arrow, max_chunksize=700)
    elif name.endswith("F.npy"):
        np.save(file, np.asfortranarray(frame.to_numpy()))
    elif name.endswith(".npy"):
        np.save(file, frame.to_numpy())
    elif name.endswith(".npz"):
        np.savez_compressed(file, rows=frame.to_numpy())
    elif ".csv" in name:
        compression = {"gz": "gzip", "bz2": "bz2", "xz": "xz"}.get(name.rpartition(".")[2])
        frame.to_csv(file, index=False, compression=compression)
    elif ".jsonl" in name:
        text = frame.to_json(orient="records", lines=True, double_precision=15).encode()
        file.write(gzip.compress(text) if name.endswith("gz") else text)
    return file.getvalue()

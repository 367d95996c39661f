import socket
import subprocess
import sys
import time

import boto3
import dask
import pytest
from distributed import Client, LocalCluster

from object_store import BUCKET, ask, free_port

# A LocalCluster looks for a lost worker again after this time, by default 15 seconds. If a test has just killed the one
# that replaced it, the cluster gives its place up, and the next tests wait for a worker that never comes.
dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})


@pytest.fixture(scope="module")
def client():
    """A cluster of two worker processes."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def port():
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert server.poll() is None
                time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def store(port, monkeypatch):
    """A client of boto3 for an empty bucket; the environment names the server."""
    ask(port, "reset")
    known = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in known.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    return client

"""The command line with files on other machines, here in fsspec's memory and on a web server."""

import json

import fsspec
import numpy as np
import pandas as pd
import pytest

import silverbirch as sb
from commands import done, refused
from web_server import WebServer


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    return pd.DataFrame(random.normal(size=(600, 2)) + 30 * random.integers(0, 3, (600, 1)), columns=["x", "y"])


@pytest.fixture
def memory(frame):
    memory = fsspec.filesystem("memory")
    memory.rm("/", recursive=True) if memory.ls("/") else None
    for number in range(3):
        memory.pipe(f"/rows/part={number}/a.csv", frame[number::3].to_csv(index=False).encode())
    return memory


@pytest.fixture
def twice(memory, tmp_path, monkeypatch):
    """The same rows in two places."""
    monkeypatch.chdir(tmp_path)
    memory.get("/rows", str(tmp_path / "rows"), recursive=True)
    (tmp_path / "top").mkdir()
    return "top", "memory://top"


def test_every_output_is_that_of_a_local_run(twice, memory, tmp_path):
    for rows, where in zip(("rows", "memory://rows"), twice, strict=True):
        outputs = {"--labels": "labels/", "--model": "m.sb", "--report": "m.html", "--record": "m.json"}
        options = [part for name, file in outputs.items() for part in (name, f"{where}/{file}")]
        done("cluster", rows, "--columns", "x,y", "-k", 3, "--scale", "standard", *options)
        done("cut", f"{where}/m.sb", f"{rows}/*/a.csv", "-k", 4, "--labels", f"{where}/four.csv")
        done("report", f"{where}/m.sb", "--record", f"{where}/m.json", "-o", f"{where}/n.html")
    for name in ("four.csv", *(f"labels/part={number}/a.parquet" for number in range(3))):
        assert memory.cat(f"/top/{name}") == (tmp_path / "top" / name).read_bytes()
    one, other = (sb.load(f"{where}/m.sb")[-1] for where in twice)
    assert one.linkage_matrix_.tobytes() == other.linkage_matrix_.tobytes()
    record = json.loads(memory.cat("/top/m.json"))
    assert record["outputs"]["model"] == "memory://top/m.sb"
    assert record["input"][0]["name"] == "memory://rows/part=0/a.csv"
    assert memory.cat("/top/n.html").startswith(b"<!doctype html>")
    info = json.loads(done("info", "memory://top/m.sb", "--json").stdout)
    assert info["bytes"] == len(memory.cat("/top/m.sb"))


def test_parts_are_prepared_aggregated_and_merged(twice, memory):
    for rows, where in zip(("rows", "memory://rows"), twice, strict=True):
        done("prepare", rows, "--columns", "x,y", "--scale", "minmax", "-o", f"{where}/prep.sb")
        for number in range(3):
            part = f"{where}/{number}-part.sb"
            done("aggregate", f"{rows}/part={number}", "--prepare", f"{where}/prep.sb", "-o", part)
        done("merge", f"{where}/*-part.sb", "-o", f"{where}/all.sb")
    one, other = (sb.ClusterFeatures.load(f"{where}/all.sb") for where in twice)
    assert one.mean.tobytes() == other.mean.tobytes()
    message = refused("merge", "top/0-part.sb", "memory://top/0-part.sb", "-o", "memory://top/twice.sb")
    assert "both hold the rows of" in message


def test_no_file_is_both_read_and_written_or_written_twice(memory):
    rows = "memory://rows/part=0/a.csv"
    assert "is an input and would also be the labels" in refused("cluster", rows, "-k", 3, "--labels", rows, "--force")
    assert "is given twice" in refused("cluster", rows, rows, "-k", 3)
    one = ["--model", "memory://m.sb/m", "--record", "memory://m.sb/m"]
    assert "is the model and would also be the record" in refused("cluster", rows, "-k", 3, *one)
    message = refused("cluster", "memory://rows", "-k", 3, "--labels", "memory://rows/labels/")
    assert "would be read as input next time" in message


def test_an_existing_file_is_refused_before_any_work(memory):
    memory.pipe("/top/m.sb", b"mine")
    message = refused("cluster", "memory://rows", "-k", 3, "--model", "memory://top/m.sb")
    assert message == "Error: memory://top/m.sb exists: give another name, or overwrite it by --force"
    assert memory.cat("/top/m.sb") == b"mine"


@pytest.mark.parametrize("command", ["cluster", "prepare", "aggregate"])
def test_a_checkpoint_on_another_machine_is_wrong_usage(memory, command):
    out = [] if command == "cluster" else ["-o", "memory://top/o.sb"]
    message = refused(command, "memory://rows", *out, "--checkpoint", "memory://run", code=2)
    assert "memory://run is on another machine" in message


def test_a_checkpoint_may_be_a_file_url(memory, tmp_path):
    message = refused("cluster", "memory://rows", "-k", 10_000, "--checkpoint", f"file://{tmp_path}/run")
    assert "-k 10000" in message
    assert (tmp_path / "run").exists()
    done("cluster", "memory://rows", "-k", 3, "--checkpoint", f"file://{tmp_path}/run")
    assert list(tmp_path.iterdir()) == []


def test_wrong_paths_are_wrong_usage(memory):
    assert "names no bucket or host" in refused("cluster", "memory://rows", "--model", "s3:///m.sb", code=2)
    assert "is on another machine" in refused("demo", "-o", "memory://demo", code=2)


def test_a_web_server_is_read_and_not_written(memory, frame, tmp_path):
    web = WebServer()
    web.files["/a.csv"] = frame.to_csv(index=False).encode()
    try:
        done("cluster", f"{web.url}/a.csv", "-k", 3, "--labels", tmp_path / "labels.npy")
        assert len(np.load(tmp_path / "labels.npy")) == len(frame)
        message = refused("cluster", "memory://rows", "-k", 3, "--model", f"{web.url}/m.sb")
        assert "http:// is only read" in message
        web.failing = 10**9
        message = refused("cluster", f"{web.url}/a.csv", "-k", 3)
        assert message.startswith(f"Error: {web.url}/a.csv cannot be reached (")
    finally:
        web.close()

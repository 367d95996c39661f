"""Rows, labels and models in a real S3 server on this machine; boto3, pyarrow and pandas say what is there."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import boto3
import numpy as np
import pandas as pd
import pytest

import silverbirch as sb
from breaking_proxy import BreakingProxy
from commands import done, refused
from object_store import BUCKET, ask, free_port, got, in_bytes, keys, put
from silverbirch.cli import distributed
from silverbirch.pipeline.sources import with_contents
from silverbirch.storage.atomic import new_file

ALWAYS = 10**9


@pytest.fixture
def proxy(store, port, monkeypatch):
    proxy = BreakingProxy(port)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
    yield proxy
    proxy.close()


def table(rows=3000, seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame(random.normal(size=(rows, 3)) + 20 * random.integers(0, 3, (rows, 1)), columns=list("xyz"))


NAMES = [
    *("a.parquet", "a.csv", "a.csv.gz", "a.csv.bz2", "a.csv.xz", "a.jsonl", "a.jsonl.gz"),
    *("a.arrow", "a.feather", "a.arrows", "a.npy", "F.npy", "a.npz"),
]


def rows_of(source):
    return np.concatenate(list(source))


# -- reading


@pytest.mark.parametrize("name", NAMES)
def test_every_format_is_read_as_from_a_local_file_in_both_passes(store, tmp_path, name):
    content = in_bytes(table(), name)
    (tmp_path / name).write_bytes(content)
    both = tmp_path / name, put(store, name, content)
    local, remote = (sb.read_chunks(path, chunk_rows=512) for path in both)
    assert (remote.names, remote.n_rows, remote.n_dimensions) == (local.names, local.n_rows, local.n_dimensions)
    for _ in range(2):
        assert all(np.array_equal(one, other) for one, other in zip(remote, local, strict=True))
    chunks = list(local.chunks())
    middle = chunks[3]
    assert np.array_equal(next(remote.chunks(middle.begin)).rows, middle.rows)


@pytest.mark.parametrize("name", NAMES)
def test_a_memory_limit_is_kept_as_for_local_files(store, tmp_path, name):
    content = in_bytes(table(), name)
    (tmp_path / name).write_bytes(content)
    for path in (tmp_path / name, put(store, name, content)):
        out = tmp_path / ("remote" if "://" in str(path) else "local")
        done("cluster", path, "-k", 3, "--max-memory", "400MB", "--labels", f"{out}.npy")
    assert np.array_equal(np.load(tmp_path / "remote.npy"), np.load(tmp_path / "local.npy"))


@pytest.mark.parametrize(
    "pattern", ["", "/", "/*.parquet", "/*/*.parquet", "/**/*.parquet", "/*/b?.parquet", "/year=202[45]/b1.parquet"]
)
def test_folders_and_patterns_name_the_same_files_as_on_a_disk(store, tmp_path, monkeypatch, pattern):
    names = [f"year=202{year}/b{part}.parquet" for year in (4, 5) for part in (1, 2)]
    names += ["year=2024/_b3.parquet", ".b/b4.parquet", "_b/year=2026/b5.parquet", "year=2024/notes.txt"]
    for number, name in enumerate(names):
        content = in_bytes(table(100, number), "a.parquet")
        put(store, f"rows/{name}", content)
        (tmp_path / "rows" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "rows" / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    try:
        local = sb.read_chunks(f"rows{pattern}")
    except FileNotFoundError:
        with pytest.raises(FileNotFoundError, match="there is no such file or folder"):
            sb.read_chunks(f"s3://{BUCKET}/rows{pattern}")
        return
    remote = sb.read_chunks(f"s3://{BUCKET}/rows{pattern}")
    expected = [f"s3://{BUCKET}/{file['name']}" for file in local.fingerprint()]
    assert [file["name"] for file in remote.fingerprint()] == expected
    assert remote.names == local.names == ("x", "y", "z", "year")
    assert np.array_equal(rows_of(remote), rows_of(local))


def test_a_list_may_mix_local_and_remote_files(store, tmp_path):
    one, other = table(100, 1), table(100, 2)
    (tmp_path / "one.csv").write_bytes(in_bytes(one, "a.csv"))
    source = sb.read_chunks([tmp_path / "one.csv", put(store, "b/other.parquet", in_bytes(other, "a.parquet"))])
    assert np.allclose(rows_of(source), np.concatenate([one, other]), rtol=1e-12)


@pytest.mark.parametrize("key", ["a b.csv", "a%20b.csv", "ä+ö.csv", "a&b/c=d.csv", "[1].csv", "what?.csv", "#1.csv"])
def test_a_key_may_have_any_letters(store, key):
    path = put(store, key, in_bytes(table(50), "a.csv"))
    assert sb.read_chunks(path).fingerprint()[0]["name"] == path
    features = sb.CFTree().insert(path).features
    features.save(path + ".sb")
    assert f"{key}.sb" in keys(store)
    assert np.array_equal(sb.load(path + ".sb").mean, features.mean)


def test_no_object_is_read_in_place_of_one_with_two_slashes(store):
    put(store, "dd/b.csv", in_bytes(table(30), "a.csv"))
    put(store, "dd//b.csv", in_bytes(table(10), "a.csv"))
    for given in ("dd", "dd/**/*.csv", "dd//b.csv"):
        with pytest.raises(ValueError, match=f"s3://{BUCKET}/dd//b.csv has an empty name between two slashes"):
            sb.read_chunks(f"s3://{BUCKET}/{given}")
    assert len(rows_of(sb.read_chunks(f"s3://{BUCKET}/dd/b.csv"))) == 30


def test_no_object_is_read_in_place_of_one_that_begins_with_a_slash(store):
    put(store, "b.csv", in_bytes(table(30), "a.csv"))
    put(store, "/b.csv", in_bytes(table(10), "a.csv"))
    with pytest.raises(ValueError, match=f"s3://{BUCKET}//b.csv has an empty name between two slashes"):
        sb.read_chunks(f"s3://{BUCKET}")


def test_the_query_of_a_path_names_the_server(store, port, monkeypatch):
    put(store, "rows/a.parquet", in_bytes(table(), "a.parquet"))
    for name in ("AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    query = f"?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
    for path in ("rows/a.parquet", "rows", "rows/*.parquet", "**/?.parquet"):
        source = sb.read_chunks(f"s3://{BUCKET}/{path}{query}")
        assert [file["name"] for file in source.fingerprint()] == [f"s3://{BUCKET}/rows/a.parquet{query}"]
    model = sb.Betula(3).fit(source)
    model.save(f"s3://{BUCKET}/m.sb{query}")
    assert keys(store) == ["m.sb", "rows/a.parquet"]


def test_an_option_that_s3_does_not_have_is_refused(store):
    with pytest.raises(ValueError, match=r"user.*the options of s3:// are region"):
        sb.read_chunks(f"s3://{BUCKET}/a.csv?user=me")


def test_parquet_requests_the_chosen_columns_only(proxy, store):
    random = np.random.default_rng(0)
    wide = pd.DataFrame(random.normal(size=(50_000, 20)), columns=[f"c{i}" for i in range(20)])
    content = in_bytes(wide, "a.parquet")
    path = put(store, "wide.parquet", content)
    proxy.sent = 0
    rows = rows_of(sb.read_chunks(path, columns=["c7"]))
    assert np.array_equal(rows[:, 0], wide["c7"])
    assert len(content) / 20 < proxy.sent < len(content) / 4


def test_a_file_that_changes_between_the_passes_is_noticed_even_at_the_same_size_and_second(store):
    one, other = (in_bytes(table(500, seed), "a.npy") for seed in (1, 2))
    assert len(one) == len(other)
    source = sb.read_chunks(put(store, "a.npy", one))
    rows_of(source)
    put(store, "a.npy", other)
    with pytest.raises(ValueError, match=f"s3://{BUCKET}/a.npy was changed while it was read"):
        rows_of(source)


def test_of_many_files_the_one_that_was_changed_is_named_without_reading_any(proxy, store):
    for number in range(20):
        put(store, f"rows/{number}.npy", in_bytes(table(10, number), "a.npy"))
    source = sb.read_chunks(f"s3://{BUCKET}/rows/")
    proxy.requests.clear()
    source.refuse_changes()
    assert len(proxy.requests) == 20
    put(store, "rows/7.npy", in_bytes(table(10, 99), "a.npy"))
    with pytest.raises(ValueError, match=f"s3://{BUCKET}/rows/7.npy was changed while it was read"):
        source.refuse_changes()


def test_of_a_large_file_sixteen_blocks_are_read_before_the_workers_begin(proxy, store):
    source = sb.read_chunks(put(store, "large.parquet", in_bytes(table(150_000), "large.parquet")))
    (file,) = with_contents(source.fingerprint(), allow_overlap=False)
    assert file["bytes"] > 3 * 2**20
    assert 16 < len(proxy.requests) <= 22
    assert proxy.sent < 3 * 2**19


def test_few_requests_are_made_for_each_file_before_the_workers_begin(proxy, store, monkeypatch):
    names = [f"rows/year={number % 3}/{number}.parquet" for number in range(30)]
    for number, name in enumerate(names):
        put(store, name, in_bytes(table(100, number), name))

    def requests(*labels):
        proxy.requests.clear()
        message = refused("cluster", f"s3://{BUCKET}/rows/", "-k", 3, "--columns", "x,y", "--dask", "local", *labels)
        return len(proxy.requests), message

    monkeypatch.setattr(distributed, "on_files", lambda *_, **__: (_ for _ in ()).throw(ValueError("no workers")))
    labels = ("--labels", f"s3://{BUCKET}/labels/")
    few = 4 * len(names) + 40
    for options in ((), labels):
        count, message = requests(*options)
        assert 2 * len(names) < count <= few
        assert message == "Error: no workers"
    for name in names:
        put(store, name.replace("rows", "labels"), b"old")
    assert f"s3://{BUCKET}/labels/year=0/0.parquet exists" in requests(*labels)[1]
    count, message = requests(*labels, "--force")
    assert count <= few
    assert message == "Error: no workers"


# -- broken connections


@pytest.mark.parametrize("name", ["a.parquet", "a.csv.gz", "a.arrow", "a.npy"])
def test_connections_that_fail_at_first_are_tried_again(proxy, store, name):
    path = put(store, name, in_bytes(table(), name))
    expected = rows_of(sb.read_chunks(path))
    proxy.refuse = 2
    assert np.array_equal(rows_of(sb.read_chunks(path)), expected)
    assert proxy.refuse == 0


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_that_breaks_off_is_requested_again(proxy, store, name):
    path = put(store, name, in_bytes(table(20_000), name))
    expected = rows_of(sb.read_chunks(path))
    proxy.cut, proxy.after = 3, 3000
    assert np.array_equal(rows_of(sb.read_chunks(path)), expected)
    assert proxy.cut == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("chunks", [0, 1])
def test_a_connection_that_stays_broken_is_an_error_and_gives_no_wrong_row(proxy, store, name, chunks):
    path = put(store, name, in_bytes(table(20_000), name))
    source = sb.read_chunks(path, chunk_rows=1000)
    expected, came = rows_of(source), [np.empty((0, 3))]

    def read_until_it_breaks():
        rows = iter(source)
        came.extend(next(rows) for _ in range(chunks))
        proxy.refuse = proxy.cut = ALWAYS
        came.extend(rows)

    with pytest.raises(ConnectionError, match=f"^s3://{BUCKET}/{name} cannot be reached") as error:
        read_until_it_breaks()
    assert "\n" not in str(error.value)
    rows = np.concatenate(came)
    assert len(rows) < len(expected)
    assert np.array_equal(rows, expected[: len(rows)])


def test_a_server_that_is_not_there_is_an_error_of_one_line(store, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    message = refused("cluster", f"s3://{BUCKET}/a.csv", "-k", 3)
    assert message.startswith(f"Error: s3://{BUCKET}/a.csv cannot be reached (")
    assert "check the network, AWS_ENDPOINT_URL and AWS_DEFAULT_REGION" in message


def test_an_upload_that_breaks_at_first_is_tried_again(proxy, store):
    proxy.refuse = 2
    with new_file(f"s3://{BUCKET}/new.bin") as file:
        file.write(bytes(1000))
    assert got(store, "new.bin") == bytes(1000)


def new_file_to(stack, key):
    return stack.enter_context(new_file(f"s3://{BUCKET}/{key}", force=True))


def test_an_upload_that_stays_broken_is_an_error_and_leaves_the_old_object(proxy, port, store):
    put(store, "old.bin", b"old")
    with contextlib.ExitStack() as stack:
        new_file_to(stack, "old.bin").write(bytes(30_000_000))
        proxy.refuse = proxy.cut = ALWAYS
        with pytest.raises(ConnectionError, match=f"s3://{BUCKET}/old.bin cannot be reached"):
            stack.close()
    direct = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}")
    assert got(direct, "old.bin") == b"old"


def test_an_error_while_writing_leaves_the_old_object(store):
    put(store, "old.bin", b"old")

    def interrupted():
        with contextlib.ExitStack() as stack:
            new_file_to(stack, "old.bin").write(bytes(30_000_000))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert got(store, "old.bin") == b"old"
    assert keys(store) == ["old.bin"]


def test_a_process_that_is_killed_while_it_writes_leaves_the_old_object_and_no_temporary_file(store, tmp_path):
    put(store, "old.bin", b"old")
    script = f"""
from silverbirch.storage.atomic import new_file
with new_file("s3://{BUCKET}/old.bin", force=True) as file:
    file.write(bytes(10_000_000))
    print("written", flush=True)
    input()
"""
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], env=environment, **pipes) as process:
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    assert got(store, "old.bin") == b"old"
    assert list(tmp_path.iterdir()) == []


def test_a_large_file_is_uploaded_as_it_is(store):
    content = np.random.default_rng(0).bytes(25_000_001)
    with new_file(f"s3://{BUCKET}/large.bin") as file:
        file.write(content)
    assert got(store, "large.bin") == content


def test_processes_may_end_as_soon_as_a_text_is_open(store):
    path = put(store, "a.csv", in_bytes(table(), "a.csv"))
    script = "import sys, silverbirch as sb; sb.read_chunks([sys.argv[1], sys.argv[1]])"
    for _ in range(3):  # together, because a busy machine is what keeps a thread from its end
        arguments = [sys.executable, "-c", script, path]
        processes = [subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        assert [(process.communicate(timeout=300)[1], process.returncode) for process in processes] == [("", 0)] * 4


# -- who may


def test_wrong_credentials_are_an_error_of_one_line(port, store, tmp_path):
    path = put(store, "a.csv", in_bytes(table(), "a.csv"))
    (tmp_path / "a.csv").write_bytes(in_bytes(table(), "a.csv"))
    ask(port, "reset-auth", b"0")
    try:
        for command in (
            ["cluster", path, "-k", 3],
            ["cluster", f"s3://{BUCKET}", "-k", 3],
            ["cluster", tmp_path / "a.csv", "-k", 3, "--model", f"s3://{BUCKET}/m.sb"],
            ["info", f"s3://{BUCKET}/m.sb"],
        ):
            message = refused(*command)
            assert message.startswith(f"Error: s3://{BUCKET}")
            assert "access is denied" in message
            assert "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_PROFILE" in message
        with pytest.raises(PermissionError, match="access is denied"):
            sb.read_chunks(path)
    finally:
        ask(port, "reset-auth", b"inf")


def test_other_credentials_in_the_environment_are_used_from_then_on(port, store, monkeypatch):
    path = put(store, "a.csv", in_bytes(table(), "a.csv"))
    assert len(rows_of(sb.read_chunks(path))) == 3000
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(ConnectionError):
        sb.read_chunks(path)


def test_a_bucket_and_a_key_that_are_not_there_are_named(store, tmp_path):
    (tmp_path / "a.csv").write_bytes(in_bytes(table(), "a.csv"))
    missing = "Error: s3://nowhere/a.csv: there is no such bucket: make it first, or correct the name"
    assert refused("cluster", "s3://nowhere/a.csv", "-k", 3) == missing
    assert refused("info", "s3://nowhere/a.csv") == missing
    assert "there is no such bucket" in refused("cluster", tmp_path / "a.csv", "--model", "s3://nowhere/m.sb", "-k", 3)
    missing = f"Error: s3://{BUCKET}/a.csv: there is no such file or folder"
    assert refused("cluster", f"s3://{BUCKET}/a.csv", "-k", 3) == missing
    assert refused("info", f"s3://{BUCKET}/a.csv") == missing


def test_a_bucket_is_not_a_model(store):
    with pytest.raises(IsADirectoryError, match=f"s3://{BUCKET} is a folder: give the name of a file"):
        sb.load(f"s3://{BUCKET}")
    assert f"Error: s3://{BUCKET} is a folder" in refused("info", f"s3://{BUCKET}")


# -- the command line


@pytest.fixture
def twice(store, tmp_path, monkeypatch):
    """The same rows in a folder on the disk and in the bucket."""
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        content = in_bytes(table(500, number), "a.parquet")
        (tmp_path / "rows" / f"part={number}").mkdir(parents=True)
        (tmp_path / "rows" / f"part={number}" / "a.parquet").write_bytes(content)
        put(store, f"rows/part={number}/a.parquet", content)
    return ".", f"s3://{BUCKET}"


def test_cluster_and_cut_write_the_same_bytes_as_to_a_disk(twice, store, tmp_path):
    for where in twice:
        options = ["--columns", "x,y,z", "--scale", "standard", "--missing", "mean"]
        outputs = ["--labels", f"{where}/labels/", "--model", f"{where}/m.sb"]
        outputs += ["--report", f"{where}/m.html", "--record", f"{where}/m.json"]
        done("cluster", f"{where}/rows", *options, "-k", 3, *outputs)
        done("cut", f"{where}/m.sb", f"{where}/rows", "-k", 5, "--labels", f"{where}/five.csv")
        done("report", f"{where}/m.sb", "-o", f"{where}/again.html", "--record", f"{where}/m.json")
        assert json.loads(done("info", f"{where}/m.sb", "--json").stdout)["bytes"] > 1000
    labels = sorted(path.relative_to(tmp_path).as_posix() for path in (tmp_path / "labels").rglob("*.parquet"))
    assert len(labels) == 3
    assert keys(store, "labels/") == labels
    for name in (*labels, "five.csv"):
        assert got(store, name) == (tmp_path / name).read_bytes()
    one, other = (sb.load(f"{where}/m.sb")[-1] for where in twice)
    assert one.linkage_matrix_.tobytes() == other.linkage_matrix_.tobytes()
    assert got(store, "m.html").startswith(b"<!doctype html>")
    assert got(store, "again.html").startswith(b"<!doctype html>")
    assert json.loads(got(store, "m.json"))["outputs"]["labels"] == f"s3://{BUCKET}/labels/"


def test_parts_are_prepared_aggregated_and_merged_as_on_a_disk(twice, store):
    os.mkdir("parts")
    for where in twice:
        shared = f"{where}/prep.sb"
        done("prepare", f"{where}/rows", "--columns", "x,y", "--scale", "standard", "-o", shared)
        for part in range(3):
            done("aggregate", f"{where}/rows/part={part}", "--prepare", shared, "-o", f"{where}/parts/{part}.sb")
        done("merge", f"{where}/parts", "-o", f"{where}/all.sb")
        done("cluster", f"{where}/all.sb", "-k", 3, "--model", f"{where}/m.sb")
    one, other = (sb.load(f"{where}/all.sb") for where in twice)
    assert one.mean.tobytes() == other.mean.tobytes()
    assert one.weight.tobytes() == other.weight.tobytes()
    both = "./parts/0.sb", f"s3://{BUCKET}/parts/0.sb"
    assert "both hold the rows" in refused("merge", *both, "-o", "twice.sb")


def test_no_object_is_overwritten_unasked_nor_read_and_written_at_once(twice, store):
    rows = f"s3://{BUCKET}/rows/part=0/a.parquet"
    put(store, "m.sb", b"mine")
    message = refused("cluster", rows, "-k", 3, "--model", f"s3://{BUCKET}/m.sb")
    assert f"s3://{BUCKET}/m.sb exists" in message
    assert got(store, "m.sb") == b"mine"
    done("cluster", rows, "-k", 3, "--model", f"s3://{BUCKET}/m.sb", "--force")
    assert sb.load(f"s3://{BUCKET}/m.sb").n_clusters_ == 3
    assert "is an input and would also be" in refused("cluster", rows, "-k", 3, "--labels", rows, "--force")
    assert "is given twice" in refused("cluster", rows, rows, "-k", 3)
    assert "would be read as input next time" in refused(
        "cluster", f"s3://{BUCKET}/rows", "-k", 3, "--labels", f"s3://{BUCKET}/rows/labels/"
    )


def test_a_checkpoint_is_a_local_file(twice):
    path = f"s3://{BUCKET}/run.checkpoint"
    message = refused("cluster", f"s3://{BUCKET}/rows", "-k", 3, "--checkpoint", path, code=2)
    assert path in message
    assert "name a local one" in message


def test_a_run_with_a_local_checkpoint_resumes_on_remote_rows(twice, store, tmp_path):
    command = ["cluster", f"s3://{BUCKET}/rows", "-k", "3", "--labels", f"s3://{BUCKET}/labels.npy"]
    done(*command)
    expected = got(store, "labels.npy")
    command += ["--force", "--checkpoint", str(tmp_path / "run"), "--checkpoint-every", "0"]
    arguments = [sys.executable, "-m", "silverbirch", *command]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (tmp_path / "run").exists() and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    done(*command)
    assert got(store, "labels.npy") == expected
    assert not (tmp_path / "run").exists()


def test_every_class_is_saved_and_loaded(store):
    path = f"s3://{BUCKET}/thing.sb"
    model = sb.Betula(3).fit(table().to_numpy())
    for thing in (model, model.tree_, model.features_, model.dendrogram_):
        thing.save(path)
        assert type(sb.load(path)) is type(thing)
        again = type(thing).load(path)
        assert again.__class__ is thing.__class__
    model.dendrogram_.to_html(f"s3://{BUCKET}/page.html")
    assert got(store, "page.html").startswith(b"<!doctype html>")

"""Files on other machines: a web server, and the file systems of fsspec; pandas wrote the files."""

import gzip
import io
import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import fsspec
import numpy as np
import pandas as pd
import pytest

import silverbirch as sb
from commands import done
from silverbirch.pipeline import sources
from silverbirch.remote import RemotePath, is_remote, place, same_place
from silverbirch.remote.failures import explained
from web_server import WebServer

OUTPUTS = {"model": "m.sb", "record": "m.json", "report": "m.html"}


def table(rows=2000, seed=0):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(rows, 4)), columns=list("abcd"))


def parquet(frame):
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


def rows_of(source):
    return np.concatenate(list(source))


@pytest.fixture
def web():
    server = WebServer()
    yield server
    server.close()


@pytest.fixture
def memory():
    """fsspec's file system in memory, empty."""
    memory = fsspec.filesystem("memory")
    memory.rm("/", recursive=True) if memory.ls("/") else None
    return memory


# -- names


@pytest.mark.parametrize(
    "text", ["rows.csv", "/a/b.csv", "a:b/c.csv", "c:\\rows.csv", "-", "", "a://", "file:///a/b.csv"]
)
def test_paths_without_a_scheme_are_local(text):
    assert not is_remote(text)
    assert isinstance(place(text), Path)


def test_a_file_url_is_a_local_path(tmp_path):
    table(50).to_csv(tmp_path / "a b.csv", index=False)
    source = sb.read_chunks((tmp_path / "a b.csv").as_uri())
    assert len(rows_of(source)) == 50


def test_a_pattern_may_be_a_file_url(tmp_path):
    for name in ("a", "b"):
        table(50).to_csv(tmp_path / f"{name}.csv", index=False)
    for pattern in ("*.csv", "[ab].csv", "?.csv"):
        assert len(rows_of(sb.read_chunks(f"file://{tmp_path}/{pattern}"))) == 100
    assert len(rows_of(sb.read_chunks(f"file://localhost{tmp_path}/b.csv"))) == 50


def test_a_file_url_with_a_host_is_refused():
    for text in ("file://x.csv", "file://x.csv/a.csv", "FILE://host/a.csv", "file://"):
        with pytest.raises(ValueError, match=f"{text} names the host .*file:///folder/file"):
            sb.read_chunks(text)


@pytest.mark.parametrize(
    "text",
    [
        *("s3://bucket", "s3://bucket/a/b.parquet", "gs://bucket/a b.csv", "hdfs:///a/b.csv", "memory://a/b"),
        *("s3://bucket/a.csv?region=us-east-1&scheme=http", "https://host:80/a/b.csv?x=1&y=2", "s3://b/a?.csv"),
    ],
)
def test_a_remote_path_is_the_text_that_it_was_made_of(text):
    path = place(text)
    assert isinstance(path, RemotePath)
    assert path.whole == text == place(str(path)).whole == same_place(text)
    assert str(path) == (text if not text.startswith("http") else "https://host:80/a/b.csv?…")
    assert hash(path) == hash(place(text))


def test_parts_of_remote_paths_are_those_of_pathlib():
    path, plain = RemotePath("s3://bucket/year=2024/a/b.csv.gz"), PurePosixPath("/year=2024/a/b.csv.gz")
    assert (path.name, path.stem, path.suffix) == (plain.name, plain.stem, plain.suffix)
    assert [str(one) for one in path.parents] == [f"s3://bucket{str(one).rstrip('/')}" for one in plain.parents]
    assert path.parent / "b.csv.gz" == path == path.with_name("c").with_name("b.csv.gz")
    assert path.relative_to("s3://bucket/year=2024") == PurePosixPath("a/b.csv.gz")
    assert not path.is_relative_to("s3://bucket/year=20")
    with pytest.raises(ValueError, match="is not below"):
        path.relative_to("s3://other")


def test_remote_paths_are_sorted_as_local_ones():
    names = ["a/b", "a", "a-b/c", "a b", "a/b/c", "B"]
    local, remote = sorted(map(PurePosixPath, names)), sorted(RemotePath(f"s3://x/{name}") for name in names)
    assert [f"s3://x/{name}" for name in local] == [str(path) for path in remote]


def test_options_stay_with_all_paths_of_a_folder():
    folder = RemotePath("s3://bucket/rows?endpoint_override=127.0.0.1:9&scheme=http")
    assert str(folder / "a.csv") == "s3://bucket/rows/a.csv?endpoint_override=127.0.0.1:9&scheme=http"
    assert (folder / "a.csv").parent == folder


@pytest.mark.parametrize(("text", "message"), [
    ("s3:///a.csv", "names no bucket or host"),
    ("https:///a.csv", "names no bucket or host"),
    ("s3://key:secret@bucket/a.csv", r"^s3://…@bucket has a password in it"),
    ("https://secret@host/a.csv", r"^https://…@host has a password in it"),
])  # fmt: skip
def test_a_path_without_a_bucket_or_with_a_password_is_refused(text, message):
    with pytest.raises(ValueError, match=message) as error:
        sb.read_chunks(text)
    assert "secret" not in str(error.value)


def test_an_empty_name_is_kept_and_what_pyarrow_does_not_open_is_refused_by_its_name():
    assert str(RemotePath("memory://a//b.csv")) == "memory://a//b.csv" != str(RemotePath("memory://a/b.csv"))
    for text in ("s3://bucket/a//b.csv", "s3://bucket//a.csv"):
        with pytest.raises(ValueError, match=f"{text} has an empty name between two slashes"):
            sb.read_chunks(text)


def test_an_address_that_its_library_does_not_read_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"data://x/a\.csv cannot be used"):
        sb.read_chunks("data://x/a.csv")


def test_a_path_that_lost_a_slash_in_pathlib_says_so():
    with pytest.raises(FileNotFoundError, match="pass a text, because pathlib makes s3:/ of s3://"):
        sb.read_chunks(Path("s3://bucket/a.csv"))


def test_nothing_of_pyarrow_or_fsspec_is_imported_for_local_files(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((3, 2)))
    script = (
        "import sys, silverbirch as sb; list(sb.read_chunks(sys.argv[1]));"
        "sb.CFTree().insert(sys.argv[1]).save(sys.argv[2]);"
        "print([m for m in sys.modules if m.partition('.')[0] in ('pyarrow', 'fsspec', 'aiohttp')])"
    )
    arguments = [sys.executable, "-c", script, tmp_path / "a.npy", tmp_path / "tree.sb"]
    assert subprocess.run(arguments, capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("module", ["fsspec", "pyarrow.fs"])
def test_what_is_missing_is_named(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    scheme = "https" if module == "fsspec" else "gs"
    with pytest.raises(ImportError, match=r"pip install 'silverbirch\[remote\]'"):
        sb.read_chunks(f"{scheme}://example.org/a.csv")


def test_a_scheme_that_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="nonsense:// is not known to pyarrow and fsspec"):
        sb.read_chunks("nonsense://a/b.csv")


# -- errors in words


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (OSError("AWS Error ACCESS_DENIED during HeadObject"), PermissionError, "access is denied"),
        (OSError("AWS Error UNKNOWN (HTTP status 403)"), PermissionError, "check AWS_ACCESS_KEY_ID"),
        (OSError("AWS Error NO_SUCH_BUCKET during List"), FileNotFoundError, "no such bucket"),
        (OSError("AWS Error NETWORK_CONNECTION: curlCode: 7\nDetails (Request ID: x)"), ConnectionError, "curlCode: 7"),
        (OSError("key 'ACCESS_DENIED-403-NoSuchBucket.csv': curlCode: 7"), ConnectionError, "curlCode: 7"),
        (TimeoutError(), ConnectionError, "TimeoutError"),
        (FileNotFoundError("k"), FileNotFoundError, "there is no such file or folder"),
    ],
)
def test_errors_of_libraries_become_one_line_that_names_the_file(error, kind, words):
    with pytest.raises(kind, match=words) as found, explained("s3://bucket/k"):
        raise error
    assert str(found.value).startswith("s3://bucket/k")
    assert "\n" not in str(found.value)
    assert "Request ID" not in str(found.value)


# -- a web server


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.npy"])
def test_files_of_a_web_server_are_read_as_local_ones(web, tmp_path, name):
    frame = table()
    np.save(tmp_path / "a.npy", frame.to_numpy())
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    web.files[f"/x/{name}"] = (tmp_path / name).read_bytes()
    local, remote = sb.read_chunks(tmp_path / name), sb.read_chunks(f"{web.url}/x/{name}?token=1")
    for _ in range(2):
        assert np.array_equal(rows_of(remote), rows_of(local))


def test_the_query_of_a_web_address_is_requested_and_not_shown_or_stored(web, tmp_path):
    frame, query = table(100), "X-Amz-Signature=TOPSECRET"
    web.files["/a.csv"] = frame.to_csv(index=False).encode()
    web.query = query  # else the answer is 403
    address = f"{web.url}/a.csv?{query}"
    source = sb.read_chunks(address)
    assert np.allclose(rows_of(source), frame, rtol=1e-12)
    name = source.fingerprint()[0]["name"]
    assert name == f"{web.url}/a.csv?…"
    assert len(rows_of(sb.read_chunks(pickle.loads(pickle.dumps(name))))) == 100  # a worker needs the query
    out = [part for one in ("model", "record", "report") for part in (f"--{one}", tmp_path / OUTPUTS[one])]
    said = done("cluster", address, "-k", 3, *out)
    web.query = "other"
    for failing in (False, True):
        web.failing = 10**9 if failing else 0
        with pytest.raises(OSError, match=r"/a\.csv") as error:
            sb.read_chunks(address)
        assert "TOPSECRET" not in str(error.value)
    assert "TOPSECRET" not in said.stdout + said.stderr + str(source.fingerprint()) + repr(place(address))
    assert all(b"TOPSECRET" not in (tmp_path / name).read_bytes() for name in OUTPUTS.values())
    assert json.loads((tmp_path / "m.json").read_bytes())["input"][0]["content"]


def test_two_queries_of_one_web_address_are_two_files(web):
    web.files["/a.csv"] = table(100).to_csv(index=False).encode()
    assert len(rows_of(sb.read_chunks([f"{web.url}/a.csv?id=1", f"{web.url}/a.csv?id=2"]))) == 200
    assert place(f"{web.url}/a.csv?id=1") != place(f"{web.url}/a.csv?id=2")


def test_parquet_of_a_web_server_is_read_by_ranges(web):
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(30_000, 20)), columns=[f"c{i}" for i in range(20)])
    web.files["/a.parquet"] = parquet(wide)
    rows = rows_of(sb.read_chunks(f"{web.url}/a.parquet", columns=["c3"]))
    assert np.array_equal(rows[:, 0], wide["c3"])
    assert web.sent < len(web.files["/a.parquet"]) / 4


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_server_without_ranges_sends_the_file_once(web, name):
    frame = table()
    web.files[f"/{name}"] = parquet(frame) if name == "a.parquet" else frame.to_csv(index=False).encode()
    web.ranges = False
    source = sb.read_chunks(f"{web.url}/{name}")
    sent = web.sent
    for _ in range(2):
        assert np.allclose(rows_of(source), frame, rtol=1e-12)
    assert web.sent == sent


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a file that is always full")
def test_a_full_disk_is_no_broken_connection(web, monkeypatch):
    web.files["/a.csv"] = table().to_csv(index=False).encode()
    web.ranges = False
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr("silverbirch.rows.input_file.TemporaryCopy", lambda: SimpleNamespace(file=full))
        with pytest.raises(OSError, match="No space left on device: let TMPDIR name a folder with more room") as error:
            sb.read_chunks(f"{web.url}/a.csv")
    assert not isinstance(error.value, ConnectionError)


def test_several_remote_files_are_asked_for_at_once_and_answers_stay_in_order(monkeypatch):
    together = threading.Barrier(4, timeout=60)  # raises an error if fewer than four wait

    def content_of(name):
        together.wait()
        return f"content of {name}"

    monkeypatch.setattr(sources, "content_of", content_of)
    files = [{"name": f"s3://bucket/{number}", "etag": "tag"} for number in range(8)]
    found = sources.with_contents(files, allow_overlap=False)
    assert found == [{"name": file["name"], "content": f"content of {file['name']}"} for file in files]


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv"])
def test_a_compressed_text_that_the_server_calls_gzip_encoded_is_read(web, name, ranges):
    frame = table(60_000)  # longer than the range of one request
    web.files[f"/{name}"] = gzip.compress(frame.to_csv(index=False).encode(), 1)
    web.encoding, web.ranges = "gzip", ranges
    assert np.allclose(rows_of(sb.read_chunks(f"{web.url}/{name}")), frame, rtol=1e-12)


@pytest.mark.parametrize("fault", ["failing", "breaking"])
@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_answers_that_fail_or_break_off_are_asked_for_again(web, name, fault):
    frame = table()
    web.files[f"/{name}"] = parquet(frame) if name == "a.parquet" else frame.to_csv(index=False).encode()
    source = sb.read_chunks(f"{web.url}/{name}")
    setattr(web, fault, 2)
    assert np.allclose(rows_of(source), frame, rtol=1e-12)
    assert getattr(web, fault) == 0


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.csv.gz", "a.jsonl", "a.npy", "a.arrow"])
def test_answers_that_always_break_off_are_an_error_and_no_rows(web, tmp_path, name, ranges):
    frame = table()
    np.save(tmp_path / "a.npy", frame.to_numpy())
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.csv.gz", index=False)
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_feather(tmp_path / "a.arrow")
    web.files[f"/{name}"] = (tmp_path / name).read_bytes()
    web.ranges, web.breaking = ranges, 10**9
    with pytest.raises(ConnectionError, match=f"{web.url}/{name} cannot be reached"):
        rows_of(sb.read_chunks(f"{web.url}/{name}"))


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [(401, PermissionError, "access is denied"), (403, PermissionError, "access is denied"),
     (404, FileNotFoundError, "has single files, no folders or patterns"), (500, ConnectionError, "cannot be reached")],
)  # fmt: skip
def test_each_status_of_a_web_server_has_its_error(web, status, kind, words):
    web.statuses["/a.csv"] = status
    with pytest.raises(kind, match=words) as error:
        sb.read_chunks(f"{web.url}/a.csv")
    assert f"{web.url}/a.csv" in str(error.value)


def test_a_server_that_is_not_there_is_named(web):
    web.close()
    with pytest.raises(ConnectionError, match=f"^{web.url}/a.csv cannot be reached"):
        sb.read_chunks(f"{web.url}/a.csv")


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_process_may_end_in_the_middle_of_a_text(web, suffix):
    text = table(200_000).round(6).to_csv(index=False).encode()
    web.files[f"/a.csv{suffix}"] = gzip.compress(text, 1) if suffix else text
    script = "import sys, silverbirch as sb; rows = iter(sb.read_chunks(sys.argv[1])); print(len(next(rows)))"
    for _ in range(3):
        arguments = [sys.executable, "-c", script, f"{web.url}/a.csv{suffix}"]
        ended = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=300)
        assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("delay", [0, 0.6])
def test_an_error_in_the_middle_of_a_text_ends_the_command_with_1(web, delay):
    text = table(150_000).round(6).to_csv(index=False)
    web.files["/a.csv"] = (text + "no,1,2,3\n" + text.partition("\n")[2]).encode()
    web.delay = delay  # the thread that reads ahead waits for the server when the error is found
    arguments = [sys.executable, "-m", "silverbirch", "cluster", f"{web.url}/a.csv", "-k", "3"]
    ended = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Error: {web.url}/a.csv, line 150002: column 'a' holds 'no'")


def test_an_empty_file_of_a_web_server_is_empty(web):
    web.files["/a.csv"] = b""
    with pytest.raises(ValueError, match=f"{web.url}/a.csv is empty"):
        sb.read_chunks(f"{web.url}/a.csv")


def test_a_file_of_a_web_server_that_changes_is_noticed(web):
    web.files["/a.csv"] = b"a,b\n1,2\n3,4\n"
    source = sb.read_chunks(f"{web.url}/a.csv")
    rows_of(source)
    web.files["/a.csv"] = b"a,b\n1,2\n3,5\n"
    with pytest.raises(ValueError, match="was changed while it was read"):
        rows_of(source)


# -- file systems of fsspec


def test_folders_patterns_and_partitions_are_those_of_local_files(memory, tmp_path, monkeypatch):
    names = ["year=2024/a.csv", "year=2024/b.csv", "year=2025/a.csv", "year=2025/_hidden.csv", "year=2025/.b/c.csv"]
    for number, name in enumerate(names):
        text = table(20, number).to_csv(index=False).encode()
        (tmp_path / "rows" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "rows" / name).write_bytes(text)
        memory.pipe(f"/rows/{name}", text)
    monkeypatch.chdir(tmp_path)
    for given in ("rows", "rows/", "rows/*/a.csv", "rows/**/[ab].csv", "rows/year=2024/?.csv", "rows/*"):
        local, remote = sb.read_chunks(given), sb.read_chunks(f"memory://{given}")
        expected = [f"memory://{file['name']}" for file in local.fingerprint()]
        assert [file["name"] for file in remote.fingerprint()] == expected
        assert remote.names == local.names == (*"abcd", "year")
        assert np.array_equal(rows_of(remote), rows_of(local))


def test_an_empty_folder_and_a_missing_file_are_named(memory):
    memory.pipe("/rows/notes.txt", b"x")
    with pytest.raises(FileNotFoundError, match="memory://rows: there are no files in this folder that can be read"):
        sb.read_chunks("memory://rows")
    for given in ("memory://rows/a.csv", "memory://rows/*.csv", "memory://nowhere/*/a.csv", "memory://my own rows"):
        with pytest.raises(FileNotFoundError, match="there is no such file or folder"):
            sb.read_chunks(given)


def test_a_model_fits_predicts_and_is_saved_without_a_local_file(memory, tmp_path):
    frame = table()
    memory.pipe("/rows/a.parquet", parquet(frame))
    model = sb.Betula(5).fit("memory://rows/a.parquet")
    model.save("memory://models/m.sb")
    model.save(tmp_path / "m.sb")
    assert memory.cat("/models/m.sb") == (tmp_path / "m.sb").read_bytes()
    assert np.array_equal(sb.load("memory://models/m.sb").predict(frame), model.labels_)

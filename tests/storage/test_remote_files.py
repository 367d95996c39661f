"""Files that are written on other machines: complete or not at all."""

import contextlib

import fsspec
import numpy as np
import pytest
from pyarrow.fs import FSSpecHandler, LocalFileSystem, PyFileSystem

import silverbirch as sb
from silverbirch.remote import place
from silverbirch.remote.stores import ArrowStore
from silverbirch.storage.atomic import check_free, new_file, remove_leftovers


class Unmoving(FSSpecHandler):
    def move(self, src, dest):
        raise OSError("no move")


@pytest.fixture(params=["memory", "local"])
def folder(request, tmp_path):
    """A folder of a store of objects, and one of files, both by fsspec."""
    if request.param == "local":
        return f"local://{tmp_path}"
    memory = fsspec.filesystem("memory")
    memory.rm("/", recursive=True) if memory.ls("/") else None
    memory.pipe("/top/there", b"x")
    return "memory://top"


def content(path):
    with fsspec.open(path, "rb") as file:
        return file.read()


def test_a_file_is_there_when_it_is_complete(folder):
    path = f"{folder}/new/a.bin"
    with new_file(path) as file:
        file.write(b"all")
        assert not place(path).exists()
    assert content(path) == b"all"
    assert [one.name for one in place(f"{folder}/new").files_below()] == ["a.bin"]


def test_an_error_leaves_the_old_file_and_nothing_else(folder):
    path = f"{folder}/new/a.bin"
    with new_file(path) as file:
        file.write(b"old")

    def fail():
        with new_file(path, force=True) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert content(path) == b"old"
    assert [one.name for one in place(f"{folder}/new").files_below()] == ["a.bin"]


def test_an_upload_that_fails_is_tried_again_and_then_an_error(folder, monkeypatch):
    calls = []
    fs = type(fsspec.core.url_to_fs(folder)[0])
    put_file = fs.put_file

    def failing(self, *args, **options):
        calls.append(args)
        if len(calls) < 3:
            raise OSError("the line is dead")
        return put_file(self, *args, **options)

    monkeypatch.setattr(fs, "put_file", failing)
    with new_file(f"{folder}/a.bin") as file:
        file.write(b"all")
    assert content(f"{folder}/a.bin") == b"all"
    assert len(calls) == 3
    monkeypatch.setattr(fs, "put_file", lambda *_, **__: (_ for _ in ()).throw(OSError("the line is dead")))
    with contextlib.ExitStack() as stack:
        stack.enter_context(new_file(f"{folder}/a.bin", force=True)).write(b"other")
        with pytest.raises(ConnectionError, match=rf"{folder}/a.bin cannot be reached \(the line is dead\)"):
            stack.close()
    assert content(f"{folder}/a.bin") == b"all"


def test_an_upload_of_fewer_bytes_is_an_error(folder, monkeypatch):
    fs = type(fsspec.core.url_to_fs(folder)[0])
    monkeypatch.setattr(fs, "put_file", lambda self, local, path, **_: self.pipe(path, b"al"))
    with contextlib.ExitStack() as stack:
        stack.enter_context(new_file(f"{folder}/a.bin")).write(b"all")
        with pytest.raises(ConnectionError, match="has 2 bytes after the upload of 3: write it again"):
            stack.close()


@pytest.mark.parametrize("fails", [False, True])
def test_an_upload_of_pyarrow_in_place_leaves_no_partial_file(tmp_path, fails):
    (tmp_path / "local").write_bytes(b"all")
    files = PyFileSystem(Unmoving(fsspec.filesystem("local"))) if fails else LocalFileSystem()
    store = ArrowStore(files, str(tmp_path / "there"), whole=False)
    if fails:
        with pytest.raises(OSError, match="no move"):
            store.upload(tmp_path / "local", "new/a.bin")
    else:
        store.upload(tmp_path / "local", "new/a.bin")
        assert (tmp_path / "there" / "new" / "a.bin").read_bytes() == b"all"
    assert [one.name for one in (tmp_path / "there" / "new").iterdir()] == ([] if fails else ["a.bin"])


def test_an_existing_file_is_overwritten_only_if_asked(folder):
    path = f"{folder}/a.bin"
    with new_file(path) as file:
        file.write(b"old")
    with pytest.raises(FileExistsError, match=f"{path} exists: give another name"):
        check_free(path)
    check_free(path, force=True)
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        check_free(folder, force=True)


def test_a_web_server_is_only_read():
    with pytest.raises(PermissionError, match=r"cannot write https://example.org/m.sb: https:// is only read"):
        sb.ClusterFeatures(1, [[0.0]], 0).save("https://example.org/m.sb")


def test_remote_files_have_no_leftovers_to_remove(folder):
    with new_file(f"{folder}/a.bin.1-ab.part") as file:
        file.write(b"somebody else's")
    remove_leftovers([f"{folder}/a.bin"])
    assert content(f"{folder}/a.bin.1-ab.part") == b"somebody else's"


def test_a_damaged_remote_file_is_refused_by_its_name(folder):
    path = f"{folder}/m.sb"
    sb.ClusterFeatures(1, np.arange(6.0).reshape(3, 2), 0).save(path)
    whole = content(path)
    for broken in (b"", whole[:-1], whole[:-1] + b"\xff"):
        with fsspec.open(path, "wb") as file:
            file.write(broken)
        with pytest.raises(sb.ModelFileError, match=f"{path} is not a whole silverbirch file"):
            sb.load(path)


def test_a_missing_remote_file_is_not_found_and_a_folder_is_a_folder(folder):
    with pytest.raises(FileNotFoundError, match=f"{folder}/m.sb: there is no such file"):
        sb.load(f"{folder}/m.sb")
    with pytest.raises(IsADirectoryError, match=f"{folder} is a folder"):
        sb.load(folder)

"""The container of model files: what is written is read back, and only complete files are read."""

import hashlib
import io
import json
import os
import pickle
import struct
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import silverbirch as sb
from model_files import assert_refused, assert_same_arrays, entry, file_of, header_of, sealed
from silverbirch.storage import container
from silverbirch.storage.atomic import new_file

ARRAYS = {
    "mean": np.arange(6.0).reshape(3, 2),
    "bytes": np.array([1, 2, 255], dtype=np.uint8),
    "numbers": np.array([-1, 2**62]),
    "single": np.array([[0.5]], dtype=np.float32),
    "counts": np.array([7, 2**32 - 1], dtype=np.uint32),
    "nothing": np.empty((0, 4)),
    "one": np.array(3.0),
}
STATE = {"name": 'a "b" \\ é \U0001f333', "list": [1, 2.5, None, True, {"a": {}}], "big": 2**80}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "any.sb"


# --- whole files


def test_what_is_written_comes_back(path):
    container.write(path, "thing", STATE, ARRAYS)
    kind, state, arrays = container.read(path)
    assert (kind, state) == ("thing", STATE)
    assert_same_arrays(arrays, ARRAYS)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
any_array = st.sampled_from(["f8", "f4", "i8", "u4", "u1"]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
names = st.text(min_size=1, max_size=8).filter(lambda name: name != "__metadata__")


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text(), json_values), st.dictionaries(names, any_array, max_size=4))
def test_any_values_and_arrays_come_back(tmp_path_factory, state, arrays):
    path = tmp_path_factory.mktemp("any") / "any.sb"
    container.write(path, "thing", state, arrays)
    kind, again, same = container.read(path, "thing")
    assert (kind, again) == ("thing", state)
    assert_same_arrays(same, arrays)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text(), json_values), st.dictionaries(names, any_array, max_size=4))
def test_packed_bytes_are_those_of_the_file_and_come_back_without_one(tmp_path_factory, state, arrays):
    path = tmp_path_factory.mktemp("any") / "any.sb"
    container.write(path, "thing", state, arrays)
    data = container.packed("thing", state, arrays)
    assert data == path.read_bytes()
    kind, again, same = container.unpacked(data, "the message")
    assert (kind, again) == ("thing", state)
    assert_same_arrays(same, arrays)


def test_unpacked_arrays_may_be_changed_without_a_change_of_the_bytes():
    data = container.packed("thing", STATE, ARRAYS)
    copy = bytes(bytearray(data))
    container.unpacked(data, "the message")[2]["mean"][:] = 7.0
    assert data == copy


def test_the_package_safetensors_reads_our_files(path):
    container.write(path, "thing", STATE, ARRAYS)
    assert_same_arrays(load_file(path), ARRAYS)
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    assert json.loads(metadata["state"]) == STATE
    assert {k: metadata[k] for k in ("format", "version", "kind")} == {
        "format": "silverbirch",
        "version": "3",
        "kind": "thing",
    }


def test_a_file_of_safetensors_that_is_not_ours_is_refused(path):
    save_file({"mean": np.ones(3)}, path, metadata={"format": "np"})
    assert_refused(path, path.read_bytes())


def test_the_layout_is_the_documented_one(path):
    container.write(path, "thing", {"k": 5}, {"b": np.array([1, 2], np.uint8), "a": np.array([0.5])})
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    assert length % 8 == 0
    start = b'{"__metadata__":{"format":"silverbirch","version":"3","sha256":"'
    assert content[8:].startswith(start)
    place = 8 + len(start)
    digest = content[place : place + 64]
    zeroed = content[:place] + b"0" * 64 + content[place + 64 :]
    assert hashlib.sha256(zeroed).hexdigest().encode() == digest
    assert content[8 + length :] == struct.pack("<d", 0.5) + b"\x01\x02"
    assert json.loads(content[8 : 8 + length])["a"] == {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}


def test_files_made_by_hand_are_read(path):
    path.write_bytes(file_of("thing", {"k": 5}, ARRAYS))
    kind, state, arrays = container.read(path)
    assert (kind, state) == ("thing", {"k": 5})
    assert_same_arrays(arrays, ARRAYS)


def test_every_array_begins_at_a_multiple_of_the_size_of_its_numbers(path):
    container.write(path, "thing", {}, ARRAYS)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    for name, array in ARRAYS.items():
        assert (8 + length + header[name]["data_offsets"][0]) % array.itemsize == 0


def test_the_same_content_gives_the_same_bytes(path):
    container.write(path, "thing", STATE, ARRAYS)
    first = path.read_bytes()
    container.write(path, "thing", STATE, dict(reversed(ARRAYS.items())))
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4)[::-1, ::2],
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(3, dtype=">f8"),
        np.arange(3, dtype=">u4"),
        np.broadcast_to(np.array(1.5), (3, 2)),
    ],
    ids=["strided", "Fortran", "big-endian", "big-endian counts", "broadcast"],
)
def test_arrays_of_any_layout_come_back_plain(path, array):
    container.write(path, "thing", {}, {"x": array})
    assert_same_arrays(container.read(path)[2], {"x": np.array(array, dtype=array.dtype.newbyteorder("="), order="C")})


@pytest.mark.parametrize(
    "bad", [np.array([{}]), np.array(["a"]), np.array([1j]), np.array([True]), np.array([1], "M8[s]")]
)
def test_arrays_of_other_types_are_not_written(path, bad):
    with pytest.raises(TypeError, match=r"x holds .*: a file holds arrays of float64, int64, float32, uint32, uint8"):
        container.write(path, "thing", {}, {"x": bad})
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("bad", [{"a": float("nan")}, {"a": float("-inf")}, {"a": np.ones(1)}, {"a": {1, 2}}])
def test_values_that_json_does_not_know_are_not_written(path, bad):
    path.write_bytes(b"old")
    with pytest.raises((TypeError, ValueError), match="JSON"):
        container.write(path, "thing", bad, {})
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_more_values_than_are_read_are_not_written(path):
    with pytest.raises(ValueError, match="a file has room for 8388608: shorten them"):
        container.write(path, "thing", {"a": "x" * container._LARGEST_HEADER}, {})
    with pytest.raises(ValueError, match="must be a word"):
        container.write(path, "Two words", {}, {})
    assert not path.exists()


# --- replacing


def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(path):
    path.write_bytes(b"old")

    def fail():
        with new_file(path, force=True) as file:
            file.write(b"new")
            raise RuntimeError("no space left")

    with pytest.raises(RuntimeError, match="no space left"):
        fail()
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_a_link_stays_a_link(path):
    target = path.with_name("target.sb")
    target.write_bytes(b"old")
    path.symlink_to(target)
    container.write(path, "thing", {}, {})
    assert path.is_symlink()
    assert container.read(target)[0] == "thing"


def test_what_is_not_a_file_is_not_replaced(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        container.write(tmp_path / "nowhere" / "x.sb", "thing", {}, {})
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        container.write(tmp_path, "thing", {}, {})
    with pytest.raises(FileExistsError, match="it is a device"):
        container.write(os.devnull, "thing", {}, {})


def test_threads_may_save_to_the_same_path(path):
    arrays = [{"x": np.full(100_000, float(n))} for n in range(4)]
    threads = [threading.Thread(target=container.write, args=(path, "thing", {}, a)) for a in arrays for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(np.unique(container.read(path)[2]["x"])) == 1
    assert list(path.parent.iterdir()) == [path]


# --- damage


@pytest.fixture(scope="module")
def small():
    """A small file with all its parts: a header with values, arrays of several types."""
    return file_of("features", {"k": 5}, {"mean": np.array([0.5]), "count": np.array([3], np.uint32)})


def test_the_small_file_is_whole(path, small):
    path.write_bytes(small)
    assert container.read(path)[1] == {"k": 5}


def test_a_file_cut_short_at_any_byte_is_refused(path, small):
    for length in range(len(small)):
        assert_refused(path, small[:length])


def test_a_file_with_any_bit_flipped_is_refused(path, small):
    for place in range(len(small)):
        for bit in range(8):
            damaged = bytearray(small)
            damaged[place] ^= 1 << bit
            assert_refused(path, damaged, match=r"is not a whole silverbirch file|has format \d+, this version")


def test_a_file_with_bytes_added_or_removed_anywhere_is_refused(path, small):
    for place in range(0, len(small) + 1, 3):
        assert_refused(path, small[:place] + b"\0" + small[place:])
        assert_refused(path, small[:place] + b" " + small[place:])
        if place < len(small):
            assert_refused(path, small[:place] + small[place + 1 :])


@settings(deadline=None, max_examples=200)
@given(st.binary(min_size=1, max_size=300).filter(bytes.strip))
def test_bytes_of_any_kind_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "any.sb"
    assert_refused(path, content)
    assert_refused(path, sealed(header_of({}) + content))
    assert_refused(path, sealed(b'{"__metadata__":{"format":"silverbirch","version":"1","sha256":"' + content))


def test_a_refused_file_is_a_bad_value():
    assert issubclass(sb.ModelFileError, ValueError)


# --- other files


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle in the file was run",))


OTHER_FILES = {
    "empty": b"",
    "text": b"weight,mean,sse\n1,2,3\n",
    "zeros": bytes(1000),
    "JSON": b'{"__metadata__":{"format":"silverbirch"}}',
    "a pickle": pickle.dumps({"levels": 0}),
    "a pickle that runs code": pickle.dumps(Bomb()),
    "an npy": npy(np.ones(3)),
    "an npy of objects": npy(np.array([Bomb()], dtype=object)),
    "an npz": npz(weight=np.ones(3)),
    "an npz of objects": npz(weight=np.array([Bomb()], dtype=object)),
    "a pickle after the header": sealed(header_of({"x": entry([1], 0, 8, "O")}), pickle.dumps(Bomb())),
}


@pytest.mark.parametrize("content", OTHER_FILES.values(), ids=OTHER_FILES.keys())
def test_a_file_that_is_no_model_is_refused(path, content):
    assert_refused(path, content)
    for load in (sb.load, sb.Betula.load, sb.CFTree.load, sb.Dendrogram.load, sb.ClusterFeatures.load):
        with pytest.raises(sb.ModelFileError):
            load(path)


def test_a_missing_file_is_not_found_and_a_folder_is_a_folder(path):
    with pytest.raises(FileNotFoundError):
        container.read(path)
    with pytest.raises(OSError, match=str(path.parent)):
        container.read(path.parent)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_refused_and_not_waited_for(path):
    os.mkfifo(path)
    with pytest.raises(sb.ModelFileError, match="is not a file"):
        container.read(path)


@pytest.mark.parametrize("version", ["4", "10", "123456789"])
def test_a_file_of_a_newer_format_asks_for_an_update(path, version):
    content = sealed(header_of({}, version=version)[:-2] + b',"and_then":"what nobody knows yet"}')
    assert_refused(path, content, rf"has format {version}, this version reads up to 3: update silverbirch")


def test_a_file_of_another_kind_is_refused(path):
    container.write(path, "forest", {}, {})
    with pytest.raises(sb.ModelFileError, match=r"any.sb holds a forest, not a tree"):
        container.read(path, "tree")


def test_packed_bytes_that_are_not_whole_are_refused_by_their_label():
    data = container.packed("thing", {"k": 5}, {"a": np.array([0.5, 1.5])})
    for broken in (b"", data[:-1], data + b"\0", data[:-1] + b"\1", b"anything"):
        with pytest.raises(sb.ModelFileError, match="the message is not a whole silverbirch file"):
            container.unpacked(broken, "the message")
    newer = data.replace(b'"version":"3"', b'"version":"4"', 1)
    with pytest.raises(sb.ModelFileError, match="the message has format 4"):
        container.unpacked(newer, "the message")

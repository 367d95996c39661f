"""The container of model files: what is written comes back, and nothing but a whole file is read."""

import hashlib
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

import silverbirch as sb
from model_files import entry, file_of, header_of, sealed
from silverbirch import files
from silverbirch.writers import new_file

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


def assert_same(arrays, expected):
    assert arrays.keys() == expected.keys()
    for name, array in arrays.items():
        assert array.dtype == expected[name].dtype
        assert array.dtype.isnative
        np.testing.assert_array_equal(array, expected[name], strict=True)


def assert_refused(path, content, match="is not a whole silverbirch file: ."):
    path.write_bytes(content)
    with pytest.raises(sb.ModelFileError, match=match) as caught:
        files.read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert len(message) < len(str(path)) + 300


# --- whole files


def test_what_is_written_comes_back(path):
    files.write(path, "thing", STATE, ARRAYS)
    kind, state, arrays = files.read(path)
    assert (kind, state) == ("thing", STATE)
    assert_same(arrays, ARRAYS)


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
    files.write(path, "thing", state, arrays)
    kind, again, same = files.read(path, "thing")
    assert (kind, again) == ("thing", state)
    assert_same(same, arrays)


def test_the_package_safetensors_reads_our_files(path):
    files.write(path, "thing", STATE, ARRAYS)
    assert_same(load_file(path), ARRAYS)
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    assert json.loads(metadata["state"]) == STATE
    assert {k: metadata[k] for k in ("format", "version", "kind")} == {
        "format": "silverbirch",
        "version": "1",
        "kind": "thing",
    }


def test_a_file_of_safetensors_that_is_not_ours_is_refused(path):
    save_file({"mean": np.ones(3)}, path, metadata={"format": "np"})
    assert_refused(path, path.read_bytes())


def test_the_layout_is_the_documented_one(path):
    files.write(path, "thing", {"k": 5}, {"b": np.array([1, 2], np.uint8), "a": np.array([0.5])})
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    assert length % 8 == 0
    start = b'{"__metadata__":{"format":"silverbirch","version":"1","sha256":"'
    assert content[8:].startswith(start)
    place = 8 + len(start)
    digest = content[place : place + 64]
    zeroed = content[:place] + b"0" * 64 + content[place + 64 :]
    assert hashlib.sha256(zeroed).hexdigest().encode() == digest
    assert content[8 + length :] == struct.pack("<d", 0.5) + b"\x01\x02"
    assert json.loads(content[8 : 8 + length])["a"] == {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}


def test_files_made_by_hand_are_read(path):
    path.write_bytes(file_of("thing", {"k": 5}, ARRAYS))
    kind, state, arrays = files.read(path)
    assert (kind, state) == ("thing", {"k": 5})
    assert_same(arrays, ARRAYS)


def test_every_array_begins_at_a_multiple_of_the_size_of_its_numbers(path):
    files.write(path, "thing", {}, ARRAYS)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    for name, array in ARRAYS.items():
        assert (8 + length + header[name]["data_offsets"][0]) % array.itemsize == 0


def test_the_same_content_gives_the_same_bytes(path):
    files.write(path, "thing", STATE, ARRAYS)
    first = path.read_bytes()
    files.write(path, "thing", STATE, dict(reversed(ARRAYS.items())))
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
    files.write(path, "thing", {}, {"x": array})
    assert_same(files.read(path)[2], {"x": np.array(array, dtype=array.dtype.newbyteorder("="), order="C")})


@pytest.mark.parametrize(
    "bad", [np.array([{}]), np.array(["a"]), np.array([1j]), np.array([True]), np.array([1], "M8[s]")]
)
def test_arrays_of_other_types_are_not_written(path, bad):
    with pytest.raises(TypeError, match=r"x holds .*: a file holds arrays of float64, int64, float32, uint32, uint8"):
        files.write(path, "thing", {}, {"x": bad})
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("bad", [{"a": float("nan")}, {"a": float("-inf")}, {"a": np.ones(1)}, {"a": {1, 2}}])
def test_values_that_json_does_not_know_are_not_written(path, bad):
    path.write_bytes(b"old")
    with pytest.raises((TypeError, ValueError), match="JSON"):
        files.write(path, "thing", bad, {})
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_more_values_than_are_read_are_not_written(path):
    with pytest.raises(ValueError, match="at most: store arrays"):
        files.write(path, "thing", {"a": "x" * files._LARGEST_HEADER}, {})
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
    files.write(path, "thing", {}, {})
    assert path.is_symlink()
    assert files.read(target)[0] == "thing"


def test_what_is_not_a_file_is_not_replaced(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        files.write(tmp_path / "nowhere" / "x.sb", "thing", {}, {})
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        files.write(tmp_path, "thing", {}, {})
    with pytest.raises(FileExistsError, match="it is a device"):
        files.write(os.devnull, "thing", {}, {})


def test_threads_may_save_to_the_same_path(path):
    arrays = [{"x": np.full(100_000, float(n))} for n in range(4)]
    threads = [threading.Thread(target=files.write, args=(path, "thing", {}, a)) for a in arrays for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(np.unique(files.read(path)[2]["x"])) == 1
    assert list(path.parent.iterdir()) == [path]


# --- damage


@pytest.fixture(scope="module")
def small():
    """A small file with all its parts: a header with values, arrays of several types."""
    return file_of("features", {"k": 5}, {"mean": np.array([0.5]), "count": np.array([3], np.uint32)})


def test_the_small_file_is_whole(path, small):
    path.write_bytes(small)
    assert files.read(path)[1] == {"k": 5}


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
        files.read(path)
    with pytest.raises(OSError, match=str(path.parent)):
        files.read(path.parent)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_refused_and_not_waited_for(path):
    os.mkfifo(path)
    with pytest.raises(sb.ModelFileError, match="is not a file"):
        files.read(path)


@pytest.mark.parametrize("version", ["2", "10", "123456789"])
def test_a_file_of_a_newer_format_asks_for_an_update(path, version):
    content = sealed(header_of({}, version=version)[:-2] + b',"and_then":"what nobody knows yet"}')
    assert_refused(path, content, rf"has format {version}, this version reads up to 1: update silverbirch")


def test_a_file_of_another_kind_is_refused(path):
    files.write(path, "forest", {}, {})
    with pytest.raises(sb.ModelFileError, match=r"any.sb holds a forest, not a tree"):
        files.read(path, "tree")


# --- hostile headers, with the right length and the right checksum


def header_with(old, new):
    text = header_of({"x": entry([2], 0, 16), "y": entry([1], 16, 24)}, state='{"k":5}')
    assert text.count(old) == 1
    return text.replace(old, new)


HOSTILE = {
    "a shape larger than the file": header_with(b"[2]", b"[3]"),
    "a shape smaller than its bytes": header_with(b"[2]", b"[1]"),
    "a shape of terabytes": header_with(b"[2]", b"[1099511627776]"),
    "a shape whose product passes 64 bits": header_with(b"[2]", b"[4294967296,4294967296,2]"),
    "a shape whose product wraps to the right size": header_with(b"[2]", b"[9223372036854775809,2]"),
    "a shape with a digit for every byte": header_with(b"[2]", b"[" + b"9" * 4000 + b"]"),
    "a shape of too many digits": header_with(b"[2]", b"[" + b"9" * 10_000 + b"]"),
    "a shape below zero": header_with(b"[2]", b"[-2]"),
    "a shape of two below zero": header_with(b"[2]", b"[-1,-2]"),
    "a shape of nothing times much": header_with(b"[2]", b"[0,1" + b"0" * 30 + b"]"),
    "a shape of fractions": header_with(b"[2]", b"[2.0]"),
    "a shape of truth": header_with(b"[2]", b"[true,2]"),
    "a shape of text": header_with(b"[2]", b'["2"]'),
    "a shape that is a number": header_with(b"[2]", b"2"),
    "a shape that is nothing": header_with(b"[2]", b"null"),
    "a shape of many dimensions": header_with(b"[2]", b"[2" + b",1" * 100 + b"]"),
    "arrays that overlap": header_with(b"[16,24]", b"[8,16]"),
    "arrays with a gap": header_with(b"[16,24]", b"[17,25]"),
    "arrays backwards": header_with(b"[16,24]", b"[24,16]"),
    "arrays below zero": header_with(b"[0,16]", b"[-16,0]"),
    "offsets that are one": header_with(b"[16,24]", b"[16]"),
    "offsets of fractions": header_with(b"[16,24]", b"[16.0,24.0]"),
    "offsets of truth": header_with(b"[0,16]", b"[false,16]"),
    "a type nobody knows": header_with(b'{"dtype":"F64","shape":[2]', b'{"dtype":"O","shape":[2]'),
    "a type that is a list": header_with(b'{"dtype":"F64","shape":[2]', b'{"dtype":["F64"],"shape":[2]'),
    "an array without a type": header_with(b'"dtype":"F64","shape":[2]', b'"shape":[2]'),
    "an array with more": header_with(b'"dtype":"F64","shape":[2]', b'"pickle":1,"dtype":"F64","shape":[2]'),
    "an array that is a list": header_with(b'"y":{"dtype"', b'"z":[],"y":{"dtype"'),
    "an array twice": header_with(b'"y":', b'"x":'),
    "a key twice in the values": header_with(b'"{\\"k\\":5}"', b'"{\\"k\\":5,\\"k\\":6}"'),
    "values that are a list": header_with(b'"{\\"k\\":5}"', b'"[]"'),
    "values that are not JSON": header_with(b'"{\\"k\\":5}"', b'"{"'),
    "values that are no text": header_with(b'"{\\"k\\":5}"', b"5"),
    "values nested without end": header_with(b'"{\\"k\\":5}"', b'"' + b"[" * 200_000 + b'"'),
    "NaN among the values": header_with(b'\\"k\\":5', b'\\"k\\":NaN'),
    "infinity among the values": header_with(b'\\"k\\":5', b'\\"k\\":-Infinity'),
    "a number that becomes infinite": header_with(b'\\"k\\":5', b'\\"k\\":1e999'),
    "half a character": header_with(b'\\"k\\":5', b'\\"\\ud800\\":5'),
    "metadata with more": header_with(b'"kind":', b'"pickle":"1","kind":'),
    "metadata without a kind": header_with(b'"kind":"features",', b""),
    "metadata twice": header_with(b'"y":', b'"__metadata__":'),
    "a kind of two lines": header_with(b'"features"', b'"two\\nlines"'),
    "a kind without an end": header_with(b'"features"', b'"' + b"a" * 10_000 + b'"'),
    "a kind that is a number": header_with(b'"features"', b"5"),
    "version zero": header_with(b'"version":"1"', b'"version":"0"'),
    "a version that is a word": header_with(b'"version":"1"', b'"version":"new"'),
    "a version that is a number": header_with(b'"version":"1"', b'"version":1'),
    "a header nested without end": header_with(b'"y":', b'"z":' + b"[" * 200_000),
    "a header of another encoding": header_with(b'"x":', b'"\xff":'),
    "a header that is cut": header_with(b'"x":', b'"x":')[:-1],
    "a header that goes on": header_with(b'"x":', b'"x":') + b"{}",
    "a name of two lines": header_with(b'"x":{"dtype":"F64"', b'"a\\nb' + b"c" * 1000 + b'":{"dtype":"F65"'),
    "more arrays than a header has room for": header_of({f"{n}": entry([0], 0, 0) for n in range(200_000)}),
}


@pytest.mark.parametrize("header", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_header_is_refused(path, header):
    assert_refused(path, sealed(header, bytes(24)))


def test_the_hostile_headers_start_from_a_good_one(path):
    path.write_bytes(sealed(header_with(b"[2]", b"[2]"), bytes(24)))
    assert {name: array.shape for name, array in files.read(path)[2].items()} == {"x": (2,), "y": (1,)}


@pytest.mark.parametrize("length", [0, 1, 8, 50, 60, 150, 10**6, 2**24, 2**31, 2**63, 2**64 - 1])
def test_a_header_of_any_other_length_is_refused(path, length):
    assert_refused(path, sealed(header_with(b"[2]", b"[2]"), bytes(24), length))


fragments = st.sampled_from(
    [b"{", b"}", b"[", b"]", b",", b":", b'"', b"-", b"0", b"9" * 30, b"1e9", b"null", b"true", b"NaN", b'"x"', b"\\",
     b"\\u0000", b'"__metadata__"', b'"shape"', b'"F32"', b"\xff", b" "]
)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_a_header_changed_anywhere_is_refused_or_reads_as_safetensors_reads_it(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "any.sb"
    text = header_with(b"[2]", b"[2]")
    for _ in range(data.draw(st.integers(1, 3))):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, min(len(text), begin + 6)))
        text = text[:begin] + b"".join(data.draw(st.lists(fragments, max_size=3))) + text[end:]
    path.write_bytes(sealed(text, bytes(range(24))))
    try:
        _, _, arrays = files.read(path)
    except sb.ModelFileError:
        return
    try:
        theirs = load_file(path)
    except SafetensorError as error:
        pytest.fail(f"safetensors refuses what we read: {error}")
    assert_same(arrays, theirs)


# --- no claim is believed before it is compared with the size of the file


def run_with_little_memory(code, *arguments):
    limited = (
        "import resource, sys\n"
        "import silverbirch as sb\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + 2**26, size + 2**26))\n" + code
    )
    environment = os.environ | {"PYTHONPATH": str(Path(sb.__file__).parents[1])}
    command = [sys.executable, "-c", limited, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the size of the process is read from /proc")
def test_huge_claims_are_refused_without_the_memory_for_them(tmp_path):
    claims = {
        "shape": sealed(header_with(b"[2]", b"[1099511627776]"), bytes(24)),
        "length": sealed(header_with(b"[2]", b"[2]"), bytes(24), 2**40),
        "both": sealed(
            header_of({"mean": entry([2**20, 2**20], 0, 2**43), "weight": entry([1], 2**43, 2**43 + 8)}), bytes(24)
        ),
    }
    for name, content in claims.items():
        (tmp_path / name).write_bytes(content)
    code = (
        "for path in sys.argv[1:]:\n"
        "    try:\n"
        "        sb.load(path)\n"
        "    except sb.ModelFileError as error:\n"
        "        print('refused')\n"
        "try:\n"
        "    bytearray(2**27)\n"
        "except MemoryError:\n"
        "    print('the limit holds')\n"
    )
    result = run_with_little_memory(code, *(tmp_path / name for name in claims))
    assert result.stdout.split("\n") == ["refused"] * 3 + ["the limit holds", ""], result.stderr


def test_a_file_larger_than_the_machine_is_refused(path, monkeypatch):
    """A file with holes can claim any size and be of that size."""
    header = header_of({"mean": entry([2**20], 0, 2**23)})
    with path.open("wb") as file:
        file.write(sealed(header))
        file.truncate(8 + len(header) + 2**23)
    monkeypatch.setattr(files, "physical_memory", lambda: 2**22)
    with pytest.raises(
        sb.MemoryLimitError, match=r"any.sb cannot be loaded: it is 8.39 MB and the machine has 4.19 MB"
    ):
        files.read(path)

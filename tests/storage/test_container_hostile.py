"""Model files with false headers, of the right length and with the right checksum."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.numpy import load_file

import silverbirch as sb
from model_files import assert_refused, assert_same_arrays, entry, header_of, sealed
from silverbirch.storage import container


@pytest.fixture
def path(tmp_path):
    return tmp_path / "any.sb"


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
    "offsets of minus nothing": header_with(b"[0,16]", b"[-0,16]"),
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
    assert {name: array.shape for name, array in container.read(path)[2].items()} == {"x": (2,), "y": (1,)}


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
        _, _, arrays = container.read(path)
    except sb.ModelFileError:
        return
    try:
        theirs = load_file(path)
    except SafetensorError as error:
        pytest.fail(f"safetensors refuses what we read: {error}")
    assert_same_arrays(arrays, theirs)


# --- no claim is believed before it is compared with the size of the file


def run_with_little_memory(code, *arguments):
    limited = (
        "import resource, sys\n"
        "import silverbirch as sb\n"
        "sb.load, sb.ModelFileError\n"  # imported now, not within the limit
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
    """A sparse file can have any size."""
    header = header_of({"mean": entry([2**20], 0, 2**23)})
    with path.open("wb") as file:
        file.write(sealed(header))
        file.truncate(8 + len(header) + 2**23)
    monkeypatch.setattr(container, "physical_memory", lambda: 2**22)
    with pytest.raises(
        sb.MemoryLimitError, match=r"any.sb cannot be loaded: it is 8.39 MB and the machine has 4.19 MB"
    ):
        container.read(path)

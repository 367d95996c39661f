"""Model files made by hand: a second implementation of the format, independent of the code under test."""

import hashlib
import json

import numpy as np
import pytest

import silverbirch as sb
from silverbirch.storage import container

DTYPES = {"f8": "F64", "i8": "I64", "f4": "F32", "u4": "U32", "u1": "U8", "i4": "I32", "c16": "C128", "b1": "BOOL"}


def sealed(header, body=b"", length=None):
    """A file with that header: its length comes first, and its digest replaces the first 64 zeros."""
    start = (len(header) if length is None else length).to_bytes(8, "little")
    digest = hashlib.sha256(start + header + body).hexdigest().encode()
    return start + header.replace(b"0" * 64, digest, 1) + body


def header_of(entries, kind="features", state="{}", version="1"):
    metadata = {"format": "silverbirch", "version": version, "sha256": "0" * 64, "kind": kind, "state": state}
    return json.dumps({"__metadata__": metadata, **entries}, separators=(",", ":")).encode()


def entry(shape, begin, end, dtype="F64"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def file_of(kind, state, arrays):
    """Any plain values, NaN too, and arrays of any type."""
    entries, body = {}, b""
    for name, array in arrays.items():
        array = np.asarray(array)
        begin, body = len(body), body + array.tobytes()
        dtype = DTYPES.get(array.dtype.str[1:], array.dtype.str)
        entries[name] = entry(list(array.shape), begin, len(body), dtype)
    return sealed(header_of(entries, kind, json.dumps(state)), body)


def assert_refused(path, content, match="is not a whole silverbirch file: ."):
    path.write_bytes(content)
    with pytest.raises(sb.ModelFileError, match=match) as caught:
        container.read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.isprintable()
    assert len(message) < len(str(path)) + 300


def assert_same_arrays(arrays, expected):
    assert arrays.keys() == expected.keys()
    for name, array in arrays.items():
        assert array.dtype == expected[name].dtype
        assert array.dtype.isnative
        np.testing.assert_array_equal(array, expected[name], strict=True)

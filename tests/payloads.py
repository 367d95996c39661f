"""Reads the data of an interactive page: an unpacker of its own, and the tree that the arrays describe."""

import base64
import json
import re
import zlib

import numpy as np
import pytest

from silverbirch.report import page
from silverbirch.report.markup import Html


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch):
    """Modules that import this write pages without static pictures, which take most of the time."""
    for name in ("dendrogram_picture", "rmsd_picture"):
        monkeypatch.setattr(page, name, lambda *_, **__: Html(""))


def unpack(text):
    """The header and the arrays of a container in base64, see docs/report.md."""
    data = zlib.decompress(base64.b64decode(text, validate=True))
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    begin = -(-(4 + length) // 8) * 8
    return header, {name: array(data, begin, **entry) for name, entry in header["arrays"].items()}


def array(data, begin, type, length, offset, coding):
    assert offset % 8 == 0
    size = int(type[1])
    piece = data[begin + offset : begin + offset + size * length]
    for step in reversed(coding):
        if step == "planes":
            piece = b"".join(bytes(piece[i::length]) for i in range(length))
        else:
            assert step == "delta"
            total, sums = 0, []
            for difference in np.frombuffer(piece, "<u4").tolist():
                total = (total + difference) % 2**32
                sums.append(total)
            piece = np.array(sums, dtype="<u4").tobytes()
    return np.frombuffer(piece, f"<{type}")


def of_page(text):
    """The header and the arrays of a page."""
    return unpack(re.search(r'id="silverbirch-data">([^<]*)</script>', text)[1])


def joined_leaves(arrays):
    """The set of leaves below each row of Z, joined by the boundaries alone."""
    leaf = arrays["leaf"].tolist()
    ends = {position: [position] for position in range(len(leaf))}  # positions of the branch that ends here
    begins = dict(ends)
    for boundary in arrays["boundary"].tolist():
        both = ends[boundary] + begins[boundary + 1]
        begins[both[0]] = ends[both[-1]] = both
        yield {leaf[position] for position in both}


def sse_of_nodes(header, arrays, Z):
    """The sum of squares of each node, as the page computes it."""
    n = header["n"]
    sse = np.zeros(2 * n - 1)
    sse[:n] = arrays.get("leaf_sse", 0)
    gain = arrays["height"].astype(float) ** 2 / 2 if header.get("gain") == "ward" else arrays["gain"]
    for row, (left, right) in enumerate(Z[:, :2].astype(int)):
        sse[n + row] = sse[left] + sse[right] + gain[row]
    return sse

"""The container of a page: what is packed comes back, bit by bit, from an unpacker of the tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as any_arrays

from payloads import unpack
from silverbirch.report.packing import Packed, pack

TYPES = ("u1", "u2", "u4", "i4", "f4", "f8")
codings = st.sampled_from([(), ("planes",), ("delta",), ("delta", "planes")])


@st.composite
def packed(draw):
    values = draw(any_arrays(draw(st.sampled_from(TYPES)), st.integers(0, 40)))
    coding = draw(codings)
    return Packed(values, coding if values.itemsize == 4 else tuple(step for step in coding if step != "delta"))


@given(arrays=st.dictionaries(st.text(max_size=8), packed(), max_size=5), title=st.text())
def test_what_is_packed_comes_back_bit_by_bit(arrays, title):
    header, found = unpack(pack({"title": title, "version": 1}, arrays))
    assert header["title"] == title
    assert header["version"] == 1
    assert list(found) == list(arrays)
    for name, entry in arrays.items():
        assert header["arrays"][name]["type"] == entry.values.dtype.str[1:]
        assert found[name].tobytes() == entry.values.tobytes()


def test_arrays_of_the_other_byte_order_come_back():
    values = np.arange(5, dtype=">u4")
    np.testing.assert_array_equal(unpack(pack({}, {"a": Packed(values, ("delta", "planes"))}))[1]["a"], values)


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="type i8"):
        pack({}, {"a": Packed(np.arange(5))})


def test_names_that_are_no_text_are_packed():
    assert unpack(pack({"title": "a\udc80"}, {}))[0]["title"] == "a\udc80"


def test_ascending_heights_take_less_than_two_bytes_each():
    heights = np.sort(np.random.default_rng(0).gamma(2, size=100_000)).astype("f4")
    assert len(pack({}, {"height": Packed(heights, ("delta", "planes"))})) < 2 * len(heights) * 4 / 3

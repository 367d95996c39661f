"""Numbers as the report writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverbirch.checks import bytes_text
from silverbirch.report import numbers


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_four_digits(value):
    shown = float(numbers.number(value).replace("−", "-").replace(",", ""))
    assert shown == pytest.approx(value, rel=6e-4)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (numbers.number(-0.0001, 2), "0.00"),
        (numbers.number(-1234.5, 1), "−1,234.5"),
        (numbers.signed(0.5, 1), "+0.5"),
        (numbers.signed(-0.01, 1), "0.0"),
        (numbers.count(12345.0), "12,345"),
        (numbers.count(0.25), "0.25"),
        (numbers.percent(0.00001), "< 0.1 %"),
        (numbers.percent(0.99999), "> 99.9 %"),
        (numbers.percent(1.0), "100.0 %"),
        (numbers.trimmed(3.5), "3.5"),
        (numbers.trimmed(1500000.0), "1,500,000"),
        (numbers.trimmed(1e-9), "1e−09"),
        (bytes_text(0), "0 B"),
        (bytes_text(999_600), "1 MB"),
        (bytes_text(1234), "1.23 kB"),
        (bytes_text(3e12), "3 TB"),
        (numbers.counted(1, "leaf", "leaves"), "1 leaf"),
    ],
)
def test_numbers_are_written_for_readers(shown, text):
    assert shown == text

"""The examples of docs/input.md do what the page says."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "input.md"


def test_the_examples_of_the_page_on_input_are_true(tmp_path, monkeypatch):
    pytest.importorskip("pandas", "3")  # older ones call text by another name
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried > 20

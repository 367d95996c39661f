"""The examples of the pages about input do what the pages say."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["input.md", "embeddings.md"])
def test_the_examples_of_the_pages_on_input_are_true(page, tmp_path, monkeypatch):
    pytest.importorskip("pandas", "3")  # older ones call text by another name
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried > 15

"""The examples of docs/cosine.md do what the page says."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "cosine.md"


def test_the_examples_of_the_page_on_cosine_are_true():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8", optionflags=doctest.ELLIPSIS)
    assert failed == 0
    assert tried > 8

"""docs/from-others.md: both sides of every line give the same result."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

PAGE = (Path(__file__).parents[2] / "docs" / "from-others.md").read_text(encoding="utf-8")
SETUP = re.search(r"(?ms)^```python\n(.*?)^```", PAGE)[1]
IMPORTS = {
    "scipy.cluster.hierarchy": "from scipy.cluster.hierarchy import *",
    "scikit-learn": "from sklearn.cluster import *",
    "fastcluster": "import fastcluster",
    "betula-cluster": "from betula_cluster import Betula",
}
LINES = [
    (section, *row)
    for section, body in re.findall(r"(?ms)^## From (\S+)$(.*?)(?=^## |\Z)", PAGE)
    for row in re.findall(r"(?m)^\| `([^`]+)` \| `([^`]+)` \|", body)
]


def same(theirs, ours):
    """Whether two results are the same: labels name the same sets of rows, everything else is the same numbers."""
    theirs, ours = np.asarray(theirs), np.asarray(ours)
    if theirs.shape != ours.shape:
        return False
    repeats = len(np.unique(theirs)) < theirs.size  # as labels do; a list of leaves does not
    if theirs.dtype.kind == "U" or (theirs.dtype.kind == "i" and not repeats):
        return np.array_equal(theirs, ours)
    if theirs.ndim > 0 and theirs.dtype.kind == "i" and len(theirs) > 5:
        columns = zip(theirs.reshape(len(theirs), -1).T, ours.reshape(len(ours), -1).T, strict=True)
        return all(adjusted_rand_score(*pair) == 1 for pair in columns)
    if theirs.ndim == 2 and theirs.shape[1] == 4:  # children of equally high merges may be in another order
        theirs, ours = theirs[:, 2:], ours[:, 2:]
    return bool(np.allclose(theirs, ours, rtol=1e-9))


def test_all_lines_are_found():
    assert {section for section, *_ in LINES} == IMPORTS.keys()
    assert len(LINES) == len(re.findall(r"(?m)^\| `", PAGE))


@pytest.mark.parametrize(("section", "theirs", "ours"), LINES)
def test_both_sides_of_the_line_give_the_same(section, theirs, ours):
    names = {}
    exec(IMPORTS[section], names)
    exec(SETUP, names)
    assert same(eval(theirs, names), eval(ours, names))


def test_what_differs_is_noticed():
    assert not same([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1])
    assert same([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    assert not same([0, 1, 2, 3, 4, 5], [1, 0, 2, 3, 4, 5])
    assert not same(["(3)", "1"], ["1", "(3)"])
    assert not same(1.0, 1.1)

"""The CF-tree refuses bad input and stays as it was."""

import numpy as np
import pytest
from scipy import sparse

import silverbirch as sb
from trees import random_rows, run_python, snapshot


def with_value(value, row=150):
    X = random_rows()
    X[row, 1] = value
    return X


SPARSE = r"X is a sparse matrix of 2 × 2: .*32 B.*projection.*pass X.toarray\(\)"
BAD_ROWS = {
    "NaN": (with_value(np.nan), ValueError, "X: row 150, column 1 is nan: .*drop or fill"),
    "infinity": (with_value(np.inf), ValueError, "X: row 150, column 1 is inf: .*drop or fill"),
    "minus infinity": (with_value(-np.inf), ValueError, "X: row 150, column 1 is -inf: .*drop or fill"),
    "too large to square": (with_value(1e200), ValueError, r"X: row 150, column 1 is 1e\+200: .*rescale"),
    "float32 NaN": (with_value(np.nan).astype(np.float32), ValueError, "X: row 150, column 1 is nan"),
    "None": ([[1.0, None]], ValueError, "X: row 0, column 1 is nan"),
    "strings": ([["a", "b"]], TypeError, "X holds strings: only real numbers .*encode or drop"),
    "objects": ([[object(), object()]], ValueError, "X holds values that are missing or not numbers: encode"),
    "mixed objects": (
        np.array([[1.0, "a"]], dtype=object),
        ValueError,
        "missing or not numbers",
    ),
    "huge integers": (np.array([[10**400, 1]], dtype=object), ValueError, "X"),
    "complex": (np.ones((3, 2)) * 1j, TypeError, "X holds complex numbers: only real numbers"),
    "dates": (np.zeros((3, 2), dtype="M8[s]"), TypeError, "X holds dates"),
    "too narrow": (np.ones((3, 1)), ValueError, "X has 1 columns but the tree has 2: pass the same columns"),
    "too wide": (np.ones((3, 5)), ValueError, "X has 5 columns but the tree has 2: pass the same columns"),
    "no rows": (np.empty((0, 2)), ValueError, r"X has shape \(0, 2\): at least one row and one column"),
    "no columns": (np.empty((3, 0)), ValueError, r"X has shape \(3, 0\): at least one row and one column"),
    "empty list": ([], ValueError, "X is 1-D"),
    "1-D": (np.ones(4), ValueError, r"X is 1-D: rows need a 2-D array; use reshape\(-1, 1\)"),
    "3-D": (np.ones((2, 2, 2)), ValueError, r"X is 3-D: rows need a 2-D array; use \(rows, columns\)"),
    "a number": (5.0, TypeError, "X is a float: rows need a 2-D array"),
    "ragged": ([[1.0, 2.0], [3.0]], ValueError, "inhomogeneous"),
    "nothing": (None, TypeError, "X is a NoneType: rows need a 2-D array"),
    "sparse matrix": (sparse.csr_matrix(np.eye(2)), TypeError, SPARSE),
    "sparse array": (sparse.coo_array(np.eye(2)), TypeError, SPARSE),
}


@pytest.fixture
def tree():
    return sb.CFTree(max_leaves=20, branching=4).insert(random_rows(200, seed=3))


@pytest.mark.parametrize(("bad", "error", "message"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_bad_rows_are_refused_and_the_tree_is_unchanged(tree, bad, error, message):
    before = snapshot(tree)
    with pytest.raises(error, match=message):
        tree.insert(bad)
    assert snapshot(tree) == before
    with pytest.raises(error, match=message):
        tree.assign(bad)
    assert snapshot(tree) == before


BAD_WEIGHTS = {
    "negative": (np.r_[np.ones(5), -1.0], ValueError, r"weight\[5\] = -1.0: must be finite and not negative"),
    "NaN": (np.r_[np.ones(4), np.nan, 1], ValueError, r"weight\[4\] = nan: must be finite and not negative"),
    "infinite": (np.r_[np.inf, np.ones(5)], ValueError, r"weight\[0\] = inf: must be finite and not negative"),
    "too few": (np.ones(5), ValueError, r"weight has shape \(5,\) but there are 6 rows: one for each row"),
    "too many": (np.ones(7), ValueError, r"weight has shape \(7,\) but there are 6 rows: one for each row"),
    "a column": (np.ones((6, 1)), ValueError, r"weight has shape \(6, 1\) but there are 6 rows"),
    "strings": (["a"] * 6, (TypeError, ValueError), "weight"),
    "complex": (np.ones(6) * (1 + 1j), (TypeError, ValueError), "weight"),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(("weight", "error", "message"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS.keys())
def test_bad_weights_are_refused_and_the_tree_is_unchanged(tree, weight, error, message):
    before = snapshot(tree)
    with pytest.raises(error, match=message):
        tree.insert(random_rows(6), weight)
    assert snapshot(tree) == before


@pytest.mark.parametrize(
    ("insert", "error", "message"),
    [
        (lambda t: t.insert(sb.CFTree().insert([[1.0, 2]]).features, weight=[1.0]), ValueError, "leave `weight` out"),
        (lambda t: t.insert(sb.ClusterFeatures([1], [[1.0]], [0])), ValueError, "X has 1 columns but the tree has 2"),
        (lambda t: t.merge(sb.CFTree(threshold=9.0).insert([[1.0]])), ValueError, "1 columns but the tree has 2"),
        (lambda t: t.merge(random_rows()), TypeError, "can only merge with a CFTree, not ndarray"),
        (lambda t: t.assign(random_rows(), n_jobs=0), ValueError, "n_jobs=0: must be a number of threads"),
        (lambda t: t.assign(random_rows(), n_jobs=1.5), TypeError, "n_jobs=1.5: a whole number or None"),
        (lambda t: t.assign(random_rows(), n_jobs=-1000), ValueError, "n_jobs=-1000"),
    ],
    ids=["weighted features", "narrow features", "narrow tree", "not a tree", "no jobs", "half a job", "many jobs"],
)
def test_what_does_not_fit_is_refused_and_the_tree_is_unchanged(tree, insert, error, message):
    before = snapshot(tree)
    with pytest.raises(error, match=message):
        insert(tree)
    assert snapshot(tree) == before


@pytest.mark.parametrize("bad", ["NaN", "3-D", "strings"])
def test_a_refused_first_chunk_does_not_fix_the_width(bad):
    rows, error, _ = BAD_ROWS[bad]
    tree = sb.CFTree()
    with pytest.raises(error):
        tree.insert(rows)
    assert tree.insert(np.ones((3, 7))).n_points == 3


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"threshold": -1}, ValueError, "threshold=-1: must be between 0 and"),
        ({"threshold": np.nan}, ValueError, "threshold=nan: must be between 0 and"),
        ({"threshold": np.inf}, ValueError, "threshold=inf: must be between 0 and"),
        ({"threshold": 10**400}, ValueError, "threshold=1000"),
        ({"threshold": "wide"}, TypeError, "threshold='wide': a number is needed"),
        ({"max_leaves": 0}, ValueError, "max_leaves=0: must be at least 1"),
        ({"max_leaves": -5}, ValueError, "max_leaves=-5: must be at least 1"),
        ({"max_leaves": 2.5}, TypeError, "max_leaves=2.5: a whole number is needed"),
        ({"max_leaves": True}, ValueError, "max_leaves=True"),
        ({"branching": 1}, ValueError, "branching=1: must be at least 2"),
        ({"branching": "many"}, TypeError, "branching='many': a whole number is needed"),
        ({"distance": "euclidean"}, ValueError, "distance='euclidean': must be one of 'centroid', 'manhattan'"),
        ({"distance": None}, ValueError, "distance=None: must be one of"),
        ({"absorption": "D4"}, ValueError, "absorption='D4': must be one of"),
        ({"max_memory": "12 parsecs"}, ValueError, "max_memory='12 parsecs': write bytes as a number or like '256MB'"),
        ({"max_memory": "MB"}, ValueError, "max_memory='MB': write bytes"),
        ({"max_memory": ""}, ValueError, "max_memory='': write bytes"),
        ({"max_memory": "-1MB"}, ValueError, "max_memory='-1MB': must be a finite number of at least one byte"),
        ({"max_memory": 0}, ValueError, "max_memory=0: must be a finite number of at least one byte"),
        ({"max_memory": np.nan}, ValueError, "max_memory=nan: must be a finite number of at least one byte"),
        ({"max_memory": 10**400}, ValueError, "max_memory=1000"),
        ({"max_memory": [1]}, TypeError, r"max_memory=\[1\]: write bytes"),
        ({"dtype": np.float16}, ValueError, "must be float32, float64 or None"),
        ({"dtype": int}, ValueError, "must be float32, float64 or None"),
        ({"dtype": "wide"}, (TypeError, ValueError), "wide"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_parameters_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        sb.CFTree(**parameters)


@pytest.mark.parametrize("branching", ["2**40", "2**60", "2**61 - 1", "2**64"])
def test_a_branching_no_memory_holds_is_refused_and_does_not_crash(branching):
    code = f"""
import silverbirch as sb
try:
    sb.CFTree(branching={branching}).insert([[1.0, 2.0], [3.0, 4.0]])
except ValueError as error:
    assert "branching" in str(error)
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("wrong", [np.nan, -np.inf, 2e100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("already", [0, 3000])
def test_a_value_that_is_refused_late_leaves_the_tree_as_it_was(already, n_jobs, dtype, wrong):
    X = random_rows(20_000).astype(dtype)
    if dtype == np.float32 and np.isfinite(wrong):
        wrong = np.inf  # what a float32 makes of it
    tree, fresh = (sb.CFTree(max_leaves=300, n_jobs=n_jobs) for _ in range(2))
    if already:
        tree.insert(X[:already])
        fresh.insert(X[:already])
    before = snapshot(tree)
    spoilt = X[already:].copy()
    spoilt[15_000, 1], spoilt[16_000, 0] = wrong, np.nan
    with pytest.raises(ValueError, match=r"^X: row 15000, column 1 is .*(finite|overflow)"):
        tree.insert(spoilt)
    assert snapshot(tree) == before
    assert snapshot(tree.insert(X[already:])) == snapshot(fresh.insert(X[already:]))


def test_an_error_of_the_progress_callback_stays_its_own():
    def report(done, total):
        raise ValueError("no more of this")

    with pytest.raises(ValueError, match=r"^no more of this$"):
        sb.CFTree().insert(random_rows(100), progress=report)

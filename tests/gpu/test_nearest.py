"""The nearest point found on a GPU is that of the core, to the bit."""

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from silverbirch import _core
from silverbirch.gpu import nearest
from silverbirch.gpu.device import chosen_device


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def outlier(points):
    points[7] *= 1e12
    return points


CASES = {
    "usual": lambda d: (normal(300, d), normal(700, d, seed=1)),
    "far origin": lambda d: (normal(300, d) + 1e8, normal(700, d, seed=1) + 1e8),
    "tiny": lambda d: (normal(300, d) * 1e-100, normal(700, d, seed=1) * 1e-100),
    "huge": lambda d: (normal(300, d) * 1e98, normal(700, d, seed=1) * 1e98),
    "float32": lambda d: (normal(300, d), normal(700, d, seed=1).astype(np.float32)),
    "ties": lambda d: (np.round(normal(300, d) * 2) * 0.1, np.round(normal(700, d, seed=1) * 2) * 0.1 + 0.05),
    "outlier": lambda d: (outlier(normal(300, d)), normal(700, d, seed=1)),
    "rows far away": lambda d: (normal(300, d), normal(700, d, seed=1) * 10.0 ** np.linspace(0, 95, 700)[:, None]),
    "tight groups": lambda d: (normal(300, d) * 1e-6 + 7, normal(700, d, seed=1)),
    "one place": lambda d: (np.ones((20, d)), normal(700, d, seed=1)),
    "one point": lambda d: (normal(1, d), normal(700, d, seed=1)),
    "one row": lambda d: (normal(300, d), normal(1, d, seed=1)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("columns", [1, 2, 5, 40])
def test_the_nearest_point_is_that_of_the_core(gpu, case, columns):
    points, rows = CASES[case](columns)
    expected = _core.NearestIndex(points).nearest(rows, 1, None)
    index = nearest.NearestOnDevice(points, chosen_device("cuda"))
    np.testing.assert_array_equal(index.nearest(rows), expected)
    np.testing.assert_array_equal(index.nearest(torch.as_tensor(rows).to(index.device)), expected)


def test_rows_and_candidates_are_worked_on_in_pieces(gpu, monkeypatch):
    points, rows = CASES["ties"](5)
    expected = nearest.NearestOnDevice(points, chosen_device("cuda")).nearest(rows)
    monkeypatch.setattr(nearest, "_BOUNDS", 10_000)
    monkeypatch.setattr(nearest, "_NUMBERS", 400)
    done = []
    index = nearest.NearestOnDevice(points, chosen_device("cuda"))
    np.testing.assert_array_equal(index.nearest(rows, lambda *progress: done.append(progress)), expected)
    assert len(done) > 20
    assert done[-1] == (700, 700)


def test_bounds_hold_for_products_of_rounded_factors(gpu, monkeypatch):
    """As TF32 rounds them, which a program may allow for all of torch."""
    points, rows = CASES["usual"](40)
    expected = _core.NearestIndex(points).nearest(rows, 1, None)
    monkeypatch.setattr(nearest, "_products_are_rounded", lambda: True)
    index = nearest.NearestOnDevice(points, chosen_device("cuda"))
    index._factors = (index._factors.view(torch.int32) & ~0x1FFF).view(torch.float32)  # ten bits of the mantissa
    np.testing.assert_array_equal(index.nearest(rows), expected)


def test_rounded_products_are_noticed():
    before = torch.get_float32_matmul_precision()
    assert nearest._products_are_rounded() == (before != "highest")
    try:
        torch.set_float32_matmul_precision("high")
        assert nearest._products_are_rounded()
    finally:
        torch.set_float32_matmul_precision(before)


def test_an_index_is_not_copied_with_what_holds_it(gpu):
    index = nearest.NearestOnDevice(normal(3, 2), chosen_device("cuda"))
    assert pickle.loads(pickle.dumps(index)) is None
    assert copy.deepcopy([index]) == [None]

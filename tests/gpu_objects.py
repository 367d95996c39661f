"""Rows that are hard for an algorithm on a GPU, and the objects it clusters."""

import numpy as np

from silverbirch.gpu.objects import prepare
from silverbirch.gpu.rows import Rows


def objects_of(X, weight=None, device="cpu"):
    import torch

    device = torch.device(device)
    weight = None if weight is None else torch.from_numpy(weight).to(device)
    return prepare(Rows(torch.from_numpy(np.ascontiguousarray(X)), device), weight)


def _normal(rows, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns))


def _tight(rows, columns):
    generator = np.random.default_rng(3)
    return generator.normal(size=(rows // 20, columns))[generator.integers(rows // 20, size=rows)] + 1e-5 * _normal(
        rows, columns, 4
    )


def _outlier(rows, columns):
    X = _normal(rows, columns, 5)
    X[rows // 3] *= 1e5
    return X


def _chain(rows):
    return np.cumsum(np.linspace(1.0, 2.0, rows))[:, None]


ROWS = {
    "normal": _normal(300, 24),
    "plane": _normal(500, 2, 1),
    "column": _normal(200, 1, 2),
    "far": _normal(200, 8) + 1e8,
    "outlier": _outlier(200, 12),
    "duplicates": _normal(80, 6)[np.random.default_rng(6).integers(80, size=240)],
    "tight": _tight(240, 10),
    "chain": _chain(150),
    "single precision": _normal(150, 20).astype(np.float32),
    "two": _normal(2, 3),
    "three": _normal(3, 1),
}
GRID = np.stack(np.meshgrid(np.arange(12.0), np.arange(13.0)), -1).reshape(-1, 2)
WEIGHTS = 10.0 ** np.random.default_rng(7).uniform(-6, 6, 300)
# Formulas of Lance and Williams, for assert_greedy.
UPDATES = {
    "complete": lambda ac, bc, ab, a, b: np.maximum(ac, bc),
    "average": lambda ac, bc, ab, a, b: (a * ac + b * bc) / (a + b),
    "weighted": lambda ac, bc, ab, a, b: (ac + bc) / 2,
}


def assert_greedy(Z, X, update):
    """Every merge is one of two clusters at the least distance, which is its height.

    `update` is a formula of Lance and Williams, of the distances to and between the parts and their numbers of rows.
    """
    n = len(X)
    X = X.astype(float)
    D = np.full((2 * n - 1, 2 * n - 1), np.inf)
    D[:n, :n] = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(D, np.inf)
    size = np.ones(2 * n - 1)
    for row, (a, b, height, _) in enumerate(Z):
        a, b, new = int(a), int(b), n + row
        np.testing.assert_allclose([height, D[a, b]], D.min(), rtol=1e-9, atol=1e-12)
        size[new] = size[a] + size[b]
        merged = update(D[a], D[b], D[a, b], size[a], size[b])
        merged[[a, b]] = np.inf
        D[new], D[:, new] = merged, merged
        D[[a, b]] = D[:, [a, b]] = D[new, new] = np.inf

"""Generates the rows of the experiments from fixed seeds: the same in every process, in any number of orders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from silverbirch.checks import Floats

DIMENSIONS = 5
# A cube of side 50 gives the published deviations: full-data Ward cut into 500 clusters has 10.12 there.
UNIFORM_SIDE = 50.0
MIXTURE_SIDE = 100.0
DEVIATION = 1.5
# Rows are generated in chunks, so that the mixture equals that of `silverbirch demo`.
_PIECE = 100_000


@dataclass(frozen=True)
class DataSet:
    """A data set. For mixtures, `components` is the number of Gaussians and `side` the cube of their centres."""

    name: str
    rows: int
    components: int
    order: int = 0
    draw: int = 0
    side: float = MIXTURE_SIDE

    def make(self) -> Floats:
        """The rows. Order 0 is as generated, other orders are permutations of it; another draw has other rows."""
        X = _MAKERS[self.name](self)
        return X if self.order == 0 else np.random.default_rng([self.draw, self.order]).permutation(X)


def uniform(data: DataSet) -> Floats:
    return np.random.default_rng(data.draw).uniform(0, UNIFORM_SIDE, size=(data.rows, DIMENSIONS))


def gaussian(data: DataSet, least_share: float = 0.05) -> Floats:
    """Gaussians with standard deviation 1.5, centres uniform in a cube, and shares ∝ U(0.05, 1).

    The paper does not give its generator. Full-data Ward on these rows has the published deviation within 1.5 %.
    """
    random = np.random.default_rng(data.draw)
    centers = random.uniform(0, data.side, size=(data.components, DIMENSIONS))
    shares = random.uniform(least_share, 1, size=data.components)
    pieces = []
    for begin in range(0, data.rows, _PIECE):
        count = min(_PIECE, data.rows - begin)
        component = random.choice(data.components, size=count, p=shares / shares.sum())
        pieces.append(centers[component] + DEVIATION * random.normal(size=(count, DIMENSIONS)))
    return np.concatenate(pieces)


def gaussian_of_equal_shares(data: DataSet) -> Floats:
    return gaussian(data, least_share=1.0)


def imbalanced(data: DataSet) -> Floats:
    """Gaussians with Pareto shares and unequal spread; some clusters have very few rows."""
    random = np.random.default_rng(data.draw)
    centers = random.uniform(0, data.side, size=(data.components, DIMENSIONS))
    spreads = random.uniform(0.5, 3, size=data.components)
    shares = random.pareto(1, size=data.components) + 0.01
    component = random.choice(data.components, size=data.rows, p=shares / shares.sum())
    X: Floats = centers[component] + spreads[component, None] * random.normal(size=(data.rows, DIMENSIONS))
    return X


_MAKERS = {
    "uniform": uniform,
    "Gaussian": gaussian,
    "Gaussian, equal shares": gaussian_of_equal_shares,
    "imbalanced": imbalanced,
}

"""Generates rows from a seed: the same in every process."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

CHUNK = 100_000
SEED = 0
COMPONENTS, SIDE, DEVIATION = 500, 100.0, 1.5
REPEATED = 10_000
TOPICS = 300


def make(kind: str, rows: int, columns: int, dtype: str) -> NDArray:
    """All rows at once, C-contiguous."""
    X = np.empty((rows, columns), dtype=dtype)
    if kind in CHUNK_OF:  # these chunks do not depend on each other

        def fill(begin: int) -> None:
            X[begin : begin + CHUNK] = CHUNK_OF[kind](begin, min(CHUNK, rows - begin), columns)

        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(fill, range(0, rows, CHUNK)))
        return X
    begin = 0
    for chunk in chunks(kind, rows, columns):
        X[begin : begin + len(chunk)] = chunk
        begin += len(chunk)
    return X


def chunks(kind: str, rows: int, columns: int) -> Iterator[NDArray[np.float64]]:
    """The rows in chunks.

    "uniform": a cube of side 100. "mixture": 500 Gaussians in this cube with standard deviation 1.5 and unequal shares,
    as in the demo. "repeated": REPEATED distinct rows of the cube, each many times, in random order. "normal": one
    Gaussian of deviation 1. "embeddings": unit rows around TOPICS directions, with noise that differs by column, so
    that neighbours can be told apart as those of embedded texts can.
    """
    if kind in CHUNK_OF:
        return (CHUNK_OF[kind](begin, min(CHUNK, rows - begin), columns) for begin in range(0, rows, CHUNK))
    if kind not in KINDS:
        raise ValueError(f"data {kind!r}: must be one of {', '.join((*KINDS, *CHUNK_OF))}")
    return KINDS[kind](rows, columns)


def _uniform(rows: int, columns: int) -> Iterator[NDArray[np.float64]]:
    random = np.random.default_rng(SEED)
    for begin in range(0, rows, CHUNK):
        yield random.uniform(0, SIDE, size=(min(CHUNK, rows - begin), columns))


def _repeated(rows: int, columns: int) -> Iterator[NDArray[np.float64]]:
    random = np.random.default_rng(SEED)
    different = random.uniform(0, SIDE, size=(REPEATED, columns))
    for begin in range(0, rows, CHUNK):
        yield different[random.integers(REPEATED, size=min(CHUNK, rows - begin))]


def _mixture(rows: int, columns: int) -> Iterator[NDArray[np.float64]]:
    """For 5 columns, the rows of silverbirch.demo.gaussian_mixture; a test compares them.

    This copy of the code lets the processes of peers run without silverbirch.
    """
    random = np.random.default_rng(SEED)
    centers = random.uniform(0, SIDE, size=(COMPONENTS, columns))
    shares = random.uniform(0.05, 1, size=COMPONENTS)
    for begin in range(0, rows, CHUNK):
        count = min(CHUNK, rows - begin)
        component = random.choice(COMPONENTS, size=count, p=shares / shares.sum())
        yield centers[component] + DEVIATION * random.normal(size=(count, columns))


def _normal(begin: int, rows: int, columns: int) -> NDArray[np.float64]:
    return np.random.default_rng([SEED, begin]).normal(size=(rows, columns))


def _embeddings(begin: int, rows: int, columns: int) -> NDArray[np.float64]:
    random = np.random.default_rng(SEED)
    spread = np.arange(1, columns + 1) ** -0.5
    topics = random.normal(size=(TOPICS, columns)) * spread
    shares = random.pareto(1.5, size=TOPICS) + 1
    random = np.random.default_rng([SEED, begin])
    topic = random.choice(TOPICS, size=rows, p=shares / shares.sum())
    X = topics[topic] + 0.6 * spread * random.normal(size=(rows, columns))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


KINDS = {
    "uniform": _uniform,
    "mixture": _mixture,
    "repeated": _repeated,
}
CHUNK_OF = {"normal": _normal, "embeddings": _embeddings}


def cheap_mixture(rows: int, columns: int, chunk: int) -> Iterator[NDArray[np.float32]]:
    """The mixture for a billion rows: float32, equal shares, generated faster than the tree inserts it."""
    random = np.random.default_rng(SEED)
    centers = random.uniform(0, SIDE, size=(COMPONENTS, columns)).astype(np.float32)
    for begin in range(0, rows, chunk):
        count = min(chunk, rows - begin)
        X = random.standard_normal(size=(count, columns), dtype=np.float32)
        X *= np.float32(DEVIATION)
        X += centers[random.integers(COMPONENTS, size=count, dtype=np.int32)]
        yield X

"""The kernels of the rounds, in Triton's interpreter, do what the same steps in plain torch do."""

import pytest

from triton_interpreter import interpret

pytest.importorskip("triton", reason="triton is not installed")

SCRIPT = """
import sys
import numpy as np
import torch
from gpu_objects import ROWS, WEIGHTS, objects_of
from silverbirch.gpu import fused, plain
from silverbirch.gpu.bounds import slack_of
from silverbirch.gpu.clusters import Clusters

linkage, name = sys.argv[1:]
weighted = name == "weights"
X, weight = (ROWS["normal"], WEIGHTS) if weighted else (ROWS[name], None)
ours, theirs = (Clusters(objects_of(X[:70], None if weight is None else weight[:70]), linkage) for _ in range(2))
slack = slack_of(ours.half.shape[1])
queries = torch.arange(0, len(X[:70]), 2)
weighted &= linkage == "ward"


def same(a, b, relative=0.0):
    a, b = a.double().numpy(), b.double().numpy()
    finite = b[np.isfinite(b)]
    np.testing.assert_allclose(a, b, rtol=relative, atol=relative * np.abs(finite).max(initial=0.0))


def step(c, steps):
    extremes = steps.describe(c, 1 - slack)
    bounds, least = steps.minima(c, queries, weighted, 2)
    limits = steps.thresholds(c, queries, least[:, : len(queries)], extremes, slack)
    table, counts = steps.candidates(c, queries, bounds[:, : len(queries)], limits.threshold, weighted, 64)
    steps.settle(c, queries, table, limits.reach)
    return extremes, bounds[:, : len(queries)], least[:, : len(queries)].amin(0), *limits, counts

for a, b in zip(step(ours, fused), step(theirs, plain), strict=True):
    same(a, b, 1e-5)
settled = ("nearest", "unsettled")
measured = ("distance", "listed", "mean", "weight", "spread", "half", "norm", "rounding", "inverse_weight")
for c, steps in ((ours, fused), (theirs, plain)):
    c.nearest[1::2], c.distance[1::2], c.reach[1::2] = -1, torch.inf, 0.0
for name in settled:
    same(getattr(ours, name), getattr(theirs, name))
pairs = [(a, b) for a, b in enumerate(theirs.nearest.tolist()) if 0 <= b and a < b and b not in queries][:5]
assert pairs
first, second = (torch.tensor(part) for part in zip(*dict((b, (a, b)) for a, b in pairs).values()))
some = queries[::3].clone()
for c, steps in ((ours, fused), (theirs, plain)):
    steps.merge(c, first, second)
    steps.settle(c, some, c.listed[some], c.reach[some])
for name in settled + measured:
    same(getattr(ours, name), getattr(theirs, name), 1e-6)
same(ours.reach[queries], theirs.reach[queries], 1e-5)
same(ours.alive, theirs.alive)
same(ours.survivor, theirs.survivor)
"""


@pytest.mark.parametrize(
    ("linkage", "name"), [("ward", "normal"), ("ward", "weights"), ("average", "weights"), ("weighted", "plane")]
)
def test_kernels_step_as_torch_does(linkage, name):
    interpret(SCRIPT, linkage, name)

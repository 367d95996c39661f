"""The kernels of greedy clustering, in Triton's interpreter, make the same merges as plain torch."""

import pytest

from triton_interpreter import interpret

pytest.importorskip("triton", reason="triton is not installed")

SCRIPT = """
import sys
import numpy as np
import silverbirch.gpu.greedy as greedy
from gpu_objects import ROWS, WEIGHTS, objects_of

def merged(X, linkage, kernels, weight=None):
    objects = objects_of(X, weight)
    greedy.cluster_greedily(objects, linkage, kernels=kernels)
    return objects.merges.linkage_matrix(objects.scale, monotone=False)

linkage = sys.argv[1]
for X, weight in ((ROWS["plane"][:60], WEIGHTS[:60]), (ROWS["tight"][:40], None), (ROWS["two"], None)):
    np.testing.assert_allclose(merged(X, linkage, True, weight), merged(X, linkage, False, weight), rtol=1e-12)
"""


@pytest.mark.parametrize("linkage", ["centroid", "median"])
def test_kernels_merge_as_torch_does(linkage):
    interpret(SCRIPT, linkage)

"""The kernels of the rounds on a matrix, in Triton's interpreter, make the same merges as plain torch."""

import pytest

from triton_interpreter import interpret

pytest.importorskip("triton", reason="triton is not installed")

SCRIPT = """
import sys
import numpy as np
from gpu_objects import GRID, ROWS, WEIGHTS, objects_of
from silverbirch.gpu.matrix import cluster_by_matrix

def merged(X, linkage, kernels, weight=None):
    objects = objects_of(X, weight)
    cluster_by_matrix(objects, linkage, kernels)
    return objects.merges.linkage_matrix(objects.scale)

linkage = sys.argv[1]
cases = [(ROWS["plane"][:100], WEIGHTS[:100]), (ROWS["tight"][:40], None), (GRID[:40], None), (ROWS["two"], None)]
for X, weight in cases:
    np.testing.assert_allclose(merged(X, linkage, True, weight), merged(X, linkage, False, weight), rtol=1e-13)
"""


@pytest.mark.parametrize("linkage", ["complete", "average", "weighted"])
def test_kernels_merge_as_torch_does(linkage):
    interpret(SCRIPT, linkage)

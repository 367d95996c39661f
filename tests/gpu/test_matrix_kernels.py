"""The kernels of the rounds on a matrix, in Triton's interpreter, make the same merges as plain torch."""

import pytest

from triton_interpreter import interpret

pytest.importorskip("triton", reason="triton is not installed")

SCRIPT = """
import sys
import numpy as np
import silverbirch.gpu.matrix_rounds as matrix_rounds
from gpu_objects import GRID, ROWS, WEIGHTS, objects_of
from silverbirch.gpu.matrix import cluster_by_matrix

def merged(X, linkage, kernels, weight=None):
    objects = objects_of(X, weight)
    cluster_by_matrix(objects, linkage, kernels=kernels)
    return objects.merges.linkage_matrix(objects.scale)

linkage = sys.argv[1]
matrix_rounds._FEW = int(sys.argv[2])
cases = [(ROWS["plane"][:100], WEIGHTS[:100]), (ROWS["tight"][:40], None), (GRID[:40], None), (ROWS["two"], None)]
for X, weight in cases:
    np.testing.assert_allclose(merged(X, linkage, True, weight), merged(X, linkage, False, weight), rtol=1e-13)
"""


@pytest.mark.parametrize(("linkage", "few"), [("complete", 0), ("average", 800), ("weighted", 0), ("ward", 1 << 24)])
def test_kernels_merge_as_torch_does(linkage, few):
    """`few` decides in which rounds the rows of all slots without a neighbour are scanned."""
    interpret(SCRIPT, linkage, str(few))

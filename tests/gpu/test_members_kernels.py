"""The kernels of distances between objects, in Triton's interpreter, make the same merges as plain torch."""

import pytest

from triton_interpreter import interpret

pytest.importorskip("triton", reason="triton is not installed")

SCRIPT = """
import sys
import numpy as np
import silverbirch.gpu.member_search as member_search
from gpu_objects import ROWS, WEIGHTS, objects_of
from silverbirch.gpu.member_rounds import cluster_by_members

def merged(X, linkage, kernels, weight=None):
    objects = objects_of(X, weight)
    counts = cluster_by_members(objects, linkage, buffer_bytes=1 << 20, matrix_from=10, kernels=kernels)
    return objects.merges.linkage_matrix(objects.scale), counts

linkage = sys.argv[1]
member_search._WIDEST = int(sys.argv[2])
for X, weight in [(ROWS["plane"][:40], WEIGHTS[:40]), (ROWS["tight"][:30], None)]:
    (Z, counts), (expected, same) = merged(X, linkage, True, weight), merged(X, linkage, False, weight)
    np.testing.assert_allclose(Z, expected, rtol=1e-12)
    assert counts == same
"""


@pytest.mark.parametrize(("linkage", "widest"), [("complete", 1), ("average", 1024), ("weighted", 1)])
def test_kernels_merge_as_torch_does(linkage, widest):
    interpret(SCRIPT, linkage, str(widest))

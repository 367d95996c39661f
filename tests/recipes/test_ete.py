"""ETE reads the Newick tree with its names and distances."""

from itertools import combinations

import numpy as np
from scipy.cluster.hierarchy import cophenet, linkage


def test_leaves_are_twice_their_cophenetic_distance_apart(recipe, blobs):
    X, _ = blobs
    X = X[:20]
    names = [f"leaf {row} (row: {row}, blob)" for row in range(len(X))]
    tree = recipe("ETE", X=X, names=names).tree

    assert sorted(tree.get_leaf_names()) == sorted(names)
    distances = [tree.get_distance(*pair) for pair in combinations(names, 2)]
    np.testing.assert_allclose(distances, 2 * cophenet(linkage(X, "average")), rtol=1e-12)

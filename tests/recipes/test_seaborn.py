"""seaborn orders rows and columns by the linkages it is given."""

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage


def test_clustermap_has_the_order_of_scipys_linkages(recipe, blobs):
    X, _ = blobs
    grid = recipe("seaborn", X=X).grid

    rows, columns = leaves_list(linkage(X, "ward")), leaves_list(linkage(X.T, "average", "correlation"))
    assert grid.dendrogram_row.reordered_ind == rows.tolist()
    assert grid.dendrogram_col.reordered_ind == columns.tolist()
    np.testing.assert_array_equal(grid.data2d, X[rows][:, columns])

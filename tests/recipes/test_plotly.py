"""plotly draws the same dendrogram as with scipy's linkage."""

import numpy as np
from plotly.figure_factory import create_dendrogram
from scipy.cluster.hierarchy import linkage


def test_the_figure_is_that_of_scipys_linkage(recipe, blobs):
    X, _ = blobs
    figure = recipe("plotly", X=X).figure

    expected = create_dendrogram(X, linkagefun=lambda distances: linkage(distances, "ward"))
    assert list(figure.layout.xaxis.ticktext) == list(expected.layout.xaxis.ticktext)
    assert len(figure.data) == len(X) - 1
    for drawn, line in zip(figure.data, expected.data, strict=True):
        np.testing.assert_allclose(drawn.x, line.x, rtol=1e-12)
        np.testing.assert_allclose(drawn.y, line.y, rtol=1e-9)
        assert drawn.marker.color == line.marker.color

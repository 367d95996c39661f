"""scanpy draws the dendrogram of silverbirch's clusters of cells."""

import anndata
import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import dendrogram
from sklearn.metrics import adjusted_rand_score


def cells(blobs):
    X, group = blobs
    adata = anndata.AnnData(X, var=pd.DataFrame(index=[f"gene {i}" for i in range(X.shape[1])]))
    adata.obsm["X_pca"] = X
    return adata, group


def test_the_linkage_of_the_clusters_is_the_top_of_the_models(recipe, blobs):
    adata, group = cells(blobs)
    page = recipe("scanpy", adata=adata)

    assert adjusted_rand_score(group, adata.obs["betula"]) == 1
    np.testing.assert_allclose(page.Z[:, 2], page.model.linkage_matrix_[-5:, 2], rtol=1e-12)


def test_plots_take_the_dendrogram_as_it_is(recipe, blobs, monkeypatch):
    import scanpy as sc

    adata, _ = cells(blobs)
    stored = []
    monkeypatch.setattr(sc.tl, "dendrogram", lambda *_, **__: stored.append("computed anew"))
    page = recipe("scanpy", adata=adata)

    order = [str(leaf) for leaf in dendrogram(page.Z, no_plot=True)["leaves"]]
    axes = sc.pl.dendrogram(adata, "betula", show=False)
    assert [label.get_text() for label in axes.get_xticklabels()] == order
    parts = sc.pl.heatmap(adata, adata.var_names, groupby="betula", dendrogram=True, show=False)
    assert [label.get_text() for label in parts["groupby_ax"].get_yticklabels()] == order
    heights = sorted(max(line.get_xdata()) for line in parts["dendrogram_ax"].lines)
    np.testing.assert_allclose(heights, page.Z[:, 2])
    sc.pl.correlation_matrix(adata, "betula", show=False)
    assert stored == []

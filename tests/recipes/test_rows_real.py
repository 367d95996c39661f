"""Rows of AnnData."""

import numpy as np
import pytest
from scipy import sparse

import silverbirch as sb


@pytest.fixture
def X():
    rows = np.random.default_rng(0).normal(size=(200, 6)) + 8 * np.eye(6)[np.arange(200) % 3]
    return np.round(rows * 4).astype(np.float32)  # bfloat16 holds small whole numbers too


def test_anndata_are_rows_by_their_variables_and_by_their_matrices(X, tmp_path):
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(X.copy(), obsm={"X_pca": X[:, :2] * 1.0})
    data.var_names = [f"gene {number}" for number in range(6)]
    expected = sb.Betula(3).fit(X)
    data.write_h5ad(tmp_path / "cells.h5ad")
    for rows in (data, anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")):
        model = sb.Betula(3).fit(rows)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.feature_names_in_.tolist() == list(data.var_names)
        source = sb.read_chunks(rows, columns="X_pca")
        assert source.names == ("X_pca[0]", "X_pca[1]")
        np.testing.assert_array_equal(np.concatenate(list(source)), X[:, :2])


def test_sparse_anndata_are_projected(X):
    anndata = pytest.importorskip("anndata")
    counts = sparse.random(200, 500, density=0.05, format="csr", random_state=0)
    data = anndata.AnnData(counts)
    with pytest.raises(TypeError, match="sparse matrix of 200 × 500"):
        sb.Betula(3).fit(data)
    np.testing.assert_array_equal(
        sb.Betula(3, projection=50).fit_predict(data), sb.Betula(3, projection=50).fit_predict(counts)
    )

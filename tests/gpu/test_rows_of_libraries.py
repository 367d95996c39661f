"""Tensors of torch and arrays of jax are rows."""

import numpy as np
import pytest

import silverbirch as sb


@pytest.fixture
def X():
    rows = np.random.default_rng(0).normal(size=(200, 6)) + 8 * np.eye(6)[np.arange(200) % 3]
    return np.round(rows * 4).astype(np.float32)  # bfloat16 holds small whole numbers too


def check(rows, X):
    expected = sb.Betula(3).fit(X)
    model = sb.Betula(3).fit(rows)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.predict(rows), expected.labels_)
    assert sb.CFTree().insert(rows).features == sb.CFTree().insert(X).features
    np.testing.assert_array_equal(np.concatenate(list(sb.read_chunks(rows, columns=[4, 1]))), X[:, [4, 1]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64"])
@pytest.mark.parametrize("gradients", [False, True])
def test_tensors_of_torch_are_rows(X, dtype, gradients):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensor = torch.from_numpy(X).to(getattr(torch, dtype))
    check(tensor.requires_grad_() if gradients and tensor.is_floating_point() else tensor, X)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32"])
def test_arrays_of_jax_are_rows(X, dtype):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    check(jax.numpy.asarray(X).astype(dtype), X)

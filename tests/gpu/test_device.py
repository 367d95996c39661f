"""Which device computes: what may be asked for, and what is missing when it cannot be had."""

import sys

import numpy as np
import pytest

import silverbirch as sb
from silverbirch.gpu.device import as_tensor, chosen_device, in_main_memory, is_on_gpu


class OnGpu:
    """An array on the second GPU, of a library that is like CuPy."""

    shape = (3, 2)

    def __dlpack_device__(self):
        return (2, 1)

    def get(self):
        return np.arange(6.0).reshape(3, 2)


def test_arrays_in_main_memory_are_for_the_cpu():
    for X in (np.eye(2), [[1.0]], "rows.csv", None):
        assert not is_on_gpu(X)
        assert chosen_device(None, X) is None
        assert chosen_device("cpu", X) is None
        assert in_main_memory(X) is X


def test_an_array_on_a_gpu_is_found_without_its_library():
    assert is_on_gpu(OnGpu())
    assert chosen_device("cpu", OnGpu()) is None
    np.testing.assert_array_equal(in_main_memory(OnGpu()), [[0, 1], [2, 3], [4, 5]])


@pytest.mark.parametrize("device", ["gpu", "mps", "cuda:", "cuda:x", "cuda1", 0, 1.5, ("cuda", 1)])
@pytest.mark.parametrize(
    "take", [lambda d: sb.linkage(np.eye(3), device=d), lambda d: sb.Betula(device=d).fit(np.eye(3))]
)
def test_an_unknown_device_is_refused(device, take):
    with pytest.raises(ValueError, match=r"device=.*: must be None, 'cpu', 'cuda' or a GPU by number, as 'cuda:1'"):
        take(device)


@pytest.mark.parametrize("missing", ["torch", "triton"])
def test_without_torch_or_triton_the_error_says_what_to_install(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"^device='cuda' needs torch and triton: pip install 'silverbirch\[gpu\]'"):
        sb.linkage(np.eye(3), device="cuda")
    with pytest.raises(ImportError, match=r"^device='cuda' needs torch and triton: pip install 'silverbirch\[gpu\]'"):
        sb.Betula(2, device="cuda").fit(np.eye(3))
    remedy = r"a OnGpu on a GPU needs torch and triton: pip install 'silverbirch\[gpu\]'; or use device='cpu'"
    with pytest.raises(ImportError, match=remedy):
        sb.linkage(OnGpu())
    assert sb.linkage(OnGpu(), device="cpu").shape == (2, 4)


def test_without_a_gpu_the_error_names_the_build_of_torch(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(ValueError, match=r"^device='cuda' needs a GPU of NVIDIA, but torch 2\..*: use device='cpu'"):
        sb.linkage(np.eye(3), device="cuda")


def test_gpus_are_chosen_by_number_and_by_what_they_hold(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    for device, X, number in [
        ("cuda", None, 0),
        ("cuda", OnGpu(), 1),
        (None, OnGpu(), 1),
        ("cuda:0", OnGpu(), 0),
        (torch.device("cuda", 1), None, 1),
        (torch.device("cuda"), None, 0),
    ]:
        assert chosen_device(device, X) == torch.device("cuda", number)
    assert chosen_device(torch.device("cpu"), OnGpu()) is None
    with pytest.raises(
        ValueError, match="device='cuda:2' needs a GPU of that number, but there are 2, numbered from 0"
    ):
        chosen_device("cuda:2")


def test_tensors_are_taken_without_a_copy():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X = torch.eye(3, requires_grad=True)
    assert as_tensor(X).data_ptr() == X.data_ptr()
    assert not as_tensor(X).requires_grad
    rows = np.eye(3)
    rows.flags.writeable = False
    np.testing.assert_array_equal(as_tensor(rows).numpy(), rows)
    with pytest.raises(TypeError, match=r"sparse tensor: rows are dense; pass its to_dense\(\)"):
        as_tensor(X.to_sparse())

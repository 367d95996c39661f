"""Which device computes, and arrays on it: tensors of torch, and arrays of CuPy, jax and others with DLPack."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..wording import parameter

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_GPU = (2, 13)  # the device types of DLPack for memory of a GPU: kDLCUDA, kDLCUDAManaged
_INSTALL = "pip install 'silverbirch[gpu]'"


def is_on_gpu(X: Any) -> bool:
    """Whether X is an array in the memory of a GPU; imports nothing."""
    if isinstance(X, np.ndarray) or not hasattr(X, "__dlpack_device__"):
        return False
    try:
        return X.__dlpack_device__()[0] in _GPU
    except (BufferError, RuntimeError, TypeError, ValueError):  # it is on several devices, or on one without memory
        return False


def chosen_device(device: Any, X: Any = None) -> torch.device | None:
    """The GPU that computes, or None for the CPU. With device=None it is the GPU that holds X, if one does."""
    held = f"cuda:{X.__dlpack_device__()[1]}" if is_on_gpu(X) else None
    if device is None:
        where = f"a {type(X).__name__} on a GPU needs"
        return None if held is None else _gpu(held, where, "; or use device='cpu'")
    name = str(device) if isinstance(device, str) or hasattr(device, "index") else ""
    if name == "cpu":
        return None
    if not re.fullmatch(r"cuda(:\d+)?", name):
        raise ValueError(f"{parameter('device', device)}: must be None, 'cpu', 'cuda' or a GPU by number, as 'cuda:1'")
    return _gpu(held if name == "cuda" and held else name, f"{parameter('device', name)} needs", "")


def _gpu(name: str, what_needs: str, remedy: str) -> torch.device:
    """The GPU of that name; raises an error if torch, Triton or the GPU is missing."""
    try:
        import torch
        import triton  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{what_needs} torch and triton: {_INSTALL}{remedy} ({error})") from None
    count = torch.cuda.device_count()
    if not count:
        why = "was built without CUDA" if torch.version.cuda is None else "finds none"
        raise ValueError(f"{what_needs} a GPU of NVIDIA, but torch {torch.__version__} {why}: use device='cpu'")
    device = torch.device(name)
    number = torch.cuda.current_device() if device.index is None else device.index
    if number >= count:
        raise ValueError(f"{what_needs} a GPU of that number, but there are {count}, numbered from 0")
    return torch.device("cuda", number)


def as_tensor(X: Any) -> Tensor:
    """An array of any library where it is, without a copy and without gradients."""
    import torch

    if isinstance(X, torch.Tensor):
        if X.layout != torch.strided:
            raise TypeError("a sparse tensor: rows are dense; pass its to_dense() if it is small")
        return X.detach().as_subclass(torch.Tensor)
    if not isinstance(X, np.ndarray):
        return torch.from_dlpack(X)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
        return torch.from_numpy(X)  # it is read alone


def in_main_memory(X: Any) -> Any:
    """A copy of an array on a GPU in main memory; anything else as it is."""
    if not is_on_gpu(X):
        return X
    for copy in ("cpu", "get"):  # torch, CuPy
        if hasattr(X, copy):
            return getattr(X.detach() if hasattr(X, "detach") else X, copy)()
    return np.asarray(X) if hasattr(X, "__array__") else as_tensor(X).cpu()

"""The GPU of these tests. Without one, the room computes in main memory: the same code, but for the kernels."""

import sys
from importlib.util import find_spec
from types import ModuleType

import pytest

import gpu_stand_ins

for name, functions in gpu_stand_ins.MODULES.items():
    if find_spec(name) is None:
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(functions)


@pytest.fixture(params=["cpu", "cuda"])
def gpu(request, monkeypatch):
    """Puts an array on the GPU, for which device="cuda" computes."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if request.param == "cuda":
        if not torch.cuda.is_available():
            pytest.skip("this machine has no GPU")
        return lambda X: torch.as_tensor(X).cuda()

    class OnGpu(torch.Tensor):
        """A tensor in main memory that says it is on a GPU."""

        def __dlpack_device__(self):
            return (2, 0)

        def cpu(self):
            return self.detach().as_subclass(torch.Tensor)

    monkeypatch.setattr("silverbirch.gpu.device._gpu", lambda *_: torch.device("cpu"))
    return lambda X: torch.as_tensor(X).as_subclass(OnGpu)

"""Every kernel is compiled for two kinds of GPUs: without spilled registers, and with tensor cores where it needs them.

A module of kernels has a function `compilations()`: a list of (name, kernel, signature, constants, options, whether it
uses tensor cores), one for each way in which the kernel is used.
"""

import importlib
import pkgutil
import re
import subprocess

import pytest

triton = pytest.importorskip("triton", reason="triton is not installed")

from triton import language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.knobs import nvidia

from silverbirch.gpu import kernels

TENSOR_CORES = {90: r"wgmma\.mma_async", 80: r"mma\.sync"}  # instructions of Hopper and of Ampere
NOT_YET = {"candidates", "describe", "greedy", "group_minima", "matrix", "merge", "settle", "thresholds"}

MODULES = [
    importlib.import_module(f"{kernels.__name__}.{module.name}") for module in pkgutil.iter_modules(kernels.__path__)
]
WITH_COMPILATIONS = [module for module in MODULES if hasattr(module, "compilations")]


@triton.jit
def product(a, b, out, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at)))


SIGNATURE = {"a": "*fp16", "b": "*fp16", "out": "*fp32"}


def compiled(kernel, signature, constants, options, capability):
    signature = signature | dict.fromkeys(constants, "constexpr")
    source = ASTSource(kernel, {name: signature[name] for name in kernel.arg_names}, constants)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)


def spilled_bytes(program, tmp_path):
    """What each thread keeps in memory because it has too few registers."""
    (tmp_path / "program.cubin").write_bytes(program.asm["cubin"])
    command = [nvidia.cuobjdump.path, "--dump-resource-usage", tmp_path / "program.cubin"]
    usage = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(re.search(r"STACK:(\d+)", usage)[1]) + int(re.search(r"LOCAL:(\d+)", usage)[1])


def uses_tensor_cores(program, capability):
    return re.search(TENSOR_CORES[capability], program.asm["ptx"]) is not None


@pytest.mark.parametrize("capability", TENSOR_CORES)
def test_tensor_cores_and_spills_are_noticed(capability, tmp_path):
    small = compiled(product, SIGNATURE, {"SIZE": 64}, {"num_warps": 4}, capability)
    assert uses_tensor_cores(small, capability)
    assert spilled_bytes(small, tmp_path) == 0
    single = compiled(product, dict.fromkeys(SIGNATURE, "*fp64"), {"SIZE": 16}, {"num_warps": 1}, capability)
    large = compiled(product, SIGNATURE, {"SIZE": 128}, {"num_warps": 1}, capability)
    assert not uses_tensor_cores(single, 90)
    assert spilled_bytes(large, tmp_path) > 0


def test_every_module_says_how_its_kernels_are_compiled():
    assert {module.__name__.rpartition(".")[2] for module in MODULES if module not in WITH_COMPILATIONS} == NOT_YET


@pytest.mark.parametrize("capability", TENSOR_CORES)
@pytest.mark.parametrize(
    "compilation",
    [
        pytest.param(made, id=f"{module.__name__.rpartition('.')[2]}-{made[0]}")
        for module in WITH_COMPILATIONS
        for made in module.compilations()
    ],
)
def test_kernels_spill_nothing_and_use_tensor_cores(compilation, capability, tmp_path):
    _, kernel, signature, constants, options, with_tensor_cores = compilation
    program = compiled(kernel, signature, constants, options, capability)
    assert spilled_bytes(program, tmp_path) == 0
    assert uses_tensor_cores(program, capability) >= with_tensor_cores

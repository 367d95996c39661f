"""Every kernel, as it is launched, is compiled for two kinds of GPUs: nothing spills, and products use tensor cores.

The steps of the algorithms run with a launcher that notes what is launched in place of launching it.
"""

import importlib
import pkgutil
import re
import subprocess
from functools import cache, partial

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("triton", reason="triton is not installed")

import torch
import triton
from triton import language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.knobs import nvidia
from triton.runtime import JITFunction

from gpu_objects import objects_of
from silverbirch.gpu import fused, greedy, kernels, matrix_rounds
from silverbirch.gpu.clusters import Clusters
from silverbirch.gpu.member_search import MemberSearch
from silverbirch.gpu.members import Members

TENSOR_CORES = {90: r"wgmma\.mma_async", 80: r"mma\.sync"}  # instructions of Hopper and of Ampere
WITH_PRODUCTS = {"group_minima"}
TYPES = {
    torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16",
    torch.int64: "i64", torch.int32: "i32", torch.int8: "i8", torch.bool: "i1",
}  # fmt: skip


def type_of(value):
    if isinstance(value, torch.Tensor):
        return "*" + TYPES[value.dtype]
    if hasattr(value, "block_shape"):
        return f"tensordesc<{TYPES[value.base.dtype]}{list(value.block_shape)}>"
    return "fp32" if isinstance(value, float) else "i32"


def noted_launches(steps, monkeypatch):
    """What `steps` launches: kernels with the types of their arguments, their constants and options."""
    launches = {}

    def note(kernel, *arguments, grid, warmup, **named):
        constants = {parameter.name for parameter in kernel.params if parameter.is_constexpr}
        given = dict(zip(kernel.arg_names, arguments, strict=False)) | named
        signature = {name: "constexpr" if name in constants else type_of(given[name]) for name in kernel.arg_names}
        options = {name: value for name, value in named.items() if name not in kernel.arg_names}
        fixed = {name: given[name] for name in constants}
        launches[str((kernel.__name__, signature, fixed, options))] = (kernel, signature, fixed, options)

    with monkeypatch.context() as patched:
        patched.setattr(JITFunction, "run", note)
        steps()
    return list(launches.values())


def steps_of_rounds(linkage, weight, columns=384):
    clusters = Clusters(objects_of(np.random.default_rng(0).normal(size=(3000, columns)), weight), linkage)
    extremes = fused.describe(clusters, 0.999)
    for count in (2500, 100):
        queries = torch.arange(count)
        bounds, least = fused.minima(clusters, queries, linkage == "ward" and weight is not None, 64)
        limits = fused.thresholds(clusters, queries, least, extremes, 1e-4)
        table, _ = fused.candidates(clusters, queries, bounds, limits.threshold, linkage == "ward", 64)
        fused.settle(clusters, queries, table, limits.reach)
        fused.settle(clusters, queries, clusters.listed[queries], limits.reach)
    fused.merge(clusters, torch.tensor([0]), torch.tensor([1]))


def steps_of_matrix(linkage, squares=False):
    objects = objects_of(np.random.default_rng(0).normal(size=(300, 384)))
    matrix = matrix_rounds.Matrix(objects, linkage, linkage in ("average", "weighted") and not squares, kernels=True)
    matrix_rounds.KernelRounds(matrix).run(1)
    matrix.alive[100:] = 0
    matrix.squeeze()


def steps_of_greedy(linkage, monkeypatch):
    objects = objects_of(np.random.default_rng(0).normal(size=(300, 384)))
    steps = greedy.KernelSteps(greedy.Means(objects, linkage, 1 << 28))
    monkeypatch.setattr(greedy, "_STEPS", 1)
    steps.run()


def steps_of_members(linkage):
    objects = objects_of(np.random.default_rng(0).normal(size=(300, 384)))
    search = MemberSearch(objects, linkage, 1 << 28, kernels=False)
    members = Members(search.clusters, linkage, kernels=True)
    members.between(torch.tensor([0, 1]), torch.tensor([2, 3]))
    list(members.to_all(torch.arange(10), 1 << 28))


WEIGHT = np.random.default_rng(1).uniform(1, 2, 3000)
STEPS = {
    "ward": lambda _: steps_of_rounds("ward", None),
    "ward-weights": lambda _: steps_of_rounds("ward", WEIGHT),
    "average": lambda _: steps_of_rounds("average", None),
    "weighted-40-columns": lambda _: steps_of_rounds("weighted", None, 40),
    "matrix-complete": lambda _: steps_of_matrix("complete"),
    "matrix-average": lambda _: steps_of_matrix("average"),
    "matrix-weighted": lambda _: steps_of_matrix("weighted"),
    "matrix-ward": lambda _: steps_of_matrix("ward"),
    "matrix-average-of-squares": lambda _: steps_of_matrix("average", squares=True),
    "members-complete": lambda _: steps_of_members("complete"),
    "members-average": lambda _: steps_of_members("average"),
    "centroid": lambda monkeypatch: steps_of_greedy("centroid", monkeypatch),
    "median": lambda monkeypatch: steps_of_greedy("median", monkeypatch),
}


def compiled(kernel, signature, constants, options, capability):
    return triton.compile(
        ASTSource(kernel, signature, constants), target=GPUTarget("cuda", capability, 32), options=options
    )


def spilled_bytes(program, tmp_path):
    """What each thread keeps in memory because it has too few registers."""
    (tmp_path / "program.cubin").write_bytes(program.asm["cubin"])
    command = [nvidia.cuobjdump.path, "--dump-resource-usage", tmp_path / "program.cubin"]
    usage = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(re.search(r"STACK:(\d+)", usage)[1]) + int(re.search(r"LOCAL:(\d+)", usage)[1])


def uses_tensor_cores(program, capability):
    return re.search(TENSOR_CORES[capability], program.asm["ptx"]) is not None


@triton.jit
def product(a, b, out, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@pytest.mark.parametrize("capability", TENSOR_CORES)
def test_tensor_cores_and_spills_are_noticed(capability, tmp_path):
    halves = {"a": "*fp16", "b": "*fp16", "out": "*fp32", "SIZE": "constexpr"}
    small = compiled(product, halves, {"SIZE": 64}, {"num_warps": 4}, capability)
    assert uses_tensor_cores(small, capability)
    assert spilled_bytes(small, tmp_path) == 0
    doubles = {"a": "*fp64", "b": "*fp64", "out": "*fp64", "SIZE": "constexpr"}
    single = compiled(product, doubles, {"SIZE": 16}, {"num_warps": 1}, capability)
    large = compiled(product, halves, {"SIZE": 128}, {"num_warps": 1}, capability)
    assert not uses_tensor_cores(single, 90)
    assert spilled_bytes(large, tmp_path) > 0


@cache
def all_kernels():
    modules = [
        importlib.import_module(f"{kernels.__name__}.{found.name}") for found in pkgutil.iter_modules(kernels.__path__)
    ]
    return {
        kernel.__name__
        for module in modules
        for kernel in vars(module).values()
        if isinstance(kernel, JITFunction)
        and not kernel.__name__.startswith("_")
        and kernel.__module__ == module.__name__
    }


def test_every_kernel_is_launched_by_some_steps(monkeypatch):
    launched = {
        launch[0].__name__
        for steps in STEPS.values()
        for launch in noted_launches(partial(steps, monkeypatch), monkeypatch)
    }
    assert launched == all_kernels()


@pytest.mark.parametrize("capability", TENSOR_CORES)
@pytest.mark.parametrize("name", STEPS)
def test_kernels_spill_nothing_and_use_tensor_cores(name, capability, monkeypatch, tmp_path):
    monkeypatch.setattr(fused, "_capability", lambda tensor: capability)
    spilled = {}
    for launch in noted_launches(partial(STEPS[name], monkeypatch), monkeypatch):
        program = compiled(*launch, capability)
        spilled[launch[0].__name__] = spilled_bytes(program, tmp_path)
        assert uses_tensor_cores(program, capability) == (launch[0].__name__ in WITH_PRODUCTS)
    assert spilled == dict.fromkeys(spilled, 0)

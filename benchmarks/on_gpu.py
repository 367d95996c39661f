"""What is measured on a GPU: linkage there, the rate of the product kernel, and the first call."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jobs import Job
from .work import Work

QUERIES = 1 << 15  # rows that are multiplied by all others
COLUMNS_AT_A_TIME = 1 << 17  # what cuBLAS writes is too large for all at once


def _measured(run: Callable[[], Any], describe: Callable[[Any], dict[str, Any]]) -> Work:
    """Work whose description has the most memory of the GPU that torch held during it."""
    import torch

    def counted() -> Any:
        torch.cuda.reset_peak_memory_stats()
        return run()

    return Work(counted, lambda result: describe(result) | {"gpu_gb": torch.cuda.max_memory_allocated() / 1e9})


def silverbirch_linkage(X: NDArray, job: Job) -> Work:
    import silverbirch

    squares = job.method == "average of squares"
    method, metric = ("average", "sqeuclidean") if squares else (job.method, "euclidean")
    return _measured(lambda: silverbirch.linkage(X, method, metric, device=job.device), lambda Z: {"heights": Z[:, 2]})


def torch_linkage(X: NDArray, job: Job) -> Work:
    """Brute force: n - 1 times the least number of a matrix of all distances, and the formula of Lance and Williams."""
    import torch

    if job.method != "ward":
        raise ValueError(f"method {job.method!r}: brute force is written for 'ward'")

    def run() -> NDArray:
        rows = torch.from_numpy(X).to(job.device).double()
        rows -= rows.mean(0)
        norm = rows.square().sum(1)
        D = torch.addmm(norm[:, None] + norm, rows, rows.T, alpha=-2)
        D.fill_diagonal_(torch.inf)
        weight = torch.ones_like(norm)
        heights = torch.empty(len(X) - 1, dtype=torch.float64, device=job.device)
        for step in range(len(X) - 1):
            a, b = divmod(int(D.argmin()), len(X))
            height = heights[step] = D[a, b]
            total = weight[a] + weight[b] + weight
            merged = ((weight[a] + weight) * D[a] + (weight[b] + weight) * D[b] - weight * height) / total
            merged[a] = merged[b] = torch.inf
            D[a], D[:, a] = merged, merged
            D[b], D[:, b] = torch.inf, torch.inf
            weight[a] += weight[b]
        return heights.sqrt().cpu().numpy()

    return _measured(run, lambda heights: {"heights": np.sort(heights)})


def silverbirch_product(X: NDArray) -> Work:
    """The search's kernel: products, bounds and the least of each group; without weights, as in the first search."""
    import torch

    from silverbirch.gpu import fused
    from silverbirch.gpu.clusters import Clusters
    from silverbirch.gpu.objects import prepare
    from silverbirch.gpu.rows import Rows

    clusters = Clusters(prepare(Rows(torch.from_numpy(X), torch.device("cuda"))), "ward")
    fused.describe(clusters, 1.0)
    queries = torch.arange(min(QUERIES, len(X)), device="cuda")
    return _product(lambda: fused.minima(clusters, queries, False, 64), len(queries), X)


def torch_product(X: NDArray) -> Work:
    """The same product by cuBLAS, which writes its results in float16."""
    import torch

    rows = torch.from_numpy(X).to("cuda").half()
    queries, columns = rows[:QUERIES], rows.split(COLUMNS_AT_A_TIME)
    out = torch.empty(len(queries), len(columns[0]), dtype=torch.float16, device="cuda")
    return _product(lambda: [torch.mm(queries, some.T, out=out[:, : len(some)]) for some in columns], len(queries), X)


def _product(run: Callable[[], Any], queries: int, X: NDArray) -> Work:
    """The products of several runs by the time the GPU takes for them."""
    import torch

    times = []

    def timed() -> None:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)

    def describe(_: Any) -> dict[str, Any]:
        return {"teraflops": 2 * queries * X.size / np.median(times) / 1e12}

    return Work(timed, describe)


FIRST_CALL = """
import sys, time
import numpy as np
X = np.load(sys.argv[1])
begin = time.perf_counter()
import silverbirch
silverbirch.linkage(X, "ward", device="cuda")
print(time.perf_counter() - begin)
"""


def first_call(X: NDArray) -> Work:
    """A new process without kernels in a cache: `import silverbirch`, torch, compilation and all."""

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            np.save(Path(folder) / "rows.npy", X)
            command = [sys.executable, "-c", FIRST_CALL, str(Path(folder) / "rows.npy")]
            subprocess.run(command, check=True, env=os.environ | {"TRITON_CACHE_DIR": folder})

    return Work(run, lambda _: {})

"""One case without one mechanism, in a process of its own. The build that can do without is on its path."""

import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import data, machine, worker
from .jobs import Case
from .work import Work

# All that is measured is called through names that need numpy alone.


def linkage(X: NDArray, case: Case) -> Work:
    import silverbirch

    return Work(lambda: silverbirch.linkage(X, case.method, n_jobs=case.threads), lambda Z: digest(Z))


def features(X: NDArray, case: Case) -> Work:
    import silverbirch

    leaves = silverbirch.CFTree(max_leaves=case.max_leaves).insert(X).features
    return Work(lambda: silverbirch.linkage(leaves, case.method, n_jobs=case.threads), lambda Z: digest(Z))


def tree(X: NDArray, case: Case) -> Work:
    import silverbirch

    def describe(tree: silverbirch.CFTree) -> dict[str, Any]:
        leaves = tree.features
        return digest(leaves.weight, leaves.mean, leaves.sse)

    return Work(lambda: silverbirch.CFTree(max_leaves=case.max_leaves, n_jobs=case.threads).insert(X), describe)


def assign(X: NDArray, case: Case) -> Work:
    """Once: the second time the index is there already."""
    import silverbirch

    tree = silverbirch.CFTree(max_leaves=case.max_leaves).insert(X[: max(1, len(X) // 10)])
    return Work(lambda: tree.assign(X, n_jobs=case.threads), lambda leaf: digest(leaf), repeatable=False)


TASKS: dict[str, Callable[[NDArray, Case], Work]] = {
    "linkage": linkage,
    "features": features,
    "tree": tree,
    "assign": assign,
}


def digest(*arrays: NDArray) -> dict[str, Any]:
    """Equal for results of equal bits."""
    total = hashlib.blake2b(digest_size=8)
    for array in arrays:
        total.update(np.ascontiguousarray(array).tobytes())
    return {"digest": total.hexdigest()}


def main() -> None:
    request = json.load(sys.stdin)
    if "case" not in request:
        print(json.dumps(machine.describe()))
        return
    from silverbirch import _core

    if request["without"] is not None:
        _core.switch_off(request["without"])
    case = Case(**request["case"])
    X = data.make(case.data, case.rows, case.columns, case.dtype)
    print(json.dumps(worker.measure_work(TASKS[case.task], X, case)))


if __name__ == "__main__":
    main()

"""Measures one case without one mechanism, in its own process, with the build that can switch mechanisms off."""

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

# The measured functions need no library but numpy.


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
    """Runs once: a second run would find the index built already."""
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
    """A hash of the bits of a result."""
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

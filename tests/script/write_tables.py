"""Writes tables.json: the data of a page, and the tables of clusters that Python makes, for panels.test.js."""

import json
import re
import tempfile
from pathlib import Path

import numpy as np

import silverbirch as sb


def main() -> None:
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(6, 10)) * 4
    X = np.round(centres[rng.integers(6, size=90)] + rng.normal(size=(90, 10)), 2)
    X[:, 7] = 5  # a column that distinguishes nothing
    model = sb.Betula(n_clusters=4).fit(X)
    texts = [f"Café {row}, north" if row % 2 else f"=cmd {row}" for row in range(len(X))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        names = [f"column {letter}" for letter in "abcdefghij"]
        sb.write_report(path, model, title="tables", column_names=names, rows=X, show={"text": texts})
        found = re.search(r'id="silverbirch-data">([^<]*)<', path.read_text(encoding="utf-8"))
    assert found is not None
    tables = {}
    for k in (1, 2, 4, 9, 30):
        table = model.recut(n_clusters=k).clusters_
        tables[k] = {
            "rows": table.rows.tolist(),
            "rmsd": table.rmsd.tolist(),
            "distinguishing": table.distinguishing.tolist(),
            "effect": table.effect.tolist(),
            "center": table.center.tolist(),
            "labels": model.labels_.tolist(),
        }
    written = {"data": found[1], "texts": texts, "tables": tables}
    Path(__file__).with_name("tables.json").write_text(json.dumps(written, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

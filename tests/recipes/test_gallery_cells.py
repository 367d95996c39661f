"""The gallery's script about blood cells runs with scanpy."""

import runpy
import sys
from pathlib import Path

import matplotlib

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_clusters_of_cells_have_the_genes_of_their_types(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["blood_cells.py", "--out", str(tmp_path)])
    monkeypatch.syspath_prepend(str(EXAMPLES))
    with matplotlib.rc_context():
        runpy.run_path(str(EXAMPLES / "blood_cells.py"), run_name="__main__")
    printed = capsys.readouterr().out
    for found in ("CD19+ B: MS4A1", "CD19+ B: TNFRSF17", "CD4+/CD25 T Reg: CD3D"):
        assert found in printed
    picture = matplotlib.image.imread(tmp_path / "blood-cells.png")
    assert picture[..., :3].std() > 0.05

"""The command line, as a user types it."""

import subprocess
import sys

import numpy as np
import pytest

from payloads import of_page


def silverbirch(*arguments, **options):
    command = [sys.executable, "-m", "silverbirch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo")
    done = silverbirch("demo", "--rows", 20_000, "--clusters", 50, "--max-leaves", 1_000, "--out", out)
    assert done.returncode == 0, done.stderr
    return out, done.stdout


def test_demo_labels_every_row_with_as_many_clusters_as_asked_for(demo):
    labels = np.load(demo[0] / "labels.npy")
    assert labels.shape == (20_000,)
    assert labels.min() == 0
    assert labels.max() == 49
    assert len(np.unique(labels)) == 50


def test_demo_prints_each_phase_with_time_and_memory(demo):
    for phase in ("aggregate", "linkage", "labels", "pictures", "page"):
        line = next(line for line in demo[1].splitlines() if line.strip().startswith(phase))
        assert " s " in line
        assert " MB " in line


def test_demo_draws_two_pictures_and_reports_what_it_printed(demo):
    for name in ("dendrogram.png", "rmsd.png"):
        assert (demo[0] / name).read_bytes().startswith(b"\x89PNG")
    report = (demo[0] / "report.md").read_text()
    assert "20,000 rows" in report
    assert "![dendrogram](dendrogram.png)" in report
    rmsd = next(line.split()[-1] for line in demo[1].splitlines() if "rmsd(50)" in line)
    assert f"| {rmsd} |" in report


def test_demo_writes_the_page_of_the_same_clusters(demo):
    header, arrays = of_page((demo[0] / "report.html").read_text(encoding="utf-8"))
    assert header["cut"] == {"k": 50}
    assert arrays["weight"].sum() == 20_000


def test_demo_gives_the_same_labels_for_the_same_seed(demo, tmp_path):
    silverbirch("demo", "--rows", 20_000, "-k", 50, "--max-leaves", 1_000, "-o", tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), np.load(demo[0] / "labels.npy"))


def test_demo_overwrites_nothing_without_force(tmp_path):
    (tmp_path / "report.md").write_text("mine")
    command = ["demo", "--rows", 2_000, "-k", 5, "--max-leaves", 100, "-o", tmp_path]
    refused = silverbirch(*command)
    assert refused.returncode == 1
    assert "report.md exists" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
    assert silverbirch(*command, "--force").returncode == 0
    assert (tmp_path / "report.md").read_text() != "mine"


def test_more_clusters_than_leaves_fails_with_one_line(tmp_path):
    done = silverbirch("demo", "--rows", 2_000, "-k", 50, "--max-leaves", 50, "-o", tmp_path)
    assert done.returncode == 1
    assert done.stderr.strip().count("\n") == 0
    assert "-k 50 but there are" in done.stderr


def test_wrong_usage_has_exit_code_2():
    assert silverbirch("demo", "--rows", "many").returncode == 2
    assert silverbirch("unknown").returncode == 2


def test_version_is_the_packages(tmp_path):
    import silverbirch as sb

    assert silverbirch("--version").stdout.strip() == f"silverbirch {sb.__version__}"


def test_without_typer_one_line_says_what_to_install(tmp_path):
    (tmp_path / "typer.py").write_text("raise ImportError('no typer', name='typer')")
    import os

    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = silverbirch("--version", env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == 1
    assert done.stderr.strip() == "the command line needs typer: pip install 'silverbirch[cli]'"

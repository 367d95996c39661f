"""What the pages about Dask, Spark and Ray show is true, and so are the examples of scripts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from console_docs import ROOT

REAL_DATA = Path(os.environ.get("SILVERBIRCH_DATA", ROOT.parent / "shared" / "data"))


@pytest.mark.parametrize("name", ["dask.md", "spark.md"])
def test_examples_print_what_the_page_shows(name):
    text = (ROOT / "docs" / name).read_text()
    # In a process of its own: files without a folder are where Java was started, and other tests have started it.
    run = "import sys; from console_docs import run_page; sys.stdout.write(run_page(sys.stdin.read()))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", run], input=text, capture_output=True, text=True, env=environment, timeout=600
    )
    assert (done.stdout, done.returncode) == (text, 0), done.stderr


def test_the_recipe_for_ray_labels_the_rows_of_a_dataset():
    ray = pytest.importorskip("ray", reason="Ray has no package for this Python")
    section = (ROOT / "docs" / "many-machines.md").read_text().partition("\n## Ray\n")[2].partition("\n## ")[0]
    (code,) = re.findall(r"(?ms)^```python\n(.*?)^```", section)
    group = np.arange(6000) % 3
    rows = np.random.default_rng(0).normal(size=(6000, 4)) + 9 * np.eye(4)[group]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        import silverbirch

        names = {"sb": silverbirch, "rows": ray.data.from_numpy(np.array_split(rows, 4))}
        exec(code, names)
        labels = names["labels"].to_pandas()["label"].to_numpy()
    finally:
        ray.shutdown()
    assert len(np.unique(np.stack([group, labels]), axis=1).T) == 3
    assert np.array_equal(labels, names["model"].predict(rows))
    assert names["model"].tree_.n_points == 6000


IS_REAL = all((REAL_DATA / name).is_file() for name in ("flights.parquet", "packages.parquet", "packages-minilm.npy"))


@pytest.fixture(params=["real" if IS_REAL else "made-up"])
def data(request, tmp_path):
    """A folder with the real data; where it is not there, with a little of the same form. The test id says which."""
    if request.param == "real":
        return REAL_DATA
    rng = np.random.default_rng(0)
    late = np.where(rng.random(20_000) < 0.1, rng.normal(150, 30, 20_000), rng.normal(0, 8, 20_000))
    flights = pd.DataFrame({
        "dep_delay": late,
        "arr_delay": late + rng.normal(0, 10, 20_000),
        "air_time": rng.uniform(30, 400, 20_000),
        "distance": rng.uniform(100, 2500, 20_000),
        "hour": rng.integers(5, 23, 20_000),
        "carrier": rng.choice(["AA", "BB"], 20_000),
    })  # fmt: skip
    flights.loc[::40, "dep_delay"] = np.nan
    flights.to_parquet(tmp_path / "flights.parquet")
    group = np.arange(3000) % 12
    names = [f"package {number}" for number in range(3000)]
    packages = pd.DataFrame({"name": names, "section": [f"section {g}" for g in group], "description": names})
    packages.to_parquet(tmp_path / "packages.parquet")
    np.save(tmp_path / "packages-minilm.npy", rng.normal(size=(12, 16))[group] + 0.1 * rng.normal(size=(3000, 16)))
    return tmp_path


def run(script, data, folder):
    script = ROOT / "examples" / "engines" / script
    path = os.pathsep.join(os.path.join(ROOT, part) for part in sys.path if part)
    done = subprocess.run(
        [sys.executable, script, data],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_flights_that_are_very_late_are_a_kind_of_their_own(data, tmp_path):
    printed = run("flights_on_dask.py", data, tmp_path)
    flights = pd.read_parquet(data / "flights.parquet")
    complete = flights[["dep_delay", "arr_delay", "air_time", "distance", "hour"]].notna().all(axis=1)
    assert f"{len(flights):,} flights, {(~complete).sum():,} left out for missing values" in printed
    kinds = re.findall(r"(?m)^(\d) +(-?\d+) .* (\d+)$", printed)
    assert [int(kind) for kind, _, _ in kinds] == list(range(8))
    assert sum(int(count) for _, _, count in kinds) == complete.sum()
    assert any(int(delay) > 100 for _, delay, _ in kinds)
    assert (tmp_path / "flights.sb").is_file()


def test_groups_of_packages_are_those_of_their_sections(data, tmp_path):
    printed = run("packages_on_spark.py", data, tmp_path)
    counts = [int(count.replace(",", "")) for count in re.findall(r"(?m)^ +\d+ +([\d,]+)  ", printed)]
    assert len(counts) == 12
    assert sum(counts) == len(pd.read_parquet(data / "packages.parquet"))
    assert "the same labels again: True" in printed
    assert max(int(share) for share in re.findall(r"(\d+)%", printed)) >= 80

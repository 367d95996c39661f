"""The gallery's scripts run and draw; those whose data is in no package run on a little of the same form."""

import re
import runpy
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem not in ("gallery", "run_all"))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a script as the command line does, in a folder of its own; returns what it printed and its picture."""

    def run_script(name, *arguments):
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *map(str, arguments), "--out", str(tmp_path / "out")])
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        picture = matplotlib.image.imread(tmp_path / "out" / f"{name.replace('_', '-')}.png")
        return capsys.readouterr().out, picture

    monkeypatch.syspath_prepend(str(EXAMPLES))
    with matplotlib.rc_context():
        yield run_script
    matplotlib.pyplot.close("all")


def is_drawn(picture):
    """Whether there is something on the picture: many shades, and white around it."""
    grey = np.unique(picture[..., :3].sum(axis=2))
    return len(grey) > 50 and picture[0, 0, :3].min() == 1


def test_palettes_of_more_colours_are_nearer_to_the_photograph(run):
    printed, picture = run("photograph_colours", "--step", 8)
    distances = [float(row.split()[1]) for row in printed.splitlines() if re.match(r" +\d+ ", row)]
    assert len(distances) == 4
    assert distances == sorted(distances, reverse=True)
    assert is_drawn(picture)


def test_two_continents_of_cities_have_one_bridge(run, tmp_path):
    rng = np.random.default_rng(0)
    places = [rng.uniform((lat, lon), (lat + 8, lon + 8), size=(1200, 2)) for lat, lon in ((45, 5), (-5, 105))]
    lat, lon = np.concatenate(places).round(4).T
    names = [f"place {number}" for number in range(len(lat))]
    table = pd.DataFrame({"name": names, "cc": ["AA"] * 1200 + ["BB"] * 1200, "lat": lat, "lon": lon})
    table.to_parquet(tmp_path / "cities.parquet")
    printed, picture = run("world_cities", tmp_path)
    bridges = re.findall(r"(\d+) km: .* \((..)\) - .* \((..)\), to 1,200 places", printed)
    assert len(bridges) == 1
    km, *ends = bridges[0]
    assert sorted(ends) == ["AA", "BB"]
    # On the great circle between (53, 13) and (3, 105), the nearest corners, it is at least
    least = 6371 * np.arccos(np.sin(np.radians(53)) * np.sin(np.radians(3))
                             + np.cos(np.radians(53)) * np.cos(np.radians(3)) * np.cos(np.radians(92)))  # fmt: skip
    assert least * 0.9 < int(km) < 20_000
    assert is_drawn(picture)


def test_flights_without_a_departure_are_a_kind_of_their_own(run, tmp_path):
    rng = np.random.default_rng(0)
    days = pd.date_range("2013-01-01", "2013-12-31").repeat(12)
    late = rng.exponential(20, len(days)) - 8
    table = pd.DataFrame({
        "month": days.month,
        "day": days.day,
        "dep_delay": late,
        "arr_delay": late + rng.normal(0, 10, len(days)),
        "distance": rng.integers(100, 2500, len(days)),
        "hour": rng.integers(5, 23, len(days)),
        "origin": rng.choice(["EWR", "JFK", "LGA"], len(days)),
    })  # fmt: skip
    table.loc[::40, ["dep_delay", "arr_delay"]] = np.nan
    table.loc[7::97, "arr_delay"] = np.nan
    table.to_parquet(tmp_path / "flights.parquet")
    printed, picture = run("new_york_flights", tmp_path)
    kinds = dict(re.findall(r"(?m)^\d+ +(\d+) .* (cancelled|diverted)$", printed))
    assert kinds == {str(table["dep_delay"].isna().sum()): "cancelled",
                     str((table["arr_delay"].isna() & table["dep_delay"].notna()).sum()): "diverted"}  # fmt: skip
    assert sum(map(int, re.findall(r"(?m)^ *(\d+) days", printed))) == 365
    assert is_drawn(picture)


def test_all_linkages_of_digits_are_compared(run):
    printed, picture = run("handwritten_digits", "--rows", 600)
    scores = dict(re.findall(r"(?m)^([a-z]+) +(-?\d\.\d\d) ", printed))
    assert len(scores) == 9
    assert float(scores["ward"]) > 0.6 > 0.3 > float(scores["single"])
    assert is_drawn(picture)


def test_packages_are_named_by_the_words_of_their_clusters(run, tmp_path):
    rng = np.random.default_rng(0)
    topic = np.arange(400) % 4
    words = np.array(["fonts", "games", "drivers", "editors"])[topic]
    description = [f"{word} for testing, number {number}" for number, word in enumerate(words)]
    table = pd.DataFrame({"name": [f"package{i}" for i in range(400)], "section": words, "description": description})
    table.to_parquet(tmp_path / "packages.parquet")
    np.save(tmp_path / "packages-minilm.npy", (4 * np.eye(16)[topic] + rng.normal(size=(400, 16))).astype(np.float16))
    printed, picture = run("package_descriptions", tmp_path, "--clusters", 4)
    for word in ("fonts", "games", "drivers", "editors"):
        assert re.search(rf"(?m)^\d +\d+ .*{word}, .*{word} for testing", printed)
    assert is_drawn(picture)


def test_the_stream_is_followed_only_by_a_tree_that_forgets(run):
    printed, picture = run("moving_stream")
    everything, fading = (float(line.split("(")[index].split(",")[0]) for line, index in zip(
        re.findall(r"batch 70:.*", printed), (1, 2), strict=True))  # fmt: skip
    source = 3.0 + 0.15 * 69
    assert abs(source - fading) < 1 < 4 < abs(source - everything)
    assert is_drawn(picture)


def test_no_row_of_the_fern_is_lost(run):
    printed, picture = run("hundred_million_rows", "--rows", 100_000)
    assert "weight 100,000, mean off by" in printed
    assert float(re.search(r"off by (\S+)", printed)[1]) < 1e-9
    assert is_drawn(picture)


@pytest.mark.parametrize("name", ["world_cities", "new_york_flights", "package_descriptions"])
def test_a_script_without_its_data_says_what_it_needs(run, tmp_path, name):
    with pytest.raises(SystemExit, match=r"is not there: .*SILVERBIRCH_DATA"):
        run(name, tmp_path)


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_has_a_page_with_its_picture_and_what_it_prints(name):
    page = name.replace("_", "-")
    text = (ROOT / "docs" / "gallery" / f"{page}.md").read_text()
    for part in (f"../images/gallery/{page}.png", f"printed/{page}.txt", f"../../examples/{name}.py"):
        assert part in text
        assert (ROOT / "docs" / "gallery" / part).is_file()
    assert f"(gallery/{page}.md)" in (ROOT / "docs" / "gallery.md").read_text()
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) <= 100


def run_all(monkeypatch, tmp_path, *names):
    options = ["--out", str(tmp_path), "--printed", str(tmp_path), "--only", *names]
    monkeypatch.setattr(sys, "argv", ["run_all.py", str(tmp_path), *options])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(EXAMPLES / "run_all.py"), run_name="__main__")
    return end.value.code


def test_scripts_without_their_data_are_left_out_of_a_run_of_all(tmp_path, monkeypatch, capsys):
    assert run_all(monkeypatch, tmp_path, "world_cities") == 0
    assert "world_cities: left out, because" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_the_page_of_the_stream_shows_what_its_script_prints(tmp_path, monkeypatch):
    assert run_all(monkeypatch, tmp_path, "moving_stream") == 0
    printed, shown = (
        (folder / "moving-stream.txt").read_text().splitlines()
        for folder in (tmp_path, ROOT / "docs" / "gallery" / "printed")
    )
    assert printed[:-1] == shown[:-1]  # the last line is what the run took
    assert printed[-1].endswith(")")
    assert (tmp_path / "moving-stream.png").is_file()

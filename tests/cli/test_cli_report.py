"""`silverbirch report --rows --show`: the page shows rows of the files that the model was made of."""

import numpy as np
import pandas as pd
import pytest

import silverbirch as sb
from commands import done, refused
from payloads import of_page, without_pictures  # noqa: F401


@pytest.fixture
def files(tmp_path):
    """Two files with a text column, one row of which has a missing value, and a model of their scaled rows."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(300, 2)) * [1, 50], columns=["x", "y"])
    frame.insert(0, "name, long", [f"name {i}" for i in range(300)])
    frame.loc[17, "x"] = np.nan
    frame[:200].to_csv(tmp_path / "a.csv", index=False)
    frame[200:].to_csv(tmp_path / "b.csv", index=False)
    options = ["--columns", "x,y", "--missing", "drop", "--scale", "standard", "--max-leaves", 40]
    done("cluster", tmp_path / "a.csv", tmp_path / "b.csv", "-k", 4, *options, "--model", tmp_path / "run.sb")
    return tmp_path


def shown(path):
    return of_page(path.read_text(encoding="utf-8"))


def test_rows_that_stand_for_branches_are_shown_by_their_columns(files):
    rows = ["--rows", files / "a.csv", "--rows", files / "b.csv"]
    done("report", files / "run.sb", *rows, "--show", "name, long", "-o", files / "run.html")
    header, arrays = shown(files / "run.html")
    found = header["representatives"]
    assert found["columns"] == ["name, long"]
    assert found["items"] == [[f"name {row}"] for row in found["rows"]]
    assert 17 not in found["rows"]  # it was left out
    assert len(found["of"][str(2 * header["n"] - 2)]) == 4
    # The row nearest to the mean of a leaf, among the rows of the leaf.
    frame = pd.concat([pd.read_csv(files / name) for name in ("a.csv", "b.csv")], ignore_index=True)
    model = sb.load(files / "run.sb")
    prepared = model[:-1].transform(frame.drop(index=17)[["x", "y"]])
    leaf = model[-1].tree_.assign(prepared)
    gap = ((prepared - model[-1].features_.mean[leaf]) ** 2).sum(axis=1)
    nearest = pd.Series(gap, frame.index.drop(17)).groupby(leaf).idxmin()
    assert {*found["rows"]} <= {*nearest}
    assert len(arrays["row_leaf"]) == 300


def test_rows_without_columns_to_show_give_the_labels_of_rows(files):
    done("report", files / "run.sb", "--rows", files / "a.csv", "-o", files / "run.html")
    header, arrays = shown(files / "run.html")
    assert header["representatives"] is None
    assert len(arrays["row_leaf"]) == 200


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--show", "name"], 2, "--show and the options that say how to read files are about rows: add --rows"),
        (["--separator", ";"], 2, "add --rows"),
        (["--rows", "-", "--format", "csv"], 2, "the standard input can be read only once: give files"),
        (["--rows", "{}/a.csv", "--show", "title"], 1, "title"),
        (["--rows", "{}/missing.csv"], 1, "missing.csv"),
    ],
)
def test_what_does_not_fit_is_refused(options, code, message, files):
    options = [option.format(files) for option in options]
    assert message in refused("report", files / "run.sb", *options, "-o", files / "run.html", code=code)
    assert not (files / "run.html").exists()


def test_a_page_is_not_written_over_its_rows(files):
    (files / "rows.html").write_text("x,y\n1,2\n")
    rows = ["--rows", files / "rows.html", "--format", "csv"]
    message = refused("report", files / "run.sb", *rows, "-o", files / "rows.html", "--force")
    assert "is an input and would also be the report" in message

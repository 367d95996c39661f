"""Texts are not paths: the error says what turns them into rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import silverbirch as sb
from tables import frame, write

SENTENCES = ["a library for hierarchical clustering", "fonts", "What is [this]? See http://a.b/c.d", "x " * 200]


@pytest.mark.parametrize(
    "kind",
    [list, tuple, np.array, pd.Series, pl.Series, lambda texts: np.array(texts, dtype=object), lambda texts: texts[0]],
    ids=["list", "tuple", "array", "pandas", "polars", "objects", "one text"],
)
@pytest.mark.parametrize("take", [sb.Betula().fit, sb.CFTree().insert, sb.read_chunks])
def test_texts_are_refused_with_what_embeds_them(take, kind):
    with pytest.raises(
        TypeError, match=r"X holds texts \('a library.*encode\(texts\).*TfidfVectorizer.*projection=256"
    ):
        take(kind(SENTENCES))


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_linkage_of_texts_says_what_embeds_them_and_speaks_of_no_file(kind):
    with pytest.raises(TypeError, match=r"y holds texts \('a library.*'\): .*encode\(texts\).*of scikit-learn$"):
        sb.linkage(kind(SENTENCES), "average", "cosine")


@pytest.mark.parametrize("order", [SENTENCES, SENTENCES[::-1]], ids=["forwards", "backwards"])
def test_the_order_of_texts_does_not_matter(order):
    with pytest.raises(TypeError, match="X holds texts"):
        sb.read_chunks(order)


@pytest.mark.parametrize(
    "paths",
    [
        ["missing.parquet", "other.parquet"],
        ["my data/part 1.parquet", "my data/part 2.csv.gz"],
        ["./my data"],
        ["../my data/a b"],
        ["/my data/a b"],
        ["data"],
        ["cat", "dog"],
        ["parts-*.parquet"],
        "my rows.csv",
    ],
    ids=str,
)
def test_paths_that_do_not_exist_are_still_missing_files(paths, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no such file or folder"):
        sb.read_chunks(paths)


def test_a_missing_path_beside_an_existing_one_is_a_missing_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(frame(5)[["x"]], tmp_path / "some rows.parquet")
    with pytest.raises(FileNotFoundError, match="more rows: there is no such file"):
        sb.read_chunks(["some rows.parquet", "more rows"])


def test_names_with_spaces_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my data").mkdir()
    write(frame(5)[["x"]], tmp_path / "my data" / "some rows.parquet")
    for path in ("my data", ["my data"], ["my data/some *.parquet"], "my data/some rows.parquet"):
        assert sb.read_chunks(path).n_rows == 5

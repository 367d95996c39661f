"""Rows that stand for a branch: the nearest ones, shown as texts or pictures, from frames, files and lists."""

import base64
import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from PIL import Image
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import silverbirch as sb
from payloads import of_page, without_pictures  # noqa: F401
from silverbirch.report import representatives
from silverbirch.report.showing import shown_columns


def blobs(n=400, d=3, k=4, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) + 12 * random.normal(size=(k, d))[np.arange(n) % k]


def shown_of(model, path, **options):
    sb.write_report(path, model, force=True, suggest=False, **options)
    return of_page(path.read_text(encoding="utf-8"))[0]["representatives"]


@pytest.mark.parametrize("max_leaves", [50, 25_000])
def test_of_the_rows_nearest_to_means_of_leaves_a_branch_is_shown_by_those_nearest_to_its_mean(max_leaves, tmp_path):
    rows = blobs()
    model = sb.Betula(4, max_leaves=max_leaves).fit(rows)
    found = shown_of(model, tmp_path / "page.html", rows=rows, show=[f"row {i}" for i in range(len(rows))])
    assert found["columns"] == ["shown"]
    assert found["kinds"] == ["text"]
    assert found["items"] == [[f"row {row}"] for row in found["rows"]]
    leaf_of_row = model.tree_.assign(rows)
    means = model._leaves().mean
    gap = ((rows - model.features_.mean[leaf_of_row]) ** 2).sum(axis=1)
    nearest = pd.Series(gap).groupby(leaf_of_row).idxmin()
    dendrogram = sb.Dendrogram(model.linkage_matrix_, model._leaves())
    for k in (1, 4, 9):
        for node in dendrogram.nodes(n_clusters=k).tolist():
            leaves = [leaf for leaf in dendrogram._hierarchy.leaves_below(node) if leaf in nearest.index]
            mean = np.average(means[leaves], axis=0, weights=dendrogram.weights[leaves])
            order = sorted(leaves, key=lambda leaf, mean=mean: ((rows[nearest[leaf]] - mean) ** 2).sum())[:4]
            assert [found["rows"][item] for item in found["of"][str(node)]] == nearest[order].tolist()


@pytest.mark.parametrize("width", [1, 2, 384, 10_000_000])
def test_the_leaves_compared_are_few_in_chains_and_all_in_trees_that_are_not(width):
    """Single linkage makes chains: with n leaves, each of thousands of nodes holds nearly n."""
    chain, bushy = np.arange(144_563, 138_563, -1), np.repeat(2 ** np.arange(12, 0, -1), 2 ** np.arange(12))
    in_all = representatives._MOST_COMPARED_IN_ALL // (width + representatives._COST_OF_LEAF)
    most = representatives._most_compared(chain, width)
    assert most >= representatives._OF_NODE
    assert np.minimum(chain, most).sum() <= max(in_all, len(chain) * representatives._OF_NODE)
    if width <= 384:
        assert representatives._most_compared(bushy, width) >= bushy.max()


def test_a_branch_of_a_chain_is_shown_by_leaves_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(representatives, "_MOST_COMPARED_IN_ALL", 20_000)
    points = np.cumsum(np.arange(1, 301))[:, np.newaxis].astype(float)
    dendrogram = sb.Dendrogram(sb.linkage(points, "single"), sb.ClusterFeatures(1, points, 0))
    dendrogram.to_html(tmp_path / "page.html", show=[f"{i}" for i in range(300)])
    found = of_page((tmp_path / "page.html").read_text(encoding="utf-8"))[0]["representatives"]
    assert len(found["of"]) > 200
    for node, items in found["of"].items():
        leaves = dendrogram._hierarchy.leaves_below(int(node)).tolist()
        assert 1 <= len(items) <= 4
        assert {found["rows"][item] for item in items} <= set(leaves)


def test_of_equally_near_rows_the_first_is_taken_and_rows_without_weight_are_not():
    nearest = representatives.NearestRowOfLeaves(np.zeros((2, 1)))
    leaves = np.zeros(3, dtype=np.int64)
    nearest.add(np.array([[0.0], [3.0], [-3.0]]), leaves, np.array([False, True, True]))
    nearest.add(np.array([[3.0], [-3.0], [0.0]]), leaves, np.array([True, True, False]))
    assert nearest.row.tolist() == [1, -1]
    assert nearest.points.tolist() == [[3.0], [0.0]]
    assert nearest.leaf_of_row.tolist() == [0] * 6


def as_frame(rows):
    return pd.DataFrame(rows, columns=["x", "y", "z"]).assign(
        name=[f"name {i}" for i in range(len(rows))], size=np.arange(len(rows)) / 4
    )


@pytest.mark.parametrize("kind", ["pandas", "polars", "parquet", "csv", "source", "values", "dict", "frame", "series"])
def test_columns_of_frames_and_files_and_values_in_memory_show_the_same(kind, tmp_path):
    frame = as_frame(blobs())
    model = sb.Betula(4, max_leaves=50).fit(frame[["x", "y", "z"]])
    expected = shown_of(model, tmp_path / "page.html", rows=frame[["x", "y", "z"]], show=frame["name"].tolist())
    show = "name"
    if kind == "pandas":
        rows = frame.set_index(frame.index[::-1])  # values are found by their place
    elif kind == "polars":
        rows = pl.from_pandas(frame)
    elif kind == "parquet":
        rows = tmp_path / "rows.parquet"
        frame.to_parquet(rows)
    elif kind == "csv":
        rows = tmp_path / "rows.csv"
        frame.to_csv(rows, index=False)
    elif kind == "source":
        rows = sb.read_chunks(frame, columns=["x", "y", "z"], keep="name", chunk_rows=17)
    else:
        rows = frame[["x", "y", "z"]]
        show = {
            "values": frame["name"].tolist(),
            "dict": {"name": frame["name"].to_numpy()},
            "frame": frame[["name"]],
            "series": frame.set_index(frame.index[::-1])["name"],
        }[kind]
    found = shown_of(model, tmp_path / "page.html", rows=rows, show=show)
    assert found["columns"] == (["shown"] if kind == "values" else ["name"])
    assert {name: found[name] for name in ("kinds", "items", "rows", "of")} == {
        name: expected[name] for name in ("kinds", "items", "rows", "of")
    }


def test_several_columns_are_shown(tmp_path):
    frame = as_frame(blobs())
    model = sb.Betula(4, max_leaves=50).fit(frame[["x", "y", "z"]])
    for rows in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        found = shown_of(model, tmp_path / "page.html", rows=rows, show=["name", "size"])
        assert found["columns"] == ["name", "size"]
        row = found["rows"][0]
        assert found["items"][0] == [f"name {row}", f"{row / 4:g}"]


def test_the_rows_of_a_pipeline_are_those_that_it_was_given(tmp_path):
    frame = as_frame(blobs(400))
    pipeline = make_pipeline(PCA(2), sb.Betula(4)).fit(frame[["x", "y", "z"]])
    found = shown_of(pipeline, tmp_path / "page.html", rows=frame, show="name")
    direct = sb.Betula(4).fit(pipeline[:-1].transform(frame[["x", "y", "z"]]))
    expected = shown_of(direct, tmp_path / "page.html", show=frame["name"])
    assert found["of"] == expected["of"]
    assert found["items"] == expected["items"]


def test_columns_of_lists_are_found_again_in_a_file(tmp_path):
    rows = blobs(300, 40)
    frame = pd.DataFrame({"embedding": list(rows), "title": [f"title {i}" for i in range(300)]})
    frame.to_parquet(tmp_path / "rows.parquet")
    source = sb.read_chunks(tmp_path / "rows.parquet", columns="embedding")
    model = sb.Betula(4, max_leaves=50).fit(source)
    for given in (tmp_path / "rows.parquet", frame):
        found = shown_of(model, tmp_path / "page.html", rows=given, show="title")
        assert found["items"] == [[f"title {row}"] for row in found["rows"]]


def test_without_rows_values_belong_to_the_rows_of_fit_if_leaves_hold_equal_rows(tmp_path):
    rows = np.repeat(blobs(100), 3, axis=0)
    model = sb.Betula(4).fit(rows)
    found = shown_of(model, tmp_path / "page.html", show=[f"row {i // 3}" for i in range(300)])
    assert found["items"] == [[f"row {row // 3}"] for row in found["rows"]]
    aggregated = sb.Betula(4, max_leaves=50).fit(blobs())
    with pytest.raises(ValueError, match="but not the rows"):
        sb.write_report(tmp_path / "other.html", aggregated, show=["a"] * 400)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"rows": blobs(), "show": ["a"] * 3}, ValueError, "3 values of 'shown' but 400 rows"),
        ({"rows": blobs(), "show": "name"}, TypeError, "have no column 'name'"),
        ({"show": "name"}, ValueError, "'name' is to be shown, but no rows are given"),
        ({"rows": blobs(400, 7), "show": ["a"] * 400}, ValueError, "7 features"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(options, error, words, tmp_path):
    model = sb.Betula(4).fit(blobs())
    with pytest.raises(error, match=words):
        sb.write_report(tmp_path / "page.html", model, suggest=False, **options)
    assert not (tmp_path / "page.html").exists()


def test_a_dendrogram_shows_values_of_its_leaves_with_features_and_without(tmp_path):
    rows = blobs(60)
    for features in (rows, None):
        dendrogram = sb.Dendrogram(sb.linkage(rows, "average"), features)
        dendrogram.to_html(tmp_path / "page.html", show=[f"leaf {i}" for i in range(60)])
        found = of_page((tmp_path / "page.html").read_text(encoding="utf-8"))[0]["representatives"]
        assert found["items"] == [[f"leaf {row}"] for row in found["rows"]]
        for node in (118, 110, 7):
            below = {*dendrogram._hierarchy.leaves_below(node).tolist()}
            assert {found["rows"][item] for item in found["of"][str(node)]} <= below
    with pytest.raises(ValueError, match="3 values of 'shown' but 60 leaves"):
        dendrogram.to_html(tmp_path / "page.html", show=["a"] * 3)


def test_items_end_where_the_size_does_and_the_root_comes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(representatives, "_MOST_LETTERS", 500)
    model = sb.Betula(4).fit(blobs())
    found = shown_of(model, tmp_path / "page.html", show=["x" * 50] * 400)
    assert 4 <= len(found["items"]) <= 10
    assert str(2 * model.dendrogram_.n_leaves - 2) in found["of"]


# --- values


def picture(kind, size=(5, 4)):
    buffer = io.BytesIO()
    Image.new("RGB", size, "teal").save(buffer, kind)
    return buffer.getvalue()


def uri(data, kind="png"):
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


IMAGES = {
    "png": picture("PNG"),
    "jpeg": picture("JPEG"),
    "gif": picture("GIF"),
    "webp": picture("WEBP"),
    "large": picture("PNG", (900, 300)),
    "grey array": np.zeros((4, 5), dtype=np.uint8),
    "coloured array": np.zeros((4, 5, 3), dtype=np.uint8),
    "Pillow": Image.new("P", (5, 4)),
    "data URI": uri(picture("PNG")),
    "dict of Parquet": {"bytes": picture("PNG"), "path": "a.png"},
}


@pytest.mark.parametrize("kind", IMAGES)
def test_pictures_are_data_uris_that_open(kind):
    kinds, values = shown_columns([[IMAGES[kind], None]])
    assert kinds == ["image"]
    head, _, data = values[0][0].partition(",")
    assert head in ("data:image/png;base64", "data:image/jpeg;base64")
    opened = Image.open(io.BytesIO(base64.b64decode(data)))
    assert opened.size == ((160, 53) if kind == "large" else (5, 4))
    assert values[0][1] is None


@pytest.mark.parametrize(
    "value",
    [
        "data:image/svg+xml;base64,PHN2Zy8+",
        "data:text/html;base64,PHA+",
        'data:image/png;base64,AAAA" onerror="alert(1)',
        "javascript:alert(1)",
        b"\x89PNG\r\n\x1a\n broken",
        b"\xff\xfe",
        np.zeros((4, 5)),
    ],
    ids=str,
)
def test_what_is_no_picture_is_text(value):
    kinds, values = shown_columns([[value]])
    assert kinds == ["text"]
    assert isinstance(values[0][0], str)


def test_texts_are_short_and_missing_values_stay_missing():
    column = ["a" * 1000, " b ", None, float("nan"), pd.NA, pd.NaT, 3, 0.1234567, np.float32(2), b"bytes"]
    kinds, (values,) = shown_columns([column])
    assert kinds == ["text"]
    assert values[0] == "a" * 300 + "…"
    assert values[1:] == ["b", None, None, None, None, "3", "0.123457", "2", "bytes"]


def texts_of(path, dendrogram_or_model, **options):
    if isinstance(dendrogram_or_model, sb.Dendrogram):
        dendrogram_or_model.to_html(path, **options)
    else:
        sb.write_report(path, dendrogram_or_model, force=True, suggest=False, **options)
    header, arrays = of_page(path.read_text(encoding="utf-8"))
    return header["texts"], arrays


def test_a_page_has_the_texts_of_all_rows_and_the_row_that_stands_for_each_leaf(tmp_path):
    frame = as_frame(blobs())
    frame.loc[7, "name"] = None
    shown = {"picture": np.zeros((400, 2, 2), np.uint8), "name": frame["name"], "size": frame["size"]}
    model = sb.Betula(4, max_leaves=50).fit(frame[["x", "y", "z"]])
    texts, arrays = texts_of(tmp_path / "page.html", model, rows=frame, show=shown)
    assert texts[0] == [None if i == 7 else f"name {i}" for i in range(400)]
    assert texts[1][:3] == ["0", "0.25", "0.5"]
    assert len(texts) == 2
    stands = arrays["leaf_row"]
    np.testing.assert_array_equal(arrays["row_leaf"][stands[stands >= 0]], np.flatnonzero(stands >= 0))


def test_texts_of_a_dendrogram_are_those_of_its_leaves(tmp_path):
    points = blobs(60)
    dendrogram = sb.Dendrogram(sb.linkage(points, "single"), sb.ClusterFeatures(1, points, 0))
    texts, arrays = texts_of(tmp_path / "page.html", dendrogram, show=[f"leaf {i}" for i in range(60)])
    assert texts == [[f"leaf {i}" for i in range(60)]]
    assert "leaf_row" not in arrays


def test_texts_of_rows_end_where_they_are_too_many_for_a_page(tmp_path, monkeypatch):
    frame = as_frame(blobs())
    model = sb.Betula(4, max_leaves=50).fit(frame[["x", "y", "z"]])
    given = {"rows": frame, "show": {"name": frame["name"], "long": ["long text " * 20] * 400}}
    monkeypatch.setattr("silverbirch.report.texts._MOST_LETTERS", 10_000)
    texts, _ = texts_of(tmp_path / "page.html", model, **given)
    assert texts == [frame["name"].to_list()]
    monkeypatch.setattr("silverbirch.report.texts.MOST_ROWS_OF_PAGE", 399)
    texts, _ = texts_of(tmp_path / "page.html", model, **given)
    assert texts is None


def test_pictures_without_pillow_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match="pictures need Pillow: pip install pillow"):
        shown_columns([[np.zeros((8, 8), np.uint8)]])
    assert shown_columns([["a text"]]) == (["text"], [["a text"]])

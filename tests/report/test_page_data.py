"""The facts of an interactive page are those of Python: means, places, adaptive cuts, suggestions, names."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import silverbirch as sb
from payloads import of_page, unpack, without_pictures  # noqa: F401
from silverbirch.report import adaptive, contents, facts, numbers, scatter, squares
from silverbirch.report.page import dendrogram_page, report_page


def blobs(n=600, d=3, k=5, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) + 12 * random.normal(size=(k, d))[np.arange(n) % k]


def report_of(model, path, **options):
    sb.write_report(path, model, force=True, **options)
    return of_page(path.read_text(encoding="utf-8"))


def values_of(header, arrays):
    """The means of the nodes of a page, in the units of its columns."""
    z = arrays["fact_z"].reshape(len(arrays["fact_node"]), -1)
    mean, deviation = (np.array([column[name] for column in header["columns"]]) for name in ("mean", "deviation"))
    return dict(zip(arrays["fact_node"].tolist(), mean + z * deviation, strict=True))


@pytest.mark.parametrize("columns", [3, 12])
def test_the_means_of_every_cut_are_those_of_the_labelled_rows(columns, tmp_path):
    rows = blobs(2000, columns)
    model = sb.Betula(5, max_leaves=150).fit(rows)
    header, arrays = report_of(model, tmp_path / "page.html", suggest=False)
    assert header["facts"] == {"nodes": 2 * model.dendrogram_.n_leaves - 1, "complete_to": model.dendrogram_.n_leaves}
    found = values_of(header, arrays)
    for k in (1, 2, 5, 30):
        labels = model.cut(k)
        nodes = model.dendrogram_.nodes(n_clusters=k)
        expected = pd.DataFrame(rows).groupby(labels).mean().to_numpy()
        np.testing.assert_allclose([found[node] for node in nodes.tolist()], expected, atol=2e-3)


def test_means_end_where_the_size_does_and_the_page_says_where(tmp_path, monkeypatch):
    monkeypatch.setattr(facts, "_FEWEST_NODES", 60)
    monkeypatch.setattr(facts, "_USUAL_BYTES", 1)
    model = sb.Betula(5).fit(blobs(400))
    header, arrays = report_of(model, tmp_path / "page.html", suggest=False)
    k = header["facts"]["complete_to"]
    assert len(arrays["fact_node"]) == header["facts"]["nodes"] == 2 * k - 1 == 61
    known = {*arrays["fact_node"].tolist()}
    for cut in range(1, k + 1):
        assert {*model.dendrogram_.nodes(n_clusters=cut).tolist()} <= known
    assert not {*model.dendrogram_.nodes(n_clusters=k + 1).tolist()} <= known


def test_means_are_in_the_units_before_the_steps_of_a_pipeline(tmp_path):
    rows = pd.DataFrame(blobs() * [1, 100, 0.01], columns=["a", "b", "c"])
    pipeline = make_pipeline(StandardScaler(), sb.Betula(5)).fit(rows)
    header, arrays = report_of(pipeline, tmp_path / "page.html", suggest=False)
    assert [column["name"] for column in header["columns"]] == ["a", "b", "c"]
    assert "before they were scaled" in header["units"]
    labels, found = pipeline[-1].labels_, values_of(header, arrays)
    for label, node in enumerate(pipeline[-1].dendrogram_.nodes(n_clusters=5).tolist()):
        np.testing.assert_allclose(found[node], rows[labels == label].mean(), rtol=1e-4)


def test_a_leaf_without_labelled_rows_has_a_mean(tmp_path):
    """Rows are labelled by the nearest leaf, and some leaves lose all of theirs."""
    rows = np.random.default_rng(3).normal(size=(3000, 2))
    model = sb.Betula(5, max_leaves=300).fit(rows)
    weight = model._leaves().weight.copy()
    weight[:20] = 0
    features = sb.ClusterFeatures(weight, model._leaves().mean, np.where(weight > 0, model._leaves().sse, 0))
    payload = contents.Payload({"adaptive": []})
    dendrogram = sb.Dendrogram(model.linkage_matrix_, features)
    columns = facts.columns_of_features(model.features_, None)
    facts.add_facts(payload, dendrogram, model.dendrogram_, columns)
    header, arrays = unpack(payload.text())
    found = values_of(header, arrays)
    np.testing.assert_allclose([found[leaf] for leaf in range(20)], model.features_.mean[:20], rtol=1e-4)


@pytest.mark.parametrize(
    ("names", "embedding"),
    [
        ([f"column {i}" for i in range(100)], True),
        ([f"text[{i}]" for i in range(384)], True),
        ([f"pixel_{i // 8}_{i % 8}" for i in range(64)], False),
        ([f"column {i}" for i in range(10)], False),
    ],
)
def test_many_columns_that_differ_in_a_number_alone_are_an_embedding(names, embedding):
    assert facts.Columns(names, np.zeros(1), np.zeros(1)).are_embedding is embedding


# --- places


@pytest.mark.parametrize(("columns", "noise", "exact"), [(4, 0.01, 1000), (500, 5, 1000), (300, 0.01, 200)])
def test_places_are_the_principal_axes_of_the_rows(columns, noise, exact, tmp_path, monkeypatch):
    """Where each leaf is a row. Of many rows and columns the axes are approximate, so little noise is added there."""
    monkeypatch.setattr(scatter, "_MOST_EXACT", exact)
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 2)) @ [[9, 0], [0, 4]] @ random.normal(size=(2, columns))
    rows += noise * random.normal(size=rows.shape) + 1000
    dendrogram = sb.Dendrogram(sb.linkage(rows, "ward"), rows)
    dendrogram.to_html(tmp_path / "page.html")
    header, arrays = of_page((tmp_path / "page.html").read_text(encoding="utf-8"))
    np.testing.assert_array_equal(arrays["scatter_node"], np.arange(400))
    low, high = np.transpose([header["scatter"]["x"], header["scatter"]["y"]])
    found = low + arrays["scatter_xy"].reshape(-1, 2) / 65535 * (high - low)
    pca = PCA(2, svd_solver="full").fit(rows)
    expected = pca.transform(rows)
    expected *= np.sign((expected * found).sum(axis=0))
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.ptp(expected))
    assert f"{100 * pca.explained_variance_ratio_[0]:.1f} %" in header["scatter"]["labels"][0]


def test_many_leaves_are_drawn_as_the_branches_of_a_cut(monkeypatch):
    monkeypatch.setattr(scatter, "MOST_POINTS", 50)
    rows = blobs(300)
    dendrogram = sb.Dendrogram(sb.linkage(rows, "ward"), rows)
    payload = contents.Payload()
    scatter.add_scatter(payload, dendrogram, None)
    _, arrays = unpack(payload.text())
    assert {*arrays["scatter_node"].tolist()} == {*dendrogram.nodes(n_clusters=50).tolist()}


@pytest.mark.parametrize("max_leaves", [60, 25_000])
def test_places_of_rows_are_averaged_to_leaves(max_leaves, tmp_path):
    rows = blobs(500, 4)
    model = sb.Betula(5, max_leaves=max_leaves).fit(rows)
    places = np.random.default_rng(1).normal(size=(500, 2))
    header, arrays = report_of(model, tmp_path / "page.html", coordinates=places, suggest=False)
    leaves = model.tree_.assign(rows)
    means = pd.DataFrame(places).groupby(leaves).mean()
    low, high = np.transpose([header["scatter"]["x"], header["scatter"]["y"]])
    found = low + arrays["scatter_xy"].reshape(-1, 2) / 65535 * (high - low)
    nodes = arrays["scatter_node"].tolist()
    np.testing.assert_allclose(found[[nodes.index(leaf) for leaf in means.index]], means, atol=1e-3)
    assert header["scatter"]["labels"] == ["first coordinate, as given", "second coordinate, as given"]


def test_rows_without_coordinates_count_for_nothing_and_their_leaf_takes_the_place_of_its_branch():
    places = np.array([[0.0, 0.0], [np.nan, 0.0], [4.0, 2.0], [np.nan, np.nan], [8.0, 6.0]])
    found = scatter.places_of_leaves(places, 4, np.array([0, 0, 1, 2, 3]))
    np.testing.assert_array_equal(found, [[0, 0], [4, 2], [np.nan, np.nan], [8, 6]])
    dendrogram = sb.Dendrogram(sb.linkage(np.array([[0.0], [5.0], [6.0], [20.0]]), "single"))  # 2 joins 1 first
    np.testing.assert_array_equal(
        scatter._mean_places(dendrogram, np.arange(4), found), [[0, 0], [4, 2], [4, 2], [8, 6]]
    )


def test_a_leaf_without_rows_is_in_the_middle_of_the_principal_axes():
    rows = blobs(30)
    features = sb.ClusterFeatures(np.arange(30) > 0, rows, 0)
    places, _ = scatter.principal_places(sb.Dendrogram(sb.linkage(rows, "ward"), features), np.arange(30))
    np.testing.assert_array_equal(places[0], [0, 0])


def test_coordinates_of_another_number_are_refused(tmp_path):
    model = sb.Betula(3, max_leaves=50).fit(blobs())
    for wrong, words in ((np.zeros((7, 2)), "7 coordinates but 600 rows and .* leaves"), (np.zeros(600), "shape")):
        with pytest.raises(ValueError, match=words):
            sb.write_report(tmp_path / "page.html", model, coordinates=wrong, suggest=False)
    with pytest.raises(ValueError, match="no leaf has coordinates"):
        sb.write_report(tmp_path / "page.html", model, coordinates=np.full((600, 2), np.nan), suggest=False)


def test_a_page_of_very_many_leaves_says_what_is_rounded(monkeypatch):
    model = sb.Betula(5).fit(blobs(100))
    pages = (lambda: report_page(model, "t"), lambda: dendrogram_page(model.dendrogram_, "t"))
    assert not any("rounded to about 3 %" in page() for page in pages)
    monkeypatch.setattr(squares, "ROUNDED_FROM", 99)
    assert all(page().count("rounded to about 3 %") == 1 for page in pages)


# --- cuts


def test_adaptive_cuts_are_those_of_python(tmp_path):
    model = sb.Betula(5).fit(blobs(1000))
    header, arrays = report_of(model, tmp_path / "page.html", suggest=False)
    assert {cut["python"].split("'")[1] for cut in header["adaptive"]} == {"eom", "dynamic"}
    assert header["cut"] == {"k": 5}
    for cut in header["adaptive"]:
        labels = eval(f"model.dendrogram_.cut({cut['python']})")
        expected = model.dendrogram_.nodes(labels)
        assert {*arrays[cut["array"]].tolist()} == {*expected.tolist()}
        assert f"{len(expected)} cluster" in cut["label"]


def test_the_noise_of_an_adaptive_cut_is_the_share_of_the_rows_that_have_no_cluster(tmp_path):
    model = sb.Betula(5, max_leaves=100).fit(
        np.random.default_rng(0).normal(size=(3000, 2))
    )  # labels and leaves differ
    header, _ = report_of(model, tmp_path / "page.html", suggest=False)
    for cut in header["adaptive"]:
        labels = eval(f"model.recut({cut['python']}).labels_")
        assert (f"{numbers.percent((labels < 0).mean())} noise" in cut["label"]) is bool((labels < 0).any())


def test_the_page_begins_with_the_adaptive_cut_of_the_model(tmp_path):
    model = sb.Betula(5).fit(blobs(1000))
    for options in ({"method": "eom", "min_size": 20}, {"n_clusters": 4, "min_size": 30, "noise": True}):
        model.recut(**options)
        header, arrays = report_of(model, tmp_path / "page.html", suggest=False)
        cut = header["adaptive"][header["cut"]["adaptive"]]
        again = eval(f"model.recut({cut['python']})")
        nodes = again.dendrogram_.nodes(again.subcluster_labels_)
        assert {*arrays[cut["array"]].tolist()} == {*nodes.tolist()}


def test_sizes_of_the_ladder_are_round_and_ascend():
    for total in (1, 7, 300, 12_345, 10**9):
        sizes = [*adaptive._sizes(total)]
        assert sizes == sorted({*sizes})
        assert all(str(size).rstrip("0") in ["1", "2", "5"] and 2 <= size <= total for size in sizes)


def test_the_suggestion_is_that_of_the_model(tmp_path):
    model = sb.Betula(3).fit(blobs(200, 2, 4))
    expected = model.choose_k()
    for suggest in (None, True, expected):
        header, _ = report_of(model, tmp_path / "page.html", suggest=suggest)
        assert header["suggestion"] == {
            "k": expected.n_clusters,
            "reason": expected.reason,
            "votes": expected.votes,
        }
    assert report_of(model, tmp_path / "page.html", suggest=False)[0]["suggestion"] is None


def test_the_suggestion_for_a_dendrogram_is_the_one_given(tmp_path):
    X = blobs(200, 2, 4)
    dendrogram = sb.Dendrogram(sb.linkage(X, "average"), X)
    given = dendrogram.suggest(method="average")
    dendrogram.to_html(tmp_path / "page.html", suggest=given)
    header, _ = of_page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert given.n_clusters > 1
    assert header["suggestion"] == {"k": given.n_clusters, "reason": given.reason, "votes": given.votes}
    with pytest.raises(TypeError, match="a Suggestion is expected, not True"):
        dendrogram.to_html(tmp_path / "page.html", suggest=True)


# --- names, labels, cuts


def test_names_of_nodes_are_there_and_those_near_the_root_first(tmp_path, monkeypatch):
    model = sb.Betula(4).fit(blobs())
    model.name_clusters(["one", "two", "three", "</script>"])
    header, _ = report_of(model, tmp_path / "page.html", suggest=False)
    nodes = model.dendrogram_.nodes(n_clusters=4)
    assert header["names"] == {str(nodes[i]): name for i, name in enumerate(["one", "two", "three", "</script>"])}
    monkeypatch.setattr(contents, "_MOST_NAME_LETTERS", 9)
    header, _ = report_of(model, tmp_path / "page.html", suggest=False)
    assert list(header["names"]) == sorted(header["names"], reverse=True, key=int)
    assert sum(map(len, header["names"].values())) <= 9


@pytest.mark.parametrize("max_leaves", [60, 25_000])
def test_the_leaf_of_each_row_gives_the_labels_of_the_rows(max_leaves, tmp_path):
    rows = blobs()
    model = sb.Betula(5, max_leaves=max_leaves).fit(rows)
    _, arrays = report_of(model, tmp_path / "page.html", suggest=False)
    np.testing.assert_array_equal(model.subcluster_labels_[arrays["row_leaf"]], model.labels_)


def test_the_leaves_of_the_last_batch_are_not_taken_for_those_of_all_rows(tmp_path):
    model = sb.Betula(3, max_leaves=60).partial_fit(blobs())
    assert len(model.labels_) == 600
    _, arrays = report_of(model, tmp_path / "page.html", suggest=False)
    assert "row_leaf" not in arrays
    _, arrays = report_of(model, tmp_path / "page.html", suggest=False, rows=blobs())
    np.testing.assert_array_equal(model.subcluster_labels_[arrays["row_leaf"]], model.labels_)


def test_counts_of_the_page_are_those_of_the_labels_and_numbers_those_of_the_leaves():
    rows = np.random.default_rng(0).normal(size=(3000, 3))
    model = sb.Betula(6, max_leaves=40).fit(rows)
    _, arrays = of_page(report_page(model, "t"))
    assert arrays["weight"].sum() == 3000
    np.testing.assert_array_equal(
        arrays["weight"], np.bincount(model.tree_.assign(rows), minlength=len(arrays["leaf"]))
    )
    np.testing.assert_array_equal(arrays["absorbed"], model.features_.weight)

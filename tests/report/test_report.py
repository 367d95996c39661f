"""The report: its numbers are those of the rows, names are escaped, and it needs no other file."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

import silverbirch as sb
from html_pages import EVIL, Page
from silverbirch.report import numbers
from silverbirch.report.accuracy import accuracy_of
from silverbirch.report.clusters import cluster_table, clusters_of
from silverbirch.report.page import _cut_height, report_page, write_report


def blobs(n=300, d=3, k=4, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) + 20 * random.normal(size=(k, d))[np.arange(n) % k]


def fitted(n=300, d=3, k=4, **options):
    return sb.Betula(n_clusters=k, **options).fit(blobs(n, d, k or 4))


def page_of(model, title="A report", **options):
    return Page(report_page(model, title, **options))


def as_number(text):
    return float(text.replace("−", "-").replace(",", "").removesuffix(" %"))


def cluster_rows(model, column_names=None):
    (table,) = Page(cluster_table(clusters_of(model, column_names), {})).tables
    return table


def one_leaf():
    """A model whose page has no pictures, which take most of the time."""
    return sb.Betula(1).fit(np.ones((5, 3)))


# --- what it says


def test_the_table_of_clusters_is_that_of_the_labelled_rows():
    rows = pd.DataFrame(blobs(), columns=["x", "y", "z"])
    model = sb.Betula(n_clusters=4).fit(rows)
    head, whole, *lines = cluster_rows(model)
    assert head == ["cluster", "rows", "share", "rmsd", "x", "y", "z"]
    groups = rows.groupby(model.labels_)
    squared = ((rows - groups.transform("mean")) ** 2).sum(axis=1).groupby(model.labels_).mean()
    expected = pd.concat([groups.size(), 100 * groups.size() / 300, np.sqrt(squared), groups.mean()], axis=1)
    found = {int(line[0]): [as_number(cell) for cell in line[1:]] for line in lines}
    for label, values in expected.iterrows():
        np.testing.assert_allclose(found[label], values, atol=0.051)
    np.testing.assert_allclose([as_number(c) for c in whole[4:]], rows.mean(), atol=0.01)
    assert as_number(whole[1]) == 300


@pytest.mark.parametrize("max_leaves", [40, 25_000])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_clusters_add_up_to_the_whole_and_their_squares_to_the_cut(method, max_leaves):
    rows = blobs(3000, 3, 6)
    model = getattr(sb.Betula(6, max_leaves=max_leaves), method)(rows)
    clusters = clusters_of(model, None)
    assert clusters.table.weight.sum() == clusters.rows == 3000
    expected = model.dendrogram_.sse(6) if method == "partial_fit" else -model.score(rows)
    np.testing.assert_allclose(clusters.sse, expected)
    mean = clusters.table.weight @ clusters.table.center / 3000
    np.testing.assert_allclose(mean, clusters.total.mean[0])


@pytest.mark.parametrize("max_leaves", [10, 40])
def test_the_counts_of_the_page_are_those_of_the_labels(max_leaves):
    model = sb.Betula(6, max_leaves=max_leaves).fit(np.random.default_rng(0).normal(size=(3000, 3)))
    assert not np.array_equal(np.bincount(model.subcluster_labels_, model.features_.weight), np.bincount(model.labels_))
    _, whole, *lines = cluster_rows(model)
    assert [as_number(line[1]) for line in lines] == np.bincount(model.labels_).tolist()
    assert as_number(whole[1]) == 3000


def test_the_picture_and_the_curve_count_the_rows_by_their_labels():
    rows = np.random.default_rng(0).normal(size=(900, 3))
    model = sb.Betula(3, max_leaves=40).fit(rows)
    text = report_page(model, "")
    of_leaves = np.bincount(model.tree_.assign(rows))
    assert not np.array_equal(of_leaves, model.features_.weight)
    shown = re.findall(r"<text[^>]*rotate\(-90\)[^>]*>(\d+)</text>", text.replace("\n", ""))
    assert sorted(map(int, shown)) == sorted(of_leaves)
    chosen = [line[1] for line in Page(text).tables[0] if line[0] == "3"]
    assert chosen == [numbers.number(model.clusters_.overall_rmsd)]


def test_rows_of_weight_are_counted_and_weighed_where_they_are_labelled():
    rows, weight = blobs(400), np.linspace(0.1, 2, 400)
    model = sb.Betula(4).fit(rows, sample_weight=weight)
    head, whole, *lines = cluster_rows(model)
    assert head[:5] == ["cluster", "rows", "weight", "share", "rmsd"]
    assert [as_number(line[1]) for line in [whole, *lines]] == [400, *np.bincount(model.labels_)]
    expected = [weight.sum(), *np.bincount(model.labels_, weight)]
    np.testing.assert_allclose([as_number(line[2]) for line in [whole, *lines]], expected, atol=0.006)
    absorbed = cluster_rows(sb.Betula(4).partial_fit(rows, sample_weight=weight))
    assert absorbed[0][:4] == ["cluster", "rows", "share", "rmsd"]
    np.testing.assert_allclose([as_number(line[1]) for line in absorbed[1:]], expected, atol=0.006)


def test_the_page_says_whose_counts_it_shows():
    rows = blobs(1000)
    assert "rows by their labels" in page_of(sb.Betula(4, max_leaves=50).fit(rows)).text
    absorbed = page_of(sb.Betula(4, max_leaves=50).partial_fit(rows)).text
    assert "rows as the leaves absorbed them" in absorbed
    assert "rows by their labels" not in absorbed


def test_data_far_from_the_origin_has_the_same_spread():
    rows = blobs().round(3)
    near, far = (clusters_of(sb.Betula(n_clusters=4).fit(rows + shift), None) for shift in (0, 1e8))
    np.testing.assert_allclose(far.table.rmsd, near.table.rmsd, rtol=1e-5)


def test_clusters_come_by_size_and_the_rest_is_counted():
    random = np.random.default_rng(1)
    model = sb.Betula(n_clusters=350).fit(random.normal(size=(2000, 2)))
    page = page_of(model)
    (table,) = (table for table in page.tables if table[0][0] == "cluster")
    _, _, *lines = table
    sizes = [as_number(line[1]) for line in lines]
    assert len(lines) == 200
    assert sizes == sorted(np.bincount(model.labels_), reverse=True)[:200]
    count, share = re.search(r"(\d+) smaller clusters, ([\d.]+) % of the rows, are not shown", page.text).groups()
    assert int(count) == 150
    assert float(share) == pytest.approx(100 * (1 - sum(sizes) / 2000), abs=0.051)


def test_columns_of_an_embedding_are_not_named():
    head, _, *lines = cluster_rows(sb.Betula(n_clusters=3).fit(blobs(d=40)))
    assert head == ["cluster", "rows", "share", "rmsd"]
    assert {len(line) for line in lines} == {4}


def test_of_many_columns_those_are_named_that_differ_most():
    digits = load_digits(as_frame=True).data
    model = sb.Betula(n_clusters=10).fit(digits)
    head, whole, *lines = cluster_rows(model)
    assert head[-1] == "differs most from all rows in"
    assert whole[-1] == ""
    means = digits.groupby(model.labels_).mean()
    effects = ((means - digits.mean()) / digits.std(ddof=0)).fillna(0)
    for line in lines:
        label = int(line[0])
        named = re.findall(r"(pixel_\d_\d) ([\d.]+) \(([+−][\d.]+) s\.d\.\)", line[-1])
        found = [name for name, _, _ in named]
        assert found == list(effects.loc[label].abs().sort_values(ascending=False, kind="stable").index[:4])
        np.testing.assert_allclose([as_number(v) for _, v, _ in named], means.loc[label, found], atol=0.006)
        np.testing.assert_allclose([as_number(e) for _, _, e in named], effects.loc[label, found], atol=0.006)


def test_names_are_given_or_the_models_or_numbers():
    rows = blobs()
    named = sb.Betula(n_clusters=2).fit(pd.DataFrame(rows, columns=["x", "y", "z"]))
    bare = sb.Betula(n_clusters=2).fit(rows)
    heads = [
        cluster_rows(model, names)[0][4:] for model, names in ((named, None), (named, ["a", "b", "c"]), (bare, None))
    ]
    assert heads == [["x", "y", "z"], ["a", "b", "c"], ["column 0", "column 1", "column 2"]]
    with pytest.raises(ValueError, match="2 column names but the model has 3"):
        clusters_of(bare, ["a", "b"])


def test_the_table_of_k_is_that_of_the_dendrogram_and_marks_the_cut():
    model = fitted(500, k=7)
    page = page_of(model)
    (table,) = (table for table in page.tables if table[0] == ["k", "rmsd", "explained"])
    for k, rmsd, explained in table[1:]:
        assert as_number(rmsd) == pytest.approx(model.dendrogram_.rmsd(int(k)), rel=1e-3)
        share = 1 - model.dendrogram_.sse(int(k)) / model.dendrogram_.sse(1)
        assert as_number(explained.strip("> ")) == pytest.approx(
            100 * share, abs=0.051 if ">" not in explained else 0.1
        )
    assert [int(line[0]) for line in table[1:]] == [1, 2, 5, 7, 10, 20, 50, 100, 200, 500]
    assert page.values("class").count("chosen") == 1


@pytest.mark.parametrize("k", [2, 10])
def test_few_clusters_have_the_colours_of_the_picture(k):
    model = fitted(400, k=k)
    text = report_page(model, "")
    swatches = re.findall(r'class="swatch" style="background: (var\(--branch-\d, #\w{6}\))"', text)
    assert len(set(swatches)) == len(swatches) == k
    assert all(colour in text[text.index("<svg") : text.index("</svg>")] for colour in swatches)


def test_every_cluster_is_named_below_its_branches_where_all_are_shown():
    model = fitted(400, k=24)
    svg = re.search(r"<svg.*?</svg>", report_page(model, ""), re.DOTALL)[0]
    bold = re.findall(r"<text[^>]*font-weight: (?:bold|700)[^>]*>(\d+)</text>", svg)
    assert sorted(map(int, bold)) == list(range(24))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"linkage": "ward"}, "Ward, exact for the leaves"),
        ({"linkage": "average"}, "root mean squared"),
        ({"linkage": "average", "metric": "cosine"}, "Heights are cosine distances"),
        ({"linkage": "ward", "metric": "correlation"}, "Heights are Euclidean distances of rows of unit length"),
        ({"linkage": "weighted"}, "not known"),
        ({"linkage": "complete"}, "approximate"),
        ({"mode": "centers"}, "approximate"),
        ({"mode": "aggregation", "linkage": "diameter"}, "merged cluster features"),
    ],
)
def test_the_page_says_what_is_approximate(options, words):
    sentences = " ".join(accuracy_of(fitted(1000, max_leaves=50, **options)))
    assert words in sentences
    assert "exact: those of the labelled rows" in sentences
    exact = " ".join(accuracy_of(fitted(100, **options)))
    assert "none but of exact duplicates" in exact


def test_the_rmsd_of_absorbed_rows_is_called_an_estimate():
    absorbed = sb.Betula(4, max_leaves=50).partial_fit(blobs(1000))
    assert "upper estimate" in " ".join(accuracy_of(absorbed))


def test_averages_of_bare_means_are_not_called_root_mean_squared():
    of_means = fitted(100, linkage="average", mode="centers")
    np.testing.assert_allclose(of_means.linkage_matrix_, sb.linkage(of_means.features_.mean, "average"))
    assert "root mean squared" not in " ".join(accuracy_of(of_means))


MODELS = {
    "one row": lambda: sb.Betula().fit([[1.0, 2.0]]),
    "equal rows": lambda: sb.Betula().fit(np.ones((5, 2))),
    "two rows": lambda: sb.Betula(n_clusters=2).fit([[0.0], [1.0]]),
    "not cut": lambda: sb.Betula().fit(blobs()),
    "each row a cluster": lambda: sb.Betula(n_clusters=30).fit(blobs(30)),
    "constant column": lambda: sb.Betula(n_clusters=2).fit(np.column_stack([blobs(), np.full(300, 0.5)])),
    "by height": lambda: sb.Betula(distance_threshold=5.0).fit(blobs()),
    "inversions": lambda: sb.Betula(distance_threshold=0.5, linkage="centroid").fit(blobs(200, 2, 1)),
    "tiny": lambda: sb.Betula(n_clusters=3).fit(1e-30 * blobs()),
    "huge": lambda: sb.Betula(n_clusters=3).fit(1e30 * blobs()),
    "weights": lambda: sb.Betula(n_clusters=3).fit(blobs(), sample_weight=np.linspace(0.1, 2, 300)),
    "streamed": lambda: sb.Betula(n_clusters=3, max_leaves=30).partial_fit(blobs()),
    "many clusters": lambda: sb.Betula(n_clusters=900).fit(blobs(1000)),
}


@pytest.fixture(params=MODELS.values(), ids=MODELS.keys())
def model(request):
    return request.param()


def test_every_model_has_a_whole_page_that_needs_nothing_but_itself(model):
    text = report_page(model, EVIL, {"input": [EVIL]})
    page = Page(text)
    assert not re.search(r"\b(nan|inf|None)\b", page.text)
    tables = [table for table in page.tables if table[0][0] == "cluster"]
    assert len(tables) == (model.n_clusters is not None or model.distance_threshold is not None)
    for table in tables:
        assert len(table) == 2 + min(200, model.n_clusters_)
        assert len({len(line) for line in table}) == 1
    assert not {"link", "img", "iframe", "object", "base"} & set(page.tags)
    assert page.tags.count("script") == (2 if model.dendrogram_.n_leaves > 1 else 0)  # the data and the script
    assert page.values("src") == []
    assert not [key for _, key, _ in page.attributes if key.startswith("on")]
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"|"http://www.w3.org/2000/svg"', "", text)
    assert re.findall(r"https?://[^\s\"<]+", without_namespaces) == []
    assert "@import" not in text
    names = page.values("id")
    assert len(names) == len(set(names))
    assert {a or b for a, b in re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text)} <= set(names)


def test_a_page_without_a_cut_shows_the_curve_and_says_how_to_cut():
    model = sb.Betula().fit(blobs())
    uncut, cut = (Page(report_page(each, "rows")) for each in (model, sb.Betula(1).fit(blobs())))
    assert "not cut" in uncut.text
    assert "silverbirch cut MODEL INPUT -k K" in uncut.text
    (curve,) = (table for table in uncut.tables if table[0][0] == "k")
    assert curve == next(table for table in cut.tables if table[0][0] == "k")
    assert "not cut" not in cut.text


def test_a_line_at_the_cut_is_drawn_only_where_it_separates_the_merges():
    found = set()
    for seed, k in itertools.product(range(3), range(2, 12)):
        model = sb.Betula(n_clusters=k, linkage="centroid").fit(np.random.default_rng(seed).normal(size=(60, 4)))
        heights = model.linkage_matrix_[:, 2]
        separates = heights[: 60 - k].max() <= heights[60 - k :].min()
        assert (_cut_height(model) is not None) == separates
        if separates:
            assert heights[: 60 - k].max() <= _cut_height(model) <= heights[60 - k :].min()
        found.add(bool(separates))
    assert found == {True, False}
    model = fitted().recut(height=12.5)
    assert _cut_height(model) == 12.5


# --- the look


def test_the_same_model_is_the_same_bytes_whatever_matplotlib_is_set_to():
    import matplotlib

    model = fitted()
    first = report_page(model, "t")
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30, "svg.fonttype": "path"}):
        assert report_page(model, "t") == first
        assert matplotlib.rcParams["font.size"] == 30


def test_pictures_and_tables_are_told_to_those_who_cannot_see():
    page = page_of(fitted())
    assert [value for name, key, value in page.attributes if (name, key) == ("html", "lang")] == ["en"]
    pictures = [value for name, key, value in page.attributes if (name, key) == ("svg", "aria-label")]
    assert len(pictures) == page.tags.count("svg") == 2
    assert "coloured by the cut into 4 clusters" in pictures[0]
    assert page.tags.count("th") == page.values("scope").count("col") + page.values("scope").count("row")
    assert page.tags.count("h1") == 1


# --- everything from the data is escaped


def test_names_titles_and_records_are_text_whatever_they_look_like():
    names = [EVIL, "a&amp;b", "x\ny"]
    record = {EVIL: EVIL, "input": [{"name": EVIL, EVIL: 1}], "deep": {"a": {"b": {"c": {"d": {"e": [EVIL]}}}}}}
    page = page_of(one_leaf(), EVIL, record=record, column_names=names)
    assert not {"script"} & set(page.tags)
    assert page.tags.count("style") == page.tags.count("title") == 1
    assert page.texts.count(EVIL) >= 2  # as title and heading; more in the tables
    assert next(table[0] for table in page.tables if table[0][0] == "cluster")[4:] == names


# --- the file


def test_a_report_is_a_whole_file_and_overwrites_nothing_unasked(tmp_path):
    model, path = one_leaf(), tmp_path / "run.html"
    write_report(path, model, title="one")
    assert "<h1>one</h1>" in path.read_text(encoding="utf-8")
    with pytest.raises(FileExistsError, match="force"):
        write_report(path, model, title="two")
    assert "<h1>one</h1>" in path.read_text(encoding="utf-8")
    write_report(path, model, title="two", force=True)
    assert "<h1>two</h1>" in path.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [path]


def test_a_dendrogram_alone_has_the_look_of_the_report(tmp_path):
    model = one_leaf()
    model.dendrogram_.to_html(tmp_path / "d.html")
    style = re.compile(r"<style>.*?</style>", re.DOTALL)
    alone, report = (tmp_path / "d.html").read_text(encoding="utf-8"), report_page(model, "")
    assert style.search(alone)[0] == style.search(report)[0]

"""The panels beside the dendrogram: what they say is what the rows say, and what they hand out works in Python."""

import csv
import io
import re
from types import SimpleNamespace

import numpy as np
import pytest

import models
import silverbirch as sb
from settling import SETTLED

COLUMNS = ["mass", "length", "price", "age"]
KINDS = ["apple", "pear", "plum", "fig", "date", "kiwi"]
STATE = "() => window.silverbirch.store.state"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    rng = np.random.default_rng(0)
    group = rng.integers(0, 6, 900)
    X = 20 * rng.normal(size=(6, 4))[group] + rng.normal(size=(900, 4))
    model = sb.Betula(n_clusters=6, max_leaves=90).fit(X)
    kind = {int(label): KINDS[group[model.labels_ == label][0]] for label in range(6)}
    model.dendrogram_.name_clusters(kind, 6)
    texts = [f"{KINDS[g]} number {row}" for row, g in enumerate(group)]
    sb.write_report(path, model, title="Fruit", column_names=COLUMNS, rows=X, show={"text": texts})
    return SimpleNamespace(path=path, model=model, X=X, kind=kind, texts=texts, leaves=len(model.features_))


def set_k(page, k):
    page.get_by_role("spinbutton", name="Number of clusters").fill(str(k))
    page.evaluate(SETTLED)


def panel(page, name):
    return page.get_by_role("region", name=name, exact=True)


def table_of(page):
    """The texts of the head and of each cluster's row."""
    table = panel(page, "Clusters").locator("table")
    head = [text.strip() for text in table.locator("thead th").all_inner_texts()]
    rows = [row.locator("th, td").all_inner_texts() for row in table.locator("tbody:not(.all) tr").all()]
    return head, [dict(zip(head, row, strict=True)) for row in rows]


def as_number(text):
    return float(text.replace("−", "-").replace(",", "").replace("\u202f", "").rstrip(" %"))


def last_digit(text):
    """The size of one unit of the last digit of a number."""
    return 10.0 ** -len(text.rstrip(" %").partition(".")[2])


@pytest.mark.parametrize("k", [1, 3, 6, 25])
def test_the_table_has_counts_shares_means_and_rmsd_of_the_labelled_rows(visit, report, k):
    page = visit(report.path)
    set_k(page, k)
    labels = report.model.cut(n_clusters=k)
    head, rows = table_of(page)
    assert [as_number(row["cluster"]) for row in rows] == list(range(k))
    assert set(COLUMNS) <= set(head)
    for label, row in enumerate(rows):
        own = report.X[labels == label]
        assert as_number(row["rows"]) == len(own)
        expected = {"share": 100 * len(own) / 900, "rmsd": np.sqrt(((own - own.mean(axis=0)) ** 2).sum() / len(own))}
        expected |= dict(zip(COLUMNS, own.mean(axis=0), strict=True))
        for name, value in expected.items():
            assert as_number(row[name]) == pytest.approx(value, abs=0.51 * last_digit(row[name]))


def test_the_rmsd_of_every_cut_is_that_of_the_rows(visit, report):
    page = visit(report.path)
    for k in (1, 2, 6, 40, report.leaves):
        set_k(page, k)
        labels = report.model.cut(n_clusters=k)
        sse = sum(((own - own.mean(axis=0)) ** 2).sum() for own in (report.X[labels == label] for label in range(k)))
        shown = page.locator(".tools output").inner_text().split()[1].rstrip(",")
        assert as_number(shown) == pytest.approx(np.sqrt(sse / 900), abs=0.51 * last_digit(shown))
        slider = panel(page, "Number of clusters").get_by_role("slider")
        assert f"rmsd {shown}" in slider.get_attribute("aria-valuetext")


def downloaded(page, name):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name).click()
    text = waiting.value.path().read_text(encoding="utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_labels_as_csv_are_those_of_python(visit, report):
    page = visit(report.path)
    for k in (1, 2, 3, 5, 6, 8, 13, 30, 60, report.leaves):
        set_k(page, k)
        rows = downloaded(page, "Labels of rows")
        assert [int(row["row"]) for row in rows] == list(range(900))
        np.testing.assert_array_equal([int(row["cluster"]) for row in rows], report.model.cut(n_clusters=k))
        leaves = downloaded(page, "Labels of leaves")
        np.testing.assert_array_equal([int(row["cluster"]) for row in leaves], report.model.dendrogram_.cut(k))


def test_the_table_as_csv_has_all_digits(visit, report):
    page = visit(report.path, "#k=25")
    rows, labels = downloaded(page, "Table of clusters"), report.model.cut(n_clusters=25)
    assert len(rows) == 25
    for label, row in enumerate(rows):
        own = report.X[labels == label]
        assert int(row["cluster"]) == label
        assert float(row["rows"]) == len(own)
        means = [float(row[f"mean of {name}"]) for name in COLUMNS]
        np.testing.assert_allclose(means, own.mean(axis=0), rtol=1e-5, atol=1e-5)


def choices_of(page, name):
    chooser = page.get_by_role("combobox", name=name)
    return chooser, chooser.locator("option").evaluate_all("(all) => all.map(({ value }) => value)")


def test_what_is_copied_runs_in_python_and_gives_the_labels_of_the_page(visit, report):
    page = visit(report.path, permissions=["clipboard-read", "clipboard-write"])
    kind, adaptive = choices_of(page, "Kind of cut")
    assert len(adaptive) > 3
    cuts = [lambda k=k: set_k(page, k) for k in (2, 6, 33)]
    cuts += [lambda value=value: kind.select_option(value) for value in adaptive if value != ""]
    for choose in cuts:
        choose()
        page.evaluate(SETTLED)
        page.get_by_role("button", name="Copy as Python").click()
        code = page.evaluate("() => navigator.clipboard.readText()")
        names = {"model": sb.Betula(n_clusters=6, max_leaves=90).fit(report.X)}
        exec(code, names)
        rows = downloaded(page, "Labels of rows")
        np.testing.assert_array_equal([int(row["cluster"]) for row in rows], names["labels"])


def test_a_name_is_found_and_its_cluster_selected(visit, report):
    page = visit(report.path)
    nodes = report.model.dendrogram_.nodes(n_clusters=6)
    field = page.get_by_role("combobox", name="Search")
    for label in (1, 4):
        field.fill(report.kind[label][:3].upper())
        page.get_by_role("listbox", name="Found").get_by_role("option").first.wait_for()
        field.press("Enter")
        page.evaluate(SETTLED)
        assert page.evaluate(STATE)["selected"] == nodes[label]


def test_what_is_found_can_be_seen(visit, report):
    page = visit(report.path)
    page.get_by_role("combobox", name="Search").fill("number")
    page.get_by_role("listbox", name="Found").get_by_role("option").first.wait_for()
    page.evaluate(SETTLED)
    box = page.get_by_role("listbox", name="Found").bounding_box()
    assert 0 <= box["y"] < box["y"] + box["height"] < 901


def test_the_text_of_a_row_is_found_in_the_cluster_of_the_row(visit, report):
    page = visit(report.path)
    nodes = report.model.dendrogram_.nodes(n_clusters=6)
    field = page.get_by_role("combobox", name="Search")
    for text in report.texts[::170]:
        field.fill(text)
        page.get_by_role("option", name=text).first.click()
        page.evaluate(SETTLED)
        selected = page.evaluate(STATE)["selected"]
        cluster = page.evaluate("(node) => window.silverbirch.partition().topOf(node)", selected)
        assert cluster == nodes[report.model.labels_[report.texts.index(text)]]


def test_a_branch_under_the_pointer_shows_rows_that_stand_for_it(visit, report):
    page = visit(report.path)
    box = page.locator(".stage").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 0.7 * box["height"])
    node = page.evaluate("() => window.silverbirch.panels.dendrogramPanel.hovered")
    shown = page.locator(".tip .items > span").all_inner_texts()
    texts = page.evaluate("(node) => window.silverbirch.representatives(node).map(({ values }) => values[0])", node)
    assert texts
    assert [text.strip() for text in shown[:3]] == texts[:3]


def test_representatives_are_rows_of_their_cluster(visit, report):
    page = visit(report.path)
    _, rows = table_of(page)
    for label, row in enumerate(rows):
        shown = [text for text in report.texts if text in row["representatives"].split("\n")]
        assert shown
        assert {report.model.labels_[report.texts.index(text)] for text in shown} == {label}


def test_two_clusters_are_compared_by_the_rows_they_have(visit, report):
    page = visit(report.path)
    box = panel(page, "Compare")
    nodes = report.model.dendrogram_.nodes(n_clusters=6)
    box.get_by_label("Selected").select_option(str(nodes[2]))
    box.get_by_label("beside").select_option(str(nodes[5]))
    page.evaluate(SETTLED)
    labels = report.model.labels_
    means = [report.X[labels == label].mean(axis=0) for label in (2, 5)]
    lines = [row.locator("th, td").all_inner_texts() for row in box.locator("tbody tr").all()]
    shown = {name: cells[:2] for name, *cells in lines}
    for j, name in enumerate(COLUMNS):
        for text, mean in zip(shown[name], means, strict=True):
            assert as_number(text) == pytest.approx(mean[j], abs=0.51 * last_digit(text))
    apart = re.search(r"Their means are (\S+) apart", box.inner_text())[1]
    assert as_number(apart) == pytest.approx(np.linalg.norm(means[0] - means[1]), abs=0.51 * last_digit(apart))


def test_a_click_on_the_curve_chooses_k(visit, report):
    page = visit(report.path)
    slider = panel(page, "Number of clusters").get_by_role("slider")
    slider.focus()
    for key, expected in [("ArrowRight", 7), ("ArrowLeft", 6), ("End", report.leaves), ("Home", 1)]:
        slider.press(key)
        assert page.evaluate(STATE)["cut"] == {"k": expected}
    page.evaluate(SETTLED)  # panels above may change their height until then
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + box["height"] / 2)
    assert 3 < page.evaluate(STATE)["cut"]["k"] < 60


def test_a_click_in_the_table_selects_and_another_with_shift_compares(visit, report):
    page = visit(report.path)
    nodes = report.model.dendrogram_.nodes(n_clusters=6).tolist()
    page.get_by_role("button", name="Select cluster 3").click()
    page.evaluate(SETTLED)
    page.get_by_role("button", name="Select cluster 1").click(modifiers=["Shift"])
    page.evaluate(SETTLED)
    state = page.evaluate(STATE)
    assert (state["selected"], state["compared"]) == (nodes[3], nodes[1])


def test_the_table_can_be_sorted(visit, report):
    page = visit(report.path, "#k=12")
    panel(page, "Clusters").get_by_role("button", name="rmsd").click()
    page.evaluate(SETTLED)
    _, rows = table_of(page)
    values = [as_number(row["rmsd"]) for row in rows]
    assert values == sorted(values, reverse=True)


def test_an_address_returns_to_the_same_view(visit, report):
    page = visit(report.path)
    set_k(page, 11)
    nodes = report.model.dendrogram_.nodes(n_clusters=6).tolist()
    page.get_by_role("combobox", name="Scale of heights").select_option("log")
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("combobox", name="Search").fill("plum")
    page.evaluate("(node) => window.silverbirch.store.set({ selected: node })", nodes[2])
    page.wait_for_timeout(600)
    other = visit(report.path, "#" + page.url.partition("#")[2])
    assert other.evaluate(STATE) == page.evaluate(STATE)
    drawn = "() => window.silverbirch.panels.dendrogramPanel.drawn"
    assert other.evaluate(drawn) == page.evaluate(drawn)


def test_back_and_forward_lead_to_the_branches_that_were_the_root(visit, report):
    page = visit(report.path)
    roots = [page.evaluate(STATE)["root"], *report.model.dendrogram_.nodes(n_clusters=3).tolist()]
    for root in roots[1:]:
        page.evaluate("(root) => window.silverbirch.store.set({ root })", root)
        set_k(page, 7)
        page.wait_for_timeout(600)
    for step, root in [(page.go_back, roots[-2]), (page.go_back, roots[-3]), (page.go_forward, roots[-2])]:
        step()
        page.wait_for_timeout(600)
        assert page.evaluate(STATE)["root"] == root
        assert page.evaluate(STATE)["cut"] == {"k": 7}


def test_the_curve_of_heights_falls_from_the_root_to_the_leaves(visit, tmp_path):
    dendrogram = sb.Dendrogram(sb.linkage(models.groups(50, k=3, d=2), "average"))
    dendrogram.to_html(tmp_path / "page.html")
    page = visit(tmp_path / "page.html")
    heights = [*dendrogram.Z[::-1, 2], 0.0]  # of the last merge that a cut into 1, 2, … keeps
    for k in (1, 2, 9, 50):
        set_k(page, k)
        slider = page.get_by_role("slider", name="Number of clusters", exact=True)
        assert as_number(slider.get_attribute("aria-valuetext").split()[-1]) == pytest.approx(heights[k - 1], rel=0.01)


@pytest.mark.parametrize(
    "address",
    [
        *("#k=0&root=5&selected=-1", "#k=1e9&root=99999", "#k=901&adaptive=99", "#from=0.9&to=0.1", "#from=NaN&to="),
        *("#scale=cubic&side=__proto__&sort=__proto__", "#sort=constructor&k=", "#%E0%A4%A", "#" + "k=3&" * 5000),
        "#query=%3Cscript%3Ealert(1)%3C/script%3E",
    ],
)
def test_a_wrong_address_still_opens_the_page(visit, report, address):
    page = visit(report.path, address)
    page.evaluate(SETTLED)
    state = page.evaluate(STATE)
    assert 1 <= state["cut"]["k"] <= report.leaves
    assert 0 <= state["from"] < state["to"] <= 1
    assert len(table_of(page)[1]) == state["cut"]["k"]

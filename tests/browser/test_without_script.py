"""The page where scripts do not run: the static page, whole."""

import pytest

import models
import silverbirch as sb


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    model = sb.Betula(n_clusters=4, max_leaves=60).fit(models.groups())
    sb.write_report(path, model, title="Groups", column_names=["mass", "length", "price"])
    return path, model


def test_without_scripts_the_page_shows_the_picture_and_all_clusters(visit, report):
    path, model = report
    page = visit(path, live=False, java_script_enabled=False)
    assert page.locator("svg.dendrogram").is_visible()
    assert page.locator("table.clusters tbody:not(.all) tr").count() == model.n_clusters_
    assert "price" in page.locator("table.clusters").inner_text()


@pytest.mark.parametrize("width", [320, 390, 820, 1440])
def test_without_scripts_nothing_is_wider_than_the_screen(visit, report, width):
    page = visit(report[0], live=False, java_script_enabled=False, viewport={"width": width, "height": 800})
    boxes = [element.bounding_box() for element in page.locator("body, main > section > *:visible").all()]
    assert min(box["x"] for box in boxes) >= 0
    assert max(box["x"] + box["width"] for box in boxes) <= width

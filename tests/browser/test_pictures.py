"""The page at three sizes, light and dark, with real data. `pytest tests/browser --screenshots` writes the pictures of
docs/images/page again: look at them.
"""

import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib import image
from sklearn.datasets import load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import silverbirch as sb
from settling import SETTLED

SIZES = {"phone": (390, 844), "tablet": (820, 1180), "desk": (1440, 900)}
PICTURES = Path(__file__).parents[2] / "docs" / "images" / "page"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    wine = load_wine()
    pipeline = make_pipeline(StandardScaler(), sb.Betula(n_clusters=3)).fit(wine.data)
    sb.write_report(folder / "wine.html", pipeline, title="Wines by their chemistry", column_names=wine.feature_names)
    digits = load_digits()
    model = sb.Betula(n_clusters=10, max_leaves=600).fit(digits.data)
    pictures = (255 - digits.images * 255 / 16).astype(np.uint8)
    show = {"digit": pictures, "of": [str(digit) for digit in digits.target]}
    sb.write_report(folder / "digits.html", model, title="Handwritten digits", rows=digits.data, show=show)
    return folder


def taken(page, name, request, **options):
    """The pixels of a picture of the page; with `--screenshots` it is also kept."""
    page.evaluate(SETTLED)
    data = page.screenshot(animations="disabled", caret="hide", **options)
    if request.config.getoption("--screenshots"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / f"{name}.png").write_bytes(data)
    return image.imread(io.BytesIO(data))[:, :, :3]


def is_coloured(pixels):
    """Whether some pixels are neither grey nor nearly so."""
    return bool(((pixels.max(axis=2) - pixels.min(axis=2)) > 0.3).sum() > 500)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_first_screen_shows_the_dendrogram_in_the_colours_of_its_clusters(visit, pages, request, size, scheme):
    viewport = dict(zip(("width", "height"), SIZES[size], strict=True))
    page = visit(pages / "wine.html", "#k=5", viewport=viewport, color_scheme=scheme)
    pixels = taken(page, f"wine-{size}-{scheme}", request)
    assert is_coloured(pixels)
    assert (np.median(pixels) > 0.9) == (scheme == "light")
    stage = page.locator(".stage").bounding_box()
    assert stage["y"] + stage["height"] / 2 < viewport["height"]


COMPARE = """() => {
  const [selected, compared] = window.silverbirch.partition().largest(2).map(({ node }) => node);
  window.silverbirch.store.set({ selected, compared });
}"""


@pytest.mark.parametrize("part", ["heatmap", "table", "compare"])
def test_every_panel_fits_its_place(visit, pages, request, part):
    page = visit(pages / ("digits.html" if part == "table" else "wine.html"), "#k=10" if part == "table" else "#k=6")
    if part == "compare":
        page.evaluate(COMPARE)
    page.evaluate(SETTLED)
    panel = page.locator(f".panel.{part}")
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    margin = {"x": box["x"] - 16, "y": box["y"] - 16, "width": box["width"] + 32, "height": box["height"] + 32}
    taken(page, f"part-{part}", request, clip=margin)
    outside = """(panel) => [...panel.querySelectorAll(":scope > *")].filter((element) => {
      const [own, all] = [element.getBoundingClientRect(), panel.getBoundingClientRect()];
      return own.width > 0 && (own.left < all.left - 1 || own.right > all.right + 1);
    }).map((element) => element.outerHTML.slice(0, 80))"""
    assert panel.evaluate(outside) == []

"""The report on a pipeline shows its centres in the columns and units that the pipeline was given."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, PowerTransformer, StandardScaler

import silverbirch as sb
from commands import silverbirch

NAMES = ["mass", "length", "price"]


def table(n=300, seed=0):
    random = np.random.default_rng(seed)
    groups = np.array([[5.0, 0, 0], [0, 50, 0], [0, 0, 500]])[np.arange(n) % 3]
    return pd.DataFrame(random.normal(size=(n, 3)) * [0.1, 1, 10] + groups + [1, 10, 1000], columns=NAMES)


class Cells(HTMLParser):
    """The texts of the cells of the table of clusters, row by row."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.inside = [], False
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self.inside |= name == "table" and ("class", "clusters") in attributes
        if self.inside and name == "tr":
            self.rows.append([])
        elif self.inside and name in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, name):
        self.inside &= name != "table"

    def handle_data(self, data):
        if self.inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def shown(model, folder, **options):
    """The names of the columns and the centres on the page."""
    sb.write_report(folder / "page.html", model, force=True, **options)
    head, _, *rows = Cells((folder / "page.html").read_text(encoding="utf-8")).rows
    return head[4:], np.array([[float(cell.replace("−", "-").replace(",", "")) for cell in row[4:]] for row in rows])


@pytest.mark.parametrize("steps", [[StandardScaler()], [MinMaxScaler()], [StandardScaler(), PCA()]])
def test_centres_are_the_means_of_the_rows_as_given_where_the_steps_are_linear(steps, tmp_path):
    frame = table()
    pipeline = make_pipeline(*steps, sb.Betula(3)).fit(frame)
    names, centers = shown(pipeline, tmp_path)
    assert names == NAMES
    expected = frame.groupby(pipeline[-1].labels_).mean()
    np.testing.assert_allclose(centers, expected, rtol=1e-2)


def test_a_step_that_is_not_linear_is_undone_for_each_centre(tmp_path):
    frame = table()
    pipeline = make_pipeline(PowerTransformer(), sb.Betula(3)).fit(frame)
    _, centers = shown(pipeline, tmp_path)
    np.testing.assert_allclose(centers, pipeline[0].inverse_transform(pipeline[-1].cluster_centers_), rtol=1e-2)


def test_what_cannot_be_undone_is_shown_as_it_was_clustered(tmp_path):
    frame = table()
    names, centers = shown(make_pipeline(Normalizer(), sb.Betula(3)).fit(frame), tmp_path)
    assert names == NAMES
    assert np.abs(centers).max() <= 1
    names, _ = shown(make_pipeline(RBFSampler(n_components=2), sb.Betula(3)).fit(frame), tmp_path)
    assert names == ["rbfsampler0", "rbfsampler1"]


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_centres_of_directions_stay_directions(metric, tmp_path):
    pipeline = make_pipeline(StandardScaler(), sb.Betula(3, metric=metric)).fit(table())
    names, centers = shown(pipeline, tmp_path)
    assert names == NAMES
    np.testing.assert_allclose(centers, pipeline[-1].cluster_centers_, rtol=1e-2, atol=1e-3)


def test_columns_of_a_projection_have_numbers(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 100))
    names, _ = shown(make_pipeline(StandardScaler(), sb.Betula(3, projection=2)).fit(X), tmp_path)
    assert names == ["projection 0", "projection 1"]


def test_names_may_be_given_and_must_be_as_many_as_the_columns_shown(tmp_path):
    pipeline = make_pipeline(StandardScaler(), PCA(2), sb.Betula(3)).fit(table().to_numpy())
    assert shown(pipeline, tmp_path)[0] == ["column 0", "column 1", "column 2"]
    assert shown(pipeline, tmp_path, column_names=["a", "b", "c"])[0] == ["a", "b", "c"]
    with pytest.raises(ValueError, match="2 column names but the model has 3 columns"):
        shown(pipeline, tmp_path, column_names=["a", "b"])


def test_of_many_scaled_columns_those_are_named_that_differ_most_for_their_spread(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 12)) * np.geomspace(1, 1e6, 12)
    X[:100, :4] += 1000  # small numbers, yet far apart for these columns
    pipeline = make_pipeline(StandardScaler(), sb.Betula(2)).fit(X)
    sb.write_report(tmp_path / "page.html", pipeline)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "standard deviations of the column" in text
    _, _, *rows = Cells(text).rows
    assert all({*re.findall(r"column (\d+)", row[-1])} == {"0", "1", "2", "3"} for row in rows)


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_a_loaded_pipeline_has_the_page_of_the_command_line(scale, tmp_path):
    table().to_csv(tmp_path / "rows.csv", index=False)
    made = ["--model", str(tmp_path / "model.sb"), "--report", str(tmp_path / "cli.html")]
    silverbirch("cluster", tmp_path / "rows.csv", "-k", "3", "--scale", scale, *made)
    names, centers = shown(sb.load(tmp_path / "model.sb"), tmp_path)
    head, _, *rows = Cells((tmp_path / "cli.html").read_text(encoding="utf-8")).rows
    assert names == head[4:] == NAMES
    assert [[f"{value:g}" for value in row] for row in centers] == [
        [f"{float(cell.replace(',', '').replace('−', '-')):g}" for cell in row[4:]] for row in rows
    ]


@pytest.mark.parametrize("model", [StandardScaler(), make_pipeline(sb.Betula(3), StandardScaler()), None])
def test_what_is_no_model_is_refused(model, tmp_path):
    with pytest.raises(TypeError, match="a fitted Betula, or a Pipeline that ends in one"):
        sb.write_report(tmp_path / "page.html", model)
    assert not (tmp_path / "page.html").exists()

"""Scatter of features and heat map of clusters."""

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import EllipseCollection, PathCollection
from matplotlib.colors import to_hex
from sklearn.decomposition import PCA

import silverbirch as sb
from dendrograms import aggregated, points
from silverbirch.plot.palette import TRUNK
from silverbirch.plot.scatter import principal_axes


def discs(ax):
    (found,) = (c for c in ax.collections if isinstance(c, PathCollection))
    return found


def rings(ax):
    (found,) = [c for c in ax.collections if isinstance(c, EllipseCollection)] or [None]
    return found


def test_discs_are_at_the_means_and_their_areas_follow_the_weights():
    _, _, features = aggregated()
    ax = features.plot()
    order = np.argsort(-features.weight, kind="stable")
    np.testing.assert_array_equal(discs(ax).get_offsets(), features.mean[order])
    areas = discs(ax).get_sizes()
    np.testing.assert_allclose(areas / areas[0], features.weight[order] / features.weight.max())
    ax.figure.canvas.draw()


def test_rings_have_the_radius_of_the_features_in_the_units_of_the_axes():
    _, _, features = aggregated()
    ax = features.plot()
    ax.figure.canvas.draw()
    order = np.argsort(-features.weight, kind="stable")
    radius = np.sqrt(features.sse / features.weight)[order]
    radius = radius[radius > 0]
    np.testing.assert_allclose(rings(ax).get_widths(), 2 * radius)
    # A unit of the data is as long on the screen in both directions, so rings are circles.
    unit = ax.transData.transform([[1, 1]]) - ax.transData.transform([[0, 0]])
    np.testing.assert_allclose(unit[0, 0], unit[0, 1])
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    assert (low <= (features.mean - np.sqrt(features.sse / features.weight)[:, None]).min(axis=0)).all()
    assert (high >= (features.mean + np.sqrt(features.sse / features.weight)[:, None]).max(axis=0)).all()


def test_points_have_no_rings_and_many_features_only_if_asked_for():
    assert rings(sb.ClusterFeatures(1, points(20), 0).plot(radii=False)) is None
    many = sb.ClusterFeatures(2, points(800), 1)
    assert rings(many.plot()) is None
    assert len(rings(many.plot(radii=True)).get_widths()) == 800


@pytest.mark.parametrize(("n", "d"), [(100, 5), (6, 30), (40, 3)])
def test_principal_axes_are_those_of_pca_of_the_repeated_rows(n, d):
    rng = np.random.default_rng(0)
    weight, mean = rng.integers(1, 5, n), rng.normal(size=(n, d)) * np.arange(1, d + 1) + 1e6
    places, shares = principal_axes(sb.ClusterFeatures(weight, mean, 0))
    pca = PCA(2, svd_solver="full").fit(np.repeat(mean, weight, axis=0))
    expected = pca.transform(mean)
    np.testing.assert_allclose(np.abs(places), np.abs(expected), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(shares, pca.explained_variance_ratio_, rtol=1e-6)


def test_colours_follow_the_labels_and_noise_is_grey():
    X = points(30)
    features = sb.ClusterFeatures(1, X, 0)
    dendrogram = sb.Dendrogram(sb.linkage(X, "ward"), X)
    labels = dendrogram.cut(n_clusters=4)
    labels[3] = -1
    colours = dendrogram.colors(4)
    ax = features.plot(labels=labels, colors=colours)
    found = [to_hex(c) for c in discs(ax).get_facecolors()]
    assert found == [TRUNK if label < 0 else colours[label] for label in labels.tolist()]


def test_two_columns_can_be_chosen_and_others_are_refused():
    features = sb.ClusterFeatures(1, points(10, d=5), 0)
    ax = features.plot(columns=(4, 1))
    np.testing.assert_array_equal(discs(ax).get_offsets(), features.mean[:, [4, 1]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column 4", "column 1")
    with pytest.raises(ValueError, match="no column 5"):
        features.plot(columns=(0, 5))
    with pytest.raises(TypeError, match="'mass'"):
        features.plot(columns=(0, "mass"))
    with pytest.raises(ValueError, match="labels are"):
        features.plot(labels=[0, 1])


@pytest.mark.parametrize("d", [1, 2, 3, 7])
@pytest.mark.parametrize("n", [1, 2])
def test_few_features_in_any_number_of_columns_are_drawn(n, d):
    _, ax = pyplot.subplots()
    assert sb.ClusterFeatures(1, points(n, d), 0.5).plot(ax) is ax
    ax.figure.canvas.draw()


def test_features_of_weight_0_are_not_drawn():
    ax = sb.ClusterFeatures([1, 0, 2], points(3), 0).plot()
    assert len(discs(ax).get_offsets()) == 2


def table(k=6, d=4, n=300):
    return sb.Betula(k).fit(points(n, d)).clusters_


def test_the_heat_map_shows_standardised_centres_in_the_order_of_the_dendrogram():
    model = sb.Betula(6).fit(points(300, 4))
    clusters = model.clusters_
    ax = clusters.plot()
    standardised = (clusters.center - clusters.mean) / clusters.deviation
    np.testing.assert_array_equal(ax.images[0].get_array(), standardised[clusters.order])
    in_order = model.subcluster_labels_[model.dendrogram_._hierarchy.leaf_order]
    _, first = np.unique(in_order, return_index=True)
    assert clusters.order.tolist() == [in_order[i] for i in sorted(first)]
    assert ax.get_yticklabels()[0].get_text().startswith(f"cluster {clusters.order[0]} (")
    ax.figure.canvas.draw()


def test_only_the_heaviest_clusters_and_the_columns_that_differ_most_are_drawn():
    X = points(400, 9)
    X[:, [2, 5]] += 20 * (np.arange(400) % 2)[:, None]
    clusters = sb.Betula(12).fit(X).clusters_
    ax = clusters.plot(max_clusters=5, max_columns=2)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["column 2", "column 5"]
    shown = {label.get_text().split()[1] for label in ax.get_yticklabels()}
    assert shown == {str(i) for i in np.argsort(-clusters.weight, kind="stable")[:5]}
    assert "5 of 12" in ax.get_ylabel()


def test_names_of_clusters_and_columns_are_written_as_they_are():
    model = sb.Betula(2).fit(points(20, 2))
    model.name_clusters(["$a", "b$"])
    model.feature_names_in_ = np.array(["$x$", "</script>"])
    ax = model.clusters_.plot(colorbar=False)
    assert {label.get_text().split(" (")[0] for label in ax.get_yticklabels()} == {"$a", "b$"}
    ax.figure.canvas.draw()


@pytest.mark.parametrize("columns", [1, 300])
def test_tables_of_any_size_are_drawn_on_given_axes(columns):
    _, ax = pyplot.subplots()
    clusters = table(k=80, d=columns)
    assert clusters.plot(ax, cmap="viridis", vmax=1.0) is ax
    assert ax.images[0].get_array().shape == (60, min(columns, 40))
    ax.figure.canvas.draw()


def test_numbers_are_written_in_an_ink_that_shows():
    ax = table(3, 2).plot()
    assert len(ax.texts) == 6
    (image,) = ax.images
    for text in ax.texts:
        column, row = text.get_position()
        background = image.to_rgba(image.get_array())[row, column, :3] @ [0.299, 0.587, 0.114]
        assert text.get_color() == ("black" if background > 0.5 else "white")

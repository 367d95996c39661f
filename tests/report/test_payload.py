"""What the script of a page knows is what Python knows: the tree, the weights and the sums of squares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import silverbirch as sb
from payloads import joined_leaves, sse_of_nodes, unpack
from silverbirch.report import payload as payload_module
from silverbirch.report import squares
from silverbirch.report.payload import Payload, add_layout


def layout_of(dendrogram, absorbed=None):
    payload = Payload()
    add_layout(payload, dendrogram, absorbed)
    return unpack(payload.text())


def features(n, seed, weighted=True):
    random = np.random.default_rng(seed)
    weight = random.integers(1, 9, n) if weighted else np.ones(n)
    return sb.ClusterFeatures(weight, random.normal(size=(n, 2)), random.gamma(1, size=n) * (weight > 1))


@given(n=st.integers(2, 60), method=st.sampled_from(["single", "ward", "centroid"]), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_the_boundaries_give_the_leaves_of_every_row(n, method, seed):
    points = np.random.default_rng(seed).integers(0, 9, size=(n, 2))  # with ties and duplicates
    dendrogram = sb.Dendrogram(sb.linkage(points, method))
    header, arrays = layout_of(dendrogram)
    assert header["n"] == n
    assert sorted(arrays["leaf"]) == list(range(n))
    for row, leaves in enumerate(joined_leaves(arrays)):
        assert leaves == {*dendrogram._hierarchy.leaves_below(n + row).tolist()}
    np.testing.assert_allclose(arrays["height"], dendrogram.Z[:, 2], rtol=1e-6)


@pytest.fixture
def precision(monkeypatch):
    """Sets the numbers of leaves that decide the precision."""

    def set_limits(**limits):
        for name, value in limits.items():
            for module in (payload_module, squares):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, value)

    return set_limits


@pytest.mark.parametrize("method", ["ward", "single", "average"])
@pytest.mark.parametrize(("limits", "tolerance"), [({}, 1e-9), ({"EXACT_UP_TO": 10}, 1e-6)])
def test_the_rmsd_of_every_cut_and_every_node_is_that_of_python(method, limits, tolerance, precision):
    precision(**limits)
    leaves = features(300, 0)
    dendrogram = sb.Dendrogram(sb.linkage(leaves, method), leaves)
    header, arrays = layout_of(dendrogram)
    sse = sse_of_nodes(header, arrays, dendrogram.Z)
    np.testing.assert_allclose(np.sqrt(sse[300:]), np.sqrt(dendrogram.merged_features.sse), rtol=tolerance)
    for k in (1, 2, 17, 299):
        of_cut = np.sqrt(sse[dendrogram.nodes(n_clusters=k)].sum() / leaves.weight.sum())
        assert of_cut == pytest.approx(dendrogram.rmsd(k), rel=tolerance)
    assert ("gain" not in arrays) == (method == "ward" and bool(limits))


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("method", ["ward", "single", "average", "centroid"])
def test_of_very_many_leaves_the_rmsd_of_cuts_keeps_the_digits_that_are_shown(method, weighted, precision):
    """Up to the cuts that a page promises; beyond them single branches are rounded."""
    precision(EXACT_UP_TO=10, ROUNDED_FROM=20, EXACT_CUTS=150)
    leaves = features(600, 1, weighted)
    dendrogram = sb.Dendrogram(sb.linkage(leaves, method), leaves)
    header, arrays = layout_of(dendrogram)
    sse, expected = sse_of_nodes(header, arrays, dendrogram.Z), dendrogram.merged_features.sse
    known = np.concatenate([leaves.sse, expected])
    for k in (1, 2, 60, 150):
        nodes = dendrogram.nodes(n_clusters=k)
        np.testing.assert_allclose(np.sqrt(sse[nodes]), np.sqrt(known[nodes]), rtol=5e-5)
        of_cut = np.sqrt(sse[nodes].sum() / leaves.weight.sum())
        assert of_cut == pytest.approx(dendrogram.rmsd(k), rel=1e-5)
    np.testing.assert_allclose(np.sqrt(sse), np.sqrt(known), rtol=0.035)
    np.testing.assert_allclose(arrays["height"], dendrogram.Z[:, 2], rtol=1e-5)


def test_weights_are_there_only_where_they_say_something():
    points = np.random.default_rng(0).normal(size=(20, 2))
    Z = sb.linkage(points, "ward")
    assert set(layout_of(sb.Dendrogram(Z))[1]) == {"boundary", "height", "leaf"}
    assert set(layout_of(sb.Dendrogram(Z, points))[1]) == {"boundary", "height", "leaf", "gain"}
    rows, absorbed = sb.ClusterFeatures(np.arange(20), points, 0), np.arange(20)[::-1] + 0.5
    _, arrays = layout_of(sb.Dendrogram(Z, rows), absorbed)
    np.testing.assert_array_equal(arrays["weight"], rows.weight)
    np.testing.assert_array_equal(arrays["absorbed"], absorbed)
    assert arrays["weight"].dtype == np.uint32
    assert arrays["absorbed"].dtype == np.float64


@pytest.mark.parametrize("scale", [1e-40, 1e25, 1e90])
def test_numbers_beyond_single_precision_keep_their_digits(scale, precision):
    precision(EXACT_UP_TO=10)
    points = np.random.default_rng(0).normal(size=(50, 2)) * scale
    dendrogram = sb.Dendrogram(sb.linkage(points, "single"), points)
    header, arrays = layout_of(dendrogram)
    np.testing.assert_allclose(arrays["height"], dendrogram.Z[:, 2], rtol=1e-6)
    np.testing.assert_allclose(
        sse_of_nodes(header, arrays, dendrogram.Z)[50:], dendrogram.merged_features.sse, rtol=1e-6
    )

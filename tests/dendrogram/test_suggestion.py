"""Dendrogram.suggest: the criteria compared with scikit-learn, and answers where the truth is known."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import silverbirch as sb
from dendrograms import aggregated, points, seeds, some
from silverbirch.dendrogram.criteria import adjusted_rand_index, centre_scores

DRAWS = range(10)


def suggestion_of(rows, method="ward", **arguments):
    return sb.Dendrogram(sb.linkage(rows, method), rows).suggest(method=method, **arguments)


def gaussians(seed, sizes, d, separation):
    """Standard Gaussians of these sizes, whose centres are at least `separation` apart."""
    random = np.random.default_rng(seed)
    centres = []
    while len(centres) < len(sizes):
        candidate = random.uniform(0, 1.2 * separation * len(sizes) ** (1 / min(d, 5)), d)
        if all(np.linalg.norm(candidate - centre) >= separation for centre in centres):
            centres.append(candidate)
    label = np.repeat(np.arange(len(sizes)), sizes)
    return np.array(centres)[label] + random.normal(size=(len(label), d))


# -- the answer


@pytest.mark.parametrize("seed", DRAWS)
@pytest.mark.parametrize("d", [2, 10])
def test_uniform_data_has_no_clear_number(seed, d):
    suggestion = suggestion_of(np.random.default_rng(seed).uniform(size=(400, d)))
    assert suggestion.n_clusters is None
    assert suggestion.reason


@pytest.mark.parametrize("seed", DRAWS)
@pytest.mark.parametrize("d", [2, 5])
def test_twenty_separated_gaussians_are_twenty(seed, d):
    assert suggestion_of(gaussians(seed, [30] * 20, d, 12)).n_clusters == 20


@pytest.mark.parametrize("seed", DRAWS)
@pytest.mark.parametrize("d", [2, 10])
def test_one_gaussian_has_no_clear_number(seed, d):
    assert suggestion_of(np.random.default_rng(seed).normal(size=(300, d))).n_clusters is None


@pytest.mark.parametrize("method", ["ward", "average", "complete", "single"])
@pytest.mark.parametrize(
    ("sizes", "d"), [([60] * 3, 2), ([60] * 5, 50), ([200, 100, 50, 25], 2), ([30, 200], 3)], ids=str
)
def test_separated_gaussians_are_counted_by_every_linkage(method, sizes, d):
    for seed in range(3):
        assert suggestion_of(gaussians(seed, sizes, d, 12 if d < 50 else 20), method).n_clusters == len(sizes)


@pytest.mark.parametrize("method", ["average", "complete", "single"])
def test_uniform_data_has_no_clear_number_by_any_linkage(method):
    for seed in range(3):
        assert suggestion_of(np.random.default_rng(seed).uniform(size=(300, 2)), method).n_clusters is None


@pytest.mark.parametrize("method", ["ward", "average", "complete", "single"])
def test_a_small_k_max_finds_no_clusters_where_there_are_none(method):
    """Few numbers to vote for let criteria agree by chance."""
    for seed in range(10):
        for rows in (
            np.random.default_rng(seed).normal(size=(100, 2)),
            np.random.default_rng(seed).uniform(size=(100, 1)),
        ):
            assert suggestion_of(rows, method, k_max=6).n_clusters is None


def test_two_answers_of_equal_right_are_no_clear_number():
    six = gaussians(0, [30] * 6, 2, 8)
    suggestion = suggestion_of(np.concatenate([six, six + np.array([300, 0])]))
    assert suggestion.n_clusters is None
    assert {2, 12} <= set(suggestion.votes.values())


def test_leaves_of_a_tree_have_the_answer_of_their_rows():
    rows = gaussians(3, [500] * 8, 3, 12)
    features = sb.CFTree(max_leaves=200).insert(np.random.default_rng(0).permutation(rows)).features
    assert sb.Dendrogram(sb.linkage(features, "ward"), features).suggest().n_clusters == 8


def test_many_leaves_are_taken_together_first():
    rows = gaussians(4, [300] * 6, 2, 12)
    suggestion = suggestion_of(rows)
    assert suggestion.n_clusters == 6
    assert suggestion.scores["Calinski-Harabasz"][5] == pytest.approx(
        metrics.calinski_harabasz_score(rows, sb.Dendrogram(sb.linkage(rows, "ward")).cut(n_clusters=6))
    )


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_leaves_are_too_few_to_tell(n):
    rows = points(n)
    dendrogram = sb.Dendrogram(sb.linkage(rows, "ward") if n > 1 else np.empty((0, 4)), rows)
    assert dendrogram.suggest().n_clusters is None
    assert "too few" in repr(dendrogram.suggest())


@pytest.mark.parametrize("method", ["ward", "single"])
def test_a_few_distinct_rows_are_as_many_clusters(method):
    assert suggestion_of(np.repeat(gaussians(0, [1] * 6, 3, 10), 20, axis=0), method).n_clusters == 6


def test_equal_rows_have_no_clear_number():
    assert suggestion_of(np.ones((30, 2))).n_clusters is None


def test_the_same_seed_gives_the_same_scores_and_another_seed_others():
    rows = points(80)
    first, again, other = (suggestion_of(rows, random_state=seed) for seed in (0, 0, 1))
    for name, scores in first.scores.items():
        np.testing.assert_array_equal(scores, again.scores[name])
    assert not np.array_equal(first.scores["stability"], other.scores["stability"])


def test_data_moved_and_scaled_has_the_same_votes():
    rows = gaussians(5, [40] * 4, 3, 10)
    assert suggestion_of(rows).votes == suggestion_of(1e3 * rows + 1e6).votes


# -- the criteria


@some
@given(seed=seeds)
def test_centre_scores_are_those_of_the_rows_that_the_leaves_summarise(seed):
    rows, group, features = aggregated(seed=seed)
    dendrogram = sb.Dendrogram(sb.linkage(features, "ward"), features)
    labels = dendrogram.cut(n_clusters=np.arange(1, 11))
    scores = centre_scores(dendrogram, labels)
    for k in range(2, 11):
        of_row = labels[group, k - 1]
        assert scores["Calinski-Harabasz"][k - 1] == pytest.approx(metrics.calinski_harabasz_score(rows, of_row))
        centres = np.array([rows[of_row == c].mean(axis=0) for c in range(k)])
        spreads = [np.sqrt(((rows[of_row == c] - centres[c]) ** 2).sum(axis=1).mean()) for c in range(k)]
        worst = np.zeros(k)
        for a, b in itertools.permutations(range(k), 2):
            worst[a] = max(worst[a], (spreads[a] + spreads[b]) / np.linalg.norm(centres[a] - centres[b]))
        assert scores["Davies-Bouldin"][k - 1] == pytest.approx(worst.mean())


def test_the_silhouette_of_points_compares_distances_to_centres():
    rows = gaussians(1, [30] * 4, 2, 6)
    dendrogram = sb.Dendrogram(sb.linkage(rows, "ward"), rows)
    labels = dendrogram.cut(n_clusters=[1, 2, 3, 4])
    score = centre_scores(dendrogram, labels)["silhouette"][3]
    centres = np.array([rows[labels[:, 3] == c].mean(axis=0) for c in range(4)])
    distances = metrics.pairwise_distances(rows, centres)
    own = distances[np.arange(120), labels[:, 3]]
    other = np.array([np.delete(row, label).min() for row, label in zip(distances, labels[:, 3], strict=True)])
    assert score == pytest.approx(((other - own) / np.maximum(own, other)).mean())


@some
@given(seed=seeds, n=st.integers(2, 40))
def test_the_weighted_rand_index_of_weight_one_is_that_of_scikit_learn(seed, n):
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 4, (2, n))
    assert adjusted_rand_index(a, b, np.ones(n)) == pytest.approx(metrics.adjusted_rand_score(a, b), abs=1e-12)


# -- what is shown


def test_the_scores_are_a_table_with_a_row_for_each_k():
    suggestion = suggestion_of(gaussians(0, [30] * 3, 2, 10), k_max=8)
    table = suggestion.to_pandas()
    assert table.index.tolist() == suggestion.k.tolist() == [*range(1, 9)]
    assert [*table.columns] == [*suggestion.scores]
    assert set(suggestion.votes) < set(suggestion.scores)
    text = repr(suggestion)
    assert text.startswith("n_clusters = 3: 6 of 6 criteria vote for it")
    assert [line.split()[0] for line in text.splitlines()[1:]] == ["k", *"2345678"]
    assert text.count("*") == 6
    assert suggestion._repr_html_().count("<tr>") == 8


def test_the_picture_has_a_curve_and_a_vote_for_each_criterion():
    suggestion = suggestion_of(gaussians(0, [30] * 3, 2, 10), k_max=8)
    ax = suggestion.plot()
    assert next(label.get_text() for label in ax.get_yticklabels()) == "height gap: 3"
    curves = [line.get_xydata() for line in ax.lines if len(line.get_xdata()) == 7]
    assert len(curves) == 7  # and the stability of uniform data
    for lane, (curve, name) in enumerate(zip(curves, suggestion.votes, strict=False)):
        assert curve[:, 0].tolist() == list(range(2, 9))
        assert abs(curve[:, 1] - lane).max() <= 0.4 + 1e-12  # no curve leaves its lane
        best = np.nanargmin(curve[:, 1])  # the axis points down
        sign = -1 if name == "Davies-Bouldin" else 1
        assert sign * suggestion.scores[name][1 + best] == np.nanmax(sign * suggestion.scores[name][1:])
    assert [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) < 7] == [3] * 7
    ax.figure.canvas.draw()
    sb.Dendrogram([[0, 1, 1.0, 2]], points(2)).suggest().plot().figure.canvas.draw()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"k_max": 1}, ValueError, "k_max=1"),
        ({"n_draws": 1}, ValueError, "n_draws=1"),
        ({"random_state": None}, TypeError, "random_state=None"),
        ({"method": "wards"}, ValueError, "method='wards'"),
        ({"method": "diameter"}, ValueError, "mode='aggregation'"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        sb.Dendrogram(sb.linkage(points(20), "ward"), points(20)).suggest(**arguments)


def test_features_are_needed():
    with pytest.raises(ValueError, match="features of the leaves are not known"):
        sb.Dendrogram(sb.linkage(points(20), "ward")).suggest()

"""The core's table of linkages is true, and the choice of the algorithm follows it."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

import silverbirch as sb
from brute_force import METHODS, random_features, random_points
from silverbirch import _core
from silverbirch.checks import ALGORITHMS, LINKAGES
from silverbirch.linkage import job as linkage_job

LINKAGE = pytest.mark.parametrize("linkage", LINKAGES.values(), ids=LINKAGES)
FROM_FEATURES = [linkage for linkage in LINKAGES.values() if linkage.cf_distance]


def test_the_linkages_are_scipys_and_two_with_prototypes():
    assert list(LINKAGES) == [*METHODS, "minimax", "medoid"]
    assert [name for name in LINKAGES if LINKAGES[name].prototypes] == ["minimax", "medoid"]


@LINKAGE
def test_dendrograms_have_inversions_where_the_linkage_is_not_reducible(linkage):
    trees = [sb.linkage(random_points(40, 2, seed=seed), linkage.name) for seed in range(20)]
    assert all(hierarchy.is_monotonic(Z) for Z in trees) == linkage.reducible


@LINKAGE
def test_prototypes_are_reported_where_the_linkage_has_them(linkage):
    assert hasattr(sb.linkage(random_points(9), linkage.name), "prototypes") == linkage.prototypes


@LINKAGE
def test_other_metrics_are_refused_where_the_linkage_is_defined_on_squared_distances(linkage):
    if linkage.squared:
        with pytest.raises(ValueError, match="only 'euclidean' is defined there"):
            sb.linkage(random_points(9), linkage.name, "cityblock")
    else:
        assert len(sb.linkage(random_points(9), linkage.name, "cityblock")) == 8


@pytest.mark.parametrize("linkage", FROM_FEATURES, ids=lambda linkage: linkage.name)
def test_the_first_merge_of_features_is_at_their_least_cf_distance(linkage):
    F = random_features(30)
    squared = _core.pairwise_squared_distances(*F.arrays(), linkage.cf_distance, 1, None)
    assert_allclose(sb.linkage(F, linkage.name)[0, 2], np.sqrt(linkage.scale * squared.min()), rtol=1e-12)


@pytest.mark.parametrize("linkage", FROM_FEATURES, ids=lambda linkage: linkage.name)
def test_weights_matter_unless_the_halves_of_a_merge_count_the_same(linkage):
    X, weights = random_points(40), np.arange(1, 41)
    plain, weighted = (sb.linkage(X, linkage.name, weights=w) for w in (None, weights))
    assert np.allclose(plain, weighted) == linkage.equal_vote


@LINKAGE
def test_linear_memory_is_proposed_where_rounds_need_no_pairs(linkage, monkeypatch):
    monkeypatch.setattr(linkage_job, "free_memory", lambda: 0)
    with pytest.raises(sb.MemoryLimitError) as error:
        sb.linkage(pdist(random_points(9)).astype(np.float32), linkage.name)  # a copy for every linkage
    assert ("algorithm='rounds'" in str(error.value)) == linkage.by_members
    if linkage.by_members:
        assert len(sb.linkage(random_points(9), linkage.name, algorithm="rounds")) == 8


DATA = {"points": random_points(12), "features": random_features(12), "distances": pdist(random_points(12))}
AGGREGATIONS = [("features", distance, "aggregation") for distance in _core.cf_distance_names()]


@pytest.mark.parametrize(
    ("data", "method", "mode"), [*((d, m, "linkage") for d in DATA for m in LINKAGES), *AGGREGATIONS]
)
def test_a_refused_algorithm_is_told_all_that_work_and_no_others(data, method, mode):
    works, told = {"auto"}, []
    for algorithm in ALGORITHMS[1:]:
        try:
            sb.linkage(DATA[data], method, mode=mode, algorithm=algorithm)
            works.add(algorithm)
        except ValueError as error:
            told.append(set(re.findall(r"'(\w+)'", str(error).partition(": use ")[2])))
    assert works < {*ALGORITHMS}
    assert all(names == works for names in told)

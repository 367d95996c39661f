"""Betula passes all estimator checks of scikit-learn."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import silverbirch as sb


@parametrize_with_checks(
    [
        sb.Betula(n_clusters=3),
        sb.Betula(n_clusters=3, max_leaves=10),
        sb.Betula(n_clusters=3, linkage="complete", mode="centers", threshold=0.1),
    ]
)
def test_the_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)

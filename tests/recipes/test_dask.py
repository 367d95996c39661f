"""Blocks of a dask array, aggregated by workers and merged, give the clusters of all rows."""

import dask.array
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import silverbirch as sb


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_blocks_of_a_dask_array_give_the_clusters_of_its_rows(recipe, scheduler):
    group = np.arange(6000) % 3
    rows = np.random.default_rng(0).normal(size=(6000, 4)) + 9 * np.eye(4)[group]
    with dask.config.set(scheduler=scheduler):
        done = recipe("Dask", page="many-machines.md", X=dask.array.from_array(rows, chunks=(1500, 4)))
        labels = done.labels.compute()
    assert adjusted_rand_score(labels, group) == 1
    assert np.array_equal(labels, done.model.predict(rows))
    assert done.model.tree_.n_points == 6000
    assert [len(part) for part in done.parts] == [1500] * 4
    whole = sb.Betula(n_clusters=3, max_leaves=10_000).fit(rows)
    assert np.allclose(np.sort(whole.dendrogram_.rmsd([1, 3])), np.sort(done.model.dendrogram_.rmsd([1, 3])))

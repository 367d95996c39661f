"""A clusterer for Toponymy: its layers are nested. A stand-in has the signatures of toponymy 0.5.4.

The package itself needs transformers, datasets and litellm, far more than the recipe is worth.
"""

import sys
from abc import ABC, abstractmethod
from types import ModuleType

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score


class Clusterer(ABC):
    """The methods that Toponymy calls, with its arguments."""

    @abstractmethod
    def fit(self, clusterable_vectors, embedding_vectors, layer_class, **layer_kwargs): ...

    @abstractmethod
    def fit_predict(self, clusterable_vectors, embedding_vectors, layer_class, **layer_kwargs): ...


class ClusterLayerText:
    def __init__(self, cluster_labels, centroid_vectors, layer_id, **options):
        self.cluster_labels, self.centroid_vectors, self.layer_id = cluster_labels, centroid_vectors, layer_id
        self.options = options


def build_cluster_tree(labels):
    """(layer, cluster) → its children: the clusters of the layer below that have rows in it."""
    tree = {(len(labels), 0): [(len(labels) - 1, int(cluster)) for cluster in np.unique(labels[-1])]}
    for layer in range(1, len(labels)):
        for cluster in np.unique(labels[layer]):
            children = np.unique(labels[layer - 1][labels[layer] == cluster])
            tree[layer, int(cluster)] = [(layer - 1, int(child)) for child in children]
    return tree


def centroids_from_labels(cluster_labels, vector_data):
    return np.stack([vector_data[cluster_labels == cluster].mean(axis=0) for cluster in np.unique(cluster_labels)])


@pytest.fixture
def _toponymy(monkeypatch):
    package, clustering = ModuleType("toponymy"), ModuleType("toponymy.clustering")
    package.ClusterLayerText = ClusterLayerText
    clustering.Clusterer = Clusterer
    clustering.build_cluster_tree = build_cluster_tree
    clustering.centroids_from_labels = centroids_from_labels
    monkeypatch.setitem(sys.modules, "toponymy", package)
    monkeypatch.setitem(sys.modules, "toponymy.clustering", clustering)


@pytest.mark.usefixtures("_toponymy")
def test_layers_are_nested_and_the_finest_comes_first(recipe, sentences):
    page = recipe("Toponymy")
    layers, tree = page.clusterer.fit_predict(
        sentences.embeddings[:, :10], sentences.embeddings, ClusterLayerText, verbose=False, prompt_template={}
    )

    assert adjusted_rand_score(sentences.subjects, layers[0].cluster_labels) == 1
    assert adjusted_rand_score(sentences.fields, layers[1].cluster_labels) == 1
    assert [layer.layer_id for layer in layers] == [0, 1]
    assert sorted(len(tree[1, field]) for field in range(3)) == [3, 3, 3]
    assert sorted(child for field in range(3) for child in tree[1, field]) == [(0, cluster) for cluster in range(9)]
    assert (page.clusterer.cluster_layers_, page.clusterer.cluster_tree_) == (layers, tree)
    assert layers[0].centroid_vectors.shape == (9, 20)

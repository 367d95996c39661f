"""A tree and the clustering of its leaves: `Betula` and the command line share it. It needs numpy alone.

    AggregateModel   -- the tree, the dendrogram of its leaves and its cut, with the parameters of `Betula`
    ModelOfRows      -- the same with the labels of rows

Modules: `aggregate_model`, `row_labels` (labels of rows at any cut), `labelled` (the rows labelled to each leaf),
`cluster_results` (what a model says of its clusters), `cluster_table`, `representatives`.
"""

from .aggregate_model import AdaptiveCut, AggregateModel, Clustering, Refined
from .row_labels import ModelOfRows

__all__ = ["AdaptiveCut", "AggregateModel", "Clustering", "ModelOfRows", "Refined"]

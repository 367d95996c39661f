"""The dendrogram of points, distances, sparse rows or cluster features.

    linkage            -- scipy's function; checks the data and calls the core, which chooses and runs the algorithm
    cluster_features   -- the same for the features of a model
    leaf_order         -- the order of the leaves in which neighbours are near

Modules: `cluster` (the door), `job` (what all linkages share: limits of memory, progress, the core), `matrix` (Z,
checked and with prototypes), `distances` (of all pairs, in blocks), `unit_features` (rows of unit length, for cosine
and correlation), `sparse_rows` and `sparse` (sparse rows and their linkage), `leaves` (what was clustered) and
`ordering` (the order of leaves).
"""

from .cluster import check_algorithm, cluster_features, heights_are_euclidean, linkage, matching_distance
from .ordering import leaf_order

__all__ = ["check_algorithm", "cluster_features", "heights_are_euclidean", "leaf_order", "linkage", "matching_distance"]

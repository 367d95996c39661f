"""The names that parameters take, for type checkers; `checks` has the same names for checks while a program runs."""

from typing import Literal

# fmt: off
CFDistance = Literal["centroid", "manhattan", "average", "diameter", "ward", "radius"]
Absorption = CFDistance
LinkageName = Literal["single", "complete", "average", "weighted", "centroid", "median", "ward", "minimax", "medoid"]
Method = LinkageName | CFDistance  # with mode="aggregation" every CF distance is a linkage
Mode = Literal["centers", "linkage", "aggregation"]
Algorithm = Literal["auto", "agnes", "anderberg", "nn_chain", "generic", "mst", "rounds", "heap", "boruvka", "blocked"]
Metric = Literal[
    "euclidean", "sqeuclidean", "cosine", "correlation", "cityblock", "chebyshev", "minkowski", "seuclidean",
    "mahalanobis", "braycurtis", "canberra", "jensenshannon", "hamming", "jaccard", "dice", "rogerstanimoto",
    "russellrao", "sokalsneath", "yule",
]
ModelMetric = Literal["euclidean", "cosine", "correlation"]
Orientation = Literal["top", "bottom", "left", "right"]  # of a dendrogram: the side of the root
HeightScale = Literal["linear", "sqrt", "log"]
# fmt: on

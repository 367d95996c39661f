"""The names that parameters take, for type checkers. `checks` has the same names for checks while the program runs."""

from typing import Literal

CFDistance = Literal["centroid", "manhattan", "average", "diameter", "ward", "radius"]
Absorption = CFDistance
LinkageName = Literal["single", "complete", "average", "weighted", "centroid", "median", "ward", "minimax", "medoid"]
Method = LinkageName | CFDistance  # with mode="aggregation" a CF distance is a linkage
Mode = Literal["centers", "linkage", "aggregation"]
Algorithm = Literal[
    "auto", "agnes", "anderberg", "generic", "nn_chain", "mst", "rounds", "heap", "boruvka", "blocked"
]  # fmt: skip

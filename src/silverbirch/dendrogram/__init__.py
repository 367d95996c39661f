"""Reading a dendrogram.

    Dendrogram   -- cuts, measures, names, draws and exports a dendrogram

Modules: `dendrogram` (the class, which delegates), `measured` (weights, sums of squares, cophenetic distances), `nodes`
(parts of the tree), `cuts` (branches that end at different heights), `criteria` and `suggestion` (the number of
clusters), `exports` (Newick, networkx).
"""

from .dendrogram import Dendrogram, numbered_by_weight

__all__ = ["Dendrogram", "numbered_by_weight"]

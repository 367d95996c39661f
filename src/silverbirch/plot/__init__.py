"""Pictures with matplotlib. Each function draws on the axes that it is given, or on new ones, and returns them.

Modules: `axes` (new axes, styles, the colour of texts), `layout` (which part of a tree is drawn, and where), `palette`
(colours of clusters), `heights` (linear, square root and log scales), `branches` (dendrograms), `curves` (rmsd and the
criteria of k), `scatter` (features), `heat_map` (clusters), `scipy_dendrogram` (scipy's function), `clustermap` (a heat
map of any number of rows with its dendrograms, by `summary`).
"""

from .axes import check_drawing, detached_axes, plain_style, save
from .branches import ShownCluster, clusters_in_order, draw_dendrogram
from .curves import draw_rmsd, draw_suggestion
from .palette import BRANCHES, BRANCHES_ON_DARK, TRUNK

__all__ = [
    "BRANCHES",
    "BRANCHES_ON_DARK",
    "TRUNK",
    "ShownCluster",
    "check_drawing",
    "clusters_in_order",
    "detached_axes",
    "draw_dendrogram",
    "draw_rmsd",
    "draw_suggestion",
    "plain_style",
    "save",
]

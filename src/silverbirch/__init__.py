"""Hierarchical clustering without the quadratic wall.

Cluster
    linkage          -- the exact dendrogram of points, distances or cluster features, as scipy's Z
    Betula           -- the scikit-learn estimator for any number of rows: aggregates, then clusters
    AgglomerativeClustering
                     -- scikit-learn's class over the exact `linkage`

Aggregate
    CFTree           -- turns any number of rows into a bounded number of cluster features, in one pass
    ClusterFeatures  -- (weight, mean, sse) of groups of rows: the tree returns them, `linkage` takes them

Read rows
    read_chunks      -- reads files, tables and streams of any size in chunks of rows

Use the result
    Dendrogram       -- cuts, measures, draws and exports a dendrogram
    write_report     -- writes a page about a fitted model

Files
    load             -- loads the object that a file holds; each class also has `save` and `load`

Errors
    MemoryLimitError -- a step needs more memory than is allowed or than the machine has
    ModelFileError   -- a file is damaged or holds something else
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .dendrogram import Dendrogram
from .errors import MemoryLimitError, ModelFileError
from .features import ClusterFeatures
from .linkage import linkage
from .storage.loading import load
from .tree import CFTree

if TYPE_CHECKING:
    from .agglomerative import AgglomerativeClustering
    from .estimator import Betula
    from .report import write_report
    from .rows import read_chunks

__version__ = "0.3.0"

__all__ = [
    "AgglomerativeClustering",
    "Betula",
    "CFTree",
    "ClusterFeatures",
    "Dendrogram",
    "MemoryLimitError",
    "ModelFileError",
    "linkage",
    "load",
    "read_chunks",
    "write_report",
]

# What is imported on first use, so that `import silverbirch` loads numpy alone, and the module that has it.
_LAZY = {
    "AgglomerativeClustering": ".agglomerative",
    "Betula": ".estimator",
    "read_chunks": ".rows",
    "write_report": ".report",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name], __name__), name)
    raise AttributeError(f"module 'silverbirch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

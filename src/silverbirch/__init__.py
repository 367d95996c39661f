"""Hierarchical clustering without the quadratic wall.

Cluster
    linkage          -- the exact dendrogram of points, distances or cluster features, as scipy's Z
    Betula           -- the scikit-learn estimator for any number of rows: aggregates, then clusters

Aggregate
    CFTree           -- turns any number of rows into a bounded number of cluster features, in one pass
    ClusterFeatures  -- (weight, mean, sse) of groups of rows: the tree returns them, `linkage` takes them

Read rows
    read_chunks      -- reads files, tables and streams of any size in chunks of rows

Use the result
    Dendrogram       -- cuts, measures, draws and exports a dendrogram

Files
    load             -- loads the object that a file holds; each class also has `save` and `load`

Errors
    MemoryLimitError -- a step needs more memory than is allowed or than the machine has
    ModelFileError   -- a file is damaged or holds something else
"""

from typing import TYPE_CHECKING, Any

from .dendrogram import Dendrogram
from .errors import MemoryLimitError, ModelFileError
from .features import ClusterFeatures
from .linkage import linkage
from .storage.loading import load
from .tree import CFTree

if TYPE_CHECKING:
    from .estimator import Betula
    from .rows import read_chunks

__version__ = "0.2.0"

__all__ = [
    "Betula",
    "CFTree",
    "ClusterFeatures",
    "Dendrogram",
    "MemoryLimitError",
    "ModelFileError",
    "linkage",
    "load",
    "read_chunks",
]


def __getattr__(name: str) -> Any:
    # Betula needs scikit-learn, so it is imported on first use: `import silverbirch` loads numpy alone.
    if name == "Betula":
        from .estimator import Betula

        return Betula
    if name == "read_chunks":
        from .rows import read_chunks

        return read_chunks
    raise AttributeError(f"module 'silverbirch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

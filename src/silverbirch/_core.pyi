"""
The compiled core of silverbirch. Private: use the package's own names.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def set_report_interval(milliseconds: int) -> None: ...

def instruction_set() -> str:
    """Returns the name of the instruction set in use."""

def supported_instruction_sets() -> list[str]:
    """
    Returns the names of the instruction sets that this machine supports, slowest first.
    """

def use_instruction_set(name: str) -> None:
    """
    Uses another instruction set from now on. For tests and benchmarks; not while another thread computes.
    """

def cf_distance_names() -> list[str]: ...

LARGEST_COORDINATE: float = 1e+100

SMALLEST_WEIGHT: float = 1e-30

LARGEST_WEIGHT: float = 1e+30

LARGEST_VARIANCE: float = 1e+205

@overload
def check_coordinates(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[int, int, float] | None:
    """
    Returns (row, column, value) of the first value that is not finite or too large to square, or None.
    """

@overload
def check_coordinates(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[int, int, float] | None: ...

@overload
def grouped(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, group_of_row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_count: int, progress: Callable[[int, int], None] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """Returns (weight, mean, sse) of each group of rows."""

@overload
def grouped(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, group_of_row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_count: int, progress: Callable[[int, int], None] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]: ...

def merged_pairs(weight_a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean_a: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sse_a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight_b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean_b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sse_b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Merges feature i of a with feature i of b, for every i. Returns (weight, mean, sse).
    """

def pairwise_squared_distances(weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sse: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], distance: str, threads: int, progress: Callable[[int, int], None] | None) -> NDArray[numpy.float64]:
    """Returns the squared CF distances of all pairs as a condensed vector."""

NEVER: int = 4611686018427387904

def absorption_names() -> list[str]: ...

def default_branching(dim: int, node_bytes: int) -> int:
    """
    The number of entries per node for trees whose nodes may take `node_bytes` altogether.
    """

def bytes_per_node(dim: int, branching: int) -> int: ...

class CfTree:
    def __init__(self, dim: int, distance: str, absorption: str, squared_threshold: float, max_leaves: int, max_nodes: int, branching: int, parts: int) -> None: ...

    @staticmethod
    def from_state(dim: int, distance: str, absorption: str, squared_threshold: float, max_leaves: int, max_nodes: int, branching: int, parts: int, state: tuple[Sequence[tuple[Sequence[tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]]], float, float, tuple[int, int], int]], tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], tuple[int, int, int, int], int]) -> CfTree: ...

    def state(self) -> tuple[list[tuple[list[tuple[NDArray[numpy.uint32], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]], float, float, tuple[int, int], int]], tuple[NDArray[numpy.float64], NDArray[numpy.float64]], tuple[int, int, int, int], int]:
        """(parts, planes, interval, rebuilds), as `from_state` takes it"""

    @overload
    def insert_rows(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, progress: Callable[[int, int], None] | None, checked: bool) -> tuple[int, int, float] | None:
        """
        Inserts the rows. If one holds a value that cannot be clustered, the tree is left as it was, and the result is (row, column, value).
        """

    @overload
    def insert_rows(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, progress: Callable[[int, int], None] | None, checked: bool) -> tuple[int, int, float] | None: ...

    def insert_features(self, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sse: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], progress: Callable[[int, int], None] | None) -> None: ...

    def set_threads(self, threads: int) -> None: ...

    def raise_threshold(self, squared_threshold: float) -> None: ...

    def decay(self, factor: float, lightest: float, progress: Callable[[int, int], None] | None) -> None:
        """
        Multiplies all weights and sses by `factor`, and removes leaves lighter than `lightest`.
        """

    def leaves(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]:
        """(weight, mean, sse)"""

    @property
    def dim(self) -> int: ...

    @property
    def part_count(self) -> int: ...

    @property
    def squared_threshold(self) -> float: ...

    @property
    def leaf_count(self) -> int: ...

    @property
    def rebuild_count(self) -> int: ...

    @property
    def total_weight(self) -> float: ...

    @property
    def node_count(self) -> int: ...

    @property
    def memory_bytes(self) -> int: ...

class NearestIndex:
    """Finds the exactly nearest of many points."""

    def __init__(self, points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], may_list: bool = True) -> None:
        """
        may_list: whether there is memory for lists several times as large as the points, which speed up searches.
        """

    @overload
    def nearest(self, rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int, progress: Callable[[int, int], None] | None) -> NDArray[numpy.int64]:
        """
        Returns the number of the point nearest to each row, the lowest one among equally near points.
        """

    @overload
    def nearest(self, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int, progress: Callable[[int, int], None] | None) -> NDArray[numpy.int64]: ...

class Linkage:
    """A row of the core's table of linkages."""

    @property
    def name(self) -> str: ...

    @property
    def reducible(self) -> bool: ...

    @property
    def squared(self) -> bool:
        """Defined on squared Euclidean distances; heights are their roots."""

    @property
    def cf_distance(self) -> str | None:
        """
        The CF distance that computes the linkage from cluster features; None if features are not enough.
        """

    @property
    def equal_vote(self) -> bool:
        """Both parts of a merge count the same, whatever their weights."""

    @property
    def scale(self) -> float:
        """The recurrence works on the squared CF distance times this."""

    @property
    def by_members(self) -> bool:
        """
        algorithm='rounds' computes the linkage from points without a distance matrix.
        """

    @property
    def prototypes(self) -> bool:
        """One object represents each cluster."""

def linkages() -> list[Linkage]: ...

def algorithm_names() -> list[str]: ...

def cluster_features(weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sse: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], linkage: str, squares: bool, algorithm: str, threads: int, before_pairs: Callable[[int], None], progress: Callable[[int, int], None] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]:
    """
    Returns Z and the prototypes. squares: average and weighted linkage are root mean squared distances. before_pairs(objects) is called before the distances of all pairs are allocated.
    """

def aggregate_features(weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sse: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], distance: str, algorithm: str, threads: int, progress: Callable[[int, int], None] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]:
    """Merges features at each step. Returns Z and the prototypes."""

def cluster_distances(condensed: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], linkage: str, algorithm: str, progress: Callable[[int, int], None] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]:
    """
    Clusters objects given by their distances, which are overwritten. Returns Z and the prototypes.
    """

def cluster_distances_by_prototypes(condensed: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], linkage: str, algorithm: str, progress: Callable[[int, int], None] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]:
    """The same for linkages with prototypes. The distances are not changed."""

def merged_in_order(a: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], height: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], monotone: bool) -> NDArray[numpy.float64]:
    """
    Z of merges in an order where parts come before the whole. a[i] is merged into b[i], which names the merged cluster from then on; if the heights ascend, any objects of the two clusters will do. monotone: there are no inversions, and heights that fall by rounding are levelled.
    """

def sparse_mst(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int, metric: str, progress: Callable[[int, int], None] | None) -> NDArray[numpy.float64]:
    """
    Z of single linkage of CSR rows, in memory linear in their values. metric: 'euclidean', 'cosine' or 'correlation', of the rows as they are: nothing is to be normalised or centred before. The columns of a row must ascend (scipy: sum_duplicates). Rows without a distance raise ValueError: zero rows with 'cosine', constant rows with 'correlation'.
    """

def subtree_heights(z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """Returns the greatest height in the subtree of each row of Z."""

def leaf_counts(z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """Returns the number of leaves below each row of Z."""

def cut(z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], level_of_row: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int64]:
    """
    Returns the labels of the leaves, one column for each level. Rows of Z whose level_of_row is at most the level are merged.
    """

def merged_features(z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sse: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """Returns (weight, mean, sse) of the cluster of each row of Z."""

def order_points(z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], distance: str, ends: int | None, threads: int, progress: Callable[[int, int], None] | None) -> NDArray[numpy.int64]:
    """
    Returns the leaves of Z in an order in which neighbours are near. distance: 'euclidean', 'squared' or 'half_squared'. ends: how many leaves of each part of a branch may be its end; None finds the optimal order in cubic time, and takes 8 n² bytes.
    """

def order_distances(z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], condensed: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: int | None, threads: int, progress: Callable[[int, int], None] | None) -> NDArray[numpy.int64]:
    """The same from the distances of all pairs."""

def reordered(z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """
    Returns Z with children exchanged so that the leaves stand in this order.
    """

"""The mechanisms that exist only for speed, as data: what each is, how long it is, and where it acts.

Their names are those of cpp/silverbirch/base/switches.hpp. One that was taken out stays here with `kept=False`, so that
its raw rows still tell what it had gained.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .jobs import BOTH, MILLION, THOUSAND, Case, cases

TREE = tuple(
    case for leaves in (2_000, 25_000) for case in cases((MILLION,), task="tree", max_leaves=leaves)
)  # of 5 columns
LARGE_TREE = cases((MILLION,), ("mixture",), task="tree", max_leaves=64_000)
REPEATED_TREE = cases((MILLION,), ("repeated",), task="tree")
WIDE_TREE = tuple(
    case
    for leaves in (2_000, 10_000)
    for case in cases((500 * THOUSAND,), columns=64, dtype="float32", task="tree", max_leaves=leaves)
)
WIDEST_TREE = tuple(
    case
    for leaves in (2_000, 10_000)
    for case in cases((100 * THOUSAND,), columns=384, dtype="float32", task="tree", max_leaves=leaves)
)
TREES = TREE + LARGE_TREE + WIDE_TREE + WIDEST_TREE
FEATURES = cases((MILLION,), task="features")
WARD = (*cases((50 * THOUSAND,)), *cases((MILLION,), ("uniform",)))
CENTROID = cases((50 * THOUSAND,), method="centroid")
LARGE_CENTROID = cases((MILLION,), ("uniform",), method="centroid")
SINGLE = cases((MILLION,), method="single")
INDEXED = WARD + FEATURES + CENTROID
ROUNDS = WARD + FEATURES
COMPLETE = cases((5 * THOUSAND, 25 * THOUSAND), method="complete")
AVERAGE = cases((25 * THOUSAND,), method="average")
POINTS = COMPLETE + AVERAGE
MATRIX = (
    *cases((5 * THOUSAND,), ("uniform",), method="complete", columns=64),
    *cases((5 * THOUSAND,), ("uniform",), method="complete", columns=384),
)
WARD_WIDE = (
    *cases((2 * THOUSAND, 10 * THOUSAND), columns=384, dtype="float32"),
    *cases((10 * THOUSAND,), ("uniform",), columns=16),
    *cases((10 * THOUSAND,), columns=64),
)
CENTROID_WIDE = cases((2 * THOUSAND, 5 * THOUSAND), ("uniform",), method="centroid", columns=64)
BLOCKED = WARD_WIDE + CENTROID_WIDE
ASSIGN = cases((10 * MILLION,), task="assign")
ASSIGN_FEW = cases((100 * THOUSAND,), task="assign")  # too few rows a leaf for the lists of cells
ASSIGN_MORE = cases((MILLION,), task="assign", columns=8)  # too many columns for them
ASSIGN_BY_TREE = ASSIGN_FEW + ASSIGN_MORE
ASSIGN_WIDE = cases((100 * THOUSAND,), task="assign", columns=64, dtype="float32", max_leaves=2_000)
THREADS = cases((MILLION,), ("uniform",), threads=2)


@dataclass(frozen=True)
class Mechanism:
    name: str
    what: str
    lines: int  # of C++ that would go with it, about
    cases: tuple[Case, ...]  # where it acts
    kept: bool = True


MECHANISMS = (
    # tree
    Mechanism("integer_routing", "16-bit routing copies from 96 columns on", 370, WIDEST_TREE),
    Mechanism("float_routing", "float copies of the means find the nearest entry", 330, TREES),
    Mechanism("groups", "rows find their leaves in groups, with clocks", 150, (*TREES, *REPEATED_TREE)),
    Mechanism("joint_search", "rows of a group search their nodes together", 75, TREE + LARGE_TREE),
    Mechanism("wide_joint_search", "the same from 17 columns on", 60, WIDE_TREE),
    Mechanism("known_widths", "joint search compiled for 32, 48 and 64 columns", 6, WIDE_TREE, kept=False),
    Mechanism("fewer_slots", "joint search of 16, 32 or 48 slots where nodes are not full", 8, TREE + LARGE_TREE),
    Mechanism("patched_leaf", "a leaf that changed is not searched again, only compared", 45, TREES, kept=False),
    Mechanism("duplicate_runs", "no groups after a duplicate", 4, REPEATED_TREE, kept=False),
    Mechanism("row_prefetch", "rows of later groups are fetched ahead", 9, TREES),
    Mechanism("record_prefetch", "the record of the leaf found is fetched ahead", 18, TREES),
    Mechanism("spare_pages", "a rebuild reuses the pages of the old tree", 40, TREES, kept=False),
    Mechanism("huge_pages", "nodes of a large tree lie in huge pages", 10, TREES),
    Mechanism("four_distances", "four exact distances at once", 30, WIDE_TREE + WIDEST_TREE, kept=False),
    Mechanism("sure_absorption", "absorption tested without a division first", 10, TREES),
    Mechanism("narrowed_vectors", "doubles become floats by vectors written by hand", 35, WIDE_TREE),
    Mechanism("eight_entries", "eight entries of a wide node at once, not four", 4, WIDE_TREE, kept=False),
    Mechanism("check_in_cache", "values are checked piece by piece while they are inserted", 20, TREES),
    Mechanism("hash_chains", "rows hashed in four chains", 6, WIDE_TREE + WIDEST_TREE, kept=False),
    # index
    Mechanism("filtered_search", "the index is searched in float32 first", 420, INDEXED + LARGE_CENTROID),
    Mechanism(
        "unrolled_dimensions",
        "searches compiled for 1 to 8 columns",
        30,
        INDEXED + SINGLE + POINTS + ASSIGN_FEW,
    ),
    Mechanism("nearest_first", "the nearest of a leaf is measured before the others", 35, INDEXED + POINTS),
    Mechanism("listed_leaves", "leaves are listed before they are scanned", 30, INDEXED),
    Mechanism("sweep_within_nodes", "the dead are swept out within small nodes", 40, INDEXED + POINTS),
    Mechanism("branchless_select", "medians without branches, not std::nth_element", 35, INDEXED + SINGLE),
    Mechanism("close_sort", "kd-order of ranges copied together", 22, INDEXED + SINGLE),
    # nearest
    Mechanism("cell_lists", "lists of the leaves near a cell", 729, ASSIGN),
    Mechanism("cell_prefetch", "rows of the next cell are fetched ahead", 6, ASSIGN, kept=False),
    Mechanism("group_search", "eight rows go through the index together", 134, ASSIGN_BY_TREE),
    Mechanism("group_prefetch", "rows of a later group are fetched ahead", 4, ASSIGN_BY_TREE, kept=False),
    Mechanism("row_order", "rows are searched in the order of a curve", 81, ASSIGN_BY_TREE),
    Mechanism("label_filter", "all leaves are filtered in float32 in many columns", 181, ASSIGN_WIDE),
    # linkage
    Mechanism(
        "known_neighbours", "what became of the former nearest bounds a search", 12, INDEXED + COMPLETE + AVERAGE
    ),
    Mechanism("marked_slots", "many slots are sorted by marking them", 10, ROUNDS + THREADS, kept=False),
    Mechanism(
        "parallel_collect", "slots are collected by all threads, without branches", 18, WARD + FEATURES + THREADS
    ),
    Mechanism("unset_memory", "large memory is not cleared first", 22, WARD + CENTROID + THREADS),
    Mechanism("radix_sort", "merges and rows are sorted by digits", 35, WARD + CENTROID + SINGLE + ASSIGN_BY_TREE),
    Mechanism(
        "quaternary_heap",
        "a heap of four children, not the standard library's",
        40,
        CENTROID + LARGE_CENTROID,
        kept=False,
    ),
    Mechanism(
        "heap_prefetch", "what may come next in the heap is fetched ahead", 7, CENTROID + LARGE_CENTROID, kept=False
    ),
    Mechanism("merge_prefetch", "merges to be numbered are fetched ahead", 7, WARD + SINGLE, kept=False),
    Mechanism("balls", "balls around blocks bound the farthest pair", 50, COMPLETE),
    Mechanism("few_pairs", "small clusters: all pairs at once", 14, COMPLETE, kept=False),
    Mechanism("last_by_matrix", "the last clusters are merged by a matrix", 75, POINTS),
    Mechanism("tiles", "distances of four rows to all others at once", 25, MATRIX),
    # linkage in many dimensions
    Mechanism("byte_filter", "bytes with VNNI in the filter of pairs", 100, WARD_WIDE),
    Mechanism("product_filter", "gaps from products, not differences", 15, (*BLOCKED, *ASSIGN_WIDE)),
    Mechanism("few_queries", "one or two queries take no room for eight", 7, BLOCKED),
    Mechanism("mutual_first_pass", "the first pass compares each pair once", 60, BLOCKED),
    Mechanism("first_cut", "the first pass looks no farther than probes did", 12, WARD_WIDE),
    Mechanism("neighbour_lists", "nearest neighbours are kept over merges", 150, WARD_WIDE),
    Mechanism("compaction", "passes leave out what has merged", 20, BLOCKED),
)


def small(mechanisms: Iterable[Mechanism], rows: int) -> tuple[Mechanism, ...]:
    """The same on few rows of one kind of data, to see that everything works."""

    def fewer(case: Case) -> Case:
        data = "uniform" if case.data in BOTH else case.data
        leaves = min(case.max_leaves, rows // 5)
        return replace(case, rows=min(case.rows, rows), data=data, max_leaves=leaves)

    return tuple(replace(m, cases=tuple(dict.fromkeys(map(fewer, m.cases)))) for m in mechanisms)

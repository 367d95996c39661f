// The order of the leaves of a dendrogram in which the sum of the distances of neighbours is least, by the dynamic
// programme of Bar-Joseph, Gifford and Jaakkola (2001), "Fast optimal leaf ordering for hierarchical clustering",
// Bioinformatics 17, S22-S29.
//
// Let cost(u, w) be the least cost of the branch where the leaves u and w come together if u is one of its ends and w
// the other. If this branch merges A, which has u, with B, which has w:
//
//   cost(u, w) = least cost(u, m) + d(m, k) + cost(k, w)
//
// over the inner ends: m in the part of A without u, k in the part of B without w. So the costs of A with B are two
// min-plus products (order_kernels.hpp), cubic time with a small factor: about n³/6 steps for a balanced dendrogram.
// Nothing else is stored: the inner ends are searched for again while the order is read from the costs, in quadratic
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/ordering/leaf_distances.hpp"

namespace silverbirch {

// Takes 8 n² bytes. Of the two directions, the one in which the children of the root stay where they are.
std::vector<std::int64_t> optimal_order(const Branches& branches, const LeafDistances& distances, std::size_t threads,
                                        const Progress& progress);

}  // namespace silverbirch

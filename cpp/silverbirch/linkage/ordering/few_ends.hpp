// An order of leaves that is nearly optimal, in linear time and memory: the dynamic programme of optimal_order.hpp with
// few ends. A branch remembers costs only for those leaves of its two parts that are the cheapest ends. All other
// leaves stay inside. Branches with so few leaves lose nothing, so small branches are in their best order for given
// ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/ordering/leaf_distances.hpp"

namespace silverbirch {

// `ends`: how many leaves of each part of a branch may be an end, at least 1 and at most kMostEnds. Takes up to 16 ends
// bytes for each leaf.
inline constexpr std::size_t kMostEnds = 64;
std::vector<std::int64_t> few_ends_order(const Branches& branches, const LeafDistances& distances, std::size_t ends,
                                         const Progress& progress);

}  // namespace silverbirch

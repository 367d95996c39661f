// Exact clustering in high dimensions for the linkages that are not reducible; see blocked_rounds.hpp for the others.
#pragma once

#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/reference/feature_space.hpp"

namespace silverbirch {

// Centroid linkage, with Vote::equal median: the greedy result, inversions included. Heights are squared distances. The
// result does not depend on the number of threads nor on the instruction set.
Merges cluster_blocked_greedily(const FeaturesView& features, Vote vote, std::size_t threads, const Progress& progress);

}  // namespace silverbirch

// Exact clustering in many dimensions for linkages that are not reducible; see rounds.hpp for the others.
#pragma once

#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/reference/feature_space.hpp"

namespace silverbirch {

// Centroid linkage, or median with Vote::equal: the greedy result, inversions included. Heights are squared distances.
// The result depends neither on the number of threads nor on the instruction set.
Merges cluster_blocked_greedily(const FeaturesView& features, Vote vote, std::size_t threads, const Progress& progress);

}  // namespace silverbirch

// Exact clustering in many dimensions, where no index helps: a float32 filter over all pairs, by blocks, on several
// threads. Memory is linear in the number of objects.
#pragma once

#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/reference/feature_space.hpp"

namespace silverbirch {

// Ward and average linkage (of squared distances), or weighted with Vote::equal. Heights are squared CF distances. The
// result depends neither on the number of threads nor on the instruction set.
Merges cluster_blocked(const FeaturesView& features, CfDistance distance, Vote vote, std::size_t threads,
                       const Progress& progress);

}  // namespace silverbirch

// Exact single linkage in many dimensions, where no index helps; see rounds.hpp for the filter.
#pragma once

#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/merge_history.hpp"

namespace silverbirch {

// Single linkage of the means. Heights are squared distances. The result depends neither on the number of threads nor
// on the instruction set.
Merges cluster_blocked_single(const FeaturesView& points, std::size_t threads, const Progress& progress);

}  // namespace silverbirch

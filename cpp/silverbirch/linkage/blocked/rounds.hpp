// Exact clustering in high dimensions, where no index helps: all pairs are filtered in float32 by blocks, on several
// threads, in memory linear in the objects.
#pragma once

#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/reference/feature_space.hpp"

namespace silverbirch {

// Ward and average (of squared distances; with Vote::equal weighted) linkage. Heights are squared CF distances. The
// result does not depend on the number of threads nor on the instruction set.
Merges cluster_blocked(const FeaturesView& features, CfDistance distance, Vote vote, std::size_t threads,
                       const Progress& progress);

}  // namespace silverbirch

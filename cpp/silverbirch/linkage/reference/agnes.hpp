// AGNES: compares all pairs, merges the nearest, repeats [Kaufman & Rousseeuw 1990]. Cubic time. The others are tested
// against it.
#pragma once

#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/reference/cluster_space.hpp"

namespace silverbirch {

template <ClusterSpace Space>
void agnes(Space& space, MergeHistory& history, const Progress& progress) {
  const std::size_t objects = space.active().size();
  while (space.active().size() > 1) {
    std::size_t a = kNowhere;
    Neighbour nearest{kNowhere, 0.0};
    for (const std::size_t id : space.active()) {
      if (space.active().after(id) == space.active().end()) break;
      progress.poll();
      const Neighbour candidate = space.nearest_after(id);
      if (a == kNowhere || candidate.distance < nearest.distance) {
        a = id;
        nearest = candidate;
      }
    }
    space.merge(a, nearest.id);
    history.record(a, nearest.id, nearest.distance, space.prototype(nearest.id));
    progress(history.size(), objects - 1);
  }
}

}  // namespace silverbirch

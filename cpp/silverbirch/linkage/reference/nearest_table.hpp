// For each cluster, its nearest cluster among those with larger numbers; used by anderberg and generic.
#pragma once

#include <vector>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/reference/cluster_space.hpp"

namespace silverbirch {

template <ClusterSpace Space>
class NearestTable {
 public:
  NearestTable(const Space& space, const Progress& progress)
      : space_(space), progress_(progress), nearest_(space.active().size(), {kNowhere, 0.0}) {
    for (const std::size_t id : space.active()) search(id);
  }

  Neighbour& operator[](std::size_t id) { return nearest_[id]; }

  // Searches the nearest cluster again. The cluster with the largest number has none.
  void search(std::size_t id) {
    progress_.poll();
    if (space_.active().after(id) == space_.active().end())
      nearest_[id].id = kNowhere;
    else
      nearest_[id] = space_.nearest_after(id);
  }

  // The cluster with the least distance, the lowest number among equals. A plain scan is enough: every merge passes
  // over all clusters anyway, so a heap would save nothing.
  std::size_t closest() const {
    std::size_t best = kNowhere;
    for (const std::size_t id : space_.active())
      if (nearest_[id].id != kNowhere && (best == kNowhere || nearest_[id].distance < nearest_[best].distance))
        best = id;
    return best;
  }

 private:
  const Space& space_;
  const Progress& progress_;
  std::vector<Neighbour> nearest_;
};

}  // namespace silverbirch

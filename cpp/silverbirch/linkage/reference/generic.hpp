// The greedy result for every linkage, reducible or not, without comparing all pairs again [Müllner 2011, "Modern
// hierarchical, agglomerative clustering algorithms", the generic algorithm].
//
// Each cluster keeps a lower bound of the distance to its nearest cluster among those with larger numbers. Only the
// cluster with the smallest bound matters: if its bound is out of date, it searches again; otherwise its pair is the
// nearest of all.
#pragma once

#include <vector>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/reference/nearest_table.hpp"

namespace silverbirch {

template <ClusterSpace Space>
void generic(Space& space, MergeHistory& history, const Progress& progress) {
  const std::size_t objects = space.active().size();
  NearestTable<Space> bound(space, progress);
  std::vector<bool> current(objects, true);  // true: the bound is exactly the distance to the nearest
  const auto search = [&](std::size_t id) {
    bound.search(id);
    current[id] = true;
  };

  while (space.active().size() > 1) {
    std::size_t a = bound.closest();
    for (; !current[a]; a = bound.closest()) search(a);
    const std::size_t b = bound[a].id;
    const double distance = bound[a].distance;
    space.merge(a, b);
    history.record(a, b, distance, space.prototype(b));

    search(b);
    space.each_before(b, [&](std::size_t id, double to_merged) {
      if (to_merged < bound[id].distance) {
        bound[id] = {b, to_merged};
        current[id] = true;
      } else if (bound[id].id == a || bound[id].id == b) {
        current[id] = false;  // the nearest cluster is gone, but no other came nearer, so the bound still holds
      }
    });
    progress(history.size(), objects - 1);
  }
}

}  // namespace silverbirch

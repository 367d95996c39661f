// AGNES with remembered nearest neighbours [Anderberg 1973]. Each cluster remembers its nearest cluster among those
// with larger numbers. After a merge, only clusters whose neighbour was merged search again. Cubic time at worst, close
// to quadratic in practice. Gives the greedy result for every linkage.
#pragma once

#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/reference/nearest_table.hpp"

namespace silverbirch {

template <ClusterSpace Space>
void anderberg(Space& space, MergeHistory& history, const Progress& progress) {
  const std::size_t objects = space.active().size();
  NearestTable<Space> nearest(space, progress);
  while (space.active().size() > 1) {
    const std::size_t a = nearest.closest(), b = nearest[a].id;
    const double distance = nearest[a].distance;
    space.merge(a, b);
    history.record(a, b, distance, space.prototype(b));

    space.each_before(b, [&](std::size_t id, double to_merged) {
      Neighbour& known = nearest[id];
      if (known.id == a || known.id == b) return;  // searches again below
      if (to_merged < known.distance || (to_merged == known.distance && b < known.id)) known = {b, to_merged};
    });
    for (const std::size_t id : space.active())
      if (id == b || (id < b && (nearest[id].id == a || nearest[id].id == b))) nearest.search(id);
    progress(history.size(), objects - 1);
  }
}

}  // namespace silverbirch

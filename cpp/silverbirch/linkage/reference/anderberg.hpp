// AGNES with remembered nearest neighbours [Anderberg 1973]: each cluster knows its nearest one of a larger number, and
// after a merge only the clusters that it concerns look again. Cubic at worst, close to quadratic in practice, and the
// true greedy result for every linkage.
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
      if (known.id == a || known.id == b) return;  // looks again below
      if (to_merged < known.distance || (to_merged == known.distance && b < known.id)) known = {b, to_merged};
    });
    for (const std::size_t id : space.active())
      if (id == b || (id < b && (nearest[id].id == a || nearest[id].id == b))) nearest.look(id);
    progress(history.size(), objects - 1);
  }
}

}  // namespace silverbirch

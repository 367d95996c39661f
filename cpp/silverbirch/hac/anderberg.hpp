// AGNES with remembered nearest neighbours [Anderberg 1973]: each cluster knows its nearest one of a larger number, and
// after a merge only the clusters that it concerns look again. Cubic at worst, close to quadratic in practice, and the
// true greedy result for every linkage.
#pragma once

#include <vector>

#include "../merge_history.hpp"
#include "../progress.hpp"
#include "cluster_space.hpp"

namespace silverbirch {

template <ClusterSpace Space>
void anderberg(Space& space, MergeHistory& history, const Progress& progress) {
  const std::size_t objects = space.active().size();
  std::vector<Neighbour> nearest(objects, {kNowhere, 0.0});
  const auto look = [&](std::size_t id) {
    progress.poll();
    if (space.active().after(id) == space.active().end())
      nearest[id].id = kNowhere;
    else
      nearest[id] = space.nearest_after(id);
  };
  for (const std::size_t id : space.active()) look(id);

  while (space.active().size() > 1) {
    std::size_t a = kNowhere;
    for (const std::size_t id : space.active())
      if (nearest[id].id != kNowhere && (a == kNowhere || nearest[id].distance < nearest[a].distance)) a = id;
    const std::size_t b = nearest[a].id;
    const double distance = nearest[a].distance;
    space.merge(a, b);
    history.record(a, b, distance, space.prototype(b));

    space.each_before(b, [&](std::size_t id, double to_merged) {
      Neighbour& known = nearest[id];
      if (known.id != a && known.id != b &&
          (to_merged < known.distance || (to_merged == known.distance && b < known.id)))
        known = {b, to_merged};
    });
    for (const std::size_t id : space.active())
      if (id == b || (id < b && (nearest[id].id == a || nearest[id].id == b))) look(id);
    progress(history.size(), objects - 1);
  }
}

}  // namespace silverbirch

// Single linkage from a minimum spanning tree [Gower & Ross 1969; Prim 1957]. Quadratic time, linear memory.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/reference/pair_matrix.hpp"
#include "silverbirch/linkage/spanning_tree.hpp"

namespace silverbirch {

// distances_from(object, row) sets row[i] to the distance from `object` to object i, or to infinity where it is known
// that the distance from an earlier object was not greater; `row` has room for padding.
template <class DistancesFrom>
Merges mst(std::size_t objects, DistancesFrom distances_from, const Progress& progress) {
  UnsetVector<TreeEdge> edges;
  std::vector<double> nearest(objects, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> neighbour(objects, 0), outside(objects - 1);
  AlignedDoubles row(blocks_for(objects) * kLanes);
  for (std::size_t i = 1; i < objects; ++i) outside[i - 1] = i;

  for (std::size_t joined = 0; !outside.empty();) {
    distances_from(joined, row.data());
    std::size_t best = 0;
    for (std::size_t i = 0; i < outside.size(); ++i) {
      const std::size_t id = outside[i];
      if (row[id] < nearest[id]) {
        nearest[id] = row[id];
        neighbour[id] = joined;
      }
      if (nearest[id] < nearest[outside[best]]) best = i;
    }
    joined = outside[best];
    outside.erase(outside.begin() + static_cast<std::ptrdiff_t>(best));
    edges.push_back(
        {static_cast<std::uint32_t>(neighbour[joined]), static_cast<std::uint32_t>(joined), nearest[joined]});
    progress(edges.size(), objects - 1);
  }

  return merges_of_tree(edges, std::less(), [](std::uint32_t object) { return object; }, 1);
}

}  // namespace silverbirch

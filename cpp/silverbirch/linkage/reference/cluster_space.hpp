// The interface between an algorithm and the clusters it merges. The space knows the formula, the algorithm the
// strategy: agnes, anderberg, nn_chain and generic are each written once, for distance matrices and for cluster
// features.
#pragma once

#include <concepts>
#include <cstddef>

#include "silverbirch/linkage/reference/active_set.hpp"

namespace silverbirch {

struct Neighbour {
  std::size_t id;
  double distance;
};

// distance(a, b) is symmetric to the last bit. nearest(a) searches all other clusters, nearest_after(a) those with a
// larger number; there must be one, and the lowest number wins among equals. merge(a, b) stores A∪B in place of b and
// removes a. each_before(b, visit) calls visit(id, distance) for all clusters with a smaller number than b.
// prototype(a) is the object that represents a cluster, if the linkage has one.
template <class Space>
concept ClusterSpace = requires(Space space, const Space& seen, std::size_t a, void (*visit)(std::size_t, double)) {
  { seen.active() } -> std::same_as<const ActiveSet&>;
  { seen.distance(a, a) } -> std::same_as<double>;
  { seen.nearest(a) } -> std::same_as<Neighbour>;
  { seen.nearest_after(a) } -> std::same_as<Neighbour>;
  seen.each_before(a, visit);
  space.merge(a, a);
  { seen.prototype(a) } -> std::same_as<std::size_t>;
};

}  // namespace silverbirch

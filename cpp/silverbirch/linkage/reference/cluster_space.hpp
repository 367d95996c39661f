// What an algorithm sees of the clusters it merges. The formula lives in the space, the strategy in the algorithm:
// agnes, anderberg, nn_chain and generic each are written once, for distance matrices and for cluster features alike.
#pragma once

#include <concepts>
#include <cstddef>

#include "silverbirch/linkage/reference/active_set.hpp"

namespace silverbirch {

struct Neighbour {
  std::size_t id;
  double distance;
};

// distance(a, b) is symmetric to the bit. nearest(a) looks at all other clusters, nearest_after(a) at those of a larger
// number; the lowest number wins among equals; there must be one to find. merge(a, b) puts A∪B in the place of b and
// removes a. each_before(b, visit) calls visit(id, distance) for the clusters of a smaller number than b. prototype(a)
// is the object that stands for a cluster, where the linkage has one.
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

// Complete and average linkage distances of two clusters from their points.
//
// The points of a cluster are stored eight to a block. Row k of a block holds coordinate k of all eight points, the
// last row their weights. Unused lanes repeat a point of the cluster with weight zero, so they change neither a maximum
// nor a sum.
#pragma once

#include <array>
#include <cstddef>

#include "silverbirch/base/switches.hpp"
#include "silverbirch/features/feature_block.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

struct Members {
  const double* mean;    // coordinates are kLanes apart; for a single point, the point itself
  const double* blocks;  // not used for a single point
  std::size_t count;
  double weight;        // of all points
  double radius;        // at least the distance of any point from the mean; for complete linkage
  const double* balls;  // a ball around each block, or null: stored like points, with the radius as weight
};

constexpr std::size_t member_block_doubles(std::size_t dim) { return (dim + 1) * kLanes; }

struct MemberDistance {
  static constexpr std::size_t kUnrolled = 8;  // dimensions with loops of fixed length; entry 0 is for all others

  // The squared linkage distance; any number above `limit` if it is above. Means may be off by `margin`. Exchanging a
  // and b does not change complete linkage, and changes average linkage only in its rounding.
  using Between = double (*)(const Members& a, const Members& b, std::size_t dim, double limit, double margin);
  std::array<Between, kUnrolled + 1> complete, average;

  // The sum over all pairs of their distance times both weights. The points are in blocks, even a single one.
  using Sum = double (*)(const Members& a, const Members& b, std::size_t dim);
  std::array<Sum, kUnrolled + 1> sum;

  // The squared distance from `point` to the farthest of some points. The coordinates of `point` are kLanes apart.
  double (*farthest)(const double* blocks, std::size_t count, std::size_t dim, const double* point);

  static std::size_t unrolled(std::size_t dim) {
    return dim <= kUnrolled && on(Mechanism::unrolled_dimensions) ? dim : 0;
  }
};

SILVERBIRCH_KERNEL_TABLE(MemberDistance, member_distance)

}  // namespace silverbirch

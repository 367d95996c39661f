// Complete and average linkage of two clusters from the points they hold, chosen for the machine's vector unit.
//
// The points of a cluster lie eight to a block: row k of the block holds coordinate k of all eight, the last row their
// weights. Unused lanes repeat a point of the cluster with no weight, so they change neither a maximum nor a sum.
#pragma once

#include <array>
#include <cstddef>

#include "silverbirch/features/feature_block.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

struct Members {
  const double* mean;    // coordinates kLanes apart; of a single point, the point
  const double* blocks;  // not used where there is one point only
  std::size_t count;
  double weight;        // of all points
  double radius;        // no point is farther from the mean; for complete linkage
  const double* balls;  // one around each block of points, if at hand: like points, with the radius for the weight
};

constexpr std::size_t member_block_doubles(std::size_t dim) { return (dim + 1) * kLanes; }

struct MemberDistance {
  static constexpr std::size_t kUnrolled = 8;  // dimensions with loops of fixed length; 0 stands for all others

  // The squared linkage distance, or any number above `limit` if it is above. Means may be off by `margin`. a and b
  // may be exchanged: complete linkage does not depend on it, average linkage in its rounding only.
  using Between = double (*)(const Members& a, const Members& b, std::size_t dim, double limit, double margin);
  std::array<Between, kUnrolled + 1> complete, average;

  // The distances of all pairs, each times both weights, added up. The points are in blocks, even if there is one only.
  using Sum = double (*)(const Members& a, const Members& b, std::size_t dim);
  std::array<Sum, kUnrolled + 1> sum;

  // The squared distance of the farthest of some points from a point; coordinates of the point kLanes apart.
  double (*farthest)(const double* blocks, std::size_t count, std::size_t dim, const double* point);

  static std::size_t unrolled(std::size_t dim) { return dim <= kUnrolled ? dim : 0; }
};

SILVERBIRCH_KERNEL_TABLE(MemberDistance, member_distance)

}  // namespace silverbirch

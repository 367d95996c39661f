// The search of a packed kd-tree (search.hpp) through a copy in float32, with twice the lanes in a vector and half the
// memory. Floats only say which slots may be the nearest, float64 decides among those, so the answer is that of
// search.hpp to the bit.
//
// A converted mean is (x - origin) / scale, rounded, with coordinates in [-1, 1]. Converting never changes the order of
// two coordinates, so boxes of converted means bound the computed gaps as they do in float64. Let u = 2⁻²⁴ and
// e = 2u·√dim, which is how far the gap of two means moves at most when both are converted. The computed gap' obeys
// √gap' ≤ (1 + (dim + 4)u)(√gap + e), in units of scale², and as (a + b)² ≤ (1 + t)a² + (1 + 1/t)b² for any t > 0,
//   gap' ≤ (1 + 2t)·gap + (1 + 2/t)·e²   if t ≥ (dim + 8)u.
// So limits are multiplied by 1 + 2t, and `doubt` = (1 + 2/t)·e² is added. That covers the roundings of terms and
// limits, too. What is so small that its square underflows is far below the doubt.
//
// Where the nearest is nearer than the doubt, or little farther, floats cannot tell who it is: the search says so and
// leaves it to the one in float64.
#pragma once

#include <array>
#include <cstddef>

#include "silverbirch/index/search.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

// A row is a cache line, as in float64: sixteen slots to a block, sixteen children to a node.
inline constexpr std::size_t kFilterLanes = 16;
constexpr std::size_t filter_block_floats(std::size_t dim) { return (dim + 1) * kFilterLanes; }     // means, terms
constexpr std::size_t filter_node_floats(std::size_t dim) { return (2 * dim + 1) * kFilterLanes; }  // as in search.hpp

// An empty lane lies here: its gaps are infinite and above all limits. All others are within kLargestFilterLimit, even
// by Ward's distance if both have the least term there is.
inline constexpr float kFilterFarAway = 1e30f, kLargestFilterLimit = 1e37f;
inline constexpr double kLeastWardTerm = 1e-30, kLargestFilterVariance = 1e36;

struct FilterTree {
  std::size_t level_count = 0;
  const float* blocks = nullptr;
  std::array<const float*, PackedTree::kMostLevels> nodes = {};
  double limit_unit = 1.0;  // what a distance is multiplied by to be a limit of the filter
  float doubt = 0.0f;
};

struct FilteredSearch {
  // Turns `nearest`, what is known already, into the nearest other slot, see IndexSearch::NearestToSlot. Returns false
  // if that was not possible; then `nearest` is the best of some.
  using NearestToSlot = bool (*)(const PackedTree& tree, const FilterTree& filter, Slot slot, NearestSlot& nearest);
  std::array<std::array<NearestToSlot, IndexSearch::kUnrolled + 1>, 3> nearest_to_slot;  // by Nearness
};

SILVERBIRCH_KERNEL_TABLE(FilteredSearch, filtered_search)

}  // namespace silverbirch

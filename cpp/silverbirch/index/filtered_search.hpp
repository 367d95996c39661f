// The search of a packed kd-tree (search.hpp) through a float32 copy, which has twice as many lanes in a vector and
// takes half the memory. The floats only say which slots may be the nearest; float64 decides among these. So the answer
// is that of search.hpp to the last bit.
//
// A mean is converted to (x - origin) / scale and rounded; its coordinates lie in [-1, 1]. Conversion never changes the
// order of two coordinates, so boxes of converted means bound the computed gaps as they do in float64. Let u = 2⁻²⁴ and
// e = 2u·√dim: converting both means changes their distance by at most e. The computed squared gap' obeys √gap' ≤ (1 +
// (dim + 4)u)(√gap + e), in units of scale². As (a + b)² ≤ (1 + t)a² + (1 + 1/t)b² for any t > 0,
//   gap' ≤ (1 + 2t)·gap + (1 + 2/t)·e²   if t ≥ (dim + 8)u.
// So limits are multiplied by 1 + 2t, and `doubt` = (1 + 2/t)·e² is added. This also covers the roundings of terms and
// limits. Differences so small that their squares underflow are far below the doubt.
//
// If the nearest slot is nearer than the doubt, or little farther, floats cannot tell which slot it is. The search then
// returns false, and the caller repeats it in float64.
#pragma once

#include <array>
#include <cstddef>

#include "silverbirch/index/search.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

// A row is a cache line, as in float64, so a block has sixteen slots and a node sixteen children.
inline constexpr std::size_t kFilterLanes = 16;
constexpr std::size_t filter_block_floats(std::size_t dim) { return (dim + 1) * kFilterLanes; }     // means, terms
constexpr std::size_t filter_node_floats(std::size_t dim) { return (2 * dim + 1) * kFilterLanes; }  // as in search.hpp

// The mean of an empty lane lies at kFilterFarAway: its gaps are infinite, above every limit. All other distances are
// at most kLargestFilterLimit, even Ward's distance of two clusters that both have the least term.
inline constexpr float kFilterFarAway = 1e30f, kLargestFilterLimit = 1e37f;
inline constexpr double kLeastWardTerm = 1e-30, kLargestFilterVariance = 1e36;

struct FilterTree {
  std::size_t level_count = 0;
  const float* blocks = nullptr;
  std::array<const float*, PackedTree::kMostLevels> nodes = {};
  double limit_unit = 1.0;  // a distance times this is a limit of the filter
  float doubt = 0.0f;
};

struct FilteredSearch {
  // `nearest` is a known candidate or none; it becomes the nearest other slot, see IndexSearch::NearestToSlot. Returns
  // false if floats cannot tell; then `nearest` is merely the best slot found so far.
  using NearestToSlot = bool (*)(const PackedTree& tree, const FilterTree& filter, Slot slot, NearestSlot& nearest);
  std::array<std::array<NearestToSlot, IndexSearch::kUnrolled + 1>, 3> nearest_to_slot;  // by Nearness
};

SILVERBIRCH_KERNEL_TABLE(FilteredSearch, filtered_search)

}  // namespace silverbirch

// The inner loops of the CF-tree: find the nearest entry of a node, and merge a feature into an entry.
//
// A node stores its entries twice. The *records* are the tree itself: mean, weight and sse in doubles, entry after
// entry. The *routing copy* holds the means relative to an origin amid the data, rounded and laid out for the vector
// unit. It is only a filter: it finds the nearest entry and all candidates that rounding could have mistaken for it. If
// there is more than one candidate, the records decide. So the tree is the same to the bit as if every distance had
// been computed in doubles, and the search needs less memory traffic and uses more lanes.
//
// Up to kFewDimensions, means are stored dimension by dimension, and lanes are entries. Beyond, they are stored entry
// by entry, and lanes are dimensions. From kRoundedDimensions on they are 16-bit integers (wide_routing.hpp), unless
// these are too coarse for the data; otherwise they are floats. The means are followed by rows of one value per entry:
// the weights and whatever else a distance needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "silverbirch/features/absorption.hpp"
#include "silverbirch/features/cf_distance.hpp"
#include "silverbirch/features/feature_block.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

inline constexpr std::size_t kRouteLanes = 16;
// The slots of nodes that are searched for several rows at once, in few and in many dimensions; and the most rows.
inline constexpr std::size_t kGroupedSlots = 64, kWideGroupedSlots = 32, kMostGrouped = 16;
inline constexpr std::size_t kFewDimensions = 16;  // up to here, loops are unrolled for each number of dimensions

// The bounds of the filter hold within these limits. A tree that has seen anything beyond them does without the filter.
inline constexpr float kLargestRoutedSquare = 1e30f;  // squared distance to the origin
inline constexpr double kLargestRoutedVariance = 1e30;
inline constexpr double kSmallestRoutedWeight = 1e-10, kLargestRoutedWeight = 1e15;

// A *route* is a formula of the filter. There is one for each distance, and one more for Ward with a query of weight
// one, which needs no division.
inline constexpr std::size_t kWardRowRoute = kCfDistanceNames.size(), kRouteCount = kWardRowRoute + 1;
constexpr std::size_t route_of(CfDistance distance) { return static_cast<std::size_t>(distance); }

// Only plain numbers, because files compiled per instruction set must not share functions with other files.
struct NodeShape {
  std::size_t dim, slots;      // slots: a multiple of kRouteLanes
  bool ward;                   // the first row holds n/(n+1), else sse/n; the second holds n
  std::uint64_t weight_bits;   // a mask: the bits of a weight that the descent uses
  std::size_t record_doubles;  // from one record to the next: mean, weight, sse, padding
  std::size_t entry_floats;    // per mean; many dimensions are padded with zeros
  std::size_t mean_floats;     // all means; the rows follow
  std::size_t routing_floats;  // means and rows
  float steps;                 // integers per unit of length; 0 if the means are floats
  int number_bits;             // a mask as wide as the largest slot number
  float relative_doubt;        // the relative part of doubtful_limit
};

// The rounded weight that the descent uses. An inner entry is renewed whenever it changes, see cf_tree.cpp.
SILVERBIRCH_INLINE double routing_weight(double weight, std::uint64_t weight_bits) {
  return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, weight) & weight_bits);
}

// A feature that descends, as the filter needs it.
struct RouteQuery {
  float* position;     // relative to the origin, padded with zeros to entry_floats
  float squared_norm;  // of the position
  float weight, variance;
  float error;                 // integers: an upper bound of how far rounding moved the position
  std::uint32_t rounded_norm;  // integers: the squared norm of the rounded position, in squared steps
};

// From here on, 16-bit integers are faster than floats.
inline constexpr std::size_t kRoundedDimensions = 96;
// The coordinates of a mean fall into four lanes: of every eight coordinates, the first two, the next two, and so on.
// This is the largest norm, in steps, that the coordinates of one lane may have. Up to kMostRoutedDimensions, the sum
// of a lane with all rounding then fits 32 bits, and so does a quarter of any squared distance.
inline constexpr float kMostSteps = 32000.0f;
// How many steps the reach of the data has. Data that spreads evenly over the four lanes would fit twice kMostSteps.
inline constexpr double kUsualSteps = 1.75 * kMostSteps;
inline constexpr std::size_t kMostRoutedDimensions = std::size_t{1} << 20;

// An upper bound of the computed root of a value whose exact root is at most `root`: the few float operations round
// too.
SILVERBIRCH_INLINE float limit_of_root(float root) { return (1.0f + 0x1p-18f) * root + 1e-14f; }

// The slot of the least value, and the largest value that could still belong to the nearest entry.
struct Candidates {
  std::size_t slot;
  float limit;
  bool sure;  // no other value is within the limit
};

// Searches a node for the entry that is nearest to a row of weight one by Ward's distance.
struct RowSearch {
  const RouteQuery* query;
  const float* routing;
  std::uint32_t count;  // entries of the node
  std::uint32_t slot;   // the result
  bool sure;            // all other entries are farther
};

struct TreeKernels {
  // Finds the nearest entry; one function for each route. If not sure, writes a value for each entry: entries whose
  // value is within the limit are candidates. `values` has room for one float per slot.
  using NearestEntry = Candidates (*)(const float* routing, const NodeShape& shape, std::size_t count,
                                      const RouteQuery& query, float* values);
  std::array<NearestEntry, kRouteCount> nearest_entry;
  // Does the same as kWardRowRoute for several rows, each in its own node of kGroupedSlots or kWideGroupedSlots. Null
  // where this does not pay. May leave rows unsure without need.
  void (*nearest_of_rows)(RowSearch* searches, std::size_t count, const NodeShape& shape);
  // Converts a row to doubles.
  void (*widen)(const float* row, std::size_t dim, double* wide);
  // Writes each mean relative to the origin, and its squared norm.
  void (*positions)(const double* const* means, std::size_t count, const double* origin, const NodeShape& shape,
                    RouteQuery* queries);
  // Computed in doubles, summed up in the same order on all instruction sets.
  double (*squared_distance)(CfDistance distance, const Feature& a, const Feature& b, std::size_t dim);
  // The same from one feature to several.
  void (*squared_distances)(CfDistance distance, const Feature& from, const Feature* to, std::size_t count,
                            std::size_t dim, double* squared);
  // The squared size, by the criterion, of the two features merged.
  double (*squared_size)(Absorption criterion, const Feature& a, const Feature& b, std::size_t dim);
  // sum += mean - base.
  void (*add_difference)(double* sum, const double* mean, const double* base, std::size_t dim);
  // Renews the routing copy of one record.
  void (*copy_for_routing)(float* routing, const NodeShape& shape, std::size_t slot, const double* record,
                           const double* origin);
  // Copies the routing copy of one entry to another slot, in the same node or another.
  void (*move_routing)(float* to, std::size_t to_slot, const float* from, std::size_t from_slot,
                       const NodeShape& shape);
  // Writes the merged feature of one or more records.
  void (*merge_all)(double* sum, const double* records, std::size_t count, const NodeShape& shape);
  // If the merged size is within the threshold by the criterion, merges a feature into a record, renews its routing
  // copy and returns true.
  bool (*absorb_within)(Absorption criterion, double squared_threshold, double* record, float* routing,
                        const NodeShape& shape, std::size_t slot, const Feature& other, const double* origin);
};

// by_dimension[0] is for all numbers of dimensions beyond kFewDimensions.
struct TreeKernelSet {
  std::array<TreeKernels, kFewDimensions + 1> by_dimension;
  TreeKernels rounded;  // many dimensions, means rounded to integers
};

SILVERBIRCH_INLINE void write_rows(float* routing, const NodeShape& shape, std::size_t slot, double weight,
                                   double sse) {
  const double n = routing_weight(weight, shape.weight_bits);
  float* rows = routing + shape.mean_floats;
  rows[slot] = static_cast<float>(shape.ward ? n / (n + 1.0) : sse / n);
  rows[shape.slots + slot] = static_cast<float>(n);
}

// Renews the routing copy of one entry. D: the number of dimensions, or 0 beyond kFewDimensions.
template <std::size_t D>
SILVERBIRCH_INLINE void write_routing(float* routing, const NodeShape& shape, std::size_t slot, const double* record,
                                      const double* origin) {
  const std::size_t dim = D > 0 ? D : shape.dim;
  if constexpr (D > 0) {
    for (std::size_t k = 0; k < D; ++k) routing[k * shape.slots + slot] = static_cast<float>(record[k] - origin[k]);
  } else {
    float* mean = routing + slot * shape.entry_floats;
    for (std::size_t k = 0; k < dim; ++k) mean[k] = static_cast<float>(record[k] - origin[k]);
  }
  write_rows(routing, shape, slot, record[dim], record[dim + 1]);
}

SILVERBIRCH_KERNEL_TABLE(TreeKernelSet, tree_kernel_set)

SILVERBIRCH_INLINE const TreeKernels& tree_kernels(std::size_t dim) {
  return tree_kernel_set().by_dimension[dim <= kFewDimensions ? dim : 0];
}
SILVERBIRCH_INLINE const TreeKernels& rounded_tree_kernels() { return tree_kernel_set().rounded; }

}  // namespace silverbirch

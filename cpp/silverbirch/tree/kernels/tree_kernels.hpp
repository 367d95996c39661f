// The inner loops of the CF-tree: which entry of a node is the nearest, and adding a feature to an entry.
//
// A node keeps its entries twice. The *records* are what the tree is about: weight, mean and sse in doubles, one entry
// after the other. The *routing* part is a rounded copy of the means, relative to an origin amid the data, laid out
// for the vector unit. It is only a filter: it finds the nearest entry together with all that rounding could have
// mistaken for it, and where there is more than one, the records decide. So the tree is the same, to the bit, as if
// every distance had been computed in doubles; with more lanes and less memory traffic.
//
// Means of up to kFewDimensions are stored dimension by dimension, lanes being entries; longer ones entry by entry,
// lanes being dimensions. From kRoundedDimensions on they are integers of 16 bits (wide_routing.hpp), where these are
// not too coarse for the data, else floats. Then follow rows of one value an entry, for what else a distance needs.
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
// Of the nodes that rows are searched for in together: of few dimensions, of many. And how many rows at most.
inline constexpr std::size_t kGroupedSlots = 64, kWideGroupedSlots = 32, kMostGrouped = 16;
inline constexpr std::size_t kFewDimensions = 16;  // loops are unrolled for each number of them

// The filter's bounds hold within these; a tree that has seen anything beyond does without the filter.
inline constexpr float kLargestRoutedSquare = 1e30f;  // squared distance to the origin
inline constexpr double kLargestRoutedVariance = 1e30;
inline constexpr double kSmallestRoutedWeight = 1e-10, kLargestRoutedWeight = 1e15;

// What the filter computes: one route for each distance, and after them a second for Ward, because a query of weight
// one needs no division.
inline constexpr std::size_t kWardRowRoute = kCfDistanceNames.size(), kRouteCount = kWardRowRoute + 1;
constexpr std::size_t route_of(CfDistance distance) { return static_cast<std::size_t>(distance); }

// Plain numbers, because the files compiled per instruction set must not share functions with the others.
struct NodeShape {
  std::size_t dim, slots;      // slots: a multiple of kRouteLanes
  bool ward;                   // the first row holds n/(n+1), else sse/n; the second holds n
  std::uint64_t weight_bits;   // of a weight's bits, those that the way down sees
  std::size_t record_doubles;  // from one record to the next: mean, weight, sse and what aligns them
  std::size_t entry_floats;    // the room of a mean; many dimensions are padded with zeros
  std::size_t mean_floats;     // of all means; the rows follow
  std::size_t routing_floats;  // of all of it
  float steps;                 // of rounded integers, how many make a unit of length; 0: the means are floats
  int number_bits;             // a mask as wide as the largest slot
  float relative_doubt;        // how much larger, relatively, a value may be whose order is not sure
};

// A weight as the way down sees it. Inner entries are renewed each time that this changes, see cf_tree.cpp.
SILVERBIRCH_INLINE double seen_weight(double weight, std::uint64_t weight_bits) {
  return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, weight) & weight_bits);
}

// A feature on its way down.
struct RouteQuery {
  float* position;     // relative to the origin, padded with zeros to entry_floats
  float squared_norm;  // of the position
  float weight, variance;
  float error;                 // rounded to integers: how far that has moved the position at most
  std::uint32_t rounded_norm;  // and its squared norm in steps
};

// From so many dimensions on, integers of 16 bits are faster than floats.
inline constexpr std::size_t kRoundedDimensions = 96;
// The coordinates of a mean fall into four lanes, of every eight the first two, the next two ... Nothing that is
// rounded to integers is farther from the origin, in steps, by the coordinates of one lane. Up to that many dimensions,
// with all that rounding adds, the sum of a lane then fits 32 bits, and so does a quarter of any squared distance.
inline constexpr float kMostSteps = 32000.0f;
// How many steps lead from the origin as far as most of the data: twice as many if it were the same in all lanes.
inline constexpr double kUsualSteps = 1.75 * kMostSteps;
inline constexpr std::size_t kMostRoutedDimensions = std::size_t{1} << 20;

// How large the root of a value of rounded means may be that is not above this one: the few operations on floats round,
// too.
SILVERBIRCH_INLINE float limit_of_root(float root) { return (1.0f + 0x1p-18f) * root + 1e-14f; }

// The least value, and how large another one may be to be in doubt about.
struct Candidates {
  std::size_t slot;
  float limit;
  bool sure;  // no other value is within the limit
};

// The search of one row, of weight one, for the entry that is nearest by Ward's distance.
struct RowSearch {
  const RouteQuery* query;
  const float* routing;
  std::uint32_t count;  // of entries
  std::uint32_t slot;   // found
  float limit;          // what has a larger value is surely farther
  bool sure;            // that all others are
};

// Whether an entry that has changed since the search is surely farther than the one that was found, which has not. Of
// few dimensions: in many the exact distance takes about as long.
SILVERBIRCH_INLINE bool surely_farther(const RowSearch& search, std::uint32_t slot, std::size_t dim) {
  if (!search.sure || dim > kFewDimensions) return false;
  const float* value = search.routing + slot;
  float gap = 0.0f;
  for (std::size_t k = 0; k < dim; ++k, value += kGroupedSlots)
    gap += (search.query->position[k] - *value) * (search.query->position[k] - *value);
  return gap * *value > search.limit;
}

struct TreeKernels {
  // If not sure, writes a value for each entry; those within the limit are candidates. `values` has room for as many
  // floats as slots. One function for each route.
  using NearestEntry = Candidates (*)(const float* routing, const NodeShape& shape, std::size_t count,
                                      const RouteQuery& query, float* values);
  std::array<NearestEntry, kRouteCount> nearest_entry;
  // The same as kWardRowRoute for some rows at once, each in a node of kGroupedSlots or kWideGroupedSlots with so
  // many entries at most; null where it does not pay. May leave a row unsure for no reason.
  void (*nearest_of_rows)(RowSearch* searches, std::size_t count, std::size_t most_entries, const NodeShape& shape);
  // A row in doubles.
  void (*widen)(const float* row, std::size_t dim, double* wide);
  // Writes where each mean is, seen from the origin, and the squared norm of that.
  void (*positions)(const double* const* means, std::size_t count, const double* origin, const NodeShape& shape,
                    RouteQuery* queries);
  // In doubles, summed up in the same order on all instruction sets.
  double (*squared_distance)(CfDistance distance, const Feature& a, const Feature& b, std::size_t dim);
  // The same of one to several others, which takes less time than one after the other.
  void (*squared_distances)(CfDistance distance, const Feature& from, const Feature* to, std::size_t count,
                            std::size_t dim, double* squared);
  // How large a leaf is by the criterion once the two are merged, squared.
  double (*squared_size)(Absorption criterion, const Feature& a, const Feature& b, std::size_t dim);
  // Adds how far a mean is from another.
  void (*add_difference)(double* sum, const double* mean, const double* base, std::size_t dim);
  // Renews the routing copy of one record.
  void (*copy_for_routing)(float* routing, const NodeShape& shape, std::size_t slot, const double* record,
                           const double* origin);
  // Copies the routing copy of one entry to another slot, of the same or another node.
  void (*move_routing)(float* to, std::size_t to_slot, const float* from, std::size_t from_slot,
                       const NodeShape& shape);
  // Writes the merged feature of some records, one at least.
  void (*merge_all)(double* sum, const double* records, std::size_t count, const NodeShape& shape);
  // Merges a feature into a record, and renews the routing copy, if the size by the criterion is then within the
  // threshold; else false.
  bool (*absorb_within)(Absorption criterion, double squared_threshold, double* record, float* routing,
                        const NodeShape& shape, std::size_t slot, const Feature& other, const double* origin);
};

// For each number of dimensions up to kFewDimensions, and first the one for all others.
struct TreeKernelSet {
  std::array<TreeKernels, kFewDimensions + 1> by_dimension;
  TreeKernels rounded;  // many dimensions, means rounded to integers
};

SILVERBIRCH_INLINE void write_rows(float* routing, const NodeShape& shape, std::size_t slot, double weight,
                                   double sse) {
  const double n = seen_weight(weight, shape.weight_bits);
  float* rows = routing + shape.mean_floats;
  rows[slot] = static_cast<float>(shape.ward ? n / (n + 1.0) : sse / n);
  rows[shape.slots + slot] = static_cast<float>(n);
}

// Renews the routing copy of one entry. D: the number of dimensions, or 0 if there are many.
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

// Finds the exactly nearest slot of a packed kd-tree: the data structure, and the table of searches.
//
// The slots are in kd-order, eight to a block and one or four blocks to a leaf. Eight leaves share a node, eight nodes
// share the next one. There are no pointers: the children of node i are 8i … 8i+7 of the level below. A node holds the
// bounding boxes of its children dimension by dimension, so that one vector pass bounds all eight. Boxes and points are
// evaluated by the same operations in the same order. So rounding never lifts the bound of a box above the distance of
// a point in it, and pruning never loses the answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "silverbirch/base/switches.hpp"
#include "silverbirch/features/cf_distance.hpp"
#include "silverbirch/features/feature_block.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = static_cast<Slot>(-1);

// The distances that a search minimises. Each cluster has a mean and a term. A distance is a function of the squared
// gap of the means and the terms t_a and t_b [table 2 of the paper]:
//   centroid       gap
//   average (D2)   gap + (t_a + t_b); the term is the variance
//   ward (D4)      gap / (t_a + t_b); the term is 1/weight
enum class Nearness { centroid, average, ward };

// Larger than every distance between slots; every empty lane is farther still. feature_block.hpp limits coordinates and
// weights accordingly.
inline constexpr double kBeyondAll = 1e240;

// How many slots a leaf has. For a single query, scanning eight slots takes less time than deciding whether to, so
// larger leaves save decisions. For eight queries together, one decision serves all eight.
inline constexpr std::size_t kClusterLeaf = 4 * kLanes, kLabelLeaf = kLanes;
constexpr std::size_t leaves_for(std::size_t slots, std::size_t leaf_slots) {
  return (slots + leaf_slots - 1) / leaf_slots;
}

constexpr std::size_t index_block_doubles(std::size_t dim) { return (dim + 1) * kLanes; }     // means, terms
constexpr std::size_t index_node_doubles(std::size_t dim) { return (2 * dim + 1) * kLanes; }  // lower, upper, terms

struct PackedTree {
  static constexpr std::size_t kMostLevels = 11;  // slots have 32-bit numbers, fewer than 8^12

  std::size_t dim = 0;
  std::size_t slot_count = 0;
  std::size_t level_count = 0;                        // levels of nodes above the leaves
  const double* blocks = nullptr;                     // an empty lane: mean at kFarAway, term 0
  std::array<const double*, kMostLevels> nodes = {};  // nodes[0]: those whose children are leaves
  const std::uint32_t* names = nullptr;               // names of the slots; ties are broken by them
};

// The component of each slot in a forest. A child of a node has a component too, if all slots below it share one.
struct Components {
  static constexpr std::uint32_t kMixed = static_cast<std::uint32_t>(-1);
  const std::uint32_t* of_slot = nullptr;
  std::array<const std::uint32_t*, PackedTree::kMostLevels> of_child = {};
};

struct NearestSlot {
  Slot slot = kNoSlot;
  double distance = kBeyondAll;
};

// The order of equally distant pairs. Any fixed order would be correct. In a shuffled order many pairs are the first
// choice of both their slots, so grids and equidistant rows merge in few rounds.
SILVERBIRCH_INLINE std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) {
  std::uint64_t x = a < b ? (std::uint64_t{a} << 32 | b) : (std::uint64_t{b} << 32 | a);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;  // the finalizer of splitmix64 [Steele, Lea & Flood 2014]
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// For a linkage of which the index has only a lower bound: how to compute the distance itself.
struct Verification {
  // The distance of two slots; any number above `limit` if the distance is above it.
  double (*distance)(const void* clusters, Slot a, Slot b, double limit);
  const void* clusters;
  const std::uint8_t* exact;  // between two slots marked here, the bound is the distance
  double margin;              // how far rounding may have moved means, from each other or from their true places
};

struct IndexSearch {
  static constexpr std::size_t kUnrolled = 8;  // dimensions with loops of fixed length; entry 0 is for all others

  // The nearest other slot, by distance, then by pair_key. `known` is a candidate whose distance is known already, or
  // none. Adds the number of scanned leaves to `visits`.
  using NearestToSlot = NearestSlot (*)(const PackedTree& tree, Slot slot, NearestSlot known, std::size_t& visits);
  std::array<std::array<NearestToSlot, kUnrolled + 1>, 3> nearest_to_slot;

  // The same, where the nearness is only a lower bound of the distance.
  using NearestVerified = NearestSlot (*)(const PackedTree& tree, Slot slot, NearestSlot known,
                                          const Verification& verification, std::size_t& visits);
  std::array<std::array<NearestVerified, kUnrolled + 1>, 2> nearest_verified;  // centroid, average

  // The nearest slot of another component, by Euclidean distance, then by pair_key; kNoSlot if none is within `within`.
  using NearestInOther = NearestSlot (*)(const PackedTree& tree, const Components& components, Slot slot,
                                         double within);
  std::array<NearestInOther, kUnrolled + 1> nearest_in_other;

  // The nearest slots of eight points, by Euclidean distance, then by name. Fastest if the points are near each other
  // and near the slot `likely` (kNoSlot if unknown). points: dim rows of eight coordinates, then the least of each row,
  // then the greatest of each row. Returns the number of scanned leaves.
  using NearestToPoints = std::size_t (*)(const PackedTree& tree, const double* points, Slot likely, Slot* nearest);
  std::array<NearestToPoints, kUnrolled + 1> nearest_to_points;

  static std::size_t unrolled(std::size_t dim) {
    return dim <= kUnrolled && on(Mechanism::unrolled_dimensions) ? dim : 0;
  }
};

SILVERBIRCH_KERNEL_TABLE(IndexSearch, index_search)

}  // namespace silverbirch

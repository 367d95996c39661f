// The exactly nearest slot of a packed kd-tree: what is searched, and the searches, chosen for the machine's vector
// unit.
//
// The slots are in kd-order, eight to a block and a few blocks to a leaf; eight leaves share a node, eight nodes the
// next, with no pointers: the children of node i are 8i … 8i+7 of the level below. A node holds the bounding boxes of
// its children, again dimension by dimension, so that one vector pass bounds all eight. Boxes and points are evaluated
// in the same order of operations, so rounding keeps a box's bound below the distances of its points and pruning never
// loses the answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "silverbirch/features/cf_distance.hpp"
#include "silverbirch/features/feature_block.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = static_cast<Slot>(-1);

// The distances a search minimises. Each cluster has a mean and a term besides, and they are functions of the squared
// gap of the means and the sum of the terms [table 2 of the paper]: centroid: gap; average (D2): gap + (t_a + t_b), a
// term is a variance; ward (D4): gap / (t_a + t_b), a term is 1/weight.
enum class Nearness { centroid, average, ward };

// No distance reaches this, and every empty lane lies farther: see feature_block.hpp for the limits of coordinates and
// weights.
inline constexpr double kBeyondAll = 1e240;

// How many slots a leaf has. Where one cluster asks, scanning eight slots takes less time than deciding to, and larger
// leaves save decisions; where eight points ask together, a decision serves all eight.
inline constexpr std::size_t kClusterLeaf = 4 * kLanes, kLabelLeaf = kLanes;
constexpr std::size_t leaves_for(std::size_t slots, std::size_t leaf_slots) {
  return (slots + leaf_slots - 1) / leaf_slots;
}

constexpr std::size_t index_block_doubles(std::size_t dim) { return (dim + 1) * kLanes; }     // means, terms
constexpr std::size_t index_node_doubles(std::size_t dim) { return (2 * dim + 1) * kLanes; }  // lower, upper, terms

struct PackedTree {
  static constexpr std::size_t kMostLevels = 11;  // 8^12 slots are more than there are numbers for

  std::size_t dim = 0;
  std::size_t slot_count = 0;
  std::size_t level_count = 0;                        // levels of nodes above the leaves
  const double* blocks = nullptr;                     // an empty lane: mean at kFarAway, term 0
  std::array<const double*, kMostLevels> nodes = {};  // nodes[0]: those whose children are leaves
  const std::uint32_t* names = nullptr;               // of the slots; what equals are told apart by
};

// Which component of a forest each slot belongs to, and each child of a node if all below it belong to the same.
struct Components {
  static constexpr std::uint32_t kMixed = static_cast<std::uint32_t>(-1);
  const std::uint32_t* of_slot = nullptr;
  std::array<const std::uint32_t*, PackedTree::kMostLevels> of_child = {};
};

struct NearestSlot {
  Slot slot = kNoSlot;
  double distance = kBeyondAll;
};

// The order of equally distant pairs: any order of the pairs would do, but a shuffled one has many pairs that are the
// first of both their halves, and so grids and equidistant rows merge in few rounds.
SILVERBIRCH_INLINE std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) {
  std::uint64_t x = a < b ? (std::uint64_t{a} << 32 | b) : (std::uint64_t{b} << 32 | a);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;  // the finalizer of splitmix64 [Steele, Lea & Flood 2014]
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// A linkage the index only has a lower bound of: what the distance really is has to be asked.
struct Verification {
  // The distance of two slots, or any number above `limit` if it is above.
  double (*distance)(const void* clusters, Slot a, Slot b, double limit);
  const void* clusters;
  const std::uint8_t* exact;  // slots between which the bound is the distance
  double margin;              // how far from each other, or from the true place, rounding may have put means
};

struct IndexSearch {
  static constexpr std::size_t kUnrolled = 8;  // dimensions with loops of fixed length; 0 stands for all others

  // The nearest other slot of one, by distance, then pair_key; `known` is a slot whose distance is known already. Adds
  // the leaves looked at to `visits`.
  using NearestToSlot = NearestSlot (*)(const PackedTree& tree, Slot slot, NearestSlot known, std::size_t& visits);
  std::array<std::array<NearestToSlot, kUnrolled + 1>, 3> nearest_to_slot;

  // The same, where the nearness is a lower bound of what is to be minimised.
  using NearestVerified = NearestSlot (*)(const PackedTree& tree, Slot slot, NearestSlot known,
                                          const Verification& verification, std::size_t& visits);
  std::array<std::array<NearestVerified, kUnrolled + 1>, 2> nearest_verified;  // centroid, average

  // The nearest slot of another component, in Euclidean distance, then by pair_key; kNoSlot if none is as near as
  // `within`.
  using NearestInOther = NearestSlot (*)(const PackedTree& tree, const Components& components, Slot slot,
                                         double within);
  std::array<NearestInOther, kUnrolled + 1> nearest_in_other;

  // The nearest slots of eight points, in Euclidean distance, then by name. They are found fastest where the points are
  // near each other, and near the slot `likely`, if there is one. points: dim rows of eight, then the least of each row
  // and the greatest of each row. Returns how many leaves were looked at.
  using NearestToPoints = std::size_t (*)(const PackedTree& tree, const double* points, Slot likely, Slot* nearest);
  std::array<NearestToPoints, kUnrolled + 1> nearest_to_points;

  static std::size_t unrolled(std::size_t dim) { return dim <= kUnrolled ? dim : 0; }
};

SILVERBIRCH_KERNEL_TABLE(IndexSearch, index_search)

}  // namespace silverbirch

// The exactly nearest slot of a packed kd-tree: what is searched, and the searches, chosen for the machine's vector
// unit.
//
// The slots are in kd-order, eight to a block; eight blocks share a node, eight nodes the next, with no pointers: the
// children of node i are 8i … 8i+7 of the level below. A node holds the bounding boxes of its children, again dimension
// by dimension, so that one vector pass bounds all eight. Boxes and points are evaluated in the same order of
// operations, so rounding keeps a box's bound below the distances of its points and pruning never loses the answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../cf_distance.hpp"
#include "../feature_block.hpp"

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

constexpr std::size_t index_block_doubles(std::size_t dim) { return (dim + 1) * kLanes; }     // means, terms
constexpr std::size_t index_node_doubles(std::size_t dim) { return (2 * dim + 1) * kLanes; }  // lower, upper, terms

struct PackedTree {
  static constexpr std::size_t kMostLevels = 11;  // 8^12 slots are more than there are numbers for

  std::size_t dim = 0;
  std::size_t level_count = 0;                        // levels of nodes above the blocks
  const double* blocks = nullptr;                     // an empty lane: mean at kFarAway, term 0
  std::array<const double*, kMostLevels> nodes = {};  // nodes[0]: those whose children are blocks
  const std::uint32_t* names = nullptr;               // of the slots; what equals are told apart by
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
  // the blocks looked at to `visits`.
  using NearestToSlot = NearestSlot (*)(const PackedTree& tree, Slot slot, NearestSlot known, std::size_t& visits);
  std::array<std::array<NearestToSlot, kUnrolled + 1>, 3> nearest_to_slot;

  // The same, where the nearness is a lower bound of what is to be minimised.
  using NearestVerified = NearestSlot (*)(const PackedTree& tree, Slot slot, NearestSlot known,
                                          const Verification& verification, std::size_t& visits);
  std::array<std::array<NearestVerified, kUnrolled + 1>, 2> nearest_verified;  // centroid, average

  // The nearest slot of a point, by Euclidean distance, then name.
  using NearestToPoint = NearestSlot (*)(const PackedTree& tree, const double* point);
  std::array<NearestToPoint, kUnrolled + 1> nearest_to_point;

  static std::size_t unrolled(std::size_t dim) { return dim <= kUnrolled ? dim : 0; }
};

}  // namespace silverbirch

// The nearest of many points by a walk from neighbour to neighbour, in float32: the loops, chosen for the machine's
// vector unit. What is walked on is told in nearest_walk.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "search.hpp"

namespace silverbirch {

inline constexpr std::size_t kWalkLanes = 16;
// Lists of more dimensions would have to be too long: within twice a distance are 2^dim times as many points.
inline constexpr std::size_t kMostWalkDimensions = 6;

// Of the norms of what walks and what is walked on: twice as far is still far from what overflows.
inline constexpr float kLargestWalkedSquare = 1e30F;

// Coordinates are floats, relative to an origin amid the points. A block is so many points, dimension by dimension; its
// empty lanes lie far away.
struct WalkTables {
  std::size_t list_blocks = 0, cell_count = 0;
  const float* cells = nullptr;      // a block each
  const Slot* cell_begin = nullptr;  // the points of a cell are slots one after the other
  const float* boxes = nullptr;      // of as many cells side by side: the lower ends, then the upper ones
  const float* lists = nullptr;      // of each slot: the blocks of its nearest others, nearest first
  const Slot* list_slots = nullptr;  // who they are
  // Of each slot, list_blocks + 1: the squared distance of all in a block, in the later ones and on no list is at least
  // that; last for those on no list alone.
  const float* reach = nullptr;
  float relative_doubt = 0.0F;
};

// How much larger than a computed squared distance a true one may be, if the query's position has that squared norm:
// the bound of tree_routes.hpp.
SILVERBIRCH_INLINE float walk_limit(float squared, float relative_doubt, float squared_norm) {
  return squared + relative_doubt * squared + (0x1p-29F * squared_norm + 1e-30F);
}

// A row on its way, relative to the origin, and the cell it begins in.
struct alignas(32) WalkRow {
  float position[kMostWalkDimensions];
  float squared_norm;
  std::uint32_t cell;
};

// One function for each number of dimensions; none for zero.
struct Walk {
  // The slots nearest to some rows, kNoSlot where floats cannot tell.
  using NearestToRows = void (*)(const WalkTables& tables, const WalkRow* rows, std::size_t row_count, Slot* nearest);
  std::array<NearestToRows, kMostWalkDimensions + 1> nearest_to_rows;

  // The cells whose boxes are within a squared distance of a box: its lower ends, then the upper ones. Returns how
  // many.
  using CellsWithin = std::size_t (*)(const WalkTables& tables, const float* box, float limit, std::uint32_t* found);
  std::array<CellsWithin, kMostWalkDimensions + 1> cells_within;

  // The points of some cells within a squared distance of a position, and these. Returns how many.
  using PointsWithin = std::size_t (*)(const WalkTables& tables, const float* position, const std::uint32_t* cells,
                                       std::size_t cell_count, float limit, Slot* found, float* squared);
  std::array<PointsWithin, kMostWalkDimensions + 1> points_within;
};

}  // namespace silverbirch

// The nearest of many points for rows in the same cell of a kd-tree, in float32: the loops, chosen for the machine's
// vector unit. What they are for is told in nearest_cells.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "silverbirch/index/search.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

// A cell holds at most so many points, and a list is gone through so many at a time.
inline constexpr std::size_t kCellPoints = 16;
// Lists of more dimensions would have to be too long: see CellLists.
inline constexpr std::size_t kMostCellDimensions = 6;

// Of the norms of rows and points: twice as far is still far from what overflows.
inline constexpr float kLargestScannedSquare = 1e30F;

// Coordinates are floats, relative to an origin amid the points. The points of a cell are slots one after the other.
struct CellTables {
  std::size_t cell_count = 0, list_steps = 0;
  const Slot* cell_begin = nullptr;
  const float* blocks = nullptr;     // the points of each cell, dimension by dimension; empty lanes lie far away
  const float* boxes = nullptr;      // of as many cells side by side: the lower ends, then the upper ones
  const float* positions = nullptr;  // of the slots, row-major; after the last one there is one that is far from all
  const float* centres = nullptr;    // of the cells, row-major
  const Slot* lists = nullptr;       // of each cell, list_steps * kCellPoints: who is nearest to its centre, in order
  // Of each cell, list_steps: the distance from the centre of all that come after a step, and of those on no list, is
  // at least that.
  const float* reach = nullptr;
  float relative_doubt = 0.0F;
};

// How much larger than a computed squared distance a true one may be, if the query's position has that squared norm:
// the bound of tree_routes.hpp, which holds for the difference of two, and so has room for the rounding of a root.
SILVERBIRCH_INLINE float absolute_doubt(float squared_norm) { return 0x1p-29F * squared_norm + 1e-30F; }

// One function for each number of dimensions; none for zero.
struct CellScan {
  // The slots nearest to some rows in a cell, kNoSlot where floats or the list cannot tell. positions: row-major; rows:
  // which of them.
  using NearestInCell = void (*)(const CellTables& tables, std::size_t cell, const float* positions,
                                 const std::uint32_t* rows, std::size_t row_count, Slot* nearest);
  std::array<NearestInCell, kMostCellDimensions + 1> nearest_in_cell;

  // The cells whose boxes are within a squared distance of a position. Returns how many.
  using CellsWithin = std::size_t (*)(const CellTables& tables, const float* position, float limit,
                                      std::uint32_t* found);
  std::array<CellsWithin, kMostCellDimensions + 1> cells_within;

  // The points of some cells within a squared distance of a position, and these. Returns how many.
  using PointsWithin = std::size_t (*)(const CellTables& tables, const float* position, const std::uint32_t* cells,
                                       std::size_t cell_count, float limit, Slot* found, float* squared);
  std::array<PointsWithin, kMostCellDimensions + 1> points_within;
};

SILVERBIRCH_KERNEL_TABLE(CellScan, cell_scan)

}  // namespace silverbirch

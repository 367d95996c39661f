// The inner loops of by_cells.hpp, in float32: the nearest of many points for rows in the same cell of a kd-tree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "silverbirch/index/search.hpp"
#include "silverbirch/simd/kernel_table.hpp"

namespace silverbirch {

// A cell holds at most this many points. A step through a list is this many points, too.
inline constexpr std::size_t kCellPoints = 16;
// In more dimensions the lists would have to be too long, see list_steps in cell_lists.cpp.
inline constexpr std::size_t kMostCellDimensions = 6;

// The largest squared norm of rows and points: twice such a distance is still far from overflow.
inline constexpr float kLargestScannedSquare = 1e30F;

// Coordinates are floats, relative to an origin in the middle of the points. The points of a cell are consecutive
// slots.
struct CellTables {
  std::size_t cell_count = 0, list_steps = 0;
  const Slot* cell_begin = nullptr;
  const float* blocks = nullptr;  // the points of each cell, dimension by dimension; empty lanes lie far away
  const float* boxes = nullptr;   // kCellPoints cells side by side: the lower ends of their boxes, then the upper ones
  const float* positions = nullptr;  // of the slots, row-major; one extra position at the end is far from all
  const float* centres = nullptr;    // of the cells, row-major
  const Slot* lists = nullptr;  // list_steps * kCellPoints of each cell: the points nearest to its centre, in order
  // list_steps of each cell: a lower bound of the distance from the centre to all points that come after a step, or are
  // not on the list.
  const float* reach = nullptr;
  float relative_doubt = 0.0F;
};

// How much larger the true squared distance may be than the computed one, if the query's position has that squared
// norm. The bound is that of tree/kernels/routes.hpp: it covers the errors of two distances, so it has room for the
// rounding of a root.
SILVERBIRCH_INLINE float absolute_doubt(float squared_norm) { return 0x1p-29F * squared_norm + 1e-30F; }

// One function for each number of dimensions from one on.
struct CellScan {
  // Writes the slots nearest to rows of a cell, kNoSlot where floats or the list cannot tell. `rows` says which rows of
  // `positions` (row-major) these are.
  using NearestInCell = void (*)(const CellTables& tables, std::size_t cell, const float* positions,
                                 const std::uint32_t* rows, std::size_t row_count, Slot* nearest);
  std::array<NearestInCell, kMostCellDimensions + 1> nearest_in_cell;

  // Lists the cells whose boxes are within a squared distance of a position. Returns how many they are.
  using CellsWithin = std::size_t (*)(const CellTables& tables, const float* position, float limit,
                                      std::uint32_t* found);
  std::array<CellsWithin, kMostCellDimensions + 1> cells_within;

  // Lists the points of the given cells within a squared distance of a position, and their squared distances. Returns
  // how many they are.
  using PointsWithin = std::size_t (*)(const CellTables& tables, const float* position, const std::uint32_t* cells,
                                       std::size_t cell_count, float limit, Slot* found, float* squared);
  std::array<PointsWithin, kMostCellDimensions + 1> points_within;
};

SILVERBIRCH_KERNEL_TABLE(CellScan, cell_scan)

}  // namespace silverbirch

// Compiled once per instruction set, see simd/kernel_table.hpp.
#include "silverbirch/nearest/cell_scan.hpp"

#include "silverbirch/simd/float_vector.hpp"

namespace silverbirch {
namespace {

// This many rows of a cell stay in the nearest cache.
constexpr std::size_t kRowsTogether = 256;

// Rows of a cell, one to a lane. A row leaves when its nearest point is known, and the remaining rows close the gap.
template <std::size_t Dim>
class CellRows {
 public:
  SILVERBIRCH_INLINE CellRows(const CellTables& tables, std::size_t cell)
      : tables_(tables),
        centre_(tables.centres + cell * Dim),
        list_(tables.lists + cell * tables.list_steps * kCellPoints),
        reach_(tables.reach + cell * tables.list_steps) {
    float squared_norm = 0.0F;
    for (std::size_t k = 0; k < Dim; ++k) squared_norm += centre_[k] * centre_[k];
    centre_doubt_ = absolute_doubt(2.0F * squared_norm);
  }

  SILVERBIRCH_INLINE void load(const float* positions, const std::uint32_t* rows, std::size_t count) {
    searching_ = count;
    found_ = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < Dim; ++k) position_[k][i] = positions[rows[i] * Dim + k];
      place_[i] = static_cast<int>(i);
    }
    for (std::size_t i = count; i % kWidth != 0; ++i)
      for (std::size_t k = 0; k < Dim; ++k) position_[k][i] = 0.0F;
    for (std::size_t i = 0; i < count; i += kWidth) {
      Floats squared = {};
      for (std::size_t k = 0; k < Dim; ++k) {
        const Floats difference = silverbirch::load(position_[k] + i) - centre_[k];
        squared = multiply_add(difference, difference, squared);
      }
      store(radius_ + i, root(limit(squared, squared)));
      store(least_ + i, broadcast(kFarther));
      store(second_ + i, broadcast(kFarther));
    }
  }

  SILVERBIRCH_INLINE bool all_left() const { return searching_ == 0; }

  // Compares the rows with list steps begin … end - 1. By the triangle inequality, all later points are at least
  // reach - radius away from a row: `reach` is their least distance from the centre, `radius` that of the row.
  SILVERBIRCH_INLINE void step(std::size_t begin, std::size_t end) {
    const float reach = reach_[end - 1];
    std::size_t still_searching = 0;
    for (std::size_t i = 0; i < searching_; i += kWidth) {
      Floats position[Dim], least = silverbirch::load(least_ + i), second = silverbirch::load(second_ + i);
      Ints nearest = (Ints)silverbirch::load(reinterpret_cast<const float*>(nearest_) + i);
      for (std::size_t k = 0; k < Dim; ++k) position[k] = silverbirch::load(position_[k] + i);
      for (std::size_t j = begin * kCellPoints; j < end * kCellPoints; ++j) {
        const float* point = tables_.positions + list_[j] * Dim;
        Floats gap = {};
        for (std::size_t k = 0; k < Dim; ++k) {
          const Floats difference = position[k] - point[k];
          gap = multiply_add(difference, difference, gap);
        }
        nearest = gap < least ? static_cast<int>(j) - Ints{} : nearest;
        second = smaller(second, larger(least, gap));
        least = smaller(least, gap);
      }
      const Floats radius = silverbirch::load(radius_ + i);
      const Floats place = silverbirch::load(reinterpret_cast<const float*>(place_) + i);
      const Floats within = limit(least, radius * radius), beyond = larger(reach - radius, Floats{});
      const unsigned in_use = searching_ - i < kWidth ? (1U << (searching_ - i)) - 1 : kAllLanes;
      const unsigned searching = in_use & lanes_up_to(beyond * beyond, within);
      const unsigned found = in_use & ~searching & ~lanes_up_to(second, within);
      store_lanes(reinterpret_cast<float*>(found_nearest_) + found_, (Floats)nearest, found);
      store_lanes(reinterpret_cast<float*>(found_place_) + found_, place, found);
      found_ += static_cast<unsigned>(__builtin_popcount(found));
      for (std::size_t k = 0; k < Dim; ++k) store_lanes(position_[k] + still_searching, position[k], searching);
      store_lanes(least_ + still_searching, least, searching);
      store_lanes(second_ + still_searching, second, searching);
      store_lanes(reinterpret_cast<float*>(nearest_) + still_searching, (Floats)nearest, searching);
      store_lanes(radius_ + still_searching, radius, searching);
      store_lanes(reinterpret_cast<float*>(place_) + still_searching, place, searching);
      still_searching += static_cast<unsigned>(__builtin_popcount(searching));
    }
    searching_ = still_searching;
  }

  SILVERBIRCH_INLINE void write(Slot* nearest) const {
    for (std::size_t i = 0; i < found_; ++i) nearest[found_place_[i]] = list_[found_nearest_[i]];
  }

 private:
  static constexpr float kFarther = 3e38F;  // than any point
  static constexpr unsigned kAllLanes = (1U << kWidth) - 1;
  static constexpr std::size_t kRoom = kRowsTogether + kWidth;  // store_lanes writes whole vectors

  // An upper bound of the true squared distance, given the computed one. The norm of a row is at most its distance from
  // the centre plus the norm of the centre, and (a + b)² ≤ 2a² + 2b².
  SILVERBIRCH_INLINE Floats limit(Floats squared, Floats squared_radius) const {
    return squared + tables_.relative_doubt * squared + (0x1p-28F * squared_radius + centre_doubt_);
  }

  const CellTables& tables_;
  const float* centre_;
  const Slot* list_;
  const float* reach_;
  float centre_doubt_;
  std::size_t searching_ = 0, found_ = 0;
  alignas(64) float position_[Dim][kRoom];
  alignas(64) float radius_[kRoom];  // at least the distance from the centre
  alignas(64) float least_[kRoom];   // least squared distance to any point so far
  alignas(64) float second_[kRoom];  // second least squared distance
  alignas(64) int nearest_[kRoom];   // position of the nearest point on the list
  alignas(64) int place_[kRoom];     // position of the row among those that were loaded
  alignas(64) int found_nearest_[kRoom], found_place_[kRoom];
};

template <std::size_t Dim>
void nearest_in_cell(const CellTables& tables, std::size_t cell, const float* positions, const std::uint32_t* rows,
                     std::size_t row_count, Slot* nearest) {
  CellRows<Dim> together(tables, cell);
  for (std::size_t i = 0; i < row_count; ++i) nearest[i] = kNoSlot;
  for (std::size_t first = 0; first < row_count; first += kRowsTogether) {
    together.load(positions, rows + first, row_count - first < kRowsTogether ? row_count - first : kRowsTogether);
    // At first no row is done, later few are left. So the parts of the list between two checks become longer and
    // longer.
    for (std::size_t begin = 0, end; begin < tables.list_steps && !together.all_left(); begin = end) {
      const std::size_t next = begin == 0 ? 3 : begin + 1 + begin / 4;
      end = next < tables.list_steps ? next : tables.list_steps;
      together.step(begin, end);
    }
    together.write(nearest + first);
  }
}

template <std::size_t Dim>
std::size_t cells_within(const CellTables& tables, const float* position, float limit, std::uint32_t* found) {
  std::size_t count = 0;
  for (std::size_t cell = 0; cell < tables.cell_count; cell += kWidth) {
    const float* boxes = tables.boxes + cell / kCellPoints * 2 * Dim * kCellPoints + cell % kCellPoints;
    Floats gap = {};
    for (std::size_t k = 0; k < Dim; ++k) {
      const Floats below = load(boxes + k * kCellPoints) - position[k];
      const Floats above = position[k] - load(boxes + (Dim + k) * kCellPoints);
      const Floats apart = larger(larger(below, above), Floats{});
      gap = multiply_add(apart, apart, gap);
    }
    for (unsigned lanes = lanes_up_to(gap, limit); lanes != 0; lanes &= lanes - 1)
      found[count++] = static_cast<std::uint32_t>(cell) + static_cast<unsigned>(__builtin_ctz(lanes));
  }
  return count;
}

template <std::size_t Dim>
std::size_t points_within(const CellTables& tables, const float* position, const std::uint32_t* cells,
                          std::size_t cell_count, float limit, Slot* found, float* squared) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < cell_count; ++i) {
    const float* block = tables.blocks + cells[i] * Dim * kCellPoints;
    for (std::size_t part = 0; part < kCellPoints; part += kWidth) {
      Floats gap = {};
      for (std::size_t k = 0; k < Dim; ++k) {
        const Floats difference = position[k] - load(block + k * kCellPoints + part);
        gap = multiply_add(difference, difference, gap);
      }
      for (unsigned lanes = lanes_up_to(gap, limit); lanes != 0; lanes &= lanes - 1, ++count) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
        found[count] = tables.cell_begin[cells[i]] + static_cast<Slot>(part) + lane;
        squared[count] = gap[lane];
      }
    }
  }
  return count;
}

}  // namespace

const CellScan SILVERBIRCH_KERNELS(cell_scan) = {
    {nullptr, nearest_in_cell<1>, nearest_in_cell<2>, nearest_in_cell<3>, nearest_in_cell<4>, nearest_in_cell<5>,
     nearest_in_cell<6>},
    {nullptr, cells_within<1>, cells_within<2>, cells_within<3>, cells_within<4>, cells_within<5>, cells_within<6>},
    {nullptr, points_within<1>, points_within<2>, points_within<3>, points_within<4>, points_within<5>,
     points_within<6>},
};

}  // namespace silverbirch

#include "silverbirch/nearest/cell_lists.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/nearest/cell_scan.hpp"

namespace silverbirch {

namespace {

constexpr float kEmptyPosition = 1e18F;  // coordinates of empty lanes: farther from all points than these are apart
constexpr float kAllSquares = 1e33F;     // no squared distance is larger
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// How many groups of kCellPoints a list has. It then holds about the points within twice the size of the cell, which is
// enough for nearly all rows of the cell.
constexpr std::size_t list_steps(std::size_t dim) { return std::size_t{1} << dim; }

}  // namespace

std::size_t CellLists::most_bytes(std::size_t count, std::size_t dim) {
  return 2 * count / kCellPoints * list_steps(dim) * (kCellPoints * sizeof(Slot) + sizeof(float));
}

// All points within some distance of a position, nearest first.
class CellLists::Neighbours {
 public:
  explicit Neighbours(const CellLists& lists)
      : lists_(lists),
        cells_(lists.cell_count()),
        found_(lists.order_.size()),
        found_squared_(found_.size()),
        slots_(found_.size()),
        squared_(found_.size()) {}

  std::size_t size() const { return count_; }
  Slot slot(std::size_t i) const { return slots_[i]; }
  float squared(std::size_t i) const { return squared_[i]; }

  // Returns whether these are all points there are.
  bool find(const float* position, float squared) {
    const std::size_t dim = lists_.dim_;
    const CellScan& scan = cell_scan();
    const std::size_t cells = scan.cells_within[dim](lists_.tables_, position, squared, cells_.data());
    const bool all = cells == lists_.cell_count();
    count_ = scan.points_within[dim](lists_.tables_, position, cells_.data(), cells, all ? kAllSquares : squared,
                                     found_.data(), found_squared_.data());
    sort();
    return all;
  }

 private:
  // Sorts by steps of the distance; within a step any order is good enough.
  void sort() {
    constexpr std::size_t kSteps = 256;
    float most = 0.0F;
    for (std::size_t i = 0; i < count_; ++i) most = std::max(most, found_squared_[i]);
    const double steps = most > 0.0F ? (kSteps - 1) / static_cast<double>(most) : 0.0;
    std::array<std::uint32_t, kSteps + 1> place = {};
    const auto step = [&](std::size_t i) {
      return static_cast<std::size_t>(steps * static_cast<double>(found_squared_[i]));
    };
    for (std::size_t i = 0; i < count_; ++i) ++place[step(i) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint32_t to = place[step(i)]++;
      slots_[to] = found_[i];
      squared_[to] = found_squared_[i];
    }
  }

  const CellLists& lists_;
  std::vector<std::uint32_t> cells_;
  std::size_t count_ = 0;
  std::vector<Slot> found_;
  std::vector<float> found_squared_;
  std::vector<Slot> slots_;
  std::vector<float> squared_;
};

CellLists::CellLists(const std::vector<float>& positions, std::size_t dim, std::size_t threads,
                     const Progress& progress)
    : dim_(dim), positions_(positions), order_(positions.size() / dim) {
  std::iota(order_.begin(), order_.end(), Slot{0});
  divide(threads);
  for (std::size_t slot = 0; slot < order_.size(); ++slot)
    std::copy_n(positions.data() + order_[slot] * dim, dim, positions_.data() + slot * dim);
  positions_.resize(positions_.size() + dim, kEmptyPosition);
  write_cells(threads);
  progress.poll();

  lists_.resize(cell_count() * list_steps(dim) * kCellPoints);
  reach_.resize(cell_count() * list_steps(dim));
  tables_ = {.cell_count = cell_count(),
             .list_steps = list_steps(dim),
             .cell_begin = cell_begin_.data(),
             .blocks = blocks_.data(),
             .boxes = boxes_.data(),
             .positions = positions_.data(),
             .centres = centres_.data(),
             .lists = lists_.data(),
             .reach = reach_.data(),
             .relative_doubt = 0x1p-13F + static_cast<float>(dim + 16) * 0x1p-22F};
  const Progress polls{[&](std::size_t, std::size_t) { progress.poll(); }};
  parallel_for(cell_count(), 64, threads, polls, [&](std::size_t begin, std::size_t end) {
    Neighbours near(*this);
    for (std::size_t cell = begin; cell < end; ++cell) write_list(cell, near);
  });
}

// Halves the points, then the halves, until each part fits into a cell.
void CellLists::divide(std::size_t threads) {
  cell_begin_ = {0, static_cast<Slot>(order_.size())};
  const auto longest = [&] { return cell_begin_.back() - cell_begin_[cell_begin_.size() - 2]; };
  while (longest() > kCellPoints) {  // no part is longer than the last
    const std::size_t parts = cell_begin_.size() - 1, first = splits_.size();
    std::vector<Slot> begins(2 * parts + 1, cell_begin_.back());
    splits_.resize(first + parts);
    parallel_for(parts, 1 + parts / 64, threads, no_progress, [&](std::size_t from, std::size_t to) {
      for (std::size_t part = from; part < to; ++part) {
        const Slot begin = cell_begin_[part], end = cell_begin_[part + 1], middle = begin + (end - begin) / 2;
        splits_[first + part] = halve(begin, middle, end);
        begins[2 * part] = begin;
        begins[2 * part + 1] = middle;
      }
    });
    cell_begin_ = std::move(begins);
  }
}

// Splits a range at its widest dimension.
CellLists::Split CellLists::halve(Slot begin, Slot middle, Slot end) {
  std::size_t widest = 0;
  float greatest_width = -1.0F;
  for (std::size_t k = 0; k < dim_; ++k) {
    float lower = coordinate(order_[begin], k), upper = lower;
    for (Slot i = begin; i < end; ++i) {
      lower = std::min(lower, coordinate(order_[i], k));
      upper = std::max(upper, coordinate(order_[i], k));
    }
    if (upper - lower > greatest_width) {
      widest = k;
      greatest_width = upper - lower;
    }
  }
  const auto less = [&](Slot a, Slot b) { return coordinate(a, widest) < coordinate(b, widest); };
  const auto place = [&](Slot i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(place(begin), place(middle), place(end), less);
  const Slot below = *std::max_element(place(begin), place(middle), less);
  return {0.5F * (coordinate(below, widest) + coordinate(order_[middle], widest)), static_cast<std::uint32_t>(widest)};
}

// Descends with several rows at once, so that the steps of different rows overlap.
void CellLists::find_cells(const float* positions, std::size_t count, std::uint32_t* cells) const {
  constexpr std::size_t kTogether = 16;
  const auto splits = static_cast<std::uint32_t>(splits_.size());
  const int levels = std::bit_width(splits);
  for (std::size_t begin = 0; begin < count; begin += kTogether) {
    const std::size_t together = std::min(kTogether, count - begin);
    std::uint32_t node[kTogether] = {};
    for (int level = 0; level < levels; ++level)
      for (std::size_t i = 0; i < together; ++i) {
        const Split& split = splits_[node[i]];
        node[i] = 2 * node[i] + 1 + (positions[(begin + i) * dim_ + split.dimension] >= split.at);
      }
    for (std::size_t i = 0; i < together; ++i) cells[begin + i] = node[i] - splits;
  }
}

void CellLists::write_cells(std::size_t threads) {
  blocks_.resize(cell_count() * block_floats(), kEmptyPosition);
  boxes_.resize((cell_count() + kCellPoints - 1) / kCellPoints * 2 * block_floats(), kEmptyPosition);
  centres_.resize(cell_count() * dim_);
  parallel_for(cell_count(), 64, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) write_cell(cell);
  });
}

void CellLists::write_cell(std::size_t cell) {
  const Slot begin = cell_begin_[cell], end = cell_begin_[cell + 1];
  float* block = blocks_.data() + cell * block_floats();
  float* box = boxes_.data() + cell / kCellPoints * 2 * block_floats() + cell % kCellPoints;
  for (std::size_t k = 0; k < dim_; ++k) {
    float &lower = box[k * kCellPoints], &upper = box[(dim_ + k) * kCellPoints];
    lower = upper = coordinate(begin, k);
    double sum = 0.0;
    for (Slot slot = begin; slot < end; ++slot) {
      const float x = coordinate(slot, k);
      block[k * kCellPoints + slot - begin] = x;
      lower = std::min(lower, x);
      upper = std::max(upper, x);
      sum += static_cast<double>(x);
    }
    centres_[cell * dim_ + k] = static_cast<float>(sum / (end - begin));
  }
}

void CellLists::write_list(std::size_t cell, Neighbours& near) {
  const Slot begin = cell_begin_[cell], end = cell_begin_[cell + 1];
  const std::size_t steps = tables_.list_steps, length = steps * kCellPoints;
  const float* centre = centres_.data() + cell * dim_;
  float squared = 1e-30F;
  for (Slot slot = begin; slot < end; ++slot)
    for (std::size_t k = 0; k < dim_; ++k)
      squared += 6.0F / static_cast<float>(end - begin) * std::pow(coordinate(slot, k) - centre[k], 2.0F);
  bool all = near.find(centre, squared);
  while (near.size() <= length && !all) {
    squared *= near.size() < length / 4 ? 4.0F : 1.5F;
    all = near.find(centre, squared);
  }

  float squared_norm = 0.0F;
  for (std::size_t k = 0; k < dim_; ++k) squared_norm += centre[k] * centre[k];
  // A lower bound of the true distance: the computed square may be larger than the true one.
  const auto at_least = [&](float computed) {
    const float true_square = (computed - absolute_doubt(squared_norm)) * (1.0F - tables_.relative_doubt);
    return std::sqrt(std::max(true_square, 0.0F));
  };
  float* reach = reach_.data() + cell * steps;
  float nearest = all ? kInfinity : squared;  // least squared distance of the points that are not in `near`
  std::fill_n(reach, steps, at_least(nearest));
  for (std::size_t i = near.size(); i-- > kCellPoints;) {
    nearest = std::min(nearest, near.squared(i));
    if (i % kCellPoints == 0 && i / kCellPoints <= steps) reach[i / kCellPoints - 1] = at_least(nearest);
  }
  Slot* list = lists_.data() + cell * length;
  for (std::size_t i = 0; i < length; ++i) list[i] = i < near.size() ? near.slot(i) : static_cast<Slot>(order_.size());
}

}  // namespace silverbirch

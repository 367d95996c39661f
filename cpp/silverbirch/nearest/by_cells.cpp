#include "silverbirch/nearest/by_cells.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "silverbirch/nearest/cell_scan.hpp"

namespace silverbirch {

namespace {

constexpr std::size_t kFewestPoints = 256, kMostListBytes = 80000000;
// A batch of this many rows stays in the cache from one step to the next. If there are many cells, a batch is larger,
// so that it has about kRowsACell rows for each.
constexpr std::size_t kRowsABatch = std::size_t{1} << 17, kRowsACell = 32;
constexpr std::size_t kRowsBetweenChecks = 4096, kRowsATile = 512;

}  // namespace

bool NearestCells::suits(std::size_t count, std::size_t dim) {
  return dim <= kMostCellDimensions && count >= kFewestPoints && CellLists::most_bytes(count, dim) <= kMostListBytes;
}

NearestCells::NearestCells(const PackedTree& tree, std::size_t threads, const Progress& progress)
    : dim_(tree.dim), origin_(tree.dim, 0.0) {
  const auto mean = [&](std::size_t slot) {
    return tree.blocks + slot / kLanes * index_block_doubles(tree.dim) + slot % kLanes;
  };
  for (std::size_t slot = 0; slot < tree.slot_count; ++slot)
    for (std::size_t k = 0; k < tree.dim; ++k)
      origin_[k] += mean(slot)[k * kLanes] / static_cast<double>(tree.slot_count);
  std::vector<float> positions(tree.slot_count * tree.dim);
  std::vector<double> row(tree.dim);
  float farthest = 0.0F;
  for (std::size_t slot = 0; slot < tree.slot_count; ++slot) {
    for (std::size_t k = 0; k < tree.dim; ++k) row[k] = mean(slot)[k * kLanes];
    farthest = std::max(farthest, position(row.data(), positions.data() + slot * tree.dim));
  }
  if (!(farthest <= kLargestScannedSquare)) return;
  lists_ = std::make_unique<CellLists>(positions, tree.dim, threads, progress);
  for (Slot slot = 0; slot < tree.slot_count; ++slot) names_.push_back(tree.names[lists_->point(slot)]);
}

// Writes the position of a row relative to the origin and returns its squared norm.
template <class Scalar>
float NearestCells::position(const Scalar* row, float* position) const {
  float squared_norm = 0.0F;
  for (std::size_t k = 0; k < dim_; ++k) {
    position[k] = static_cast<float>(static_cast<double>(row[k]) - origin_[k]);
    squared_norm += position[k] * position[k];
  }
  return squared_norm;
}

// Rows too far away for floats come after all cells.
class NearestCells::Batch {
 public:
  explicit Batch(const NearestCells& nearest) : nearest_(nearest), end_(nearest.lists_->cell_count() + 1) {}

  template <class Scalar>
  void load(const Scalar* rows, std::size_t row_count) {
    positions_.resize(row_count * nearest_.dim_);
    cells_.resize(row_count);
    order_.resize(row_count);
    found_.resize(row_count);
    for (std::size_t begin = 0; begin < row_count; begin += kRowsATile)
      find_cells(rows, begin, std::min(begin + kRowsATile, row_count));
    sort();
  }

  const float* positions() const { return positions_.data(); }
  const std::uint32_t* rows() const { return order_.data(); }
  std::size_t end(std::size_t cell) const { return end_[cell]; }
  Slot* found() { return found_.data(); }  // room for the slots that are found

 private:
  template <class Scalar>
  void find_cells(const Scalar* rows, std::size_t begin, std::size_t end) {
    const std::size_t dim = nearest_.dim_;
    far_away_.clear();
    for (std::size_t i = begin; i < end; ++i)
      if (!(nearest_.position(rows + i * dim, positions_.data() + i * dim) <= kLargestScannedSquare))
        far_away_.push_back(i);
    nearest_.lists_->find_cells(positions_.data() + begin * dim, end - begin, cells_.data() + begin);
    for (const std::size_t i : far_away_) cells_[i] = static_cast<std::uint32_t>(nearest_.lists_->cell_count());
  }

  void sort() {
    std::fill(end_.begin(), end_.end(), 0);
    for (const std::uint32_t cell : cells_) ++end_[cell];
    std::exclusive_scan(end_.begin(), end_.end(), end_.begin(), 0U);
    for (std::size_t i = 0; i < cells_.size(); ++i) order_[end_[cells_[i]]++] = static_cast<std::uint32_t>(i);
  }

  const NearestCells& nearest_;
  std::vector<float> positions_;
  std::vector<std::uint32_t> cells_, order_, end_;
  std::vector<std::size_t> far_away_;
  std::vector<Slot> found_;
};

std::size_t NearestCells::batch_rows() const {
  return lists_ ? std::max(kRowsABatch, kRowsACell * lists_->cell_count()) : kRowsABatch;
}

template <class Scalar>
std::vector<std::size_t> NearestCells::nearest(const Scalar* rows, std::size_t row_count, std::int64_t* names,
                                               Spares<Batch>& batches, const Checkpoint& checkpoint) const {
  std::vector<std::size_t> left_out;
  if (!lists_) {
    left_out.resize(row_count);
    std::iota(left_out.begin(), left_out.end(), std::size_t{0});
    return left_out;
  }
  const std::size_t cell_count = lists_->cell_count();
  const auto nearest_in_cell = cell_scan().nearest_in_cell[dim_];
  std::shared_ptr<Batch> batch = batches.take([this] { return std::make_shared<Batch>(*this); });
  for (std::size_t begin = 0; begin < row_count; begin += batch_rows()) {
    const std::size_t count = std::min(batch_rows(), row_count - begin);
    batch->load(rows + begin * dim_, count);
    const Slot* found = batch->found();
    std::size_t first = 0, next_check = 0;
    for (std::size_t cell = 0; cell < cell_count; ++cell) {
      if (first >= next_check) {
        checkpoint();
        next_check = first + kRowsBetweenChecks;
      }
      const std::size_t end = batch->end(cell);
      nearest_in_cell(lists_->tables(), cell, batch->positions(), batch->rows() + first, end - first, batch->found());
      for (std::size_t i = first; i < end; ++i) {
        const std::size_t row = begin + batch->rows()[i];
        if (found[i - first] == kNoSlot)
          left_out.push_back(row);
        else
          names[row] = names_[found[i - first]];
      }
      first = end;
    }
    for (; first < count; ++first) left_out.push_back(begin + batch->rows()[first]);
  }
  batches.give_back(std::move(batch));
  return left_out;
}

template std::vector<std::size_t> NearestCells::nearest(const float*, std::size_t, std::int64_t*, Spares<Batch>&,
                                                        const Checkpoint&) const;
template std::vector<std::size_t> NearestCells::nearest(const double*, std::size_t, std::int64_t*, Spares<Batch>&,
                                                        const Checkpoint&) const;

}  // namespace silverbirch

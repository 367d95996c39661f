#include "nearest_walk.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels.hpp"

namespace silverbirch {

namespace {

constexpr std::size_t kFewestPoints = 256, kMostListBytes = 80000000;
// So many rows at a time stay in the cache from one step to the next.
constexpr std::size_t kRowsABatch = std::size_t{1} << 17, kRowsBetweenChecks = 4096;

}  // namespace

bool NearestWalk::suits(std::size_t count, std::size_t dim) {
  return dim <= kMostWalkDimensions && count >= kFewestPoints && count <= kMostListBytes / WalkGround::list_bytes(dim);
}

NearestWalk::NearestWalk(const PackedTree& tree, std::size_t threads, const Progress& progress)
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
  if (!(farthest <= kLargestWalkedSquare)) return;
  ground_ = std::make_unique<WalkGround>(positions, tree.dim, threads, progress);
  for (Slot slot = 0; slot < tree.slot_count; ++slot) names_.push_back(tree.names[ground_->point(slot)]);
}

// Writes where a row is, seen from the origin; returns the squared norm.
template <class Scalar>
float NearestWalk::position(const Scalar* row, float* position) const {
  float squared_norm = 0.0F;
  for (std::size_t k = 0; k < dim_; ++k) {
    position[k] = static_cast<float>(static_cast<double>(row[k]) - origin_[k]);
    squared_norm += position[k] * position[k];
  }
  return squared_norm;
}

// Some rows, sorted by cell, so that those that read the same lists come one after the other.
template <class Scalar>
class NearestWalk::Batch {
 public:
  explicit Batch(const NearestWalk& walk) : walk_(walk) {}

  void load(const Scalar* rows, std::size_t row_count) {
    const std::size_t dim = walk_.dim_;
    rows_.resize(row_count);
    for (std::size_t i = 0; i < row_count; ++i) {
      WalkRow& row = rows_[i];
      row.squared_norm = walk_.position(rows + i * dim, row.position);
      if (row.squared_norm <= kLargestWalkedSquare) continue;
      std::fill_n(row.position, dim, 0.0F);
      row.squared_norm = std::numeric_limits<float>::infinity();  // everybody may be nearest
    }
    walk_.ground_->find_cells(rows_.data(), row_count);
    sort();
  }

  const WalkRow* sorted() const { return sorted_.data(); }
  std::size_t number(std::size_t place) const { return numbers_[place]; }

 private:
  void sort() {
    std::vector<std::uint32_t> place(walk_.ground_->cell_count() + 1);
    for (const WalkRow& row : rows_) ++place[row.cell + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    sorted_.resize(rows_.size());
    numbers_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::uint32_t to = place[rows_[i].cell]++;
      sorted_[to] = rows_[i];
      numbers_[to] = static_cast<std::uint32_t>(i);
    }
  }

  const NearestWalk& walk_;
  std::vector<WalkRow> rows_, sorted_;
  std::vector<std::uint32_t> numbers_;
};

template <class Scalar>
std::vector<std::size_t> NearestWalk::nearest(const Scalar* rows, std::size_t row_count, std::int64_t* names,
                                              const Checkpoint& checkpoint) const {
  std::vector<std::size_t> left_out;
  if (!ground_) {
    left_out.resize(row_count);
    std::iota(left_out.begin(), left_out.end(), std::size_t{0});
    return left_out;
  }
  Batch<Scalar> batch(*this);
  std::vector<Slot> nearest(std::min(kRowsBetweenChecks, row_count));
  for (std::size_t begin = 0; begin < row_count; begin += kRowsABatch) {
    const std::size_t batch_rows = std::min(kRowsABatch, row_count - begin);
    batch.load(rows + begin * dim_, batch_rows);
    for (std::size_t first = 0; first < batch_rows; first += kRowsBetweenChecks) {
      checkpoint();
      const std::size_t count = std::min(kRowsBetweenChecks, batch_rows - first);
      kernels().walk->nearest_to_rows[dim_](ground_->tables(), batch.sorted() + first, count, nearest.data());
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = begin + batch.number(first + i);
        if (nearest[i] == kNoSlot)
          left_out.push_back(row);
        else
          names[row] = names_[nearest[i]];
      }
    }
  }
  return left_out;
}

template std::vector<std::size_t> NearestWalk::nearest(const float*, std::size_t, std::int64_t*,
                                                       const Checkpoint&) const;
template std::vector<std::size_t> NearestWalk::nearest(const double*, std::size_t, std::int64_t*,
                                                       const Checkpoint&) const;

}  // namespace silverbirch

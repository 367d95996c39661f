#include "nearest_index.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "index/kd_order.hpp"
#include "kernels.hpp"

namespace silverbirch {

NearestIndex::NearestIndex(const double* points, std::size_t count, std::size_t dim, const Progress& progress)
    : numbers_(count),
      blocks_(leaves_for(count, kLabelLeaf) * (kLabelLeaf / kLanes) * index_block_doubles(dim)),
      boxes_(dim, kLabelLeaf, Nearness::centroid),
      row_order_(points, count, dim),
      find_(kernels().index->nearest_to_points[IndexSearch::unrolled(dim)]) {
  if (count >= kNoSlot) throw std::invalid_argument("an index holds fewer than 2^32 points");
  std::vector<KdKey> order(count);
  std::iota(order.begin(), order.end(), KdKey{0});
  kd_order(
      order, kLabelLeaf, dim, [&](std::size_t point, std::size_t k) { return points[point * dim + k]; }, 1, progress);
  for (std::size_t slot = 0; slot < leaves_for(count, kLabelLeaf) * kLabelLeaf; ++slot) {
    double* lane = blocks_.data() + slot / kLanes * index_block_doubles(dim) + slot % kLanes;
    if (slot < count) numbers_[slot] = static_cast<std::uint32_t>(point_of(order[slot]));
    for (std::size_t k = 0; k < dim; ++k) lane[k * kLanes] = slot < count ? points[numbers_[slot] * dim + k] : kFarAway;
  }
  boxes_.pack(blocks_.data(), leaves_for(count, kLabelLeaf), 1, progress);
  tree_.dim = dim;
  tree_.slot_count = count;
  tree_.blocks = blocks_.data();
  tree_.names = numbers_.data();
  boxes_.show(tree_);
}

template <class Scalar>
void NearestIndex::nearest(const Scalar* rows, std::size_t row_count, std::int64_t* numbers,
                           const Checkpoint& checkpoint) const {
  constexpr std::size_t kAhead = 8 * kLanes, kBetweenChecks = 64 * kLanes;
  const std::size_t dim = tree_.dim;
  RowOrder row_order = row_order_;
  std::vector<std::uint32_t> order;
  row_order.order(rows, row_count, order);
  AlignedDoubles group(dim * (kLanes + 2));
  Slot nearest[kLanes] = {};
  Slot likely = kNoSlot;
  for (std::size_t begin = 0; begin < row_count; begin += kLanes) {
    if (begin % kBetweenChecks == 0) checkpoint();
    // The rows of a group lie anywhere: have those of a later one fetched in the meantime.
    for (std::size_t lane = 0; lane < kLanes && begin + kAhead + lane < row_count; ++lane)
      __builtin_prefetch(rows + order[begin + kAhead + lane] * dim);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const Scalar* row = rows + order[std::min(begin + lane, row_count - 1)] * dim;
      for (std::size_t k = 0; k < dim; ++k) group[k * kLanes + lane] = static_cast<double>(row[k]);
    }
    for (std::size_t k = 0; k < dim; ++k) {
      const auto [least, greatest] = std::minmax_element(group.data() + k * kLanes, group.data() + (k + 1) * kLanes);
      group[dim * kLanes + k] = *least;
      group[dim * (kLanes + 1) + k] = *greatest;
    }
    find_(tree_, group.data(), likely, nearest);
    for (std::size_t lane = 0; lane < std::min(kLanes, row_count - begin); ++lane)
      numbers[order[begin + lane]] = numbers_[nearest[lane]];
    likely = nearest[0];
  }
}

template void NearestIndex::nearest(const float*, std::size_t, std::int64_t*, const Checkpoint&) const;
template void NearestIndex::nearest(const double*, std::size_t, std::int64_t*, const Checkpoint&) const;

}  // namespace silverbirch

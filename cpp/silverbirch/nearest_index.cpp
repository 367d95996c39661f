#include "nearest_index.hpp"

#include <numeric>
#include <stdexcept>

#include "index/kd_order.hpp"
#include "kernels.hpp"

namespace silverbirch {

NearestIndex::NearestIndex(const double* points, std::size_t count, std::size_t dim, const Progress& progress)
    : numbers_(count),
      blocks_(leaves_for(count) * kLeafBlocks * index_block_doubles(dim)),
      boxes_(dim, Nearness::centroid),
      find_(kernels().index->nearest_to_point[IndexSearch::unrolled(dim)]) {
  if (count >= kNoSlot) throw std::invalid_argument("an index holds fewer than 2^32 points");
  std::vector<KdKey> order(count);
  std::iota(order.begin(), order.end(), KdKey{0});
  kd_order(order, dim, [&](std::size_t point, std::size_t k) { return points[point * dim + k]; }, 1, progress);
  for (std::size_t slot = 0; slot < leaves_for(count) * kLeafSlots; ++slot) {
    double* lane = blocks_.data() + slot / kLanes * index_block_doubles(dim) + slot % kLanes;
    if (slot < count) numbers_[slot] = static_cast<std::uint32_t>(point_of(order[slot]));
    for (std::size_t k = 0; k < dim; ++k) lane[k * kLanes] = slot < count ? points[numbers_[slot] * dim + k] : kFarAway;
  }
  boxes_.pack(blocks_.data(), leaves_for(count), 1, progress);
  tree_.dim = dim;
  tree_.blocks = blocks_.data();
  tree_.names = numbers_.data();
  boxes_.show(tree_);
}

std::size_t NearestIndex::nearest(const double* query) const { return numbers_[find_(tree_, query).slot]; }

}  // namespace silverbirch

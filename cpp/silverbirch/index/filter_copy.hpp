// A float32 copy of the clusters of a packed kd-tree, for filtered_search.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/index/filtered_search.hpp"
#include "silverbirch/index/packed_boxes.hpp"

namespace silverbirch {

class FilterCopy {
 public:
  // The units stay valid as long as clusters only merge: means stay within the box of the means, and 1/weight only
  // shrinks.
  FilterCopy(const PackedTree& tree, Nearness nearness, std::size_t threads)
      : dim_(tree.dim), ward_(nearness == Nearness::ward), origin_(tree.dim), boxes_(tree.dim, kClusterLeaf, nearness) {
    std::vector<Range> ranges(dim_ + 1);  // the last one is the range of the terms
    parallel_for(ranges.size(), 1, threads, no_progress,
                 [&](std::size_t k, std::size_t) { ranges[k] = range(tree, k); });
    double reach = 1e-120;  // its square is a normal number, even times the largest weight or the least
    for (std::size_t k = 0; k < dim_; ++k) {
      const auto [least, most] = ranges[k];
      origin_[k] = 0.5 * least + 0.5 * most;
      reach = std::max({reach, most - origin_[k], origin_[k] - least});
    }
    // A power of two, so that scaling adds no rounding of its own.
    inverse_scale_ = std::exp2(-std::ceil(std::log2(reach)));
    const double gap_unit = inverse_scale_ * inverse_scale_;
    term_unit_ = ward_ ? 1.0 / ranges[dim_].most : gap_unit;

    constexpr double unit_roundoff = 0x1p-24;
    const auto dimensions = static_cast<double>(dim_);
    const double t = std::max(0x1p-10, (dimensions + 8.0) * unit_roundoff);
    tree_.limit_unit = (1.0 + 2.0 * t) * (ward_ ? gap_unit / term_unit_ : gap_unit);
    tree_.doubt = static_cast<float>((1.0 + 2.0 / t) * 4.0 * unit_roundoff * unit_roundoff * dimensions);
  }

  void pack(const PackedTree& tree, std::size_t threads, const Progress& progress) {
    const std::size_t leaves = leaves_for(tree.slot_count, kClusterLeaf);
    blocks_.resize(leaves * (kClusterLeaf / kFilterLanes) * filter_block_floats(dim_));
    parallel_for(leaves, 64, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t slot = begin * kClusterLeaf; slot < end * kClusterLeaf; ++slot) copy(slot, lane_of(tree, slot));
    });
    boxes_.pack(blocks_.data(), leaves, threads, progress);
    tree_.blocks = blocks_.data();
    boxes_.show(tree_);
  }

  // Updates a slot after a merge. The coordinates of the mean, and then the term, are kLanes apart.
  void move(std::size_t slot, const double* mean) {
    copy(slot, mean);
    boxes_.include(slot, lane(slot), kFilterLanes);
  }

  void clear(std::size_t slot) {
    float* empty = lane(slot);
    for (std::size_t k = 0; k < dim_; ++k) empty[k * kFilterLanes] = kFilterFarAway;
    empty[dim_ * kFilterLanes] = 0.0f;
  }

  // Frees the memory until the next pack().
  void release() { UnsetVector<float>().swap(blocks_); }

  const FilterTree& tree() const { return tree_; }

 private:
  struct Range {
    double least, most;
  };

  static const double* lane_of(const PackedTree& tree, std::size_t slot) {
    return tree.blocks + slot / kLanes * index_block_doubles(tree.dim) + slot % kLanes;
  }

  // The range of row k over all slots that are not empty.
  static Range range(const PackedTree& tree, std::size_t k) {
    Range range = {kFarAway, -kFarAway};
    for (std::size_t slot = 0; slot < tree.slot_count; ++slot) {
      const double* mean = lane_of(tree, slot);
      if (*mean == kFarAway) continue;
      range.least = std::min(range.least, mean[k * kLanes]);
      range.most = std::max(range.most, mean[k * kLanes]);
    }
    return range;
  }

  float* lane(std::size_t slot) {
    return blocks_.data() + slot / kFilterLanes * filter_block_floats(dim_) + slot % kFilterLanes;
  }

  void copy(std::size_t slot, const double* mean) {
    if (*mean == kFarAway) return clear(slot);
    float* to = lane(slot);
    for (std::size_t k = 0; k < dim_; ++k)
      to[k * kFilterLanes] = static_cast<float>((mean[k * kLanes] - origin_[k]) * inverse_scale_);
    const double term = mean[dim_ * kLanes] * term_unit_;
    // Clamped towards nearer: the filter must never put a cluster farther away than it is.
    to[dim_ * kFilterLanes] =
        static_cast<float>(ward_ ? std::max(term, kLeastWardTerm) : std::min(term, kLargestFilterVariance));
  }

  std::size_t dim_;
  bool ward_;
  std::vector<double> origin_;
  double inverse_scale_ = 1.0, term_unit_ = 1.0;
  UnsetVector<float> blocks_;
  PackedBoxes<float> boxes_;
  FilterTree tree_;
};

}  // namespace silverbirch

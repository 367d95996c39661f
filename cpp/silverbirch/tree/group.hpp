// The features that descend a CF-tree together, and scratch space for their searches.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "silverbirch/tree/cf_tree.hpp"

namespace silverbirch {

// Enough queries to hide the latency of memory. With more of them, paths would have to be searched again more often.
inline constexpr std::size_t kLargestGroup = 12, kWideGroup = 8;
static_assert(kLargestGroup <= kMostGrouped);

class CfTree::Group {
 public:
  explicit Group(const CfTree& tree)
      : dim_(tree.dim_),
        widen_(tree.kernels_->widen),
        ward_(tree.options_.distance == CfDistance::ward),
        all_rows_(ward_),
        position_floats_((dim_ + kRouteLanes - 1) / kRouteLanes * kRouteLanes),
        positions_(kLargestGroup * position_floats_),
        rows_(kLargestGroup * dim_) {
    for (std::size_t i = 0; i < kLargestGroup; ++i) {
      route_queries_[i].position = positions_.data() + i * position_floats_;
      queries_[i].route_query = searches_[i].query = &route_queries_[i];
    }
  }

  std::size_t size() const { return size_; }
  bool all_rows() const { return all_rows_; }  // kWardRowRoute applies to all
  void clear() {
    size_ = 0;
    all_rows_ = ward_;
  }
  void add(const Feature& feature) {
    means_[size_] = feature.mean;
    queries_[size_++].feature = feature;
    all_rows_ = all_rows_ && feature.weight == 1.0;
  }
  void add_row(const double* row, double weight) { add({weight, row, 0.0}); }
  void add_row(const float* row, double weight) {
    double* wide = rows_.data() + size_ * dim_;
    widen_(row, dim_, wide);
    add({weight, wide, 0.0});
  }

  // Makes room for paths through `height` inner nodes.
  void make_paths(std::size_t height) {
    if (steps_.size() >= kLargestGroup * height) return;
    steps_.resize(kLargestGroup * height);
    for (std::size_t i = 0; i < kLargestGroup; ++i) queries_[i].path = steps_.data() + i * height;
  }

  Query& operator[](std::size_t i) { return queries_[i]; }
  const double* const* means() const { return means_.data(); }
  RouteQuery* route_queries() { return route_queries_.data(); }
  RowSearch* searches() { return searches_.data(); }

 private:
  std::size_t dim_;
  decltype(TreeKernels::widen) widen_;
  bool ward_, all_rows_;
  std::size_t position_floats_, size_ = 0;
  std::array<Query, kLargestGroup> queries_;
  std::vector<Step> steps_;
  AlignedFloats positions_;
  std::array<const double*, kLargestGroup> means_;
  std::array<RouteQuery, kLargestGroup> route_queries_;
  std::array<RowSearch, kLargestGroup> searches_;
  std::vector<double> rows_;
};

// Fills in weight and variance, and turns the filter off (`routed_`) if the feature is beyond the range of the filter.
inline void CfTree::complete(RouteQuery& query, const Feature& feature) {
  const double variance = feature.sse > 0.0 ? feature.sse / feature.weight : 0.0;
  query.weight = static_cast<float>(feature.weight);
  query.variance = static_cast<float>(variance);
  if (rounded()) {
    queries_ += 1.0;
    // beyond the int16 range, so stored as the origin
    outside_ += query.rounded_norm == 0 && query.squared_norm > 0.25 * reach_ * reach_;
  }
  routed_ = routed_ && query.squared_norm <= kLargestRoutedSquare && variance <= kLargestRoutedVariance &&
            feature.weight >= kSmallestRoutedWeight && total_weight_ + feature.weight <= kLargestRoutedWeight;
}

}  // namespace silverbirch

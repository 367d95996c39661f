// The features that go down a CF-tree together, with room for what each finds on its way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "silverbirch/base/switches.hpp"
#include "silverbirch/tree/cf_tree.hpp"

namespace silverbirch {

// Enough to hide what memory takes; more would only find their ways again more often.
inline constexpr std::size_t kLargestGroup = 12, kWideGroup = 8;
static_assert(kLargestGroup <= kMostGrouped);

// So far ahead rows are fetched, in time to be there when their group is filled.
inline constexpr std::size_t kRowsAhead = 16;

// Features that look for their ways together.
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
      queries_[i].position = positions_.data() + i * position_floats_;
      travellers_[i].query = searches_[i].query = &queries_[i];
    }
  }

  std::size_t size() const { return size_; }
  bool all_rows() const { return all_rows_; }  // to be routed by kWardRowRoute
  void clear() {
    size_ = expected_count_ = 0;
    all_rows_ = ward_;
  }
  void add(const Feature& feature) {
    means_[size_] = feature.mean;
    travellers_[size_++].feature = feature;
    all_rows_ = all_rows_ && feature.weight == 1.0;
  }
  void add_row(const double* row, double weight) { add({weight, row, 0.0}); }
  void add_row(const float* row, double weight) {
    double* wide = rows_.data() + size_ * dim_;
    widen_(row, dim_, wide);
    add({weight, wide, 0.0});
  }

  // Gives all a path through so many inner nodes.
  void make_paths(std::size_t height) {
    if (steps_.size() >= kLargestGroup * height) return;
    steps_.resize(kLargestGroup * height);
    for (std::size_t i = 0; i < kLargestGroup; ++i) travellers_[i].path = steps_.data() + i * height;
  }

  // Rows of later groups. Searches make the processor forget that rows are read in order, so they have to be fetched;
  // each with one of this group that is placed, because all at once would keep the memory from what is needed now.
  template <class Scalar>
  void expect(const Scalar* row) {
    expected_[expected_count_++] = reinterpret_cast<const std::byte*>(row);
    expected_bytes_ = dim_ * sizeof(Scalar);
  }
  void fetch_expected(std::size_t i) const {
    if (i >= expected_count_ || !on(Mechanism::row_prefetch)) return;
    for (std::size_t offset = 0; offset < expected_bytes_; offset += 64) __builtin_prefetch(expected_[i] + offset);
  }

  Traveller& operator[](std::size_t i) { return travellers_[i]; }
  const double* const* means() const { return means_.data(); }
  RouteQuery* queries() { return queries_.data(); }
  RowSearch* searches() { return searches_.data(); }

 private:
  std::size_t dim_;
  decltype(TreeKernels::widen) widen_;
  bool ward_, all_rows_;
  std::size_t position_floats_, size_ = 0;
  std::array<Traveller, kLargestGroup> travellers_;
  std::vector<Step> steps_;
  AlignedFloats positions_;
  std::array<const double*, kLargestGroup> means_;
  std::array<RouteQuery, kLargestGroup> queries_;
  std::array<RowSearch, kLargestGroup> searches_;
  std::vector<double> rows_;
  std::array<const std::byte*, kLargestGroup> expected_;
  std::size_t expected_count_ = 0, expected_bytes_ = 0;
};

// Notices what is beyond the range of the filter.
inline void CfTree::complete(RouteQuery& query, const Feature& feature) {
  const double variance = feature.sse > 0.0 ? feature.sse / feature.weight : 0.0;
  query.weight = static_cast<float>(feature.weight);
  query.variance = static_cast<float>(variance);
  if (rounded()) {
    travellers_ += 1.0;
    // told to be at the origin
    outside_ += query.rounded_norm == 0 && query.squared_norm > 0.25 * reach_ * reach_;
  }
  routed_ = routed_ && query.squared_norm <= kLargestRoutedSquare && variance <= kLargestRoutedVariance &&
            feature.weight >= kSmallestRoutedWeight && total_weight_ + feature.weight <= kLargestRoutedWeight;
}

}  // namespace silverbirch

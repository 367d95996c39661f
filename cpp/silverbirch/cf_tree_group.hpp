// The features that go down a CF-tree together, with room for what each finds on its way.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "cf_tree.hpp"

namespace silverbirch {

// Enough to hide what memory takes; more would only find their ways again more often.
inline constexpr std::size_t kLargestGroup = 12, kWideGroup = 8;

// Features that look for their ways together.
class CfTree::Group {
 public:
  explicit Group(const CfTree& tree)
      : dim_(tree.dim_),
        kernels_(tree.kernels_),
        ward_(tree.options_.distance == CfDistance::ward),
        all_rows_(ward_),
        position_floats_((dim_ + kRouteLanes - 1) / kRouteLanes * kRouteLanes),
        travellers_(kLargestGroup),
        positions_(kLargestGroup * position_floats_),
        rows_(kLargestGroup * dim_) {
    for (std::size_t i = 0; i < kLargestGroup; ++i) {
      queries_[i].position = positions_.data() + i * position_floats_;
      travellers_[i].query = &queries_[i];
    }
  }

  std::size_t size() const { return size_; }
  bool all_rows() const { return all_rows_; }  // to be routed by Route::ward_row
  void clear() {
    size_ = 0;
    all_rows_ = ward_;
  }
  void add(const Feature& feature) {
    travellers_[size_++].feature = feature;
    all_rows_ = all_rows_ && feature.weight == 1.0;
  }
  void add_row(const double* row, double weight) { add({weight, row, 0.0}); }
  void add_row(const float* row, double weight) {
    double* wide = rows_.data() + size_ * dim_;
    if (dim_ <= kFewDimensions)
      std::copy_n(row, dim_, wide);
    else
      kernels_->widen(row, dim_, wide);
    add({weight, wide, 0.0});
  }

  Traveller& operator[](std::size_t i) { return travellers_[i]; }
  RouteQuery* queries() { return queries_.data(); }

 private:
  std::size_t dim_;
  const TreeKernels* kernels_;
  bool ward_, all_rows_;
  std::size_t position_floats_, size_ = 0;
  std::vector<Traveller> travellers_;
  AlignedFloats positions_;
  std::array<RouteQuery, kLargestGroup> queries_;
  std::vector<double> rows_;
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

// The features that go down a CF-tree together, with room for what each finds on its way.
#pragma once

#include <algorithm>
#include <vector>

#include "cf_tree.hpp"

namespace silverbirch {

// Enough to hide what memory takes; more would only find their ways again more often.
inline constexpr std::size_t kLargestGroup = 8;

// Features that look for their ways together.
class CfTree::Group {
 public:
  explicit Group(const CfTree& tree)
      : dim_(tree.dim_),
        position_floats_((tree.inner_.shape().entry_floats + kRouteLanes - 1) / kRouteLanes * kRouteLanes),
        travellers_(kLargestGroup),
        positions_(kLargestGroup * position_floats_),
        rows_(kLargestGroup * dim_) {}

  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  void add(const Feature& feature) { travellers_[size_++].feature = feature; }
  void add_row(const double* row, double weight) { add({weight, row, 0.0}); }
  void add_row(const float* row, double weight) {
    double* wide = rows_.data() + size_ * dim_;
    std::copy_n(row, dim_, wide);
    add({weight, wide, 0.0});
  }

  Traveller& operator[](std::size_t i) { return travellers_[i]; }
  float* position(std::size_t i) { return positions_.data() + i * position_floats_; }

 private:
  std::size_t dim_, position_floats_, size_ = 0;
  std::vector<Traveller> travellers_;
  AlignedFloats positions_;
  std::vector<double> rows_;
};

}  // namespace silverbirch

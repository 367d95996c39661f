// A list of cluster features in plain arrays: the output of the tree and the input of a linkage.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/feature_block.hpp"

namespace silverbirch {

struct Features {
  std::size_t dim = 0;
  std::vector<double> weight, mean, sse;  // mean is row-major, size() by dim

  std::size_t size() const { return weight.size(); }
  Feature operator[](std::size_t i) const { return {weight[i], mean.data() + i * dim, sse[i]}; }

  // Merges `other` into feature i. A feature of weight zero adds nothing, whatever its mean and sse.
  void absorb(std::size_t i, const Feature& other) {
    if (other.weight == 0.0) return;
    if (weight[i] == 0.0) {
      weight[i] = other.weight;
      std::copy_n(other.mean, dim, mean.data() + i * dim);
      sse[i] = other.sse;
    } else {
      merge_into(weight[i], mean.data() + i * dim, 1, sse[i], other, dim);
    }
  }

  void push_back(const Feature& feature) {
    weight.push_back(feature.weight);
    mean.insert(mean.end(), feature.mean, feature.mean + dim);
    sse.push_back(feature.sse);
  }
};

// Merges all features into one; an empty list gives an empty list.
inline Features sum_of(const Features& all) {
  Features sum{all.dim, {}, {}, {}};
  for (std::size_t i = 0; i < all.size(); ++i) i == 0 ? sum.push_back(all[0]) : sum.absorb(0, all[i]);
  return sum;
}

// A list of features whose arrays belong to someone else.
struct FeaturesView {
  std::size_t size = 0, dim = 0;
  const double* weight = nullptr;
  const double* mean = nullptr;
  const double* sse = nullptr;

  Feature operator[](std::size_t i) const { return {weight[i], mean + i * dim, sse[i]}; }
};

inline FeaturesView view(const Features& f) { return {f.size(), f.dim, f.weight.data(), f.mean.data(), f.sse.data()}; }

// Merges the rows of each group into one feature; group_of_row[r] is the group of row r. `weights` may be null (all 1).
// Groups may be empty.
template <class Scalar>
Features grouped(const Scalar* rows, const double* weights, const std::int64_t* group_of_row, std::size_t row_count,
                 std::size_t dim, std::size_t group_count, const Progress& progress);

// A coordinate that is not finite or too large to square, with its row and column.
struct BadValue : std::invalid_argument {
  BadValue(std::size_t row_, std::size_t column_, double value_)
      : std::invalid_argument("a value is not finite or too large to square"),
        row(row_),
        column(column_),
        value(value_) {}

  std::size_t row, column;
  double value;
};

// Throws BadValue for the first bad value of the rows, if there is one.
template <class Scalar>
void check_coordinates(const Scalar* rows, std::size_t row_count, std::size_t dim, std::size_t threads,
                       const Progress& progress);
// The same for rows begin … end - 1.
template <class Scalar>
void check_some(const Scalar* rows, std::size_t begin, std::size_t end, std::size_t dim);

}  // namespace silverbirch

// A list of cluster features in plain arrays: what leaves the tree and what enters the linkage.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "feature_block.hpp"
#include "progress.hpp"

namespace silverbirch {

struct Features {
  std::size_t dim = 0;
  std::vector<double> weight, mean, sse;  // mean is row-major, size() by dim

  std::size_t size() const { return weight.size(); }
  Feature operator[](std::size_t i) const { return {weight[i], mean.data() + i * dim, sse[i]}; }

  // A feature of no weight adds nothing, whatever its mean and sse.
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

// Features owned by somebody else.
struct FeaturesView {
  std::size_t size = 0, dim = 0;
  const double* weight = nullptr;
  const double* mean = nullptr;
  const double* sse = nullptr;

  Feature operator[](std::size_t i) const { return {weight[i], mean + i * dim, sse[i]}; }
};

inline FeaturesView view(const Features& f) { return {f.size(), f.dim, f.weight.data(), f.mean.data(), f.sse.data()}; }

// The features of groups of rows, given the group of each row; weights may be null (all one). Groups may be empty.
template <class Scalar>
Features grouped(const Scalar* rows, const double* weights, const std::int64_t* group_of_row, std::size_t row_count,
                 std::size_t dim, std::size_t group_count, const Progress& progress) {
  Features groups{dim, std::vector<double>(group_count), std::vector<double>(group_count * dim),
                  std::vector<double>(group_count)};
  std::vector<double> row(dim);
  for (std::size_t r = 0; r < row_count; ++r) {
    if (r % 1024 == 0) progress(r, row_count);
    std::copy_n(rows + r * dim, dim, row.begin());
    groups.absorb(static_cast<std::size_t>(group_of_row[r]), {weights ? weights[r] : 1.0, row.data(), 0.0});
  }
  return groups;
}

// Throws std::invalid_argument at the first value that is not finite or too large to square.
template <class Scalar>
void check_coordinates(const Scalar* rows, std::size_t row_count, std::size_t dim, const Progress& progress) {
  for (std::size_t r = 0; r < row_count; ++r) {
    if (r % 1024 == 0) progress.poll();
    bool fine = true;
    for (std::size_t k = 0; k < dim; ++k)
      fine &= std::abs(static_cast<double>(rows[r * dim + k])) <= kLargestCoordinate;
    if (fine) continue;
    for (std::size_t k = 0; k < dim; ++k) {
      const double value = rows[r * dim + k];
      if (std::abs(value) <= kLargestCoordinate) continue;
      char text[32];
      std::snprintf(text, sizeof text, "%g", value);
      throw std::invalid_argument("row " + std::to_string(r) + ", column " + std::to_string(k) + " is " + text +
                                  (std::isfinite(value)
                                       ? ": beyond 1e100 products overflow; rescale the data first"
                                       : ": every value must be a finite number; drop or fill such rows first"));
    }
  }
}

}  // namespace silverbirch

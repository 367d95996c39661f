// Cluster features laid out for the vector unit: eight side by side in a block.
//
// A BETULA cluster feature is (weight, mean, sse) [Lang & Schubert 2020, "BETULA: Numerically Stable CF-Trees for BIRCH
// Clustering"; eqs. 10-12 of the paper silverbirch follows]. Row k of a block holds coordinate k of all eight means.
// After the means come a row of weights and a row of sses. One pass over a block compares a query with eight features.
// The reference linkages keep their clusters in such blocks. The blocks of the index hold one term instead of weight
// and sse (index/search.hpp).
#pragma once

#include <cstddef>

#include "silverbirch/simd/inline.hpp"

namespace silverbirch {

inline constexpr std::size_t kLanes = 8;
inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

// Values beyond these limits are refused at the API, so nothing overflows inside. An empty lane has its mean at
// kFarAway and weight 1: by every distance it is farther than any feature, so the loops need no branch for it.
inline constexpr double kLargestCoordinate = 1e100;
inline constexpr double kSmallestWeight = 1e-30, kLargestWeight = 1e30;
inline constexpr double kLargestVariance = 1e205;  // sse / weight
inline constexpr double kFarAway = 1e150;

constexpr std::size_t block_doubles(std::size_t dim) { return (dim + 2) * kLanes; }
constexpr std::size_t blocks_for(std::size_t slots) { return (slots + kLanes - 1) / kLanes; }

// One feature whose mean is a contiguous row. A point is Feature{1, row, 0}.
struct Feature {
  double weight;
  const double* mean;
  double sse;
};

// Merges a feature into (weight, mean, sse); all merges of two features end here. move_mean(share) moves the mean by
// that share of its gap to the other mean and returns the squared gap. Only differences of means are squared: nothing
// cancels, however far from the origin the data lies, and the sse cannot become negative.
template <class MoveMean>
SILVERBIRCH_INLINE void merge_into(double& weight, double& sse, double other_weight, double other_sse,
                                   MoveMean move_mean) {
  const double total = weight + other_weight, share = other_weight / total;
  sse += other_sse + weight * share * move_mean(share);
  weight = total;
}

// The same for means in memory: the coordinates lie `stride` and `other_stride` doubles apart.
inline void merge_into(double& weight, double* mean, std::size_t stride, double& sse, const Feature& other,
                       std::size_t dim, std::size_t other_stride = 1) {
  merge_into(weight, sse, other.weight, other.sse, [&](double share) {
    double squared_gap = 0.0;
    for (std::size_t k = 0; k < dim; ++k) {
      const double gap = other.mean[k * other_stride] - mean[k * stride];
      mean[k * stride] += share * gap;
      squared_gap += gap * gap;
    }
    return squared_gap;
  });
}

// A reference to one lane of consecutive blocks.
class FeatureSlot {
 public:
  FeatureSlot(double* blocks, std::size_t dim, std::size_t slot)
      : base_(blocks + slot / kLanes * block_doubles(dim) + slot % kLanes), dim_(dim) {}

  double& mean(std::size_t k) const { return base_[k * kLanes]; }
  double& weight() const { return base_[dim_ * kLanes]; }
  double& sse() const { return base_[(dim_ + 1) * kLanes]; }

  void assign(const Feature& feature) const {
    for (std::size_t k = 0; k < dim_; ++k) mean(k) = feature.mean[k];
    weight() = feature.weight;
    sse() = feature.sse;
  }

  void copy_from(const FeatureSlot& other) const {
    for (std::size_t k = 0; k < dim_ + 2; ++k) base_[k * kLanes] = other.base_[k * kLanes];
  }

  void clear() const {
    for (std::size_t k = 0; k < dim_; ++k) mean(k) = kFarAway;
    weight() = 1.0;
    sse() = 0.0;
  }

  void absorb(const Feature& other) const { merge_into(weight(), base_, kLanes, sse(), other, dim_); }

  // Copies the mean into a contiguous row.
  Feature load(double* mean_row) const {
    for (std::size_t k = 0; k < dim_; ++k) mean_row[k] = mean(k);
    return {weight(), mean_row, sse()};
  }

 private:
  double* base_;
  std::size_t dim_;
};

}  // namespace silverbirch

#include "silverbirch/tree/space_partition.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace silverbirch {

namespace {

constexpr int kPowerIterations = 8;  // enough: any direction of large variance will do

Features sum_of(const Features& sample, const std::vector<std::size_t>& members) {
  Features total{sample.dim, {0.0}, std::vector<double>(sample.dim), {0.0}};
  for (const std::size_t i : members) total.absorb(0, sample[i]);
  return total;
}

std::vector<double> column_spreads(const Features& sample, const std::vector<std::size_t>& members,
                                   const std::vector<double>& center) {
  std::vector<double> spreads(sample.dim);
  for (const std::size_t i : members)
    for (std::size_t k = 0; k < sample.dim; ++k) {
      const double gap = sample.mean[i * sample.dim + k] - center[k];
      spreads[k] += sample.weight[i] * gap * gap;
    }
  return spreads;
}

// The first principal component of the means, by power iteration from the column of greatest variance. Without variance
// it is that column.
std::vector<double> principal_direction(const Features& sample, const std::vector<std::size_t>& members) {
  const std::size_t dim = sample.dim;
  const std::vector<double> center = sum_of(sample, members).mean;
  const std::vector<double> spreads = column_spreads(sample, members, center);
  std::vector<double> direction(dim);
  direction[static_cast<std::size_t>(std::max_element(spreads.begin(), spreads.end()) - spreads.begin())] = 1.0;
  for (int step = 0; step < kPowerIterations; ++step) {
    std::vector<double> next(dim);
    for (const std::size_t i : members) {
      const double* mean = sample.mean.data() + i * dim;
      double along = 0.0;
      for (std::size_t k = 0; k < dim; ++k) along += direction[k] * (mean[k] - center[k]);
      for (std::size_t k = 0; k < dim; ++k) next[k] += sample.weight[i] * along * (mean[k] - center[k]);
    }
    double length = 0.0;
    for (const double x : next) length = std::hypot(length, x);
    if (!(length > 0.0) || !std::isfinite(length)) break;
    for (std::size_t k = 0; k < dim; ++k) direction[k] = next[k] / length;
  }
  return direction;
}

}  // namespace

SpacePartition::SpacePartition(const Features& sample, std::size_t part_count)
    : dim_(sample.dim), normals_((part_count - 1) * sample.dim), offsets_(part_count - 1) {
  if (!std::has_single_bit(part_count)) throw std::invalid_argument("the number of parts must be a power of two");
  std::vector<std::size_t> members(sample.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  divide(sample, std::move(members), 0);
}

SpacePartition::SpacePartition(std::size_t dim, std::vector<double> normals, std::vector<double> offsets)
    : dim_(dim), normals_(std::move(normals)), offsets_(std::move(offsets)) {
  if (!std::has_single_bit(size()) || normals_.size() != offsets_.size() * dim)
    throw std::invalid_argument("a partition must have one plane less than a power of two");
}

void SpacePartition::divide(const Features& sample, std::vector<std::size_t> members, std::size_t place) {
  if (place >= offsets_.size()) return;
  const std::vector<double> normal = principal_direction(sample, members);
  std::copy(normal.begin(), normal.end(), normals_.begin() + static_cast<std::ptrdiff_t>(place * dim_));
  std::vector<std::pair<double, std::size_t>> order;
  double total = 0.0, passed = 0.0;
  for (const std::size_t i : members) {
    order.emplace_back(along<0>(normal.data(), sample.mean.data() + i * dim_, dim_), i);
    total += sample.weight[i];
  }
  std::sort(order.begin(), order.end());
  for (const auto& [distance, i] : order) {
    offsets_[place] = distance;
    passed += sample.weight[i];
    if (passed >= total / 2.0) break;
  }
  std::vector<std::size_t> sides[2];
  for (const auto& [distance, i] : order) sides[distance > offsets_[place]].push_back(i);
  for (std::size_t side = 0; side < 2; ++side) divide(sample, std::move(sides[side]), 2 * place + 1 + side);
}

}  // namespace silverbirch

#include <vector>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/features/feature_block.hpp"

using namespace silverbirch;

int main() {
  constexpr std::size_t dim = 3, count = 50;
  for (const double offset : {0.0, 1e4, 1e8}) {
    const std::vector<double> points = random_points(count, dim, 1, offset);
    std::vector<double> block(block_doubles(dim));
    for (std::size_t s = 0; s < kLanes; ++s) FeatureSlot(block.data(), dim, s).clear();
    const FeatureSlot slot(block.data(), dim, 5);
    slot.assign({1.0, points.data(), 0.0});
    for (std::size_t i = 1; i < count; ++i) slot.absorb({1.0, points.data() + i * dim, 0.0});

    double mean[dim] = {}, sse = 0.0;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < dim; ++k) mean[k] += (points[i * dim + k] - offset) / count;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < dim; ++k) {
        const double gap = points[i * dim + k] - offset - mean[k];
        sse += gap * gap;
      }
    CHECK(slot.weight() == count);
    CHECK(close(slot.sse(), sse, 1e-7));
    for (std::size_t k = 0; k < dim; ++k) CHECK(std::abs(slot.mean(k) - offset - mean[k]) < 1e-7);
    // The neighbours in the block have not changed.
    for (const std::size_t s : {std::size_t{4}, std::size_t{6}})
      CHECK(FeatureSlot(block.data(), dim, s).mean(0) == kFarAway);
  }

  // Merging a feature with a copy of itself keeps the mean to the last bit.
  const double row[] = {0.1, 0.2};
  double weight = 1.0, mean[] = {0.1, 0.2}, sse = 0.0;
  merge_into(weight, mean, 1, sse, {1.0, row, 0.0}, 2);
  CHECK(weight == 2.0);
  CHECK(mean[0] == 0.1);
  CHECK(mean[1] == 0.2);
  CHECK(sse == 0.0);
}

#include <cmath>
#include <random>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/linkage/indexed/indexed_clusters.hpp"
#include "silverbirch/simd/instruction_set.hpp"

using namespace silverbirch;

namespace {

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = static_cast<std::uint32_t>(i);
  return names;
}

// The filtered search finds the same slots as the search without a filter: at first, and after merges that moved means,
// emptied lanes and put all slots into kd-order again.
void check_same_nearest(const Features& features, Nearness nearness, Vote vote) {
  const std::vector<std::uint32_t> names = numbers(features.size());
  IndexedClusters exact(view(features), names, nearness, vote, 1, no_progress);
  IndexedClusters filtered(view(features), names, nearness, vote, 1, no_progress);
  filtered.filter_searches();
  std::size_t visits = 0;
  while (exact.alive() > 1) {
    std::vector<Slot> nearest(exact.slot_count(), kNoSlot);
    for (Slot slot = 0; slot < exact.slot_count(); ++slot) {
      if (!exact.exists(slot)) continue;
      const NearestSlot expected = exact.nearest(slot, {}, visits), found = filtered.nearest(slot, {}, visits);
      CHECK(found.slot == expected.slot);
      CHECK(found.distance == expected.distance);
      nearest[slot] = found.slot;
      // With a known candidate, which may or may not be the nearest.
      const Slot known = nearest[nearest[slot]] == kNoSlot ? nearest[slot] : nearest[nearest[slot]];
      if (known == slot) continue;
      CHECK(filtered.nearest(slot, {known, exact.distance(slot, known)}, visits).slot == expected.slot);
    }
    std::size_t merges = 1 + exact.alive() / 10;  // few enough that the boxes are not packed again each time
    for (Slot slot = 0; slot < nearest.size() && merges > 0; ++slot) {
      const Slot other = nearest[slot];
      if (other == kNoSlot || !exact.exists(slot) || !exact.exists(other)) continue;
      CHECK(exact.merge(slot, other) == filtered.merge(slot, other));
      --merges;
    }
    CHECK(exact.refresh() == filtered.refresh());
  }
}

void check_all(const Features& features) {
  for (const Nearness nearness : {Nearness::centroid, Nearness::average, Nearness::ward})
    for (const Vote vote : {Vote::by_weight, Vote::equal}) check_same_nearest(features, nearness, vote);
}

// Neighbours that differ by less than float32 resolves; checked at many scales and offsets.
std::vector<double> jittered_grid(std::size_t count, std::size_t dim, double jitter) {
  std::vector<double> points = random_points(count, dim, 5), noise = random_points(count, dim, 6);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = std::round(2.0 * points[i]) / 2.0 + jitter * noise[i];
  return points;
}

std::vector<double> moved(std::vector<double> points, double scale, double offset) {
  for (double& x : points) x = scale * x + offset;
  return points;
}

Features with_extreme_weights(Features features) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> exponent(-30.0, 30.0);
  for (std::size_t i = 0; i < features.size(); ++i) {
    features.weight[i] = std::pow(10.0, exponent(engine));
    features.sse[i] = features.weight[i] * std::pow(100.0, exponent(engine));
  }
  return features;
}

}  // namespace

int main() {
  for (const std::string_view set : supported_instruction_sets()) {
    use_instruction_set(set);
    for (const std::size_t dim : {1, 2, 5, 9})
      for (const double jitter : {1e-3, 1e-6, 1e-8, 1e-12}) {
        const std::vector<double> grid = jittered_grid(500, dim, jitter);
        check_all(as_features(grid, dim));
        check_all(as_features(moved(grid, 1.0, 1e8), dim));
        check_all(with_extreme_weights(as_features(grid, dim)));
      }
    const std::vector<double> points = random_points(1000, 3, 8);
    check_all(as_features(points, 3));
    for (const double scale : {1e-150, 1e-110, 1e-50, 1e50, 1e98}) check_all(as_features(moved(points, scale, 0.0), 3));
    // With one point far away, all others are equal in float32.
    std::vector<double> outlier = points;
    outlier[0] = 1e60;
    check_all(as_features(outlier, 3));
    outlier[0] = 1e7;
    check_all(as_features(outlier, 3));
  }
}

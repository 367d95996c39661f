#include <vector>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/base/aligned.hpp"
#include "silverbirch/features/block_kernels.hpp"
#include "silverbirch/features/cf_distance.hpp"
#include "silverbirch/simd/instruction_set.hpp"

using namespace silverbirch;

namespace {

struct Group {
  std::vector<double> points;  // one column
  double weight, mean, sse;
};

Group group(std::vector<double> points) {
  double mean = 0.0, sse = 0.0;
  for (const double x : points) mean += x / static_cast<double>(points.size());
  for (const double x : points) sse += (x - mean) * (x - mean);
  const double weight = static_cast<double>(points.size());
  return {std::move(points), weight, mean, sse};
}

// Computes each distance from the points, as the paper defines it.
double brute_force(CfDistance distance, const Group& a, const Group& b) {
  std::vector<double> both = a.points;
  both.insert(both.end(), b.points.begin(), b.points.end());
  const Group ab = group(both);
  double between = 0.0, within = 0.0;
  for (const double x : a.points)
    for (const double y : b.points) between += (x - y) * (x - y);
  for (const double x : both)
    for (const double y : both) within += (x - y) * (x - y);
  switch (distance) {
    case CfDistance::centroid:
    case CfDistance::manhattan: return (a.mean - b.mean) * (a.mean - b.mean);
    case CfDistance::average: return between / (a.weight * b.weight);
    case CfDistance::diameter: return within / (ab.weight * (ab.weight - 1));
    case CfDistance::ward: return ab.sse - a.sse - b.sse;
    case CfDistance::radius: return ab.sse / ab.weight;
  }
  return -1.0;
}

}  // namespace

int main() {
  const Group a = group({1, 2, 4, 9}), b = group({-3, 0.5, 2}), c = group({7});
  for (const std::string_view name : supported_instruction_sets()) {
    use_instruction_set(name);
    for (std::size_t i = 0; i < kCfDistanceNames.size(); ++i) {
      const auto distance = static_cast<CfDistance>(i);
      CHECK(cf_distance_from_name(kCfDistanceNames[i]) == distance);
      for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}, std::pair{a, c}, std::pair{c, a}}) {
        AlignedDoubles block(block_doubles(1)), distances(kLanes);
        for (std::size_t s = 0; s < kLanes; ++s) FeatureSlot(block.data(), 1, s).clear();
        FeatureSlot(block.data(), 1, 2).assign({y.weight, &y.mean, y.sse});
        const Feature query{x.weight, &x.mean, x.sse};
        block_kernels().distances(distance, block.data(), 1, query, 1, distances.data());
        CHECK(close(distances[2], brute_force(distance, x, y)));
        const Nearest nearest = block_kernels().nearest(distance, block.data(), 1, query, {1});
        CHECK(nearest.slot == 2);
        CHECK(nearest.squared_distance == distances[2]);
      }
    }
  }
}

// With several threads the heap looks ahead; the result has the bits of one merge after the other.
#include "check.hpp"
#include "data.hpp"
#include "silverbirch/linkage/cluster.hpp"

using namespace silverbirch;

namespace {

constexpr std::size_t kCount = 24000;  // enough to look ahead

void check_threads(const Features& features, const char* linkage) {
  const auto by = [&](std::size_t threads) {
    const ClusterOptions options{.algorithm = Algorithm::heap, .threads = threads};
    return cluster_features(view(features), linkage_from_name(linkage), Means::of_squares, options, no_progress).z;
  };
  const auto expected = by(1);
  for (const std::size_t threads : {2, 5}) CHECK(by(threads) == expected);
}

Features on_a_grid(std::size_t dim) {
  std::vector<double> points = random_points(kCount, dim, 5);
  for (double& x : points) x = std::round(30.0 * x);  // many distances are equal
  return as_features(points, dim);
}

Features with_spread_and_weights() {
  Features features = as_features(random_points(kCount, 3, 6), 3);
  for (std::size_t i = 0; i < kCount; ++i) {
    features.weight[i] = static_cast<double>(1 + i % 7);
    features.sse[i] = 0.001 * static_cast<double>(i % 5);
  }
  return features;
}

// Each merged cluster is nearer to the next point than its parts were: chains of inversions.
Features on_circles() {
  Features features = as_features(std::vector<double>(2 * kCount), 2);
  for (std::size_t i = 0; i < kCount; ++i) {
    const double angle = 2.0 * 3.14159265358979 * static_cast<double>(i % 5) / 5.0;
    const double size = 1.0 + 1e-6 * static_cast<double>(i / 5);
    features.mean[2 * i] = 10.0 * static_cast<double>(i / 5) + size * std::cos(angle);
    features.mean[2 * i + 1] = size * std::sin(angle);
  }
  return features;
}

}  // namespace

int main() {
  for (const char* linkage : {"centroid", "median", "ward", "average"}) {
    check_threads(as_features(random_points(kCount, 5, 4), 5), linkage);
    check_threads(with_spread_and_weights(), linkage);
  }
  for (const char* linkage : {"centroid", "median"}) {
    check_threads(on_a_grid(2), linkage);
    check_threads(on_a_grid(3), linkage);
    check_threads(on_circles(), linkage);
  }
}

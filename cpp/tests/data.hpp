// Random points for the tests.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "silverbirch/features/features.hpp"

inline std::vector<double> random_points(std::size_t count, std::size_t dim, unsigned seed, double offset = 0.0) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(offset, 1.0);
  std::vector<double> points(count * dim);
  for (double& x : points) x = normal(engine);
  return points;
}

inline silverbirch::Features as_features(const std::vector<double>& points, std::size_t dim) {
  const std::size_t count = points.size() / dim;
  return {dim, std::vector<double>(count, 1.0), points, std::vector<double>(count, 0.0)};
}

// Random dendrograms, and the cost of the best order of their leaves by brute force.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "data.hpp"

struct RandomDendrogram {
  std::size_t leaves = 0, dim = 2;
  std::vector<double> z, points, condensed;

  std::size_t merges() const { return leaves - 1; }
  double distance(std::size_t a, std::size_t b) const {
    if (a > b) std::swap(a, b);
    return condensed[leaves * a - a * (a + 1) / 2 + b - a - 1];
  }
  double cost(const std::vector<std::int64_t>& order) const {
    double sum = 0.0;
    for (std::size_t i = 1; i < order.size(); ++i)
      sum += distance(static_cast<std::size_t>(order[i - 1]), static_cast<std::size_t>(order[i]));
    return sum;
  }
};

// Merges random clusters, or a leaf at a time if it is to be a chain. With `ties`, the points lie on a small grid.
inline RandomDendrogram random_dendrogram(std::size_t leaves, unsigned seed, bool chain = false, bool ties = false) {
  RandomDendrogram d{.leaves = leaves, .z = {}, .points = random_points(leaves, 2, seed), .condensed = {}};
  if (ties)
    for (double& x : d.points) x = std::round(x);
  for (std::size_t i = 0; i < leaves; ++i)
    for (std::size_t j = i + 1; j < leaves; ++j)
      d.condensed.push_back(std::hypot(d.points[2 * i] - d.points[2 * j], d.points[2 * i + 1] - d.points[2 * j + 1]));
  std::mt19937_64 engine(seed);
  std::vector<std::pair<std::size_t, double>> clusters;  // node, leaves
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) clusters.push_back({leaf, 1.0});
  for (std::size_t row = 0; row + 1 < leaves; ++row) {
    if (!(chain && row > 0)) std::shuffle(clusters.begin(), clusters.end(), engine);
    const auto [a, count_a] = clusters.back();
    clusters.pop_back();
    const auto [b, count_b] = clusters.back();
    clusters.back() = {leaves + row, count_a + count_b};
    const bool exchanged = engine() % 2 == 0;
    for (const double value : {static_cast<double>(exchanged ? b : a), static_cast<double>(exchanged ? a : b),
                               static_cast<double>(row), count_a + count_b})
      d.z.push_back(value);
  }
  return d;
}

// From the definition: the costs of all pairs of ends of each node, over all pairs of inner ends.
inline double least_cost(const RandomDendrogram& d) {
  struct Cost {
    std::size_t first, last;
    double cost;
  };
  std::vector<std::vector<Cost>> nodes;
  for (std::size_t leaf = 0; leaf < d.leaves; ++leaf) nodes.push_back({{leaf, leaf, 0.0}});
  for (std::size_t row = 0; row < d.merges(); ++row) {
    std::vector<Cost> merged;
    for (const Cost& a : nodes[static_cast<std::size_t>(d.z[4 * row])])
      for (const Cost& b : nodes[static_cast<std::size_t>(d.z[4 * row + 1])]) {
        const double cost = a.cost + d.distance(a.last, b.first) + b.cost;
        const auto same = std::find_if(merged.begin(), merged.end(),
                                       [&](const Cost& c) { return c.first == a.first && c.last == b.last; });
        if (same == merged.end())
          merged.push_back({a.first, b.last, cost});
        else
          same->cost = std::min(same->cost, cost);
      }
    const std::size_t one_way = merged.size();
    for (std::size_t i = 0; i < one_way; ++i) merged.push_back({merged[i].last, merged[i].first, merged[i].cost});
    nodes.push_back(merged);
  }
  double least = std::numeric_limits<double>::infinity();
  for (const Cost& c : nodes.back()) least = std::min(least, c.cost);
  return least;
}

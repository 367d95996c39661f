#include <cmath>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/nearest_index.hpp"

using namespace silverbirch;

namespace {

std::vector<std::int64_t> by_brute_force(const std::vector<double>& points, const std::vector<double>& queries,
                                         std::size_t dim) {
  std::vector<std::int64_t> nearest(queries.size() / dim);
  for (std::size_t q = 0; q < nearest.size(); ++q) {
    double least = INFINITY;
    for (std::size_t i = 0; i < points.size() / dim; ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < dim; ++k) sum += std::pow(queries[q * dim + k] - points[i * dim + k], 2);
      if (sum < least) {
        least = sum;
        nearest[q] = static_cast<std::int64_t>(i);
      }
    }
  }
  return nearest;
}

// Whatever way is taken, and whatever the rows are: ties, points far from the origin, rows far from all points.
void check_all_ways(const std::vector<double>& points, const std::vector<double>& queries, std::size_t dim) {
  const std::vector<std::int64_t> expected = by_brute_force(points, queries, dim);
  for (const auto way : {NearestIndex::Way::undecided, NearestIndex::Way::tree, NearestIndex::Way::panels}) {
    const NearestIndex index(points.data(), points.size() / dim, dim, no_progress, way);
    std::vector<std::int64_t> nearest(expected.size());
    index.nearest(queries.data(), nearest.size(), nearest.data(), Checkpoint());
    CHECK(nearest == expected);
  }
}

}  // namespace

int main() {
  for (const std::size_t dim : {1, 3, 20, 150})
    for (const std::size_t count : {1, 8, 9, 64, 65, 700}) {
      std::vector<double> points = random_points(count, dim, 11), queries = random_points(400, dim, 12);
      check_all_ways(points, queries, dim);
      std::vector<double> far_points = points, far_queries = queries;
      for (double& x : far_points) x = 1e6 + std::round(1e3 * x) / 1e3;
      for (double& x : far_queries) x = 1e6 + std::round(1e3 * x) / 1e3;
      check_all_ways(far_points, far_queries, dim);

      for (double& x : points) x = std::round(2 * x) / 2;  // many duplicates and ties
      check_all_ways(points, queries, dim);
      for (double& x : queries) x = std::round(2 * x) / 2;
      for (std::size_t k = 0; k < dim; ++k) {
        queries[k] = 1e90;
        queries[dim + k] = -1e25;
      }
      check_all_ways(points, queries, dim);
    }
}

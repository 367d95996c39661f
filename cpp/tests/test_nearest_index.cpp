#include <cmath>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/nearest_index.hpp"

using namespace silverbirch;

int main() {
  for (const std::size_t dim : {1, 3, 20})
    for (const std::size_t count : {1, 8, 9, 64, 65, 700}) {
      std::vector<double> points = random_points(count, dim, 11);
      for (double& x : points) x = std::round(2 * x) / 2;  // many duplicates and ties
      const NearestIndex index(points.data(), count, dim, no_progress);
      const std::vector<double> queries = random_points(200, dim, 12);
      std::vector<std::int64_t> nearest(200);
      index.nearest(queries.data(), nearest.size(), nearest.data(), Checkpoint());
      for (std::size_t q = 0; q < nearest.size(); ++q) {
        std::int64_t best = 0;
        double least = INFINITY;
        for (std::size_t i = 0; i < count; ++i) {
          double sum = 0.0;
          for (std::size_t k = 0; k < dim; ++k) sum += std::pow(queries[q * dim + k] - points[i * dim + k], 2);
          if (sum < least) {
            least = sum;
            best = static_cast<std::int64_t>(i);
          }
        }
        CHECK(nearest[q] == best);
      }
    }
}

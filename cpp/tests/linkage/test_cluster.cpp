#include <cmath>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/linkage/cluster.hpp"
#include "silverbirch/linkage/reference/pairwise_distances.hpp"

using namespace silverbirch;

namespace {

constexpr std::size_t dim = 3, count = 150;

void same_heights(const Merges& a, const Merges& b) {
  if (!CHECK(a.z.size() == b.z.size())) return;
  for (std::size_t i = 2; i < a.z.size(); i += 4) CHECK(close(a.z[i], b.z[i], 1e-9));
}

}  // namespace

int main() {
  const Features points = as_features(random_points(count, dim, 9), dim);
  // Every algorithm that promises the greedy result gives the heights of agnes, whatever it works on.
  for (const Linkage& linkage : kLinkages) {
    const auto by = [&](Algorithm algorithm, Means means = Means::of_squares) {
      return cluster_features(view(points), linkage, means, {.algorithm = algorithm, .threads = 2}, no_progress);
    };
    const Merges reference = by(Algorithm::agnes);
    for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::anderberg, Algorithm::generic})
      same_heights(reference, by(algorithm));
    if (linkage.reducible) same_heights(reference, by(Algorithm::nn_chain));
    if (!linkage.distance) continue;
    for (const Algorithm algorithm : {Algorithm::heap, Algorithm::blocked}) same_heights(reference, by(algorithm));
    if (linkage.vote == Vote::by_weight)
      same_heights(reference, aggregate_features(view(points), *linkage.distance, {}, no_progress));
  }
  // Distances and points give the same heights.
  std::vector<double> distances(count * (count - 1) / 2);
  pairwise_squared_distances(view(points), CfDistance::centroid, distances.data(), 2, no_progress);
  for (double& d : distances) d = std::sqrt(d);
  for (const Linkage& linkage : kLinkages) {
    const Merges reference = cluster_features(view(points), linkage, Means::of_distances, {}, no_progress);
    std::vector<double> pairs = distances;
    same_heights(reference, linkage.prototypes
                                ? cluster_distances_by_prototypes(pairs.data(), points.weight.data(), count, linkage,
                                                                  Algorithm::automatic, no_progress)
                                : cluster_distances(pairs.data(), points.weight.data(), count, linkage,
                                                    Algorithm::automatic, no_progress));
  }
  // before_pairs is called if memory for all pairs is needed, and can refuse it.
  struct Refused {};
  const ClusterOptions refusing{.algorithm = Algorithm::agnes, .before_pairs = [](std::size_t objects) {
                                  CHECK(objects == count);
                                  throw Refused();
                                }};
  for (const Linkage& linkage : kLinkages) {
    bool refused = false;
    try {
      cluster_features(view(points), linkage, Means::of_squares, refusing, no_progress);
    } catch (const Refused&) {
      refused = true;
    }
    CHECK(refused == (linkage.name != "medoid"));
  }
  // A single object gives a dendrogram without merges.
  const Features one = as_features({1, 2, 3}, dim);
  for (const Linkage& linkage : kLinkages)
    CHECK(cluster_features(view(one), linkage, Means::of_squares, {}, no_progress).z.empty());
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::agnes, Algorithm::anderberg, Algorithm::generic,
                                    Algorithm::nn_chain, Algorithm::heap, Algorithm::blocked})
    CHECK(aggregate_features(view(one), CfDistance::centroid, {.algorithm = algorithm}, no_progress).z.empty());
}

#include <cmath>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/linkage/cluster.hpp"

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
  // Features and Lance-Williams recurrence agree, and so do all algorithms that promise the greedy result.
  struct Case {
    Linkage linkage;
    CfDistance distance;
    Vote vote;
    double scale;
    bool reducible;
  };
  for (const Case& c : {Case{Linkage::ward, CfDistance::ward, Vote::by_weight, 2.0, true},
                        Case{Linkage::average, CfDistance::average, Vote::by_weight, 1.0, true},
                        Case{Linkage::weighted, CfDistance::average, Vote::equal, 1.0, true},
                        Case{Linkage::centroid, CfDistance::centroid, Vote::by_weight, 1.0, false},
                        Case{Linkage::median, CfDistance::centroid, Vote::equal, 1.0, false}}) {
    const auto by_matrix = [&](Algorithm algorithm) {
      std::vector<double> condensed(count * (count - 1) / 2);
      pairwise_squared_distances(view(points), c.distance, condensed.data(), 2, no_progress);
      for (double& d : condensed) d *= c.scale;
      return cluster_matrix(condensed.data(), points.weight.data(), count, c.linkage, algorithm, no_progress);
    };
    const auto by_features = [&](Algorithm algorithm) {
      Merges merges = cluster_features(view(points), c.distance, c.vote, algorithm, 1, no_progress);
      for (std::size_t i = 2; i < merges.z.size(); i += 4) merges.z[i] *= c.scale;
      return merges;
    };
    const Merges reference = by_matrix(Algorithm::agnes);
    for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::agnes, Algorithm::anderberg, Algorithm::generic,
                                      Algorithm::nn_chain, Algorithm::blocked}) {
      if (algorithm == Algorithm::nn_chain && !c.reducible) continue;
      if (algorithm != Algorithm::blocked) same_heights(reference, by_matrix(algorithm));
      same_heights(reference, by_features(algorithm));
    }
  }
  // One object is a dendrogram of no merges.
  const Features one = as_features({1, 2, 3}, dim);
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::agnes, Algorithm::anderberg, Algorithm::generic,
                                    Algorithm::nn_chain, Algorithm::heap, Algorithm::blocked})
    CHECK(cluster_features(view(one), CfDistance::centroid, Vote::by_weight, algorithm, 1, no_progress).z.empty());
}

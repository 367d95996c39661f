#include <algorithm>
#include <cmath>
#include <random>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/linkage/blocked/neighbour_lists.hpp"

using namespace silverbirch;

namespace {

constexpr std::size_t kKeep = 6;

// Clusters, their lists, and a search that measures every distance.
struct Model {
  Model(const Features& features, CfDistance distance, Vote vote)
      : clusters(view(features), distance, vote), lists(clusters, kKeep), alive(features.size(), true) {}

  std::vector<NearestCluster> by_distance(ClusterId of) const {
    std::vector<NearestCluster> others;
    for (ClusterId id = 0; id < alive.size(); ++id)
      if (alive[id] && id != of) others.push_back({id, clusters.distance(of, id)});
    std::sort(others.begin(), others.end());
    return others;
  }

  // Assigns what a filter would find whose bounds are `tightness` times the distances.
  void search(ClusterId of, double tightness) {
    const std::vector<NearestCluster> others = by_distance(of);
    std::vector<Bounded> candidates;
    for (std::size_t i = 0; i < std::min(kKeep, others.size()); ++i)
      candidates.push_back({others[i].id, false, tightness * others[i].distance});
    const double reach =
        kKeep < others.size() ? tightness * others[kKeep].distance : std::numeric_limits<double>::infinity();
    CHECK(lists.assign(of, candidates, reach).id == others.front().id);
  }

  void merge(ClusterId a, ClusterId b) {
    lists.merge({{a, b, clusters.distance(a, b)}}, 1);
    clusters.merge(a, b);
    alive[a] = false;
  }

  ClusterPanels clusters;
  NeighbourLists lists;
  std::vector<char> alive;
};

// Merges the nearest pair until one cluster is left. Whenever a list is certain, it agrees with all distances.
void check_lists(const Features& features, CfDistance distance, Vote vote, double tightness, std::size_t& certain) {
  Model model(features, distance, vote);
  const auto count = static_cast<ClusterId>(features.size());
  for (ClusterId id = 0; id < count; ++id) model.search(id, tightness);
  ClusterId merged = kNoCluster;
  for (std::size_t left = count; left > 1; --left) {
    ClusterId a = kNoCluster;
    NearestCluster b;
    for (ClusterId id = 0; id < count; ++id) {
      if (!model.alive[id]) continue;
      const NearestCluster truly = model.by_distance(id).front();
      if (truly < b) a = id, b = truly;
      if (id != merged && (id + left) % 3 == 0) continue;  // its list becomes older
      const NearestCluster said = model.lists.nearest(id);
      if (model.lists.certain(id, truly.distance)) {
        CHECK(said.id == truly.id);
        CHECK(said.distance == truly.distance);
        ++certain;
      } else if ((id + left) % 2 == 0) {
        model.search(id, tightness);
      }
    }
    merged = std::max(a, b.id);
    model.merge(std::min(a, b.id), merged);
  }
}

Features random_features(std::size_t count, std::size_t dim, double decades, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(-decades / 2.0, decades / 2.0);
  Features features = as_features(random_points(count, dim, static_cast<int>(seed)), dim);
  for (std::size_t i = 0; i < count; ++i) {
    features.weight[i] = std::pow(10.0, exponent(random));
    features.sse[i] = i % 3 == 0 ? features.weight[i] : 0.0;
  }
  return features;
}

void lists_are_right_where_they_are_certain() {
  for (const auto& [distance, vote] : {std::pair{CfDistance::ward, Vote::by_weight},
                                       {CfDistance::average, Vote::by_weight},
                                       {CfDistance::average, Vote::equal}})
    for (const double tightness : {1.0, 0.9}) {
      std::size_t certain = 0;
      for (const double decades : {0.0, 1.0, 6.0})
        for (const std::size_t dim : {1, 3, 20})
          for (const unsigned seed : {1u, 2u, 3u})
            check_lists(random_features(60, dim, decades, seed), distance, vote, tightness, certain);
      CHECK(certain > 1000);
    }
}

// Three points. The lists of the first two reach as far as the third but do not hold it.
double joined_reach(const Features& features, CfDistance distance, Vote vote, double& third) {
  Model model(features, distance, vote);
  for (const ClusterId id : {0, 1}) {
    std::vector<Bounded> candidates = {{static_cast<ClusterId>(1 - id), false, 0.0}};
    model.lists.assign(id, candidates, model.clusters.distance(id, 2));
  }
  model.merge(0, 1);
  third = model.clusters.distance(1, 2);
  return model.lists.reach(1);
}

// The reach follows Lance and Williams. If the third point is the lightest, the reach is its distance.
void a_merged_cluster_reaches_as_far_as_the_formula_says() {
  double third = 0.0;
  Features points = as_features({0.0, 0.0, 1.0, 0.0, 0.5, 3.0}, 2);
  CHECK(close(joined_reach(points, CfDistance::ward, Vote::by_weight, third), 6.0, 1e-12));
  CHECK(close(third, 6.0, 1e-12));
  CHECK(close(joined_reach(points, CfDistance::average, Vote::by_weight, third), 9.25, 1e-12));
  points.mean[4] = 2.0;  // farther from the first point than from the second
  points.weight = {3.0, 1.0, 0.5};
  CHECK(close(joined_reach(points, CfDistance::average, Vote::by_weight, third), 0.75 * 13.0 + 0.25 * 10.0, 1e-12));
  CHECK(close(third, 0.75 * 13.0 + 0.25 * 10.0, 1e-12));
  CHECK(close(joined_reach(points, CfDistance::average, Vote::equal, third), 0.5 * (13.0 + 10.0), 1e-12));
  CHECK(close(third, 0.5 * (13.0 + 10.0), 1e-12));
  for (const double weight : {0.5, 3.0, 1e6, 1e-6}) {
    points.weight = {3.0, 1.0, weight};
    const double reach = joined_reach(points, CfDistance::ward, Vote::by_weight, third);
    CHECK(reach <= third * (1.0 + 1e-12));
  }
}

}  // namespace

int main() {
  lists_are_right_where_they_are_certain();
  a_merged_cluster_reaches_as_far_as_the_formula_says();
}

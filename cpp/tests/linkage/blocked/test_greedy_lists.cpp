#include <algorithm>
#include <random>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/linkage/blocked/greedy_lists.hpp"

using namespace silverbirch;

namespace {

constexpr std::size_t kKeep = 6;

// Clusters, their lists, and a search that measures every distance.
struct Model {
  Model(const Features& features, Vote vote)
      : clusters(view(features), CfDistance::centroid, vote), lists(clusters), alive(features.size(), true) {}

  // Assigns what a filter would find whose bounds are `tightness` times the distances.
  void search(ClusterId of, double tightness) {
    std::vector<NearestCluster> others;
    for (ClusterId id = 0; id < alive.size(); ++id)
      if (alive[id] && id != of) others.push_back({id, clusters.distance(of, id)});
    std::sort(others.begin(), others.end());
    std::vector<Bounded> candidates;
    for (std::size_t i = 0; i < std::min(kKeep, others.size()); ++i)
      candidates.push_back({others[i].id, false, tightness * others[i].distance});
    const double reach =
        kKeep < others.size() ? tightness * others[kKeep].distance : std::numeric_limits<double>::infinity();
    if (lists.assign(of, candidates, reach)) return;
    candidates.clear();  // the nearest may be anywhere
    for (const NearestCluster& other : others) candidates.push_back({other.id, false, tightness * other.distance});
    CHECK(lists.assign(of, candidates, std::numeric_limits<double>::infinity()));
  }

  // What a cluster knows of its nearest one: no more than its key in the heap.
  double key(ClusterId of) { return lists.front(of).distance; }

  void merge(ClusterId a, ClusterId b) {
    const double distance = clusters.distance(a, b);
    lists.merge({a, b, distance});
    clusters.merge(a, b);
    lists.measure_recent(b);
    alive[a] = false;
  }

  ClusterPanels clusters;
  GreedyLists lists;
  std::vector<char> alive;
};

// Merges the nearest pair until one cluster is left. At each step the least key bounds all pairs, though few clusters
// search.
void check_greedy(const Features& features, Vote vote, double tightness, std::size_t& searches) {
  Model model(features, vote);
  const auto count = static_cast<ClusterId>(features.size());
  for (ClusterId id = 0; id < count; ++id) model.search(id, tightness);
  for (std::size_t left = count; left > 1; --left) {
    ClusterPair nearest{kNoCluster, kNoCluster, std::numeric_limits<double>::infinity()};
    for (ClusterId a = 0; a < count; ++a)
      for (ClusterId b = a + 1; b < count; ++b)
        if (model.alive[a] && model.alive[b])
          if (const double distance = model.clusters.distance(a, b); distance < nearest.distance)
            nearest = {a, b, distance};
    for (;;) {  // as the heap does
      ClusterId first = kNoCluster;
      for (ClusterId id = 0; id < count; ++id)
        if (model.alive[id] && (first == kNoCluster || model.key(id) < model.key(first))) first = id;
      CHECK(model.key(first) <= nearest.distance);
      const Bounded front = model.lists.front(first);
      if (front.exact && front.distance == nearest.distance) break;
      if (!CHECK(!front.exact)) return;
      if (front.id == kNoCluster) {
        model.search(first, tightness);
        ++searches;
      } else {
        model.lists.measure_front(first);
      }
    }
    model.merge(nearest.a, nearest.b);
    if (model.lists.recent().size() < 5) continue;
    for (const ClusterId recent : model.lists.recent())
      for (ClusterId id = 0; id < count; ++id)
        if (model.alive[id] && id != recent)
          model.lists.offer(id, {recent, false, tightness * model.clusters.distance(id, recent)});
    const std::vector<ClusterId> recent = model.lists.recent();
    for (const ClusterId id : recent) model.search(id, tightness);
    model.lists.forget_recent();
  }
}

void the_least_key_bounds_all_pairs() {
  std::size_t searches = 0, merges = 0;
  for (const Vote vote : {Vote::by_weight, Vote::equal})
    for (const double tightness : {1.0, 0.9})
      for (const std::size_t dim : {1, 3, 40})
        for (const int seed : {1, 2, 3}) {
          Features features = as_features(random_points(60, dim, seed), dim);
          for (std::size_t i = 0; i < features.size(); ++i) features.weight[i] = 1.0 + static_cast<double>(i % 5);
          check_greedy(features, vote, tightness, searches);
          merges += features.size();
        }
  CHECK(searches < 2 * merges);
}

// The bound of a merged cluster's distances is the distance itself, if both parents know theirs.
void entries_follow_lance_and_williams() {
  const Features points = as_features({0.0, 0.0, 2.0, 0.0, 1.0, 1.5}, 2);
  Model model(points, Vote::by_weight);
  for (const ClusterId id : {0, 1, 2}) model.search(id, 1.0);
  model.merge(0, 1);  // nearer to the third point than both parents were
  CHECK(close(model.key(1), 2.25, 1e-12));
  CHECK(model.key(1) <= model.clusters.distance(1, 2));
}

// More clusters at one distance than a list may hold: those of least number stay.
void equal_distances_are_listed_by_number() {
  constexpr std::size_t kCount = 200;
  std::vector<double> corners(kCount * kCount, 0.0);
  for (std::size_t i = 0; i < kCount; ++i) corners[i * kCount + i] = 1.0;
  Model model(as_features(corners, kCount), Vote::by_weight);
  std::vector<Bounded> all;
  for (ClusterId id = kCount; id-- > 1;) all.push_back({id, false, model.clusters.distance(0, id)});
  CHECK(model.lists.assign(0, all, std::numeric_limits<double>::infinity()));
  CHECK(model.lists.front(0).id == 1);
  CHECK(model.lists.reach(0) == model.clusters.distance(0, 1));
}

}  // namespace

int main() {
  the_least_key_bounds_all_pairs();
  entries_follow_lance_and_williams();
  equal_distances_are_listed_by_number();
}

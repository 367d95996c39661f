// A minimum spanning tree by Kruskal's algorithm [1956, "On the shortest spanning subtree of a graph and the traveling
// salesman problem"], which takes the pairs from a lazy heap: each point offers the first entry of its list, or else
// its reach (greedy_lists.hpp). Entries within the point's own component are dropped. When a reach comes to the top,
// its point searches among the other components, together with those that will be next.
//
// Of each pair of points in different components, it is enough that one covers the other. So the points of a component
// that holds more than half of all need not search: there is only one such component, and the others reach it.
#include "silverbirch/linkage/blocked/single.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/linkage/blocked/greedy_lists.hpp"
#include "silverbirch/linkage/spanning_tree.hpp"

namespace silverbirch {

namespace {

constexpr std::size_t kListLength = 16, kPreciseLength = 64;

class BlockedSingle {
 public:
  BlockedSingle(const FeaturesView& points, std::size_t threads, const Progress& progress)
      : progress_(progress),
        threads_(threads),
        means_(points),
        points_(points, CfDistance::centroid, Vote::by_weight, threads),
        search_(points_, points_.fastest_form(), kListLength, threads, progress),
        precise_search_(points_, fast_form(), kPreciseLength, threads, progress),
        lists_(points_),
        component_(points.size),
        members_(points.size),
        version_(points.size, 0) {
    std::iota(component_.begin(), component_.end(), ClusterId{0});
    for (ClusterId id = 0; id < points.size; ++id) members_[id] = {id};
  }

  Merges run() && {
    for (const auto& [a, b] : points_.duplicates()) {
      points_.merge(a, b);
      join(a, b);
    }
    points_.compact();
    first_search();
    while (edges_.size() + 1 < means_.size) {
      const Key key = keys_.top();
      keys_.pop();
      if (key.version != version_[key.point]) continue;
      const Bounded front = outside(key.point);
      if (front.id != key.other || front.exact != key.exact || front.distance != key.distance)
        push(key.point);
      else if (key.exact) {
        join(key.point, key.other);
        push(key.point);
      } else if (key.other != kNoCluster) {
        lists_.measure_front(key.point);
        push(key.point);
      } else if (!in_majority(key.point)) {
        search_again();
      }
    }
    return measured();
  }

 private:
  // Among equal distances, bounds come before exact ones. So all ties are known before a pair joins, and the numbers
  // decide.
  struct Key {
    double distance;
    ClusterId point, other;  // other is kNoCluster if the distance is a reach
    bool exact;
    std::uint32_t version;

    auto rank() const { return std::tuple(exact, std::min(point, other), std::max(point, other)); }
    // The least key is the top of the queue.
    bool operator<(const Key& than) const {
      return than.distance != distance ? than.distance < distance : than.rank() < rank();
    }
  };

  auto take() {
    return
        [this](ClusterId id, std::vector<Bounded>& candidates, double reach) { lists_.assign(id, candidates, reach); };
  }

  void first_search() {
    std::vector<ClusterId> all;
    for (std::size_t slot = 0; slot < points_.slots(); ++slot) all.push_back(points_.id_at(slot));
    if (all.size() < 2) return;
    search_.all(all, std::numeric_limits<double>::infinity(), take());
    finish_search(all);
    search_.separate(component_.data());
    precise_search_.separate(component_.data());
  }

  // The nearest entry in another component, or the reach.
  Bounded outside(ClusterId id) {
    Bounded front = lists_.front(id);
    for (; front.id != kNoCluster && component_[front.id] == component_[id]; front = lists_.front(id))
      lists_.drop_front(id);
    return front;
  }

  bool in_majority(ClusterId id) const { return 2 * members_[component_[id]].size() > means_.size; }

  void push(ClusterId id) {
    const Bounded front = outside(id);
    keys_.push({front.distance, id, front.id, front.exact, ++version_[id]});
    if (front.id == kNoCluster) waiting_.push_back(id);
  }

  // Those with the least reaches search, as many as a pass takes.
  void search_again() {
    std::erase_if(waiting_, [&](ClusterId id) { return in_majority(id); });
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kQueriesAPass));
    const auto rank = [&](ClusterId id) {
      return std::pair(lists_.reach(id), id);
    };  // the top of the heap is the first
    std::partial_sort(waiting_.begin(), end, waiting_.end(),
                      [&](ClusterId x, ClusterId y) { return rank(x) < rank(y); });
    const std::vector<ClusterId> queries(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    (queries.size() < kQueriesAPass ? precise_search_ : search_).some(queries, take());
    finish_search(queries);
  }

  // Searches closely for the queries where the filter could not tell which point is nearest.
  void finish_search(const std::vector<ClusterId>& queries) {
    std::vector<ClusterId> unsure;
    for (const ClusterId id : queries)
      if (lists_.front(id).id == kNoCluster) unsure.push_back(id);
    precise_search_.closely(unsure, [this](ClusterId id) { return lists_.reach(id); }, take());
    for (const ClusterId id : queries) push(id);
  }

  void join(ClusterId a, ClusterId b) {
    edges_.push_back({std::min(a, b), std::max(a, b), 0.0});
    ClusterId into = component_[a], from = component_[b];
    if (members_[into].size() < members_[from].size()) std::swap(into, from);
    for (const ClusterId id : members_[from]) component_[id] = into;
    members_[into].insert(members_[into].end(), members_[from].begin(), members_[from].end());
    members_[from] = {};
    progress_(edges_.size(), means_.size - 1);
  }

  // The lengths of the edges, by the same order of additions as in the other algorithms for single linkage.
  Merges measured() {
    parallel_for(edges_.size(), 256, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double *a = means_[edges_[i].a].mean, *b = means_[edges_[i].b].mean;
        for (std::size_t k = 0; k < means_.dim; ++k) edges_[i].length += (a[k] - b[k]) * (a[k] - b[k]);
      }
    });
    return merges_of_tree(edges_, std::less(), std::identity(), threads_);
  }

  const Progress& progress_;
  std::size_t threads_;
  const FeaturesView& means_;
  ClusterPanels points_;
  ExactSearch search_, precise_search_;
  GreedyLists lists_;
  std::vector<ClusterId> component_;
  std::vector<std::vector<ClusterId>> members_;  // of each component
  std::vector<std::uint32_t> version_;           // of the valid key in the heap
  std::priority_queue<Key> keys_;
  std::vector<ClusterId> waiting_;  // points that offer their reach
  UnsetVector<TreeEdge> edges_;
};

}  // namespace

Merges cluster_blocked_single(const FeaturesView& points, std::size_t threads, const Progress& progress) {
  return BlockedSingle(points, threads, progress).run();
}

}  // namespace silverbirch

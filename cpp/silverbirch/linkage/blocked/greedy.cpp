// Merges the nearest pair of all at each step, from a lazy heap of what each cluster knows of its nearest neighbour:
// the first entry of its list, or else its reach (greedy_lists.hpp). If the top is the distance of a pair, no pair is
// nearer, and the pair is merged. If it is a bound of such a distance, the distance is measured. If it is a reach, its
// cluster searches. Which lists there are does not matter for the result: the merges depend only on exact distances and
// numbers.
#include "silverbirch/linkage/blocked/greedy.hpp"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "silverbirch/linkage/blocked/greedy_lists.hpp"

namespace silverbirch {

namespace {

constexpr std::size_t kListLength = 16, kPreciseLength = 64;
// So many searches take little longer than one.
constexpr std::size_t kSearchesAtOnce = kGroupLanes;

class BlockedGreedy {
 public:
  BlockedGreedy(const FeaturesView& features, Vote vote, std::size_t threads, const Progress& progress)
      : progress_(progress),
        clusters_(features, CfDistance::centroid, vote, threads),
        search_(clusters_, clusters_.fastest_form(), kListLength, threads, progress),
        precise_search_(clusters_, fast_form(), kPreciseLength, threads, progress),
        lists_(clusters_),
        history_(features.size),
        active_(features.size),
        version_(features.size, 0) {}

  Merges run() && {
    for (const auto& [a, b] : clusters_.duplicates()) {
      lists_.merge(a, b);
      merge(a, b, 0.0);
    }
    clusters_.compact();
    if (active_ > 1) first_search();
    while (active_ > 1) {
      const Key key = keys_.top();
      keys_.pop();
      if (!lists_.exists(key.cluster) || key.version != version_[key.cluster]) continue;
      const Bounded front = lists_.front(key.cluster);
      if (front.id != key.other || front.exact != key.exact || front.distance != key.distance)
        push(key.cluster);
      else if (key.exact)
        merge_nearest(key);
      else if (key.other == kNoCluster)
        search_again(key.cluster);
      else {
        lists_.measure_front(key.cluster);
        push(key.cluster);
      }
    }
    return std::move(history_).finish(false);
  }

 private:
  // Among equal distances, bounds come before exact ones. So all ties are known before a merge, and the numbers decide.
  struct Key {
    double distance;
    ClusterId cluster, other;  // other is kNoCluster if the distance is a reach
    bool exact;
    std::uint32_t version;

    auto rank() const { return std::tuple(exact, std::min(cluster, other), std::max(cluster, other)); }
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
    std::vector<ClusterId> all(clusters_.slots());
    for (std::size_t slot = 0; slot < all.size(); ++slot) all[slot] = clusters_.id_at(slot);
    search_.all(all, std::numeric_limits<double>::infinity(), take());
    finish_search(all);
  }

  void search_again(ClusterId id) {
    std::vector<ClusterId> queries = {id};
    precise_search_.some(queries, take());
    finish_search(queries);
  }

  // The recent clusters search, and all others learn of them.
  void exchange() {
    const std::vector<ClusterId> recent = lists_.recent();
    const auto reach = [&](ClusterId id) { return lists_.reach(id); };
    search_.mutually(recent, reach, [&](ClusterId to, const Bounded& recent) { lists_.offer(to, recent); }, take());
    lists_.forget_recent();
    finish_search(recent);
  }

  // Searches closely for the queries where the filter could not tell which cluster is nearest.
  void finish_search(const std::vector<ClusterId>& queries) {
    std::vector<ClusterId> unsure;
    for (const ClusterId id : queries)
      if (lists_.front(id).id == kNoCluster) unsure.push_back(id);
    search_.closely(unsure, [this](ClusterId id) { return lists_.reach(id); }, take());
    for (const ClusterId id : queries) push(id);
  }

  void push(ClusterId id) {
    const Bounded front = lists_.front(id);
    keys_.push({front.distance, id, front.id, front.exact, ++version_[id]});
  }

  void merge_nearest(const Key& key) {
    const ClusterId a = std::min(key.cluster, key.other), b = std::max(key.cluster, key.other);
    lists_.merge({a, b, key.distance});
    merge(a, b, key.distance);
    if (on(Mechanism::compaction) && active_ <= clusters_.slots() / 4 * 3) clusters_.compact();
    lists_.measure_recent(b);
    if (lists_.recent().size() == kQueriesAPass)
      exchange();
    else
      push(b);
    progress_(history_.size(), version_.size());
  }

  void merge(ClusterId a, ClusterId b, double height) {
    history_.record(a, b, height);
    clusters_.merge(a, b);
    --active_;
  }

  const Progress& progress_;
  ClusterPanels clusters_;
  ExactSearch search_, precise_search_;
  GreedyLists lists_;
  MergeHistory history_;
  std::size_t active_;
  std::vector<std::uint32_t> version_;  // of the valid key in the heap
  std::priority_queue<Key> keys_;
};

}  // namespace

Merges cluster_blocked_greedily(const FeaturesView& features, Vote vote, std::size_t threads,
                                const Progress& progress) {
  return BlockedGreedy(features, vote, threads, progress).run();
}

}  // namespace silverbirch

// Merges the nearest pair of all at each step, from a lazy heap of nearest neighbours.
//
// The list of a cluster holds its nearest few among the clusters that existed at its last search. All others of these
// lie at `reach` or beyond. A new cluster searches at once. So of every pair, the cluster formed later has the other
// one on its list or beyond its reach: the first entry that still exists, or else the reach, is a lower bound for all
// pairs that a cluster answers for. The heap holds one such bound per cluster. If the top is an entry, no pair is
// nearer, and the pair is merged. If the top is a reach, its cluster searches again. Entries are exact distances of
// unchanged clusters, so nothing is rounded twice, and the merges depend only on exact distances and numbers.
#include "silverbirch/linkage/blocked/greedy.hpp"

#include <algorithm>
#include <iterator>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "silverbirch/linkage/blocked/exact_search.hpp"

namespace silverbirch {

namespace {

constexpr std::size_t kListLength = 16;

class BlockedGreedy {
 public:
  BlockedGreedy(const FeaturesView& features, Vote vote, std::size_t threads, const Progress& progress)
      : progress_(progress),
        clusters_(features, CfDistance::centroid, vote),
        search_(clusters_, fast_form(), kListLength, threads, progress),
        history_(features.size),
        active_(features.size),
        entries_(features.size * kListLength),
        lists_(features.size) {}

  Merges run() && {
    for (const auto& [a, b] : clusters_.duplicates()) merge(a, b, 0.0);
    clusters_.compact();
    if (active_ > 1) first_search();
    while (active_ > 1) {
      const Key key = keys_.top();
      keys_.pop();
      if (!lists_[key.cluster].exists || key.version != lists_[key.cluster].version) continue;
      if (key.other == kNoCluster)
        search_again({key.cluster});
      else if (skip_gone(key.cluster))
        push(key.cluster);
      else
        merge_nearest(key);
    }
    return std::move(history_).finish(false);
  }

 private:
  // Among equal distances, bounds come before exact ones. So all ties are known before a merge, and the numbers decide.
  struct Key {
    double distance;
    ClusterId cluster, other;  // other is kNoCluster if the distance is only a bound
    std::uint32_t version;

    auto rank() const {
      return std::tuple(distance, other != kNoCluster, std::min(cluster, other), std::max(cluster, other));
    }
    bool operator<(const Key& than) const { return than.rank() < rank(); }  // the least key is the top of the queue
  };

  struct List {
    bool exists = true;
    std::uint32_t first = 0, end = 0;
    std::uint32_t formed_at = 0, searched_at = 0;  // counted in merges
    std::uint32_t version = 0;                     // version of the valid key in the heap
    NearestCluster reach;
  };

  const NearestCluster& front(ClusterId id) const { return entries_[id * kListLength + lists_[id].first]; }
  bool empty(ClusterId id) const { return lists_[id].first == lists_[id].end; }

  auto take() {
    return [this](ClusterId id, const std::vector<Bounded>& candidates, double reach) {
      std::vector<NearestCluster> measured;
      for (const Bounded& candidate : candidates)
        measured.push_back({candidate.id, clusters_.distance(id, candidate.id)});
      assign(id, measured, reach);
    };
  }

  void first_search() {
    std::vector<ClusterId> all(clusters_.slots());
    for (std::size_t slot = 0; slot < all.size(); ++slot) all[slot] = clusters_.id_at(slot);
    search_.all(all, std::numeric_limits<double>::infinity(), take());
    finish_search(all);
  }

  void search_again(const std::vector<ClusterId>& queries) {
    search_.some(queries, take());
    finish_search(queries);
  }

  // Searches closely for the queries where the filter could not tell which cluster is nearest.
  void finish_search(const std::vector<ClusterId>& queries) {
    std::vector<ClusterId> unsure;
    std::copy_if(queries.begin(), queries.end(), std::back_inserter(unsure), [&](ClusterId id) { return empty(id); });
    search_.closely(unsure, [this](ClusterId id) { return lists_[id].reach.distance; }, take());
    for (const ClusterId id : queries) push(id);
  }

  // Keeps the measured clusters that come before the reach. If there are none, the reach becomes the nearest measured
  // distance, which is an upper bound for search_.closely.
  void assign(ClusterId id, std::vector<NearestCluster>& measured, double reach) {
    List& list = lists_[id];
    // The clusters that the filter left out are at least that far, up to the rounding of a distance in float64.
    list.reach = {0, reach * (1.0 - static_cast<double>(clusters_.dim() + 32) * 0x1p-53)};
    list.searched_at = merges_;
    std::sort(measured.begin(), measured.end());
    if (measured.size() > kListLength) list.reach = std::min(list.reach, measured[kListLength]);
    list.first = list.end = 0;
    for (std::size_t i = 0; i < std::min(measured.size(), kListLength) && measured[i] < list.reach; ++i)
      entries_[id * kListLength + list.end++] = measured[i];
    if (list.end == 0 && !measured.empty()) list.reach = measured.front();
  }

  // Drops entries from the front that have merged since the search. Returns whether there were any.
  bool skip_gone(ClusterId id) {
    List& list = lists_[id];
    const std::uint32_t before = list.first;
    const auto gone = [&](const List& other) { return !other.exists || other.formed_at > list.searched_at; };
    while (!empty(id) && gone(lists_[front(id).id])) ++list.first;
    return list.first != before;
  }

  void push(ClusterId id) {
    skip_gone(id);
    List& list = lists_[id];
    ++list.version;
    if (empty(id))
      keys_.push({list.reach.distance, id, kNoCluster, list.version});
    else
      keys_.push({front(id).distance, id, front(id).id, list.version});
  }

  void merge_nearest(const Key& key) {
    const ClusterId a = std::min(key.cluster, key.other), b = std::max(key.cluster, key.other);
    merge(a, b, key.distance);
    if (on(Mechanism::compaction) && active_ <= clusters_.slots() / 4 * 3) clusters_.compact();
    if (active_ > 1) search_again({b});
    progress_(history_.size(), lists_.size());
  }

  void merge(ClusterId a, ClusterId b, double height) {
    history_.record(a, b, height);
    clusters_.merge(a, b);
    lists_[a].exists = false;
    lists_[b].formed_at = ++merges_;
    --active_;
  }

  const Progress& progress_;
  ClusterPanels clusters_;
  ExactSearch search_;
  MergeHistory history_;
  std::size_t active_;
  std::vector<NearestCluster> entries_;
  std::vector<List> lists_;
  std::priority_queue<Key> keys_;
  std::uint32_t merges_ = 0;
};

}  // namespace

Merges cluster_blocked_greedily(const FeaturesView& features, Vote vote, std::size_t threads,
                                const Progress& progress) {
  return BlockedGreedy(features, vote, threads, progress).run();
}

}  // namespace silverbirch

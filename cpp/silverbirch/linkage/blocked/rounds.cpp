// Rounds of reciprocal nearest neighbours [Murtagh 1983; Sumengen et al. 2021, "Scaling Hierarchical Agglomerative
// Clustering to Billion-sized Datasets"; Yu et al. 2021, "ParChain"]: for a reducible linkage, all pairs of clusters
// that are nearest to each other may merge at once.
//
// A cluster searches its nearest neighbour only if needed: if it is new, or if it is the nearest neighbour of a cluster
// whose own neighbour is known. So from any known cluster, the path along nearest neighbours leads to a pair that can
// merge, and each round has at least one such pair. Which clusters search follows from exact distances alone, not from
// lists, threads or the filter. So does the result.
#include "silverbirch/linkage/blocked/rounds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "silverbirch/linkage/blocked/neighbour_lists.hpp"

namespace silverbirch {

namespace {

// Measured: longer lists save searches, but cost exact distances to clusters that have merged since. From 16 to 24
// there is no difference.
constexpr std::size_t kListLength = 16;
constexpr std::size_t kProbes = 64;

class BlockedRounds {
 public:
  BlockedRounds(const FeaturesView& features, CfDistance distance, Vote vote, std::size_t threads,
                const Progress& progress)
      : progress_(progress),
        threads_(threads),
        clusters_(features, distance, vote, threads),
        search_(clusters_, clusters_.fastest_form(), kListLength, threads, progress),
        lists_(clusters_, kListLength),
        history_(features.size),
        active_(features.size),
        nearest_(features.size),
        known_(features.size, false),
        followers_(features.size, kNoCluster),
        next_(features.size, kNoCluster) {}

  Merges run() && {
    for (const auto& [a, b] : clusters_.duplicates()) merge({{a, b, 0.0}});
    new_clusters_.clear();
    clusters_.compact();
    if (active_ > 1) first_round();
    while (active_ > 1) {
      std::vector<ClusterId> resolved, wanted = std::move(new_clusters_);
      new_clusters_.clear();
      while (!wanted.empty()) {
        resolve(wanted);
        resolved.insert(resolved.end(), wanted.begin(), wanted.end());
        wanted = unknown_neighbours(wanted);
      }
      if (!merge_pairs(resolved)) forget_all();
    }
    return std::move(history_).finish(true);
  }

 private:
  auto take() {
    return [this](ClusterId id, std::vector<Bounded>& candidates, double reach) {
      nearest_[id] = lists_.assign(id, candidates, reach);
    };
  }

  void first_round() {
    std::vector<ClusterId> all(clusters_.slots());
    for (std::size_t slot = 0; slot < all.size(); ++slot) all[slot] = clusters_.id_at(slot);
    const double farthest = probe(all);
    const double within = on(Mechanism::first_cut) ? farthest : std::numeric_limits<double>::infinity();
    search_.all(all, within, take());
    std::vector<ClusterId> far;  // their nearest cluster may lie beyond `within`
    for (const ClusterId id : unsure_among(all))
      if (lists_.reach(id) > within) far.push_back(id);
    if (!far.empty()) search_.some(far, take());
    search_closely(all);
    for (const ClusterId id : all) follow(id);
    merge_pairs(all);
  }

  // A few queries show which form of the filter is precise enough, and up to which distance a search is worth its time.
  double probe(const std::vector<ClusterId>& all) {
    std::vector<ClusterId> probes;
    const std::size_t step = std::max<std::size_t>(all.size() / kProbes, kProbes);
    for (std::size_t i = 0; i < all.size(); i += step) probes.push_back(all[i]);
    double unsure_share;
    do {
      search_.some(probes, take());
      unsure_share = static_cast<double>(unsure_among(probes).size()) / static_cast<double>(probes.size());
    } while (search_.refine(unsure_share));
    double farthest = 0.0;
    for (const ClusterId id : probes) farthest = std::max(farthest, lists_.reach(id));
    return farthest;
  }

  // Finds the nearest neighbours of some clusters: from their lists if these reach far enough, else by a search.
  void resolve(const std::vector<ClusterId>& wanted) {
    search_.each(wanted.size(), 8, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) nearest_[wanted[i]] = lists_.nearest(wanted[i]);
    });
    const std::vector<ClusterId> unsure = on(Mechanism::neighbour_lists) ? unsure_among(wanted) : wanted;
    if (!unsure.empty()) {
      search_.some(unsure, take());
      search_closely(unsure);
    }
    for (const ClusterId id : wanted) follow(id);
  }

  void search_closely(const std::vector<ClusterId>& ids) {
    search_.closely(unsure_among(ids), [this](ClusterId id) { return nearest_[id].distance; }, take());
  }

  std::vector<ClusterId> unsure_among(const std::vector<ClusterId>& ids) const {
    std::vector<ClusterId> unsure;
    for (const ClusterId id : ids)
      if (!lists_.certain(id, nearest_[id].distance)) unsure.push_back(id);
    return unsure;
  }

  std::vector<ClusterId> unknown_neighbours(const std::vector<ClusterId>& of) {
    std::vector<ClusterId> unknown;
    for (const ClusterId id : of)
      if (!known_[nearest_[id].id]) unknown.push_back(nearest_[id].id);
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    return unknown;
  }

  bool merge_pairs(const std::vector<ClusterId>& resolved) {
    std::vector<ClusterPair> pairs;
    for (const ClusterId id : resolved) {
      const ClusterId other = nearest_[id].id;
      if (known_[other] && nearest_[other].id == id)
        pairs.push_back({std::min(id, other), std::max(id, other), nearest_[id].distance});
    }
    const auto order = [](const ClusterPair& pair) { return std::pair(pair.a, pair.b); };
    std::sort(pairs.begin(), pairs.end(), [&](const auto& x, const auto& y) { return order(x) < order(y); });
    const auto same = [&](const auto& x, const auto& y) { return order(x) == order(y); };
    pairs.erase(std::unique(pairs.begin(), pairs.end(), same), pairs.end());
    for (const ClusterPair& pair : pairs) {
      forget_followers(pair.a);
      forget_followers(pair.b);
    }
    merge(pairs);
    progress_(history_.size(), known_.size());
    if (on(Mechanism::compaction) && active_ <= clusters_.slots() / 4 * 3) clusters_.compact();
    return !pairs.empty();
  }

  void merge(const std::vector<ClusterPair>& pairs) {
    lists_.merge(pairs, threads_);
    clusters_.merge(pairs);
    for (const auto& [a, b, distance] : pairs) {
      history_.record(a, b, distance);
      new_clusters_.push_back(b);
    }
    active_ -= pairs.size();
  }

  // The followers of a cluster are those whose nearest neighbour it is, as a linked list. When it merges, the
  // neighbours of its followers become unknown. A cluster follows the same neighbour until then, so a list is only ever
  // dropped whole.
  void follow(ClusterId id) {
    const ClusterId leader = nearest_[id].id;
    known_[id] = true;
    next_[id] = followers_[leader];
    followers_[leader] = id;
  }

  void forget_followers(ClusterId id) {
    for (ClusterId f = followers_[id]; f != kNoCluster; f = next_[f]) known_[f] = false;
    followers_[id] = kNoCluster;
  }

  // In an equilateral triangle, rounding may put a merged cluster nearer to a third one than that one's known
  // neighbour, and three clusters may follow each other in a circle. Once all clusters have searched again, the nearest
  // pair of all is found.
  void forget_all() {
    std::fill(followers_.begin(), followers_.end(), kNoCluster);
    for (std::size_t slot = 0; slot < clusters_.slots(); ++slot)
      if (const ClusterId id = clusters_.id_at(slot); id != kNoCluster) {
        known_[id] = false;
        new_clusters_.push_back(id);
      }
  }

  const Progress& progress_;
  std::size_t threads_;
  ClusterPanels clusters_;
  ExactSearch search_;
  NeighbourLists lists_;
  MergeHistory history_;
  std::size_t active_;
  std::vector<NearestCluster> nearest_;
  std::vector<char> known_;
  std::vector<ClusterId> followers_, next_;
  std::vector<ClusterId> new_clusters_;
};

}  // namespace

Merges cluster_blocked(const FeaturesView& features, CfDistance distance, Vote vote, std::size_t threads,
                       const Progress& progress) {
  return BlockedRounds(features, distance, vote, threads, progress).run();
}

}  // namespace silverbirch

// What each cluster knows of the others when only the nearest pair of all merges at each step: for centroid and median
// linkage, which are not reducible.
//
// The list of a cluster holds clusters with their distances, or with lower bounds of them. A cluster X covers Y if Y is
// on its list or d(X, Y) is at least its reach. Of each pair, one covers the other. So the least of all entries and
// reaches is a lower bound for all pairs, and if it is the distance of a pair, no pair is nearer.
//
// A cluster covers all others but the recent ones, which are few and formed after it. Therefore A∪B needs no search
// when it forms. For any other cluster Y [Lance & Williams 1967, "A General Theory of Classificatory Sorting
// Strategies"],
//   d(A∪B, Y) = (n_A d(A, Y) + n_B d(B, Y)) / n - n_A n_B d(A, B) / n²,  n = n_A + n_B,
// which grows with d(A, Y) and with d(B, Y). If Y is not recent, both parents cover it, by an entry or by their reach.
// With these two numbers the formula gives a bound for Y, and with both reaches it gives the reach of A∪B. So d(A∪B, Y)
// may be less than d(A, Y) and d(B, Y), as it happens in these linkages, but never by more than the last term, which is
// at most d(A, B) / 4. The distances to the recent clusters are measured, and A∪B becomes recent. When the recent
// clusters get many, they search together, the others learn of them (`offer`), and they are recent no more.
//
// Rounding: let u = 2⁻⁵³. A computed distance has a relative error of at most e = (dim + 32)·u, and e covers the few
// roundings of the formula. Each term gives way by e before the last one is subtracted. The merged mean is off by at
// most 8u·extent (extent bounds the norm of all means), and the root of each of its distances by as much. What is left
// gives way by e once more: then it is a lower bound of the distance that would be computed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "silverbirch/linkage/blocked/exact_search.hpp"

namespace silverbirch {

class GreedyLists {
 public:
  explicit GreedyLists(const ClusterPanels& clusters)
      : clusters_(clusters),
        lists_(clusters.objects()),
        formed_at_(clusters.objects(), 0),
        is_recent_(clusters.objects(), false),
        from_a_(clusters.objects(), kNotListed) {}

  bool exists(ClusterId id) const { return formed_at_[id] != kMerged; }
  double reach(ClusterId of) const { return lists_[of].reach.distance; }

  // The nearest entry, or the reach of an empty list, with kNoCluster.
  Bounded front(ClusterId of) {
    List& list = lists_[of];
    while (!list.entries.empty() && !exists(list.entries.back())) list.entries.pop_back();
    if (list.entries.empty()) return {kNoCluster, false, list.reach.distance};
    const Entry& nearest = list.entries.back();
    return {nearest.id, nearest.exact, nearest.distance};
  }

  void drop_front(ClusterId of) { lists_[of].entries.pop_back(); }

  // Replaces the bound of the nearest entry by its distance.
  void measure_front(ClusterId of) {
    Entry nearest = lists_[of].entries.back();
    lists_[of].entries.pop_back();
    insert(lists_[of], measured(of, nearest));
  }

  // Writes a new list, if all clusters but the candidates lie at `reach` or beyond. Returns whether any candidate is
  // nearer. If none is, the reach becomes the distance of the nearest one, which is not a lower bound: somebody has to
  // search closely. `assign` and `offer` may be called for different clusters on different threads.
  bool assign(ClusterId of, std::vector<Bounded>& candidates, double reach) {
    List& list = lists_[of];
    list.reach = {0, proven(reach)};
    list.entries.clear();
    std::sort(candidates.begin(), candidates.end(),
              [](const Bounded& x, const Bounded& y) { return x.distance < y.distance; });
    double nearest = std::numeric_limits<double>::infinity();
    for (const Bounded& candidate : candidates) {
      Entry entry = listed(candidate);
      if (entry.distance <= nearest) entry = measured(of, entry);
      if (entry.exact) nearest = std::min(nearest, entry.distance);
      if (entry.nearest() < list.reach) list.entries.push_back(entry);
    }
    std::sort(list.entries.begin(), list.entries.end(), farther);
    shorten(list);
    if (list.entries.empty()) list.reach.distance = nearest;
    return !list.entries.empty();
  }

  // Lists a cluster that has been recent.
  void offer(ClusterId to, const Bounded& candidate) {
    insert(lists_[to], listed(candidate));
    shorten(lists_[to]);
  }

  // A∪B takes the number b. Merges clusters that nobody has listed.
  void merge(ClusterId a, ClusterId b) {
    formed_at_[a] = kMerged;
    formed_at_[b] = ++merges_;
  }

  // Merges two clusters and their lists. Call this before the clusters themselves merge, and measure_recent() after.
  void merge(const ClusterPair& pair) {
    const auto& [a, b, distance] = pair;
    if (is_recent_[a] || is_recent_[b]) std::erase_if(recent_, [&](ClusterId id) { return id == a || id == b; });
    is_recent_[a] = is_recent_[b] = false;
    List &from = lists_[a], &into = lists_[b];
    merge(a, b);  // makes the entries of the two void
    const JoinedBound joined = joined_bound(pair);
    const double far_a = from.reach.distance, far_b = into.reach.distance, reach = joined(far_a, far_b);
    std::vector<Entry> entries;
    const auto add = [&](const Entry& entry, double from_a, double from_b) {
      const double bound = joined(from_a, from_b);
      if (bound < reach) entries.push_back({entry.id, entry.formed_at, false, bound});
    };
    for (List* list : {&from, &into})
      std::erase_if(list->entries, [&](const Entry& entry) { return !exists(entry) || is_recent_[entry.id]; });
    for (const Entry& entry : from.entries) from_a_[entry.id] = entry.distance;
    for (const Entry& entry : into.entries) add(entry, std::min(from_a_[entry.id], far_a), entry.distance);
    for (const Entry& entry : into.entries) from_a_[entry.id] = kNotListed;
    for (const Entry& entry : from.entries)
      if (std::exchange(from_a_[entry.id], kNotListed) != kNotListed) add(entry, entry.distance, far_b);
    std::sort(entries.begin(), entries.end(), farther);
    into.entries = std::move(entries);
    into.reach = {0, reach};
    from.entries = {};
    shorten(into);
  }

  void measure_recent(ClusterId of) {
    for (const ClusterId id : recent_) insert(lists_[of], measured(of, listed({id, false, 0.0})));
    shorten(lists_[of]);
    recent_.push_back(of);
    is_recent_[of] = true;
  }

  // The clusters that only younger ones cover.
  const std::vector<ClusterId>& recent() const { return recent_; }
  // Call this when all others cover them.
  void forget_recent() {
    for (const ClusterId id : recent_) is_recent_[id] = false;
    recent_.clear();
  }

 private:
  // Lists of clusters that grow point by point are exhausted by one entry a merge. Longer ones save searches.
  static constexpr std::size_t kLongest = 64;
  static constexpr auto kMerged = static_cast<std::uint32_t>(-1);
  static constexpr double kNotListed = std::numeric_limits<double>::infinity();

  struct Entry {
    ClusterId id;
    std::uint32_t formed_at;  // if the cluster has formed anew since, the entry is void
    bool exact;
    double distance;

    NearestCluster nearest() const { return {id, distance}; }
  };

  // The formula above, with bounds of d(A, Y) and d(B, Y).
  struct JoinedBound {
    double share_a, share_b, nearer, moved, less;

    double operator()(double from_a, double from_b) const {
      const double root = std::sqrt(std::max((share_a * from_a + share_b * from_b) * less - nearer, 0.0)) - moved;
      return root > 0.0 ? root * root * less : 0.0;
    }
  };

  JoinedBound joined_bound(const ClusterPair& pair) const {
    const auto& [a, b, distance] = pair;
    const double weight_a = clusters_.weight(a), weight_b = clusters_.weight(b), weight = weight_a + weight_b;
    const double share_a = weight_a / weight, share_b = weight_b / weight;
    return {share_a, share_b, share_a * share_b * distance * (1.0 + roundings()), 8.0 * 0x1p-53 * clusters_.extent(),
            1.0 - roundings()};
  }

  struct List {
    NearestCluster reach{0, 0.0};  // what is not listed does not come before this
    std::vector<Entry> entries;    // all nearer than the reach; the nearest is the last
  };

  static bool farther(const Entry& x, const Entry& y) { return y.nearest() < x.nearest(); }

  bool exists(const Entry& entry) const { return formed_at_[entry.id] == entry.formed_at; }

  static void insert(List& list, const Entry& entry) {
    if (!(entry.nearest() < list.reach)) return;
    list.entries.insert(std::upper_bound(list.entries.begin(), list.entries.end(), entry, farther), entry);
  }

  void shorten(List& list) const {
    if (list.entries.size() <= kLongest) return;
    std::erase_if(list.entries, [&](const Entry& entry) { return !exists(entry); });
    if (list.entries.size() <= kLongest) return;
    const auto last = list.entries.end() - kLongest;
    list.reach = (last - 1)->nearest();
    list.entries.erase(list.entries.begin(), last);
  }

  Entry listed(const Bounded& candidate) const {
    return {candidate.id, formed_at_[candidate.id], candidate.exact, proven(candidate.distance)};
  }
  Entry measured(ClusterId of, const Entry& entry) const {
    return {entry.id, entry.formed_at, true, clusters_.distance(of, entry.id)};
  }

  // A lower bound of a true distance bounds the computed one, too, up to the rounding of that.
  double proven(double bound) const { return bound * (1.0 - roundings()); }
  double roundings() const { return static_cast<double>(clusters_.dim() + 32) * 0x1p-53; }

  const ClusterPanels& clusters_;
  std::vector<List> lists_;
  std::vector<std::uint32_t> formed_at_;  // counted in merges, or kMerged
  std::vector<ClusterId> recent_;
  std::vector<char> is_recent_;
  std::vector<double> from_a_;  // only during a merge: the distances on the list of A
  std::uint32_t merges_ = 0;
};

}  // namespace silverbirch

// What each cluster remembers of its last search: its nearest few, and how far it has seen.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "silverbirch/linkage/blocked/exact_search.hpp"

namespace silverbirch {

// A list holds a cluster's candidates, each with its distance or a lower bound of it; all clusters that are not on it
// lie at `reach` or beyond. Reducibility keeps bounds and reach true when clusters merge: d(A∪B, C) ≥ min(d(A, C),
// d(B, C)) if A and B are nearest to each other. What merges with a listed cluster is listed under its new number, and
// a merged cluster takes both lists. So as long as a listed cluster is nearer than the reach, it is the nearest of all
// and no search is needed; and of the listed only those are measured whose bound does not say that they are farther.
//
// What is on neither list of A and B is at least as far from A∪B as Lance and Williams' formula says of both reaches
// [1967, "A General Theory of Classificatory Sorting Strategies"]: that is more than the lesser of the two. For average
// linkage it is the weighted mean of both. For Ward linkage it depends on the weight of C,
//   d(A∪B, C) = (n_A d(A, C) + n_B d(B, C) + n_C (d(A, C) + d(B, C) - d(A, B))) / (n_A + n_B + n_C),
// but goes one way with it: no C gives less than both the least weight there is and an infinite one.
//
// Rounding: that is true of real numbers. A merged mean is off by at most 8u·extent (u = 2⁻⁵³, extent bounds the norm
// of all means), which changes the root of a Ward distance by at most √weight times that and of an average distance by
// that; a computed distance is off by a relative (dim + 32)·u. `seen` takes both from a bound for every level of merges
// since, at most twice the depth of the deepest cluster. The formula would magnify what is to be taken off later, so it
// is given what is `seen` already. What a list then calls nearest is what a search over all would have found, in the
// same arithmetic, so the result does not depend on what happens to be listed.
class NeighbourLists {
 public:
  NeighbourLists(const ClusterPanels& clusters, std::size_t keep)
      : clusters_(clusters),
        keep_(keep),
        entries_(clusters.objects() * 2 * keep),
        size_(clusters.objects(), 0),
        reach_(clusters.objects(), 0.0),
        measured_at_(clusters.objects(), 0),
        merged_at_(clusters.objects(), 0),
        depth_(clusters.objects(), 0),
        into_(clusters.objects()) {
    std::iota(into_.begin(), into_.end(), ClusterId{0});
  }

  // A∪B takes the place of b. To be called while the two are still there, at their distance; and before it merges
  // again, the nearest is to be asked for.
  void merge(ClusterId a, ClusterId b, double distance) {
    // No bound is beyond a reach, so it holds for what merges with one that is not listed as well.
    for (std::size_t i = 0; i < size_[b]; ++i) clip(list(b)[i], reach_[a]);
    for (std::size_t i = 0; i < size_[a]; ++i) clip(list(b)[size_[b] + i] = list(a)[i], reach_[b]);
    size_[b] += size_[a];
    reach_[b] = joined_reach(a, b, distance);
    size_[a] = 0;
    into_[a] = b;
    merged_at_[b] = ++merges_;
    depth_[b] = std::max(depth_[a], depth_[b]) + 1;
    deepest_ = std::max(deepest_, depth_[b]);
  }

  // A new list: the nearest of some clusters, if all others lie at `reach` or beyond. Returns the nearest of all, and
  // measures no more than it takes to know that. This and `nearest` may be called for different clusters on different
  // threads.
  NearestCluster assign(ClusterId of, std::vector<Bounded>& candidates, double reach) {
    const auto nearer = [](const Bounded& x, const Bounded& y) { return x.distance < y.distance; };
    std::sort(candidates.begin(), candidates.end(), nearer);
    NearestCluster nearest;
    for (Bounded& candidate : candidates) {
      if (seen(of, candidate.distance) > nearest.distance) break;
      if (!candidate.exact) candidate = {candidate.id, true, clusters_.distance(of, candidate.id)};
      nearest = std::min(nearest, {candidate.id, candidate.distance});
    }
    reach_[of] = reach;
    measured_at_[of] = merges_;
    if (candidates.size() > keep_) {
      std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(keep_), candidates.end(),
                       nearer);
      reach_[of] = std::min(reach, candidates[keep_].distance);
      candidates.resize(keep_);
    }
    size_[of] = 0;
    for (const Bounded& candidate : candidates)
      if (candidate.distance < reach_[of]) list(of)[size_[of]++] = candidate;  // others cannot be of use any more
    return nearest;
  }

  // The nearest of the list as it is now. Needs `rename` before.
  NearestCluster nearest(ClusterId of) {
    std::vector<Bounded> candidates(list(of), list(of) + size_[of]);
    for (Bounded& candidate : candidates)
      if (std::max(merged_at_[of], merged_at_[candidate.id]) > measured_at_[of]) candidate.exact = false;
    return assign(of, candidates, reach_[of]);
  }

  // Puts what has merged under its new number. Not while other threads do anything here.
  void rename(ClusterId of) {
    Bounded* entries = list(of);
    Bounded* end = entries;
    for (const Bounded* entry = entries; entry != entries + size_[of]; ++entry) {
      const ClusterId id = current(entry->id);
      if (id == of) continue;
      Bounded* known = std::find_if(entries, end, [&](const Bounded& other) { return other.id == id; });
      if (known == end)
        *end++ = {id, entry->exact, entry->distance};
      else
        clip(*known, entry->distance);
    }
    size_[of] = static_cast<std::uint32_t>(end - entries);
  }

  double reach(ClusterId of) const { return reach_[of]; }

  // Whether nothing outside the list is as near as that.
  bool certain(ClusterId of, double distance) const { return distance < seen(of, reach_[of]); }

 private:
  static void clip(Bounded& entry, double distance) { entry.distance = std::min(entry.distance, distance); }

  // What is left of a bound for sure.
  double seen(ClusterId of, double bound) const {
    const double levels = 2.0 * deepest_ + 2.0;
    const double weight = clusters_.distance_kind() == CfDistance::ward ? clusters_.weight(of) : 1.0;
    const double moved = levels * 8.0 * 0x1p-53 * clusters_.extent() * std::sqrt(weight);
    const double less = 1.0 - levels * roundings();
    const double root = std::sqrt(std::max(bound, 0.0)) * less - moved;
    return root > 0.0 ? root * root : 0.0;
  }

  // Never less than both, so its few roundings are no matter.
  double joined_reach(ClusterId a, ClusterId b, double distance) const {
    const double least = std::min(reach_[a], reach_[b]);
    const double weight_a = clusters_.weight(a), weight_b = clusters_.weight(b);
    const double seen_a = seen(a, reach_[a]), seen_b = seen(b, reach_[b]);
    if (distance > std::min(seen_a, seen_b)) return least;
    double joined = (weight_a * seen_a + weight_b * seen_b) / (weight_a + weight_b);
    if (clusters_.distance_kind() == CfDistance::ward) {
      const double far = seen_a + seen_b - distance * (1.0 + roundings());
      const double share = clusters_.least_weight() / (weight_a + weight_b + clusters_.least_weight());
      joined = std::min(far, (1.0 - share) * joined + share * far);
    }
    return std::max(least, joined * (1.0 - roundings()));
  }

  // What a computed distance is relatively off by, at most.
  double roundings() const { return static_cast<double>(clusters_.dim() + 32) * 0x1p-53; }

  Bounded* list(ClusterId of) { return entries_.data() + of * 2 * keep_; }

  ClusterId current(ClusterId id) {
    while (into_[id] != id) id = into_[id] = into_[into_[id]];
    return id;
  }

  const ClusterPanels& clusters_;
  std::size_t keep_;
  std::vector<Bounded> entries_;  // room for two lists, for a cluster that has just merged
  std::vector<std::uint32_t> size_;
  std::vector<double> reach_;
  std::vector<std::uint32_t> measured_at_, merged_at_, depth_;  // the first two count merges
  std::vector<ClusterId> into_;
  std::uint32_t merges_ = 0, deepest_ = 0;
};

}  // namespace silverbirch

// What each cluster remembers of its last search: its nearest few, and how far the search reached.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

#include "silverbirch/linkage/blocked/exact_search.hpp"

namespace silverbirch {

// A list holds a cluster's candidates, each with its distance or a lower bound of it. All clusters that are not listed
// lie at `reach` or beyond. Reducibility keeps bounds and reach valid when clusters merge: if A and B are nearest to
// each other, d(A∪B, C) ≥ min(d(A, C), d(B, C)). If a listed cluster merges, the result is listed under its new number.
// A merged cluster takes both lists. So as long as a listed cluster is nearer than the reach, the nearest listed
// cluster is the nearest of all, and no search is needed. Of the listed clusters, only those are measured whose bound
// does not rule them out.
//
// A cluster C on neither list of A and B is at least as far from A∪B as the formula of Lance and Williams [1967, "A
// General Theory of Classificatory Sorting Strategies"] gives for both reaches, which is more than the lesser reach.
// For average linkage this is the weighted mean of both. For Ward linkage it depends on the weight of C,
//   d(A∪B, C) = (n_A d(A, C) + n_B d(B, C) + n_C (d(A, C) + d(B, C) - d(A, B))) / (n_A + n_B + n_C),
// and is monotone in it: the least value is that for the least weight of all clusters, or that for an infinite one.
//
// Rounding: all this holds for real numbers. A merged mean is off by at most 8u·extent (u = 2⁻⁵³, extent bounds the
// norm of all means). This changes the root of an average distance by at most as much, and the root of a Ward distance
// by at most √weight times as much. A computed distance has a relative error of at most (dim + 32)·u. `seen` subtracts
// both from a bound for every level of merges since, at most twice the depth of the deepest cluster. The formula would
// magnify errors that are subtracted only afterwards, so its inputs are the values of `seen`. The nearest of a list is
// then what a search over all clusters would find, in the same arithmetic. So the result does not depend on which
// clusters happen to be listed.
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

  // Joins the lists of clusters before they merge themselves. Before a merged cluster merges again, call `nearest` or
  // `assign` for it, which shorten the joined list.
  void merge(const std::vector<ClusterPair>& pairs, std::size_t threads) {
    ++steps_;
    parallel_for(pairs.size(), 64, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) join(pairs[i]);
    });
    for (const ClusterPair& pair : pairs) deepest_ = std::max(deepest_, depth_[pair.b]);
  }

  // Writes a new list with the nearest of the candidates, if all other clusters lie at `reach` or beyond. Returns the
  // nearest of all and measures no more candidates than that takes. `assign` and `nearest` may be called for different
  // clusters on different threads.
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
    measured_at_[of] = steps_;
    if (candidates.size() > keep_) {
      std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(keep_), candidates.end(),
                       nearer);
      reach_[of] = std::min(reach, candidates[keep_].distance);
      candidates.resize(keep_);
    }
    size_[of] = 0;
    for (const Bounded& candidate : candidates)
      if (candidate.distance < reach_[of]) list(of)[size_[of]++] = candidate;  // others are of no use any more
    return nearest;
  }

  // The nearest of the list as it is now.
  NearestCluster nearest(ClusterId of) {
    rename(of);
    std::vector<Bounded> candidates(list(of), list(of) + size_[of]);
    for (Bounded& candidate : candidates)
      if (std::max(merged_at_[of], merged_at_[candidate.id]) > measured_at_[of]) candidate.exact = false;
    return assign(of, candidates, reach_[of]);
  }

  double reach(ClusterId of) const { return reach_[of]; }

  // Whether all clusters outside the list are farther than `distance`.
  bool certain(ClusterId of, double distance) const { return distance < seen(of, reach_[of]); }

 private:
  void join(const ClusterPair& pair) {
    const auto& [a, b, distance] = pair;
    // If only one of the two lists has C, d(A∪B, C) ≥ min(its bound there, the other reach). This also keeps every
    // bound at or below the reach, so that it stays valid if C merges with a cluster that is not listed.
    for (std::size_t i = 0; i < size_[b]; ++i) clip(list(b)[i], reach_[a]);
    for (std::size_t i = 0; i < size_[a]; ++i) clip(list(b)[size_[b] + i] = list(a)[i], reach_[b]);
    size_[b] += size_[a];
    reach_[b] = joined_reach(a, b, distance);
    size_[a] = 0;
    into_[a] = b;
    merged_at_[b] = steps_;
    depth_[b] = std::max(depth_[a], depth_[b]) + 1;
  }

  // Updates the numbers of listed clusters that have merged.
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

  static void clip(Bounded& entry, double distance) { entry.distance = std::min(entry.distance, distance); }

  // What a bound still guarantees after the rounding of later merges.
  double seen(ClusterId of, double bound) const {
    const double levels = 2.0 * deepest_ + 2.0;
    const double weight = clusters_.distance_kind() == CfDistance::ward ? clusters_.weight(of) : 1.0;
    const double moved = levels * 8.0 * 0x1p-53 * clusters_.extent() * std::sqrt(weight);
    const double less = 1.0 - levels * roundings();
    const double root = std::sqrt(std::max(bound, 0.0)) * less - moved;
    return root > 0.0 ? root * root : 0.0;
  }

  // The reach of A∪B by the formula above; never less than the lesser of the two reaches.
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

  // An upper bound of the relative error of a computed distance.
  double roundings() const { return static_cast<double>(clusters_.dim() + 32) * 0x1p-53; }

  Bounded* list(ClusterId of) { return entries_.data() + of * 2 * keep_; }

  // Halves the path as it goes, perhaps on several threads: each sees an older or a newer part of the path.
  ClusterId current(ClusterId id) {
    const auto into = [&](ClusterId of) { return std::atomic_ref(into_[of]); };
    for (ClusterId next; (next = into(id).load(std::memory_order_relaxed)) != id; id = next) {
      const ClusterId after = into(next).load(std::memory_order_relaxed);
      if (after != next) into(id).store(after, std::memory_order_relaxed);
    }
    return id;
  }

  const ClusterPanels& clusters_;
  std::size_t keep_;
  std::vector<Bounded> entries_;  // room for two lists, as a cluster that has just merged needs
  std::vector<std::uint32_t> size_;
  std::vector<double> reach_;
  std::vector<std::uint32_t> measured_at_, merged_at_, depth_;  // the first two count steps of merges
  std::vector<ClusterId> into_;
  std::uint32_t steps_ = 0, deepest_ = 0;
};

}  // namespace silverbirch

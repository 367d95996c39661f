// What each cluster remembers of its last search: its nearest few, and how far it has seen.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "exact_search.hpp"

namespace silverbirch {

// A list holds a cluster's candidates; all clusters that are not on it lie at `reach` or beyond. Reducibility keeps
// that true when clusters merge: d(A∪B, C) ≥ min(d(A, C), d(B, C)) if A and B are nearest to each other. What merges
// with a listed cluster is listed under its new number, and a merged cluster takes both lists and the lesser reach. So
// as long as a listed cluster is nearer than the reach, it is the nearest of all and no search is needed.
//
// Rounding: that is true of real numbers. A merged mean is off by at most 8u·extent (u = 2⁻⁵³, extent bounds the norm
// of all means), which changes the root of a Ward distance by at most √weight times that and of an average distance by
// that; a computed distance is off by a relative (dim + 32)·u. `seen` takes both from the reach for every level of
// merges since, at most twice the depth of the deepest cluster. What a list then calls nearest is what a search over
// all would have found, in the same arithmetic, so the result does not depend on what happens to be listed.
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

  // A∪B takes the place of b.
  void merge(ClusterId a, ClusterId b) {
    std::copy_n(list(a), size_[a], list(b) + size_[b]);
    size_[b] += size_[a];
    size_[a] = 0;
    reach_[b] = std::min(reach_[a], reach_[b]);
    into_[a] = b;
    merged_at_[b] = ++merges_;
    depth_[b] = std::max(depth_[a], depth_[b]) + 1;
    deepest_ = std::max(deepest_, depth_[b]);
  }

  // A new list: the nearest of some measured clusters, if all others lie at `reach` or beyond. Returns the nearest of
  // all. This and `nearest` may be called for different clusters on different threads.
  NearestCluster assign(ClusterId of, std::vector<NearestCluster>& measured, double reach) {
    reach_[of] = reach;
    measured_at_[of] = merges_;
    if (measured.size() > keep_) {
      std::nth_element(measured.begin(), measured.begin() + static_cast<std::ptrdiff_t>(keep_), measured.end());
      reach_[of] = std::min(reach, measured[keep_].distance);
      measured.resize(keep_);
    }
    NearestCluster nearest;
    size_[of] = 0;
    for (const NearestCluster& candidate : measured) {
      if (candidate < nearest) nearest = candidate;
      if (candidate.distance < reach_[of]) list(of)[size_[of]++] = candidate;  // others cannot be of use any more
    }
    return nearest;
  }

  // The nearest of the list as it is now. Needs `rename` before.
  NearestCluster nearest(ClusterId of) {
    std::vector<NearestCluster> measured(list(of), list(of) + size_[of]);
    for (NearestCluster& candidate : measured)
      if (std::max(merged_at_[of], merged_at_[candidate.id]) > measured_at_[of])
        candidate.distance = clusters_.distance(of, candidate.id);
    return assign(of, measured, reach_[of]);
  }

  // Puts what has merged under its new number. Not while other threads do anything here.
  void rename(ClusterId of) {
    NearestCluster* entries = list(of);
    std::size_t end = 0;
    for (std::size_t i = 0; i < size_[of]; ++i) {
      const NearestCluster entry{current(entries[i].id), entries[i].distance};
      const auto same = [&](const NearestCluster& other) { return other.id == entry.id; };
      if (entry.id != of && std::none_of(entries, entries + end, same)) entries[end++] = entry;
    }
    size_[of] = static_cast<std::uint32_t>(end);
  }

  // Whether nothing outside the list is as near as that.
  bool certain(ClusterId of, double distance) const { return distance < seen(of); }

 private:
  double seen(ClusterId of) const {
    constexpr double unit_roundoff = 0x1p-53;
    const double levels = 2.0 * deepest_ + 2.0;
    const double weight = clusters_.distance_kind() == CfDistance::ward ? clusters_.weight(of) : 1.0;
    const double moved = levels * 8.0 * unit_roundoff * clusters_.extent() * std::sqrt(weight);
    const double less = 1.0 - levels * static_cast<double>(clusters_.dim() + 32) * unit_roundoff;
    const double root = std::sqrt(reach_[of]) * less - moved;
    return root > 0.0 ? root * root : 0.0;
  }

  NearestCluster* list(ClusterId of) { return entries_.data() + of * 2 * keep_; }

  ClusterId current(ClusterId id) {
    while (into_[id] != id) id = into_[id] = into_[into_[id]];
    return id;
  }

  const ClusterPanels& clusters_;
  std::size_t keep_;
  std::vector<NearestCluster> entries_;  // room for two lists, for a cluster that has just merged
  std::vector<std::uint32_t> size_;
  std::vector<double> reach_;
  std::vector<std::uint32_t> measured_at_, merged_at_, depth_;  // the first two count merges
  std::vector<ClusterId> into_;
  std::uint32_t merges_ = 0, deepest_ = 0;
};

}  // namespace silverbirch

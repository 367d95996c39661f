// What each cluster remembers of its last search: its nearest few, and how far it has seen.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "cluster_panels.hpp"

namespace silverbirch {

struct NearestCluster {
  ClusterId id = kNobody;
  double distance = std::numeric_limits<double>::infinity();

  // Of two equally near the one of the smaller number comes first. Then the pair that comes first among all, by
  // (distance, smaller number, larger number), consists of two that are nearest to each other.
  bool operator<(const NearestCluster& other) const {
    return distance < other.distance || (distance == other.distance && id < other.id);
  }
};

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
        ids_(clusters.objects() * 2 * keep),
        size_(clusters.objects(), 0),
        reach_(clusters.objects(), 0.0),
        into_(clusters.objects()) {
    for (ClusterId i = 0; i < into_.size(); ++i) into_[i] = i;
  }

  std::size_t keep() const { return keep_; }

  void set_depth(std::size_t depth) { levels_ = 2.0 * static_cast<double>(depth) + 2.0; }

  void start(ClusterId of, double reach) {
    size_[of] = 0;
    reach_[of] = reach;
  }
  void add(ClusterId of, ClusterId candidate) { ids_[of * 2 * keep_ + size_[of]++] = candidate; }

  // A∪B takes the place of b.
  void merge(ClusterId a, ClusterId b) {
    into_[a] = b;
    reach_[b] = std::min(reach_[a], reach_[b]);
    for (std::size_t i = 0; i < size_[a]; ++i) add(b, list(a)[i]);
    size_[a] = 0;
  }

  // Renames what has merged. Not while other threads do anything here.
  void update(ClusterId of) {
    ClusterId* ids = list(of);
    std::size_t end = 0;
    for (std::size_t i = 0; i < size_[of]; ++i) {
      const ClusterId id = current(ids[i]);
      if (id != of && std::find(ids, ids + end, id) == ids + end) ids[end++] = id;
    }
    size_[of] = static_cast<std::uint32_t>(end);
  }

  // The nearest of the list, measured anew; shortens the list to what can still be of use. Different clusters on
  // different threads.
  NearestCluster nearest(ClusterId of) {
    std::vector<NearestCluster> measured(size_[of]);
    for (std::size_t i = 0; i < measured.size(); ++i) measured[i] = {list(of)[i], clusters_.distance(of, list(of)[i])};
    return keep_nearest(of, measured);
  }

  NearestCluster keep_nearest(ClusterId of, std::vector<NearestCluster>& measured) {
    if (measured.empty()) return {};
    if (measured.size() > keep_) {
      std::nth_element(measured.begin(), measured.begin() + static_cast<std::ptrdiff_t>(keep_), measured.end());
      reach_[of] = std::min(reach_[of], measured[keep_].distance);
      measured.resize(keep_);
    }
    const NearestCluster nearest = *std::min_element(measured.begin(), measured.end());
    size_[of] = 0;
    for (const NearestCluster& candidate : measured)
      if (candidate.distance < reach_[of]) add(of, candidate.id);
    return nearest;
  }

  // Whether nothing outside the list is as near as that.
  bool certain(ClusterId of, double distance) const { return distance < seen(of); }

 private:
  double seen(ClusterId of) const {
    constexpr double unit_roundoff = 0x1p-53;
    const double moved = 8.0 * unit_roundoff * clusters_.extent() *
                         (clusters_.distance_kind() == CfDistance::ward ? std::sqrt(clusters_.weight(of)) : 1.0);
    const double less = 1.0 - levels_ * static_cast<double>(clusters_.dim() + 32) * unit_roundoff;
    const double root = std::sqrt(reach_[of]) * less - levels_ * moved;
    return root > 0.0 ? root * root : 0.0;
  }

  ClusterId* list(ClusterId of) { return ids_.data() + of * 2 * keep_; }

  ClusterId current(ClusterId id) {
    while (into_[id] != id) id = into_[id] = into_[into_[id]];
    return id;
  }

  const ClusterPanels& clusters_;
  std::size_t keep_;
  double levels_ = 2.0;
  std::vector<ClusterId> ids_;  // room for two lists, for a cluster that has just merged
  std::vector<std::uint32_t> size_;
  std::vector<double> reach_;
  std::vector<ClusterId> into_;
};

}  // namespace silverbirch

// Clusters as cluster features, stored twice: rows of float64 for exact distances, and panels of float32 for the filter
// (pair_filter.hpp) that says which of many distances are worth computing. For Ward (D4), average (D2) and centroid
// (D0) linkage. The error bounds of the filter are in panel_units.hpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "../aligned.hpp"
#include "../features.hpp"
#include "../kernels.hpp"
#include "../panel_units.hpp"
#include "feature_space.hpp"

namespace silverbirch {

using ClusterId = std::uint32_t;
inline constexpr ClusterId kNobody = static_cast<ClusterId>(-1);

class ClusterPanels {
 public:
  ClusterPanels(const FeaturesView& features, CfDistance distance, Vote vote, const Progress& progress);

  std::size_t dim() const { return dim_; }
  std::size_t objects() const { return weight_.size(); }
  std::size_t slots() const { return id_of_.size(); }
  std::size_t panels() const { return (slots() + kPanelLanes - 1) / kPanelLanes; }
  ClusterId id_at(std::size_t slot) const { return id_of_[slot]; }  // kNobody where a cluster was
  double weight(ClusterId id) const { return weight_[id]; }
  double extent() const { return extent_; }
  CfDistance distance_kind() const { return distance_; }

  // Symmetric to the bit, in float64 and in one order of operations.
  double distance(ClusterId a, ClusterId b) const {
    const double gap = kernels().squared_gap(row(a), row(b), padded_dim_);
    if (distance_ == CfDistance::ward) return WardDistance::squared(gap, weight_[a], sse_[a], weight_[b], sse_[b]);
    if (distance_ == CfDistance::average)
      return AverageDistance::squared(gap, weight_[a], sse_[a], weight_[b], sse_[b]);
    return gap;
  }

  // Pairs of clusters at the same place: merged one after the other, they leave one cluster at each. Their distance is
  // zero and each would be nearest to all the others, so no search should have to tell them apart.
  std::vector<std::pair<ClusterId, ClusterId>> duplicates() const;

  // Puts A∪B in the place of b and removes a.
  void merge(ClusterId a, ClusterId b);
  // Moves the clusters that still exist together, in the same order, so that passes do not run over the dead.
  void compact();

  // Lower bounds of a panel's squared distances to packed queries; they are in units of bound_unit().
  void bounds(FilterForm form, std::size_t panel, const FilterTile& tile) const;
  void pack(const ClusterId* queries, std::size_t count, float* groups) const;
  double bound_unit() const { return units_.bound_unit(); }

 private:
  const double* row(ClusterId id) const { return rows_.data() + id * padded_dim_; }
  double* row(ClusterId id) { return rows_.data() + id * padded_dim_; }
  float* lane(std::size_t slot) {
    return panels_.data() + slot / kPanelLanes * panel_floats(dim_) + slot % kPanelLanes;
  }
  const float* lane(std::size_t slot) const { return const_cast<ClusterPanels*>(this)->lane(slot); }

  bool same_place(ClusterId a, ClusterId b) const;
  void choose_units();
  void fill(std::size_t slot);
  void clear(std::size_t slot);

  std::size_t dim_, padded_dim_;
  CfDistance distance_;
  Vote vote_;
  std::vector<double> weight_, sse_;  // by id, as the rows
  AlignedDoubles rows_;
  double extent_ = 0.0;
  PanelUnits units_;
  std::vector<std::uint32_t> slot_of_;
  std::vector<ClusterId> id_of_;
  std::vector<float, AlignedAllocator<float>> panels_;
};

}  // namespace silverbirch

// Clusters as cluster features: rows of float64 for exact distances, and panels of float32 or bytes for the filter
// (pair_filter.hpp), which says which distances are worth computing. For Ward (D4), average (D2) and centroid (D0)
// linkage. panel_units.hpp derives the error bounds of the filter.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/features/block_kernels.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/filter/panel_units.hpp"
#include "silverbirch/linkage/reference/feature_space.hpp"

namespace silverbirch {

using ClusterId = std::uint32_t;
inline constexpr ClusterId kNoCluster = static_cast<ClusterId>(-1);

// Two clusters that merge: A∪B takes the number b.
struct ClusterPair {
  ClusterId a, b;
  double distance;
};

// Panels of one layout: rows of coordinates, then the extra rows.
class PanelStore {
 public:
  PanelStore(std::size_t coordinate_rows, std::size_t extra_rows)
      : coordinate_rows_(coordinate_rows), rows_(coordinate_rows + extra_rows) {}

  void resize(std::size_t slots) { floats_.resize((slots + kPanelLanes - 1) / kPanelLanes * rows_ * kPanelLanes); }
  std::size_t coordinate_rows() const { return coordinate_rows_; }
  std::size_t rows() const { return rows_; }
  bool empty() const { return floats_.empty(); }
  const float* panel(std::size_t index) const { return floats_.data() + index * rows_ * kPanelLanes; }
  const float* lane(std::size_t slot) const { return panel(slot / kPanelLanes) + slot % kPanelLanes; }
  float* lane(std::size_t slot) { return const_cast<float*>(std::as_const(*this).lane(slot)); }
  float* extra(std::size_t slot) { return lane(slot) + coordinate_rows_ * kPanelLanes; }

  // Moves some rows of a lane.
  void move(std::size_t from, std::size_t to, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) lane(to)[k * kPanelLanes] = lane(from)[k * kPanelLanes];
  }

 private:
  std::size_t coordinate_rows_, rows_;
  AlignedFloats floats_;
};

class ClusterPanels {
 public:
  // It copies, converts and moves rows on so many threads.
  ClusterPanels(const FeaturesView& features, CfDistance distance, Vote vote, std::size_t threads = 1);

  std::size_t dim() const { return dim_; }
  std::size_t objects() const { return weight_.size(); }
  std::size_t slots() const { return id_of_.size(); }
  std::size_t panels() const { return (slots() + kPanelLanes - 1) / kPanelLanes; }
  ClusterId id_at(std::size_t slot) const { return id_of_[slot]; }  // kNoCluster if the cluster has merged
  double weight(ClusterId id) const { return weight_[id]; }
  double least_weight() const { return least_weight_; }
  double extent() const { return extent_; }
  CfDistance distance_kind() const { return distance_; }

  // In float64, symmetric to the last bit, always by the same order of operations.
  double distance(ClusterId a, ClusterId b) const {
    const double gap = block_kernels().squared_gap(row(a), row(b), padded_dim_);
    if (distance_ == CfDistance::ward) return WardDistance::squared(gap, weight_[a], sse_[a], weight_[b], sse_[b]);
    if (distance_ == CfDistance::average)
      return AverageDistance::squared(gap, weight_[a], sse_[a], weight_[b], sse_[b]);
    return gap;
  }

  // Pairs of clusters at the same place. Merging these pairs in order leaves one cluster at each place. The distance of
  // such a pair is zero, and each cluster would be a nearest neighbour of all the others, so no search should have to
  // tell them apart.
  std::vector<std::pair<ClusterId, ClusterId>> duplicates() const;

  // Stores A∪B in place of b and removes a. No two of several pairs may share a cluster.
  void merge(ClusterId a, ClusterId b);
  void merge(const std::vector<ClusterPair>& pairs);
  // Brings the panels up to date with all merges, as a pass needs them.
  void refresh();
  // Moves the remaining clusters together, in the same order, so that passes skip removed ones.
  void compact();

  // The fastest form of the filter. Call prepare() before a form is used: it builds the panels, which takes time and
  // memory.
  FilterForm fastest_form() const;
  void prepare(FilterForm form, const Progress& progress);
  // Frees the panels of a form that will not be used any more.
  void release(FilterForm form);

  // Lower bounds of the squared distances between a panel and packed queries, in units of bound_unit().
  void bounds(FilterForm form, std::size_t panel, const FilterTile& tile) const;
  void pack(FilterForm form, const ClusterId* queries, std::size_t count, float* groups) const;
  std::size_t panel_rows(FilterForm form) const { return store(form).rows(); }
  double bound_unit() const { return units_.bound_unit() * (distance_ == CfDistance::ward ? least_weight_ : 1.0); }

 private:
  const double* row(ClusterId id) const { return rows_.data() + id * padded_dim_; }
  double* row(ClusterId id) { return rows_.data() + id * padded_dim_; }
  const PanelStore& store(FilterForm form) const { return form == FilterForm::bytes ? bytes_ : floats_; }
  PanelStore& store(FilterForm form) { return form == FilterForm::bytes ? bytes_ : floats_; }
  template <class Work>
  void for_each_store(Work work) {
    for (PanelStore* panels : {&floats_, &bytes_})
      if (!panels->empty()) work(*panels);
  }

  void unite(ClusterId a, ClusterId b);
  void leave_stale(ClusterId a, ClusterId b);
  bool same_place(ClusterId a, ClusterId b) const;
  void choose_units();
  void fill(PanelStore& panels, std::size_t slot) const;
  void clear(PanelStore& panels, std::size_t slot) const;

  std::size_t dim_, padded_dim_, threads_;
  CfDistance distance_;
  Vote vote_;
  std::vector<double> weight_, sse_;  // by id, as rows_
  UnsetVector<double> rows_;
  double least_weight_ = 1.0;
  double extent_ = 0.0;
  PanelUnits units_;
  std::vector<std::uint32_t> slot_of_;
  std::vector<ClusterId> id_of_;
  PanelStore floats_, bytes_;         // empty unless prepared
  std::vector<std::uint32_t> stale_;  // slots that have merged since the last refresh(), perhaps several times
  std::vector<char> is_stale_;
};

}  // namespace silverbirch

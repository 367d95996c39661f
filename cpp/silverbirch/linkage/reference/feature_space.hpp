// Clusters given by their cluster features. Distances are computed on demand; memory is linear in the number of
// clusters.
//
// Merging features instead of distances is the paper's "CF aggregation". For ward (D4), average of squared distances
// (D2) and centroid (D0) it equals the Lance-Williams recurrence, by algebra.
#pragma once

#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/features/block_kernels.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/linkage/lance_williams.hpp"
#include "silverbirch/linkage/reference/cluster_space.hpp"

namespace silverbirch {

class FeatureSpace {
 public:
  FeatureSpace(const FeaturesView& features, CfDistance distance, Vote vote)
      : dim_(features.dim),
        distance_(distance),
        vote_(vote),
        active_(features.size),
        slot_of_(features.size),
        id_of_(features.size),
        blocks_(blocks_for(features.size) * block_doubles(features.dim)),
        query_(features.dim),
        distances_(blocks_for(features.size) * kLanes) {
    for (std::size_t i = 0; i < features.size; ++i) {
      slot_of_[i] = id_of_[i] = i;
      Feature feature = features[i];
      if (vote == Vote::equal) feature = {1.0, feature.mean, feature.sse / feature.weight};
      slot(i).assign(feature);
    }
    clear_from(features.size);
  }

  const ActiveSet& active() const { return active_; }
  std::size_t prototype(std::size_t a) const { return a; }

  double distance(std::size_t a, std::size_t b) const {
    alignas(64) double distances[kLanes];
    const double* block = blocks_.data() + slot_of_[b] / kLanes * block_doubles(dim_);
    block_kernels().distances(distance_, block, dim_, load(a), 1, distances);
    return distances[slot_of_[b] % kLanes];
  }

  Neighbour nearest(std::size_t a) const { return nearest_from(a, 0); }
  Neighbour nearest_after(std::size_t a) const { return nearest_from(a, slot_of_[a] + 1); }

  template <class Visit>
  void each_before(std::size_t b, Visit visit) const {
    const std::size_t end = slot_of_[b];
    block_kernels().distances(distance_, blocks_.data(), dim_, load(b), blocks_for(end), distances_.data());
    for (auto id = active_.begin(); *id != b; ++id) visit(*id, distances_[slot_of_[*id]]);
  }

  // The distances of one object to all objects, itself included. Only before any merge. `row` has room for padding.
  void distances_from(std::size_t object, double* row) const {
    std::vector<double> mean(dim_);
    block_kernels().distances(distance_, blocks_.data(), dim_, slot(object).load(mean.data()),
                              blocks_for(id_of_.size()), row);
  }

  // The distances of kTileQueries objects to the objects of some blocks, one row per query. Only before any merge.
  void tile_distances(const Feature* queries, std::size_t first_block, std::size_t block_count, double* rows) const {
    if (!on(Mechanism::tiles)) {
      for (std::size_t q = 0; q < kTileQueries; ++q)
        block_kernels().distances(distance_, blocks_.data() + first_block * block_doubles(dim_), dim_, queries[q],
                                  block_count, rows + q * block_count * kLanes);
      return;
    }
    block_kernels().tile_distances[static_cast<std::size_t>(distance_)](
        blocks_.data() + first_block * block_doubles(dim_), dim_, queries, block_count, rows);
  }

  void merge(std::size_t a, std::size_t b) {
    slot(slot_of_[b]).absorb(load(a));
    if (vote_ == Vote::equal) {
      slot(slot_of_[b]).weight() = 1.0;
      slot(slot_of_[b]).sse() *= 0.5;
    }
    slot(slot_of_[a]).clear();
    active_.erase(a);
    if (active_.size() * 2 <= id_of_.size() && id_of_.size() > kLanes) compact();
  }

 private:
  FeatureSlot slot(std::size_t s) const { return {const_cast<double*>(blocks_.data()), dim_, s}; }
  Feature load(std::size_t a) const { return slot(slot_of_[a]).load(query_.data()); }

  Neighbour nearest_from(std::size_t a, std::size_t first) const {
    const Nearest found = block_kernels().nearest(distance_, blocks_.data(), dim_, load(a),
                                                  {blocks_for(id_of_.size()), first, slot_of_[a]});
    return {id_of_[found.slot], found.squared_distance};
  }

  // Moves the remaining clusters together, in the same order, so that scans skip removed ones.
  void compact() {
    std::size_t end = 0;
    for (const std::size_t id : active_) {
      if (slot_of_[id] != end) slot(end).copy_from(slot(slot_of_[id]));
      slot_of_[id] = end;
      id_of_[end++] = id;
    }
    id_of_.resize(end);
    clear_from(end);
  }

  void clear_from(std::size_t end) {
    for (std::size_t s = end; s < blocks_for(end) * kLanes; ++s) slot(s).clear();
  }

  std::size_t dim_;
  CfDistance distance_;
  Vote vote_;
  ActiveSet active_;
  std::vector<std::size_t> slot_of_, id_of_;
  AlignedDoubles blocks_;
  mutable std::vector<double> query_;
  mutable AlignedDoubles distances_;
};

}  // namespace silverbirch

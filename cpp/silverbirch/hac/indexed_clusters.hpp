// The clusters that still exist, in a packed kd-tree over their means: the exactly nearest one of each is found without
// looking at all. Memory is linear in the clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../aligned.hpp"
#include "../features.hpp"
#include "../index/kd_order.hpp"
#include "../index/packed_boxes.hpp"
#include "../kernels.hpp"
#include "feature_space.hpp"

namespace silverbirch {

class IndexedClusters {
 public:
  // names: what each feature is called in the history of merges
  IndexedClusters(const FeaturesView& features, const std::vector<std::uint32_t>& names, Nearness nearness, Vote vote,
                  std::size_t threads, const Progress& progress)
      : dim_(features.dim),
        nearness_(nearness),
        vote_(vote),
        threads_(threads),
        progress_(progress),
        alive_(features.size),
        blocks_(blocks_for(features.size) * index_block_doubles(features.dim)),
        clusters_(features.size),
        boxes_(features.dim, nearness) {
    for (std::size_t i = 0; i < features.size; ++i) {
      const Feature feature = features[i];
      const double weight = vote == Vote::equal ? 1.0 : feature.weight;
      clusters_[i] = {weight, feature.sse / feature.weight * weight};
      double* mean = lane(i);
      for (std::size_t k = 0; k < dim_; ++k) mean[k * kLanes] = feature.mean[k];
      set_term(i);
    }
    names_ = names;
    reorder();
  }

  std::size_t slot_count() const { return clusters_.size(); }
  std::size_t alive() const { return alive_; }
  bool is_reducible() const { return nearness_ != Nearness::centroid; }
  std::uint32_t name(Slot slot) const { return names_[slot]; }
  bool exists(Slot slot) const { return clusters_[slot].weight > 0.0; }
  double weight(Slot slot) const { return clusters_[slot].weight; }
  const double* mean(Slot slot) const { return lane(slot); }  // coordinates kLanes apart
  const PackedTree& tree() const { return tree_; }

  NearestSlot nearest(Slot slot, NearestSlot known, std::size_t& visits) const {
    return find_(tree_, slot, known, visits);
  }

  double distance(Slot a, Slot b) const {
    const double *x = lane(a), *y = lane(b);
    double gap = 0.0;
    for (std::size_t k = 0; k < dim_; ++k) {
      const double difference = x[k * kLanes] - y[k * kLanes];
      gap += difference * difference;
    }
    const double terms = x[dim_ * kLanes] + y[dim_ * kLanes];
    return nearness_ == Nearness::ward ? gap / terms : nearness_ == Nearness::average ? gap + terms : gap;
  }

  // The merged cluster takes the place of the heavier one, which is returned: its mean moves less.
  Slot merge(Slot a, Slot b) {
    if (clusters_[a].weight > clusters_[b].weight) std::swap(a, b);
    Cluster &from = clusters_[a], &into = clusters_[b];
    double *x = lane(a), *y = lane(b);
    const double total = into.weight + from.weight, share = from.weight / total;
    double squared_gap = 0.0;
    for (std::size_t k = 0; k < dim_ * kLanes; k += kLanes) {
      const double gap = x[k] - y[k];
      y[k] += share * gap;
      squared_gap += gap * gap;
      x[k] = kFarAway;
    }
    into.sse += from.sse + into.weight * share * squared_gap;
    into.weight = total;
    if (vote_ == Vote::equal) into = {1.0, 0.5 * into.sse};
    from = {0.0, 0.0};
    x[dim_ * kLanes] = 0.0;
    set_term(b);
    boxes_.include(b, y, kLanes);
    --alive_;
    return b;
  }

  // Boxes that have grown, or hold what no longer exists, make searches slow; ordering anew costs as much as some.
  bool worn() const { return alive_ < slot_count() - slot_count() / 8; }

  // Leaves the dead out and puts the others into kd-order. Returns the new slot of each old one, kNoSlot for the dead.
  std::vector<Slot> reorder() {
    std::vector<KdKey> order;
    order.reserve(alive_);
    for (std::size_t slot = 0; slot < slot_count(); ++slot)
      if (exists(static_cast<Slot>(slot))) order.push_back(slot);
    kd_order(
        order, dim_, [this](std::size_t slot, std::size_t k) { return lane(slot)[k * kLanes]; }, threads_, progress_);

    std::vector<Slot> moved(slot_count(), kNoSlot);
    AlignedDoubles blocks(blocks_for(alive_) * index_block_doubles(dim_));
    std::vector<Cluster> clusters(alive_);
    std::vector<std::uint32_t> names(alive_);
    parallel_for(blocks_for(alive_), 512, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t slot = begin * kLanes; slot < end * kLanes; ++slot) {
        double* to = blocks.data() + slot / kLanes * index_block_doubles(dim_) + slot % kLanes;
        if (slot >= alive_) {
          for (std::size_t k = 0; k < dim_; ++k) to[k * kLanes] = kFarAway;
          continue;
        }
        const std::size_t old = point_of(order[slot]);
        const double* from = lane(old);
        for (std::size_t k = 0; k <= dim_; ++k) to[k * kLanes] = from[k * kLanes];
        clusters[slot] = clusters_[old];
        names[slot] = names_[old];
        moved[old] = static_cast<Slot>(slot);
      }
    });
    blocks_ = std::move(blocks);
    clusters_ = std::move(clusters);
    names_ = std::move(names);
    boxes_.pack(blocks_.data(), blocks_for(alive_), threads_, progress_);
    show();
    return moved;
  }

 private:
  struct Cluster {
    double weight, sse;
  };

  double* lane(std::size_t slot) { return blocks_.data() + slot / kLanes * index_block_doubles(dim_) + slot % kLanes; }
  const double* lane(std::size_t slot) const { return const_cast<IndexedClusters*>(this)->lane(slot); }

  void set_term(std::size_t slot) {
    const auto [weight, sse] = clusters_[slot];
    lane(slot)[dim_ * kLanes] = nearness_ == Nearness::ward      ? 1.0 / weight
                                : nearness_ == Nearness::average ? sse / weight
                                                                 : 0.0;
  }

  void show() {
    tree_.dim = dim_;
    tree_.blocks = blocks_.data();
    tree_.names = names_.data();
    boxes_.show(tree_);
    find_ = kernels().index->nearest_to_slot[static_cast<std::size_t>(nearness_)][IndexSearch::unrolled(dim_)];
  }

  std::size_t dim_;
  Nearness nearness_;
  Vote vote_;
  std::size_t threads_;
  const Progress& progress_;
  std::size_t alive_;
  AlignedDoubles blocks_;  // means and terms
  std::vector<Cluster> clusters_;
  std::vector<std::uint32_t> names_;
  PackedBoxes boxes_;
  PackedTree tree_;
  IndexSearch::NearestToSlot find_ = nullptr;
};

}  // namespace silverbirch

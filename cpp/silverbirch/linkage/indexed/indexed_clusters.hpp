// The clusters that still exist, in a packed kd-tree over their means, which finds the exactly nearest cluster of each
// without measuring all. Memory is linear in the number of clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/index/filter_copy.hpp"
#include "silverbirch/index/filtered_search.hpp"
#include "silverbirch/index/kd_order.hpp"
#include "silverbirch/index/packed_boxes.hpp"
#include "silverbirch/index/search.hpp"
#include "silverbirch/linkage/reference/feature_space.hpp"

namespace silverbirch {

// Two clusters that are about to merge. After the merge, `from` is the removed slot and `into` that of the merged
// cluster.
struct MergingPair {
  Slot from, into;
  double distance;
};

class IndexedClusters {
 public:
  static constexpr std::size_t kSearchesWorthAPiece = 16;

  // names: the name of each feature in the history of merges.
  IndexedClusters(const FeaturesView& features, std::span<const std::uint32_t> names, Nearness nearness, Vote vote,
                  std::size_t threads, const Progress& progress)
      : dim_(features.dim),
        nearness_(nearness),
        vote_(vote),
        threads_(threads),
        progress_(progress),
        alive_(features.size),
        now_(features.size, features.dim),
        boxes_(features.dim, kClusterLeaf, nearness) {
    parallel_for(features.size, 4096, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Feature feature = features[i];
        const double weight = vote == Vote::equal ? 1.0 : feature.weight;
        now_.cluster[i] = {weight, feature.sse / feature.weight * weight};
        double* mean = lane(i);
        for (std::size_t k = 0; k < dim_; ++k) mean[k * kLanes] = feature.mean[k];
        set_term(i);
        now_.names[i] = names[i];
      }
    });
    reorder();
  }

  struct Cluster {
    double weight, sse;  // weight 0: the slot is empty
  };

  std::size_t dim() const { return dim_; }
  std::size_t slot_count() const { return now_.cluster.size(); }
  std::size_t alive() const { return alive_; }
  bool is_reducible() const { return nearness_ != Nearness::centroid; }
  std::uint32_t name(Slot slot) const { return now_.names[slot]; }
  bool exists(Slot slot) const { return now_.cluster[slot].weight > 0.0; }
  double weight(Slot slot) const { return now_.cluster[slot].weight; }
  const double* mean(Slot slot) const { return lane(slot); }  // coordinates are kLanes apart
  const PackedTree& tree() const { return tree_; }

  // Makes a float32 copy and keeps it up to date. Through it, `nearest` finds the same clusters in less time.
  void filter_searches() {
    filter_.emplace(tree_, nearness_, threads_);
    filter_->pack(tree_, threads_, progress_);
    find_filtered_ =
        filtered_search().nearest_to_slot[static_cast<std::size_t>(nearness_)][IndexSearch::unrolled(dim_)];
  }

  // Adds the number of leaves scanned in float64 to `visits`.
  NearestSlot nearest(Slot slot, NearestSlot known, std::size_t& visits) const {
    if (filter_ && find_filtered_(tree_, filter_->tree(), slot, known)) return known;
    return find_(tree_, slot, known, visits);
  }

  std::size_t level_count() const { return tree_.level_count; }
  NearestSlot nearest_in_other(const Components& components, Slot slot, double within) const {
    return index_search().nearest_in_other[IndexSearch::unrolled(dim_)](tree_, components, slot, within);
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

  // The order in which clusters are near to a slot.
  bool precedes(Slot slot, const NearestSlot& a, const NearestSlot& b) const {
    if (a.distance != b.distance) return a.distance < b.distance;
    return b.slot == kNoSlot || pair_key(name(slot), name(a.slot)) < pair_key(name(slot), name(b.slot));
  }

  // The distances of a slot from clusters that were kept.
  void distances(Slot slot, const double* kept, std::size_t stride, std::size_t count, double* result) const {
    const double* x = lane(slot);
    std::fill_n(result, count, 0.0);
    for (std::size_t k = 0; k < dim_; ++k)
      for (std::size_t i = 0; i < count; ++i) {
        const double difference = x[k * kLanes] - kept[k * stride + i];
        result[i] += difference * difference;
      }
    if (nearness_ == Nearness::centroid) return;
    for (std::size_t i = 0; i < count; ++i) {
      const double terms = x[dim_ * kLanes] + kept[dim_ * stride + i];
      result[i] = nearness_ == Nearness::ward ? result[i] / terms : result[i] + terms;
    }
  }

  // Writes the mean and the term of a cluster, `stride` apart, and returns the rest. With both it can be restored.
  Cluster keep(Slot slot, double* kept, std::size_t stride) const {
    for (std::size_t k = 0; k <= dim_; ++k) kept[k * stride] = lane(slot)[k * kLanes];
    return now_.cluster[slot];
  }

  // A merge of which it is not certain yet that it will happen; different pairs on several threads. Both clusters must
  // be kept before, and either restored later, or the merge confirmed.
  Slot unite_on_trial(Slot a, Slot b) { return unite(a, b); }
  void confirm_merge() { --alive_; }
  void restore(Slot slot, const double* kept, std::size_t stride, Cluster cluster) {
    for (std::size_t k = 0; k <= dim_; ++k) lane(slot)[k * kLanes] = kept[k * stride];
    now_.cluster[slot] = cluster;
    if (filter_) filter_->move(slot, lane(slot));
  }

  // The merged cluster stays in the slot of the heavier one, because that mean moves less. Returns this slot.
  Slot merge(Slot a, Slot b) {
    --alive_;
    return unite(a, b);
  }

  // Merges all pairs; no two pairs may share a cluster.
  void merge(UnsetVector<MergingPair>& pairs, std::size_t threads) {
    parallel_for(pairs.size(), 512, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        if (unite(pairs[i].from, pairs[i].into) != pairs[i].into) std::swap(pairs[i].from, pairs[i].into);
    });
    alive_ -= pairs.size();
  }

  // Boxes that have grown, or contain removed clusters, make searches slow. As long as it suffices, clusters are only
  // moved together within small nodes; when few are left, all are put into kd-order again. Returns the new slot of each
  // old one, kNoSlot for removed clusters; an empty vector if nothing moved.
  UnsetVector<Slot> refresh() {
    if (alive_ < slot_count() / 5 * 3) return reorder();
    if (on(Mechanism::sweep_within_nodes) && alive_ < tidy_ / 16 * 13) return tidy();
    return {};
  }

 private:
  // Writes only to the two clusters and to the boxes, which several threads may widen at once.
  Slot unite(Slot a, Slot b) {
    if (now_.cluster[a].weight > now_.cluster[b].weight) std::swap(a, b);
    Cluster &from = now_.cluster[a], &into = now_.cluster[b];
    double *x = lane(a), *y = lane(b);
    merge_into(into.weight, y, kLanes, into.sse, {from.weight, x, from.sse}, dim_, kLanes);
    if (vote_ == Vote::equal) into = {1.0, 0.5 * into.sse};
    now_.clear(a);
    set_term(b);
    boxes_.include(b, y, kLanes);
    if (filter_) {
      filter_->clear(a);
      filter_->move(b, y);
    }
    return b;
  }

  // All arrays are indexed by slot.
  struct Clusters {
    Clusters(std::size_t count, std::size_t dim)
        : dim(dim),
          blocks(leaves_for(count, kClusterLeaf) * (kClusterLeaf / kLanes) * index_block_doubles(dim)),
          cluster(count),
          names(count) {
      for (std::size_t slot = count; slot < leaves_for(count, kClusterLeaf) * kClusterLeaf; ++slot) clear_lane(slot);
    }

    double* lane(std::size_t slot) { return blocks.data() + slot / kLanes * index_block_doubles(dim) + slot % kLanes; }

    void copy(std::size_t to, Clusters& from, std::size_t slot) {
      double *target = lane(to), *source = from.lane(slot);
      for (std::size_t k = 0; k <= dim; ++k) target[k * kLanes] = source[k * kLanes];
      cluster[to] = from.cluster[slot];
      names[to] = from.names[slot];
    }

    void clear(std::size_t slot) {
      clear_lane(slot);
      cluster[slot] = {0.0, 0.0};
    }

    void clear_lane(std::size_t slot) {
      double* empty = lane(slot);
      for (std::size_t k = 0; k < dim; ++k) empty[k * kLanes] = kFarAway;
      empty[dim * kLanes] = 0.0;
    }

    std::size_t dim;
    UnsetVector<double> blocks;  // means and terms
    UnsetVector<Cluster> cluster;
    UnsetVector<std::uint32_t> names;
  };

  // The shape of the float32 tree. Nodes with eight children fit into it.
  static constexpr KdShape kShape = {kClusterLeaf, kFilterLanes};

  // Drops the empty slots and puts the remaining clusters into kd-order.
  UnsetVector<Slot> reorder() {
    UnsetVector<KdKey> order = parallel_collect<KdKey>(slot_count(), threads_, [&](std::size_t slot, KdKey& key) {
      key = slot;
      return exists(static_cast<Slot>(slot));
    });
    kd_order(
        order, kShape, dim_, [this](std::size_t slot, std::size_t k) { return lane(slot)[k * kLanes]; }, threads_,
        progress_);
    if (filter_) filter_->release();
    Clusters ordered(alive_, dim_);
    UnsetVector<Slot> moved(slot_count());
    parallel_for(moved.size(), 65536, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      std::fill(moved.data() + begin, moved.data() + end, kNoSlot);
    });
    parallel_for(alive_, 4096, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t slot = begin; slot < end; ++slot) {
        ordered.copy(slot, now_, point_of(order[slot]));
        moved[point_of(order[slot])] = static_cast<Slot>(slot);
      }
    });
    now_ = std::move(ordered);
    pack();
    return moved;
  }

  // Moves the remaining clusters of each node of eight leaves to its front.
  UnsetVector<Slot> tidy() {
    constexpr std::size_t kSpan = kLanes * kClusterLeaf;
    UnsetVector<Slot> moved(slot_count());
    parallel_for(
        (slot_count() + kSpan - 1) / kSpan, 64, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
          Clusters node(kSpan, dim_);
          KdKey order[kSpan], scratch[kSpan];
          for (std::size_t first = begin * kSpan; first < std::min(end * kSpan, slot_count()); first += kSpan) {
            const std::size_t last = std::min(first + kSpan, slot_count());
            std::size_t count = 0;
            for (std::size_t slot = first; slot < last; ++slot)
              if (exists(static_cast<Slot>(slot))) order[count++] = slot;
            if (count == last - first) {
              for (std::size_t slot = first; slot < last; ++slot) moved[slot] = static_cast<Slot>(slot);
              continue;
            }
            kd_sort(
                order, count, kShape, dim_,
                [&](std::size_t slot, std::size_t k) {
                  return static_cast<float>(lane(slot)[k * kLanes] - lane(point_of(order[0]))[k * kLanes]);
                },
                scratch);
            std::fill(moved.data() + first, moved.data() + last, kNoSlot);
            for (std::size_t i = 0; i < count; ++i) {
              node.copy(i, now_, point_of(order[i]));
              moved[point_of(order[i])] = static_cast<Slot>(first + i);
            }
            for (std::size_t i = 0; i < count; ++i) now_.copy(first + i, node, i);
            for (std::size_t slot = first + count; slot < last; ++slot) now_.clear(slot);
          }
        });
    pack();
    return moved;
  }

  void pack() {
    boxes_.pack(now_.blocks.data(), leaves_for(slot_count(), kClusterLeaf), threads_, progress_);
    tidy_ = alive_;
    tree_.dim = dim_;
    tree_.slot_count = slot_count();
    tree_.blocks = now_.blocks.data();
    tree_.names = now_.names.data();
    boxes_.show(tree_);
    if (filter_) filter_->pack(tree_, threads_, progress_);
    find_ = index_search().nearest_to_slot[static_cast<std::size_t>(nearness_)][IndexSearch::unrolled(dim_)];
  }

  double* lane(std::size_t slot) { return now_.lane(slot); }
  const double* lane(std::size_t slot) const { return const_cast<IndexedClusters*>(this)->lane(slot); }

  void set_term(std::size_t slot) {
    const auto [weight, sse] = now_.cluster[slot];
    lane(slot)[dim_ * kLanes] = nearness_ == Nearness::ward      ? 1.0 / weight
                                : nearness_ == Nearness::average ? sse / weight
                                                                 : 0.0;
  }

  std::size_t dim_;
  Nearness nearness_;
  Vote vote_;
  std::size_t threads_;
  const Progress& progress_;
  std::size_t alive_;
  std::size_t tidy_ = 0;  // how many clusters there were when the boxes were last packed
  Clusters now_;
  PackedBoxes<double> boxes_;
  PackedTree tree_;
  IndexSearch::NearestToSlot find_ = nullptr;
  std::optional<FilterCopy> filter_;
  FilteredSearch::NearestToSlot find_filtered_ = nullptr;
};

}  // namespace silverbirch

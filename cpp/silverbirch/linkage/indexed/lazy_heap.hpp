// The greedy result for every linkage of features, reducible or not, without comparing all pairs: a lazy heap of
// nearest neighbours over an index [after Müllner 2011, the generic algorithm].
//
// The key of a cluster is the distance of its nearest neighbour at its last search. A new cluster searches among all.
// So for every pair, the key of the younger cluster is at most the distance of the pair, and the least key belongs to
// the nearest pair, if its neighbour still exists. Otherwise that cluster searches again. No older cluster has come
// nearer meanwhile, so its key was a lower bound all the time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/base/min_heap.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/indexed/indexed_clusters.hpp"
#include "silverbirch/linkage/merge_history.hpp"

namespace silverbirch {

class LazyHeap {
 public:
  LazyHeap(IndexedClusters& clusters, std::size_t names, MergeHistory& history, const Progress& progress)
      : clusters_(clusters), history_(history), progress_(progress), nearest_(names) {}

  void run(std::size_t threads) {
    const std::size_t merges = history_.size() + clusters_.alive() - 1;
    find_slots();
    search_all(threads);
    while (clusters_.alive() > 1) {
      if (history_.size() % 64 == 0) progress_(history_.size(), merges);
      const Key key = heap_.top();
      if (nearest_[key.name].version != key.version)
        heap_.pop();  // that cluster has changed or is gone
      else if (nearest_[nearest_[key.name].of].version == nearest_[key.name].version_seen)
        merge(key);
      else
        search(key.name);
    }
  }

 private:
  struct Key {
    std::uint64_t distance;  // bits of the double: distances are not negative, so bits are ordered like numbers
    std::uint32_t name, version;
    // Without a branch, which would be mispredicted.
    bool operator<(const Key& other) const {
      return (distance < other.distance) | ((distance == other.distance) & (name < other.name));
    }
  };

  // Indexed by name. Valid as long as the neighbour still has the version `version_seen`.
  struct Neighbour {
    std::uint32_t of = 0, version_seen = 0;
    std::uint32_t version = 0;  // how often the cluster of this name has changed
    Slot slot = kNoSlot;        // the slot of the cluster of this name
  };

  void find_slots() {
    for (Slot slot = 0; slot < clusters_.slot_count(); ++slot)
      if (clusters_.exists(slot)) nearest_[clusters_.name(slot)].slot = slot;
  }

  Key key_from(std::uint32_t name, const NearestSlot& found) {
    Neighbour& own = nearest_[name];
    own.of = clusters_.name(found.slot);
    own.version_seen = nearest_[own.of].version;
    return {std::bit_cast<std::uint64_t>(found.distance), name, own.version};
  }

  // The new key replaces the top of the heap, which is not needed any more.
  void search(std::uint32_t name) {
    progress_.poll();
    if (on(Mechanism::heap_prefetch))
      heap_.for_next([this](const Key& key) { __builtin_prefetch(&nearest_[key.name]); });
    std::size_t visits = 0;
    heap_.replace_top(key_from(name, clusters_.nearest(nearest_[name].slot, {}, visits)));
  }

  void search_all(std::size_t threads) {
    if (clusters_.alive() < 2) return;
    heap_ = MinHeap<Key>(clusters_.slot_count(), {std::bit_cast<std::uint64_t>(kBeyondAll), 0, 0});
    const Progress polls{[&](std::size_t, std::size_t) { progress_.poll(); }};
    parallel_for(clusters_.slot_count(), 256, threads, polls, [&](std::size_t begin, std::size_t end) {
      std::size_t visits = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const Slot slot = static_cast<Slot>(i);
        heap_.set(i, key_from(clusters_.name(slot), clusters_.nearest(slot, {}, visits)));
      }
    });
    heap_.order();
  }

  void merge(const Key& key) {
    const std::uint32_t other = nearest_[key.name].of;
    const Slot a = nearest_[key.name].slot, b = nearest_[other].slot;
    const Slot into = clusters_.merge(a, b), gone = into == a ? b : a;
    const std::uint32_t name = clusters_.name(into);
    history_.record(clusters_.name(gone), name, std::bit_cast<double>(key.distance));
    ++nearest_[key.name].version;
    ++nearest_[other].version;
    if (clusters_.alive() == 1) return;
    if (!clusters_.refresh().empty()) find_slots();
    search(name);
  }

  IndexedClusters& clusters_;
  MergeHistory& history_;
  const Progress& progress_;
  std::vector<Neighbour> nearest_;
  MinHeap<Key> heap_;
};

}  // namespace silverbirch

// The greedy result for every linkage of features, reducible or not, without looking at all pairs: a lazy heap of
// nearest neighbours over an index [after Müllner 2011, the generic algorithm].
//
// Every cluster has a key, the distance of the one that was nearest when it last looked. A new cluster looks at all, so
// of every pair the younger one's key is no larger than its distance, and the smallest key of all belongs to the
// nearest pair, if the neighbour it was computed from still exists. If not, that cluster looks again; nothing older has
// come nearer, so its key was a lower bound all the time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "../merge_history.hpp"
#include "../parallel.hpp"
#include "../progress.hpp"
#include "indexed_clusters.hpp"

namespace silverbirch {

class LazyHeap {
 public:
  LazyHeap(IndexedClusters& clusters, std::size_t names, MergeHistory& history, const Progress& progress)
      : clusters_(clusters), history_(history), progress_(progress), nearest_(names), slot_of_(names) {}

  void run(std::size_t threads) {
    const std::size_t merges = history_.size() + clusters_.alive() - 1;
    find_slots();
    look_all(threads);
    while (clusters_.alive() > 1) {
      if (history_.size() % 64 == 0) progress_(history_.size(), merges);
      const Key key = heap_.top();
      heap_.pop();
      if (nearest_[key.name].version != key.version) continue;  // that cluster has changed or is gone
      if (nearest_[nearest_[key.name].of].version == nearest_[key.name].version_seen)
        merge(key);
      else
        look(key.name);
    }
  }

 private:
  struct Key {
    double distance;
    std::uint32_t name, version;
    bool operator>(const Key& other) const {
      return distance != other.distance ? distance > other.distance : name > other.name;
    }
  };

  // By name. Valid as long as the neighbour has the version it was seen with.
  struct Neighbour {
    std::uint32_t of = 0, version_seen = 0;
    std::uint32_t version = 0;  // how often the cluster of this name has changed
  };

  void find_slots() {
    for (Slot slot = 0; slot < clusters_.slot_count(); ++slot)
      if (clusters_.exists(slot)) slot_of_[clusters_.name(slot)] = slot;
  }

  Key key_from(std::uint32_t name, const NearestSlot& found) {
    Neighbour& own = nearest_[name];
    own.of = clusters_.name(found.slot);
    own.version_seen = nearest_[own.of].version;
    return {found.distance, name, own.version};
  }

  void look(std::uint32_t name) {
    progress_.poll();
    std::size_t visits = 0;
    heap_.push(key_from(name, clusters_.nearest(slot_of_[name], {}, visits)));
  }

  void look_all(std::size_t threads) {
    if (clusters_.alive() < 2) return;
    std::vector<NearestSlot> found(clusters_.slot_count());
    const Progress polls{[&](std::size_t, std::size_t) { progress_.poll(); }};
    parallel_for(found.size(), 256, threads, polls, [&](std::size_t begin, std::size_t end) {
      std::size_t visits = 0;
      for (std::size_t slot = begin; slot < end; ++slot)
        found[slot] = clusters_.nearest(static_cast<Slot>(slot), {}, visits);
    });
    std::vector<Key> keys;
    keys.reserve(found.size());
    for (std::size_t slot = 0; slot < found.size(); ++slot)
      keys.push_back(key_from(clusters_.name(static_cast<Slot>(slot)), found[slot]));
    heap_ = Heap(std::greater<>(), std::move(keys));
  }

  void merge(const Key& key) {
    const std::uint32_t other = nearest_[key.name].of;
    const Slot a = slot_of_[key.name], b = slot_of_[other];
    const Slot into = clusters_.merge(a, b), gone = into == a ? b : a;
    const std::uint32_t name = clusters_.name(into);
    history_.record(clusters_.name(gone), name, key.distance);
    ++nearest_[key.name].version;
    ++nearest_[other].version;
    if (clusters_.alive() == 1) return;
    if (!clusters_.refresh().empty()) find_slots();
    look(name);
  }

  using Heap = std::priority_queue<Key, std::vector<Key>, std::greater<>>;

  IndexedClusters& clusters_;
  MergeHistory& history_;
  const Progress& progress_;
  std::vector<Neighbour> nearest_;
  std::vector<Slot> slot_of_;
  Heap heap_;
};

}  // namespace silverbirch

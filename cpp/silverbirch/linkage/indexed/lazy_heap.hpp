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
#include <optional>
#include <utility>
#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/base/sorted_queue.hpp"
#include "silverbirch/linkage/indexed/indexed_clusters.hpp"
#include "silverbirch/linkage/indexed/trial_merges.hpp"
#include "silverbirch/linkage/merge_history.hpp"

namespace silverbirch {

class LazyHeap {
 public:
  LazyHeap(IndexedClusters& clusters, std::size_t names, MergeHistory& history, const Progress& progress)
      : clusters_(clusters), history_(history), progress_(progress), nearest_(names) {}

  void run(std::size_t threads) {
    const std::size_t merges = history_.size() + clusters_.alive() - 1;
    find_slots(threads);
    search_all(threads);
    while (clusters_.alive() > 1) {
      if (threads > 1 && clusters_.alive() >= kFewestAhead * kEventsAhead) {
        progress_(history_.size(), merges);
        look_ahead(threads);
        if (!clusters_.refresh().empty()) find_slots(threads);
        continue;
      }
      if (history_.size() % 64 == 0) progress_(history_.size(), merges);
      const Key key = *take_least(threads);
      if (has_neighbour(key))
        merge(key);
      else
        search(key.name);
    }
  }

 private:
  struct Key {
    std::uint64_t distance;  // bits of the double: distances are not negative, so bits are ordered like numbers
    std::uint32_t name, version;
    double value() const { return std::bit_cast<double>(distance); }
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

  // An entry of the heap that is next, with what was prepared for it.
  struct Event {
    Key key;
    std::size_t pair;   // the trial merge, if it is to merge
    Slot slot;          // which searched, if it was free to
    NearestSlot found;  // its nearest cluster
    bool certain;       // whether that is so, whatever becomes of the trial merges
    std::uint32_t of;   // the name of that cluster
  };

  bool is_old(const Key& key) const { return nearest_[key.name].version != key.version; }  // changed or gone
  bool has_neighbour(const Key& key) const {
    const Neighbour& own = nearest_[key.name];
    return nearest_[own.of].version == own.version_seen;
  }

  // Takes the least key of the queue that is not old.
  std::optional<Key> take_least(std::size_t threads) {
    for (;;) {
      if (!queue_.ready() && !queue_.sort_more([this](const Key& key) { return !is_old(key); }, threads)) return {};
      if (const Key* later = queue_.later_by(2 * kPrefetch)) __builtin_prefetch(&nearest_[later->name]);
      if (const Key* later = queue_.later_by(kPrefetch)) __builtin_prefetch(&nearest_[nearest_[later->name].of]);
      const Key key = queue_.top();
      queue_.pop();
      if (!is_old(key)) return key;
    }
  }

  void find_slots(std::size_t threads) {
    parallel_for(clusters_.slot_count(), 8192, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        if (const Slot slot = static_cast<Slot>(i); clusters_.exists(slot)) nearest_[clusters_.name(slot)].slot = slot;
    });
  }

  Key key_from(std::uint32_t name, const NearestSlot& found) {
    Neighbour& own = nearest_[name];
    own.of = clusters_.name(found.slot);
    own.version_seen = nearest_[own.of].version;
    return {std::bit_cast<std::uint64_t>(found.distance), name, own.version};
  }

  void search(std::uint32_t name) {
    progress_.poll();
    std::size_t visits = 0;
    queue_.push(key_from(name, clusters_.nearest(nearest_[name].slot, {}, visits)));
  }

  void search_all(std::size_t threads) {
    if (clusters_.alive() < 2) return;
    UnsetVector<Key> keys(clusters_.slot_count());
    const Progress polls{[&](std::size_t, std::size_t) { progress_.poll(); }};
    parallel_for(clusters_.slot_count(), 256, threads, polls, [&](std::size_t begin, std::size_t end) {
      std::size_t visits = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const Slot slot = static_cast<Slot>(i);
        keys[i] = key_from(clusters_.name(slot), clusters_.nearest(slot, {}, visits));
      }
    });
    queue_ = SortedQueue<Key>(std::move(keys));
  }

  void merge(const Key& key) {
    const Slot into = clusters_.merge(nearest_[key.name].slot, nearest_[nearest_[key.name].of].slot);
    const std::uint32_t name = clusters_.name(into);
    record(key, into);
    if (clusters_.alive() == 1) return;
    if (!clusters_.refresh().empty()) find_slots(1);
    search(name);
  }

  // Records that a cluster has merged with its nearest neighbour into this slot.
  void record(const Key& key, Slot into) {
    const std::uint32_t other = nearest_[key.name].of, name = clusters_.name(into);
    history_.record(name == other ? key.name : other, name, std::bit_cast<double>(key.distance));
    ++nearest_[key.name].version;
    ++nearest_[other].version;
  }

  // Does the next entries of the heap at once, as far as nobody can tell the difference from one after the other: first
  // their merges, on trial, and their searches, on all threads. Then they come in their order, with those of new
  // clusters in between. What such a new one changed, or what two of them disagree about, is done again.
  void look_ahead(std::size_t threads) {
    collect(threads);
    trial_.apply(threads);
    const Progress polls{[&](std::size_t, std::size_t) { progress_.poll(); }};
    parallel_for(events_.size(), 4, threads, polls, [&](std::size_t begin, std::size_t end) {
      std::size_t visits = 0;
      for (std::size_t i = begin; i < end; ++i) {
        Event& event = events_[i];
        if (event.pair != TrialMerges::kNone)
          event.slot = trial_.merged(event.pair);
        else if (event.slot == kNoSlot || trial_.pair_of(event.slot) != TrialMerges::kNone)
          continue;  // it is about to merge
        event.found = clusters_.nearest(event.slot, {}, visits);
        event.of = clusters_.name(event.found.slot);
        event.certain = !trial_.depends(event.slot, event.found, event.pair);
      }
    });
    late_.clear();
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      if (i + kPrefetch < events_.size()) prefetch(events_[i + kPrefetch]);
      while (queue_.ready() && queue_.top() < event.key) {
        const Key key = queue_.top();
        queue_.pop();
        happen({key, TrialMerges::kNone, kNoSlot, {}, false, 0});
      }
      happen(event);
    }
  }

  // Takes the next entries from the heap. A cluster takes part in one trial merge only.
  void collect(std::size_t threads) {
    events_.clear();
    trial_.clear();
    while (events_.size() < kEventsAhead) {
      const std::optional<Key> least = take_least(threads);
      if (!least) break;
      const Key& key = *least;
      Event event = {key, TrialMerges::kNone, kNoSlot, {}, false, 0};
      const Slot slot = nearest_[key.name].slot, other = nearest_[nearest_[key.name].of].slot;
      if (trial_.pair_of(slot) == TrialMerges::kNone) {
        if (has_neighbour(key) && trial_.pair_of(other) == TrialMerges::kNone)
          event.pair = trial_.add(slot, other);
        else
          event.slot = slot;
      }
      events_.push_back(event);
    }
  }

  void prefetch(const Event& event) const {
    __builtin_prefetch(&nearest_[event.of]);
    if (event.pair == TrialMerges::kNone) return;
    history_.prefetch(event.key.name);
    history_.prefetch(nearest_[event.key.name].of);
  }

  void happen(const Event& event) {
    const Key& key = event.key;
    if (is_old(key)) return;
    std::uint32_t name = key.name;
    bool prepared = event.certain;
    if (has_neighbour(key)) {
      const Slot a = nearest_[name].slot, b = nearest_[nearest_[name].of].slot;
      const std::size_t pair = trial_.pair_of(a);
      Slot into;
      if (pair != TrialMerges::kNone && pair == event.pair) {
        into = trial_.merged(pair);
        trial_.confirm(pair);
      } else {  // not prepared, or undone
        prepared = false;
        release(a);
        release(b);
        into = clusters_.merge(a, b);
        late_.push_back(a);
        late_.push_back(b);
      }
      record(key, into);
      name = clusters_.name(into);
    } else {
      release(nearest_[name].slot);
      prepared = prepared && event.pair == TrialMerges::kNone;
    }
    const Slot slot = nearest_[name].slot;
    queue_.push(key_from(name, prepared ? among_late(slot, event.found) : trial_.nearest(slot)));
  }

  void release(Slot slot) {
    if (const std::size_t pair = trial_.pair_of(slot); pair != TrialMerges::kNone) trial_.undo(pair);
  }

  // What was found ahead, or the nearest cluster that has changed since, if it is nearer.
  NearestSlot among_late(Slot slot, NearestSlot found) {
    for (const Slot late : late_)
      if (late == found.slot) return trial_.nearest(slot);
    for (const Slot late : late_)
      if (late != slot && clusters_.exists(late))
        if (const NearestSlot other = {late, clusters_.distance(slot, late)}; clusters_.precedes(slot, other, found))
          found = other;
    return found;
  }

  // Measured: more entries at once share the work better, but more of them must be done again. At the end there are
  // too few clusters for that.
  static constexpr std::size_t kPrefetch = 8, kEventsAhead = 256, kFewestAhead = 64;

  IndexedClusters& clusters_;
  MergeHistory& history_;
  const Progress& progress_;
  std::vector<Neighbour> nearest_;
  SortedQueue<Key> queue_;
  std::vector<Event> events_;
  TrialMerges trial_{clusters_, kEventsAhead};
  std::vector<Slot> late_;  // slots of merges that were not prepared
};

}  // namespace silverbirch

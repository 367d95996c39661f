// Rounds of reciprocal nearest neighbours: for reducible linkages, the greedy result without the greedy order
// [Bruynooghe 1977; Murtagh 1983; Sumengen et al. 2021, "Scaling hierarchical agglomerative clustering to billion-sized
// datasets"; Yu et al. 2021, "ParChain"].
//
// Two clusters that are nearest to each other merge sooner or later, whatever happens elsewhere. So all such pairs
// merge at once. In a round the new clusters search for their nearest neighbours. An old cluster whose nearest
// neighbour is gone searches only if another cluster points at it. Pairs are totally ordered (by distance, then by
// pair_key). So a chain of nearest neighbours always ends at a reciprocal pair, and every round merges.
//
// The searches of a round only read, and no two of its pairs share a cluster. So searches and merges run on any number
// of threads, with the same result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/index/search.hpp"
#include "silverbirch/linkage/merge_history.hpp"

namespace silverbirch {

template <class Clusters>
class Rounds {
 public:
  Rounds(Clusters& clusters, MergeHistory& history, std::size_t threads, const Progress& progress)
      : clusters_(clusters),
        history_(history),
        threads_(threads),
        progress_(progress),
        pointers_(clusters.slot_count()),
        records_(clusters.slot_count()),
        places_(clusters.slot_count()) {
    for_all_slots([&](Slot slot) {
      pointers_[slot] = kNowhere;
      records_[slot] = history.cluster(clusters.name(slot));
      places_[slot] = kNoPlace;
    });
  }

  // Runs until at most `few` clusters are left.
  void run(std::size_t few = 1) {
    const std::size_t merges = history_.size() + clusters_.alive() - 1;
    Slots fresh(clusters_.slot_count());
    for_all_slots([&](Slot slot) { fresh[slot] = slot; });
    while (clusters_.alive() > few) {
      progress_(history_.size(), merges);
      const bool many = fresh.size() >= clusters_.slot_count() / kFew;
      touched_.clear();
      for (Slots queries = std::move(fresh); !queries.empty();) queries = search(std::move(queries));
      if (many)
        for (Slots queries = pointed_at(); !queries.empty();) queries = search(std::move(queries));
      fresh = merge_reciprocal();
      if (const Slots moved = clusters_.refresh(); !moved.empty()) move(moved, fresh);
    }
    for_all_slots([&](Slot slot) {
      if (clusters_.exists(slot)) history_.set_cluster(clusters_.name(slot), records_[slot]);
    });
  }

 private:
  using Slots = UnsetVector<Slot>;

  // If at least one slot in this many is new, work proportional to all slots pays off.
  static constexpr std::size_t kFew = 16;

  // The nearest neighbour of a slot. Valid as long as the cluster pointed at has not changed.
  struct Pointer {
    Slot slot;
    std::uint32_t version_seen;
    double distance;
    std::uint32_t version;  // how often the cluster in this slot has changed
    Slot merged_into;       // where the cluster of this slot went
  };
  static constexpr Pointer kNowhere = {kNoSlot, 0, kBeyondAll, 0, kNoSlot};

  bool valid(Slot slot) const {
    const Pointer& p = pointers_[slot];
    return p.slot != kNoSlot && pointers_[p.slot].version == p.version_seen;
  }

  bool precedes(double distance, Slot a, Slot b, const Pointer& than, Slot owner) const {
    if (distance != than.distance) return distance < than.distance;
    return pair_key(clusters_.name(a), clusters_.name(b)) < pair_key(clusters_.name(owner), clusters_.name(than.slot));
  }

  void point(Slot from, Slot to, double distance) {
    Pointer& p = pointers_[from];
    p.slot = to;
    p.version_seen = pointers_[to].version;
    p.distance = distance;
  }

  NearestSlot nearest_of(Slot slot) const { return {pointers_[slot].slot, pointers_[slot].distance}; }

  std::size_t threads_for(std::size_t slots) const { return slots < kWorthAThread ? 1 : threads_; }

  template <class Work>
  void for_all_slots(Work work) const {
    parallel_for(clusters_.slot_count(), 8192, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t slot = begin; slot < end; ++slot) work(static_cast<Slot>(slot));
    });
  }

  // The slots for which `test` holds, in the given order. `test` may only read.
  template <class Test>
  Slots those_of(const Slots& slots, Test test) const {
    return parallel_collect<Slot>(slots.size(), threads_for(slots.size()), [&](std::size_t i, Slot& place) {
      place = slots[i];
      return test(place);
    });
  }

  // Each once, in ascending order.
  Slots in_order(Slots slots) {
    if (slots.size() < clusters_.slot_count() / kSparse) {
      std::sort(slots.begin(), slots.end());
      slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
      return slots;
    }
    parallel_for(slots.size(), 8192, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) std::atomic_ref(places_[slots[i]]).store(0, std::memory_order_relaxed);
    });
    return parallel_collect<Slot>(clusters_.slot_count(), threads_, [&](std::size_t slot, Slot& place) {
      place = static_cast<Slot>(slot);
      const bool marked = places_[slot] == 0;
      places_[slot] = kNoPlace;
      return marked;
    });
  }

  // Searches for all queries. Returns the clusters at the ends of their chains that must search again, each once, in
  // order.
  Slots search(Slots queries) {
    const Progress polls{[&](std::size_t, std::size_t) { progress_.poll(); }};
    // Of other pointers, a search only reads what became of their slots, which does not change meanwhile.
    const std::size_t piece = std::clamp<std::size_t>(queries.size() / 1024, Clusters::kSearchesWorthAPiece, 64);
    parallel_for(queries.size(), piece, threads_, polls, [&](std::size_t begin, std::size_t end) {
      std::size_t visits = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const NearestSlot found = clusters_.nearest(queries[i], known_neighbour(queries[i]), visits);
        point(queries[i], found.slot, found.distance);
      }
    });
    touched_.insert(touched_.end(), queries.begin(), queries.end());

    // By rounding or a tie, a new cluster may be nearer to its neighbour than that neighbour's own nearest. Then the
    // neighbour must point back to it: otherwise pointers could form a circle.
    const auto is_nearer = [&](Slot from) {
      const auto [to, distance] = nearest_of(from);
      return valid(to) && precedes(distance, from, to, pointers_[to], to);
    };
    for (const Slot from : those_of(queries, is_nearer)) {
      if (!is_nearer(from)) continue;  // its neighbour points to a nearer cluster by now
      const auto [to, distance] = nearest_of(from);
      point(to, from, distance);
      touched_.push_back(to);
    }
    Slots& ends = queries;
    parallel_for(ends.size(), 4096, threads_for(ends.size()), no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ends[i] = end_of_chain(ends[i]);
    });
    return in_order(those_of(ends, [&](Slot end) { return !valid(end); }));
  }

  // Follows nearest neighbours to a reciprocal pair, or to a cluster that must search again. Distances never grow along
  // the path.
  Slot end_of_chain(Slot slot) const {
    for (std::size_t steps = 0; steps <= pointers_.size(); ++steps, slot = pointers_[slot].slot)
      if (!valid(slot) || (valid(pointers_[slot].slot) && pointers_[pointers_[slot].slot].slot == slot)) return slot;
    throw std::logic_error("nearest neighbours go round in a circle: please report this data");
  }

  // The cluster that contains the former nearest neighbour now, if any: its distance limits the search.
  NearestSlot known_neighbour(Slot slot) const {
    const Slot former = pointers_[slot].slot;
    if (former == kNoSlot || !on(Mechanism::known_neighbours)) return {};
    const Slot now = clusters_.exists(former) ? former : pointers_[former].merged_into;
    if (now == kNoSlot || now == slot || !clusters_.exists(now)) return {};
    return {now, clusters_.distance(slot, now)};
  }

  Slots pointed_at() {
    const std::size_t slots = clusters_.slot_count();
    return in_order(parallel_collect<Slot>(slots, threads_for(slots), [&](std::size_t i, Slot& place) {
      const Slot slot = static_cast<Slot>(i);
      place = pointers_[slot].slot;
      return clusters_.exists(slot) && valid(slot) && !valid(place);
    }));
  }

  // A pair can only have become reciprocal if one of its clusters changed its pointer. Each pair once, in the order of
  // the first of its clusters that is found, which is `from`.
  UnsetVector<MergingPair> reciprocal_pairs() {
    const Slots found = those_of(touched_, [&](Slot a) {
      return clusters_.exists(a) && valid(a) && pointers_[pointers_[a].slot].slot == a && valid(pointers_[a].slot);
    });
    const std::size_t threads = threads_for(found.size());
    parallel_for(found.size(), 8192, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::atomic_ref first(places_[found[i]]);
        std::uint32_t known = first.load(std::memory_order_relaxed);
        while (i < known &&
               !first.compare_exchange_weak(known, static_cast<std::uint32_t>(i), std::memory_order_relaxed))
          continue;
      }
    });
    auto pairs = parallel_collect<MergingPair>(found.size(), threads, [&](std::size_t i, MergingPair& pair) {
      const Slot a = found[i];
      const auto [b, distance] = nearest_of(a);
      pair = {a, b, distance};
      return places_[a] == i && i < places_[b];
    });
    parallel_for(found.size(), 8192, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        std::atomic_ref(places_[found[i]]).store(kNoPlace, std::memory_order_relaxed);
    });
    return pairs;
  }

  // Returns the slots of the merged clusters.
  Slots merge_reciprocal() {
    UnsetVector<MergingPair> pairs = reciprocal_pairs();
    clusters_.merge(pairs, threads_for(pairs.size()));

    Slots fresh(pairs.size());
    const std::size_t first = history_.make_room(pairs.size());
    parallel_for(pairs.size(), 4096, threads_for(pairs.size()), no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto [from, into, distance] = pairs[i];
        Pointer &gone = pointers_[from], &merged = pointers_[into];
        records_[into] = history_.record_at(first + i, records_[from], records_[into], distance);
        ++gone.version;
        ++merged.version;
        gone.merged_into = into;
        merged.slot = kNoSlot;
        fresh[i] = into;
      }
    });
    return in_order(std::move(fresh));
  }

  void move(const Slots& moved, Slots& fresh) {
    UnsetVector<MergeHistory::Cluster> records(clusters_.slot_count());
    UnsetVector<Pointer> pointers(clusters_.slot_count());  // slots that no cluster has moved to are never read
    const auto move_one = [&](std::size_t old) {
      if (moved[old] == kNoSlot) return;
      Pointer p = pointers_[old];
      if (p.slot != kNoSlot) {
        const bool was_valid = valid(static_cast<Slot>(old));
        Slot to = moved[p.slot];
        if (to == kNoSlot && pointers_[p.slot].merged_into != kNoSlot) to = moved[pointers_[p.slot].merged_into];
        p.slot = to;
        p.version_seen = was_valid ? 0 : kNeverSeen;
      }
      p.version = 0;
      p.merged_into = kNoSlot;
      pointers[moved[old]] = p;
      records[moved[old]] = records_[old];
    };
    parallel_for(moved.size(), 16384, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t old = begin; old < end; ++old) move_one(old);
    });
    pointers_ = std::move(pointers);
    records_ = std::move(records);
    parallel_for(fresh.size(), 8192, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) fresh[i] = moved[fresh[i]];
    });
    fresh = in_order(std::move(fresh));
  }

  static constexpr std::size_t kWorthAThread = 2048;
  static constexpr std::size_t kSparse = 64;  // a list of fewer than one slot in so many is faster sorted
  static constexpr std::uint32_t kNeverSeen = static_cast<std::uint32_t>(-1), kNoPlace = kNeverSeen;

  Clusters& clusters_;
  MergeHistory& history_;
  std::size_t threads_;
  const Progress& progress_;
  UnsetVector<Pointer> pointers_;
  UnsetVector<MergeHistory::Cluster> records_;
  UnsetVector<std::uint32_t> places_;  // kNoPlace but within in_order and reciprocal_pairs
  Slots touched_;
};

}  // namespace silverbirch

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
        pointers_(clusters.slot_count(), kNowhere) {}

  // Runs until at most `few` clusters are left.
  void run(std::size_t few = 1) {
    const std::size_t merges = history_.size() + clusters_.alive() - 1;
    std::vector<Slot> fresh(clusters_.slot_count());
    for (std::size_t slot = 0; slot < fresh.size(); ++slot) fresh[slot] = static_cast<Slot>(slot);
    while (clusters_.alive() > few) {
      progress_(history_.size(), merges);
      const bool many = fresh.size() >= clusters_.slot_count() / kFew;
      touched_.clear();
      for (std::vector<Slot> queries = std::move(fresh); !queries.empty();) queries = search(std::move(queries));
      if (many)
        for (std::vector<Slot> queries = pointed_at(); !queries.empty();) queries = search(std::move(queries));
      fresh = merge_reciprocal();
      if (const std::vector<Slot> moved = clusters_.refresh(); !moved.empty()) move(moved, fresh);
    }
    for (Slot slot = 0; slot < clusters_.slot_count(); ++slot)
      if (clusters_.exists(slot)) history_.set_rank(clusters_.name(slot), pointers_[slot].rank);
  }

 private:
  // If at least one slot in this many is new, work proportional to all slots pays off.
  static constexpr std::size_t kFew = 16;

  // The nearest neighbour of a slot. Valid as long as the cluster pointed at has not changed.
  struct Pointer {
    Slot slot;
    std::uint32_t version_seen;
    double distance;
    std::uint32_t version;  // how often the cluster in this slot has changed
    Slot merged_into;       // where the cluster of this slot went
    double rank;            // rank of the cluster in this slot, see MergeHistory
  };
  static constexpr Pointer kNowhere = {kNoSlot, 0, kBeyondAll, 0, kNoSlot, 0.0};

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

  std::size_t threads_for(std::size_t slots, std::size_t worth_it = kWorthAThread) const {
    return slots < worth_it ? 1 : threads_;
  }

  // The slots for which `test` holds, in the given order. `test` may only read.
  template <class Test>
  std::vector<Slot> those_of(const std::vector<Slot>& slots, Test test) const {
    return parallel_collect<Slot>(slots.size(), threads_for(slots.size()), [&](std::size_t i, Slot& place) {
      place = slots[i];
      return test(place);
    });
  }

  // Each once.
  std::vector<Slot> in_order(std::vector<Slot> slots) const {
    if (slots.size() < clusters_.slot_count() / kFew || !on(Mechanism::marked_slots)) {
      std::sort(slots.begin(), slots.end());
      slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
      return slots;
    }
    std::vector<std::uint8_t> present(clusters_.slot_count());
    parallel_for(slots.size(), 8192, threads_for(slots.size()), no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        std::atomic_ref(present[slots[i]]).store(1, std::memory_order_relaxed);  // it may be there twice
    });
    return parallel_collect<Slot>(present.size(), threads_for(present.size()), [&](std::size_t slot, Slot& place) {
      place = static_cast<Slot>(slot);
      return present[slot];
    });
  }

  // Searches for all queries. Returns the clusters at the ends of their chains that must search again, each once, in
  // order.
  std::vector<Slot> search(std::vector<Slot> queries) {
    const Progress polls{[&](std::size_t, std::size_t) { progress_.poll(); }};
    // Of other pointers, a search only reads what became of their slots, which does not change meanwhile.
    const std::size_t threads = threads_for(queries.size(), kSearchesWorthAThread);
    parallel_for(queries.size(), kPiece, threads, polls, [&](std::size_t begin, std::size_t end) {
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
    std::vector<Slot>& ends = queries;
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

  std::vector<Slot> pointed_at() const {
    const std::size_t slots = clusters_.slot_count();
    return in_order(parallel_collect<Slot>(slots, threads_for(slots), [&](std::size_t i, Slot& place) {
      const Slot slot = static_cast<Slot>(i);
      place = pointers_[slot].slot;
      return clusters_.exists(slot) && valid(slot) && !valid(place);
    }));
  }

  // A pair can only have become reciprocal if one of its clusters changed its pointer.
  std::vector<Slot> merge_reciprocal() {
    const auto is_reciprocal = [&](Slot a) {
      return clusters_.exists(a) && valid(a) && pointers_[pointers_[a].slot].slot == a && valid(pointers_[a].slot);
    };
    const std::vector<Slot> found = those_of(touched_, is_reciprocal);
    std::vector<MergingPair> pairs;
    pairs.reserve(found.size());
    for (const Slot a : found) {
      const auto [b, distance] = nearest_of(a);
      if (b == kNoSlot || pointers_[b].slot != a) continue;  // already found from the other cluster, or twice
      pointers_[b].slot = kNoSlot;
      pairs.push_back({a, b, distance});
    }
    clusters_.merge(pairs, threads_for(pairs.size()));

    std::vector<Slot> fresh(pairs.size());
    const std::size_t first = history_.make_room(pairs.size());
    parallel_for(pairs.size(), 4096, threads_for(pairs.size()), no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto [from, into, distance] = pairs[i];
        Pointer &gone = pointers_[from], &merged = pointers_[into];
        merged.rank = std::max({distance, gone.rank, merged.rank});
        history_.record_at(first + i, clusters_.name(from), clusters_.name(into), distance, merged.rank);
        ++gone.version;
        ++merged.version;
        gone.merged_into = into;
        merged.slot = kNoSlot;
        fresh[i] = into;
      }
    });
    return in_order(std::move(fresh));
  }

  void move(const std::vector<Slot>& moved, std::vector<Slot>& fresh) {
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
    };
    parallel_for(moved.size(), 16384, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t old = begin; old < end; ++old) move_one(old);
    });
    pointers_ = std::move(pointers);
    for (Slot& slot : fresh) slot = moved[slot];
    fresh = in_order(std::move(fresh));
  }

  static constexpr std::size_t kPiece = 64, kWorthAThread = 2048, kSearchesWorthAThread = 256;
  static constexpr std::uint32_t kNeverSeen = static_cast<std::uint32_t>(-1);

  Clusters& clusters_;
  MergeHistory& history_;
  std::size_t threads_;
  const Progress& progress_;
  UnsetVector<Pointer> pointers_;
  std::vector<Slot> touched_;
};

}  // namespace silverbirch

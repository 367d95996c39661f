// Merges that are done in the index before it is certain that they will happen. Until then each can be undone. So many
// merges can be done at once, and the searches of the merged clusters too.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/linkage/indexed/indexed_clusters.hpp"

namespace silverbirch {

class TrialMerges {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // There will be at most `most` pairs at a time.
  TrialMerges(IndexedClusters& clusters, std::size_t most) : clusters_(clusters), table_(std::bit_ceil(8 * most)) {}

  void clear() {
    pairs_.clear();
    std::ranges::fill(table_, Entry{kNoSlot, 0});
  }

  // Both clusters must be free. Returns the number of the pair.
  std::size_t add(Slot a, Slot b) {
    const std::size_t pair = pairs_.size();
    pairs_.push_back({a, b, 0.0});
    for (const Slot slot : {a, b}) table_[place_of(slot)] = {slot, static_cast<std::uint32_t>(pair)};
    return pair;
  }

  // The pair that a slot belongs to, if it is open: neither confirmed nor undone.
  std::size_t pair_of(Slot slot) const {
    const Entry& entry = table_[place_of(slot)];
    return entry.slot != kNoSlot && pairs_[entry.pair].from != kNoSlot ? entry.pair : kNone;
  }

  // Does all merges. What the clusters were before is kept: each row of `before_` is a coordinate or the term.
  void apply(std::size_t threads) {
    before_.resize((clusters_.dim() + 1) * stride());
    sums_.resize(stride());
    parallel_for(pairs_.size(), 8, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j) {
        MergingPair& pair = pairs_[j];
        const Slot a = pair.from, b = pair.into;
        keep(a, 2 * j);
        keep(b, 2 * j + 1);
        if (clusters_.unite_on_trial(a, b) != b) swap_parts(j);
      }
    });
  }

  Slot merged(std::size_t j) const { return pairs_[j].into; }

  void confirm(std::size_t j) {
    clusters_.confirm_merge();
    close(j);
  }

  void undo(std::size_t j) {
    for (const std::size_t part : {2 * j, 2 * j + 1})
      clusters_.restore(part % 2 ? pairs_[j].into : pairs_[j].from, before_.data() + part, stride(), sums_[part]);
    close(j);
  }

  // While all pairs are open: whether the nearest cluster found depends on which of them are done, apart from pair
  // `own`.
  bool depends(Slot slot, const NearestSlot& found, std::size_t own) const {
    bool near = false;
    for (std::size_t j = 0; j < pairs_.size(); ++j) near |= pairs_[j].into == found.slot && j != own;
    for_parts(slot, [&](std::size_t part, double distance) { near |= distance <= found.distance && part / 2 != own; });
    return near;
  }

  // The nearest cluster, if only the confirmed merges are done.
  NearestSlot nearest(Slot slot) {
    for (;;) {
      std::size_t visits = 0;
      NearestSlot best = clusters_.nearest(slot, {}, visits);
      if (const std::size_t j = pair_of(best.slot); j != kNone) {
        undo(j);
        continue;
      }
      for_parts(slot, [&](std::size_t part, double distance) {
        const Slot candidate = part % 2 ? pairs_[part / 2].into : pairs_[part / 2].from;
        if (candidate != kNoSlot && clusters_.precedes(slot, {candidate, distance}, best)) best = {candidate, distance};
      });
      return best;
    }
  }

 private:
  struct Entry {
    Slot slot;
    std::uint32_t pair;
  };

  // Where a slot is in the hash table, or would be.
  std::size_t place_of(Slot slot) const {
    std::size_t place = (slot * 0x9E3779B1U >> 7) & (table_.size() - 1);
    while (table_[place].slot != kNoSlot && table_[place].slot != slot) place = (place + 1) & (table_.size() - 1);
    return place;
  }

  std::size_t stride() const { return 2 * pairs_.size(); }

  void close(std::size_t j) { pairs_[j].from = pairs_[j].into = kNoSlot; }

  void keep(Slot slot, std::size_t part) { sums_[part] = clusters_.keep(slot, before_.data() + part, stride()); }

  void swap_parts(std::size_t j) {
    std::swap(pairs_[j].from, pairs_[j].into);
    std::swap(sums_[2 * j], sums_[2 * j + 1]);
    for (std::size_t k = 0; k <= clusters_.dim(); ++k)
      std::swap(before_[k * stride() + 2 * j], before_[k * stride() + 2 * j + 1]);
  }

  // Calls visit(part, its distance from the slot) for all parts of all pairs, as they were before.
  template <class Visit>
  void for_parts(Slot slot, Visit visit) const {
    constexpr std::size_t kTogether = 64;
    double distances[kTogether];
    for (std::size_t first = 0; first < stride(); first += kTogether) {
      const std::size_t count = std::min(kTogether, stride() - first);
      clusters_.distances(slot, before_.data() + first, stride(), count, distances);
      for (std::size_t i = 0; i < count; ++i) visit(first + i, distances[i]);
    }
  }

  IndexedClusters& clusters_;
  std::vector<MergingPair> pairs_;
  std::vector<Entry> table_;  // the pair of each slot
  std::vector<double> before_;
  std::vector<IndexedClusters::Cluster> sums_;
};

}  // namespace silverbirch

// Clusters that know their points, over an index of their means. The index proposes neighbours in the order of a lower
// bound of the linkage distance; the points give the distance itself. Memory is linear in the number of points.
//
// complete² ≥ |mean gap|² + variance_a + variance_b, as a maximum is no less than a mean. average ≥ |mean gap|, by
// Jensen's inequality. Weighted linkage is average linkage of points whose weights are halved at each merge.
//
// For clusters of a single point the bound is the distance. Most searches are of this kind.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/patience.hpp"
#include "silverbirch/index/search.hpp"
#include "silverbirch/linkage/indexed/indexed_clusters.hpp"
#include "silverbirch/linkage/points/member_distance.hpp"

namespace silverbirch {

class MemberClusters {
 public:
  static constexpr std::size_t kSearchesWorthAPiece = 1;  // clusters may have many points

  MemberClusters(const FeaturesView& points, std::span<const std::uint32_t> names, bool complete, Vote vote,
                 std::size_t threads, const Progress& progress)
      : dim_(points.dim),
        complete_(complete),
        vote_(vote),
        threads_(threads),
        patience_(progress),
        index_(points, names, complete ? Nearness::average : Nearness::centroid, vote, threads, progress),
        runs_(points.size),
        single_(points.size, 1) {
    double largest = 0.0;
    for (std::size_t i = 0; i < points.size * points.dim; ++i) largest = std::max(largest, std::abs(points.mean[i]));
    margin_ = kMeanError * largest * std::sqrt(static_cast<double>(dim_));
    const std::size_t unrolled = MemberDistance::unrolled(dim_);
    between_ = complete ? member_distance().complete[unrolled] : member_distance().average[unrolled];
    sum_ = member_distance().sum[unrolled];
    search_ = index_search().nearest_verified[complete][IndexSearch::unrolled(dim_)];
  }

  std::size_t slot_count() const { return index_.slot_count(); }
  std::size_t alive() const { return index_.alive(); }
  std::uint32_t name(Slot slot) const { return index_.name(slot); }
  bool exists(Slot slot) const { return index_.exists(slot); }
  double weight(Slot slot) const { return index_.weight(slot); }

  NearestSlot nearest(Slot slot, NearestSlot known, std::size_t& visits) const {
    const Verification verification = {distance_of, this, single_.data(), margin_};
    return search_(index_.tree(), slot, known, verification, visits);
  }

  // The squared distance; any number above `limit` if it is above.
  double distance(Slot a, Slot b, double limit = kBeyondAll) const {
    const bool swap = name(b) < name(a);  // the same order of additions for (a, b) and (b, a)
    const Members first = members(swap ? b : a), second = members(swap ? a : b);
    if (!complete_ && first.count * second.count > kLong) return long_average(first, second);
    return between_(first, second, dim_, limit, margin_);
  }

  // Merges all pairs; no two pairs may share a cluster.
  void merge(UnsetVector<MergingPair>& pairs, std::size_t threads) {
    const auto for_pairs = [&](auto work) {
      parallel_for(pairs.size(), 16, threads, no_progress, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) work(pairs[i]);
      });
    };
    std::vector<Slot> single;  // while the index still knows their points
    for (const MergingPair& pair : pairs)
      for (const Slot slot : {pair.from, pair.into})
        if (runs_[slot].count == 1) single.push_back(slot);
    double* place = room_for(single.size());
    for (const Slot slot : single) {
      runs_[slot].begin = place;
      runs_[slot].capacity = 1;
      place += stride();
    }
    parallel_for(single.size(), 256, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) fill_block(single[i]);
    });
    index_.merge(pairs, threads);
    std::size_t blocks = 0;
    for (const MergingPair& pair : pairs) blocks += blocks_to_add(pair);
    place = room_for(blocks);
    for (const MergingPair& pair : pairs) {
      Run& run = runs_[pair.into];
      run.next = place;
      place += blocks_to_add(pair) * stride();
    }
    for_pairs([&](const MergingPair& pair) { append(pair); });
  }

  // See IndexedClusters::refresh. Also moves the points of near clusters next to each other.
  UnsetVector<Slot> refresh() {
    UnsetVector<Slot> moved = index_.refresh();
    if (moved.empty()) return moved;
    std::vector<Run> runs(slot_count());
    for_all(moved.size(), [&](std::size_t old) {
      if (moved[old] != kNoSlot) runs[moved[old]] = runs_[old];
    });
    std::size_t used = 0;
    for (const Run& run : runs) used += run.count > 1 ? blocks_for(run.count) : 0;
    std::vector<UnsetVector<double>> former = std::move(chunks_);
    chunks_.clear();
    double* place = room_for(used);
    for (Run& run : runs) {
      if (run.count == 1) continue;
      run.next = place;
      run.capacity = static_cast<std::uint32_t>(blocks_for(run.count));
      place += run.capacity * stride();
    }
    single_.resize(runs.size());
    for_all(runs.size(), [&](std::size_t slot) {
      Run& run = runs[slot];
      single_[slot] = run.count == 1;
      if (run.count == 1) return;
      std::copy_n(run.begin, run.capacity * stride(), run.next);
      run.begin = run.next;
    });
    runs_ = std::move(runs);
    return moved;
  }

  // For clusters that will not change any more: encloses blocks of points in balls, which make the search for the
  // farthest pair of large clusters cheap.
  void settle() {
    if (!complete_ || !on(Mechanism::balls)) return;
    std::size_t used = 0;
    balls_of_.assign(slot_count(), 0);
    for (std::size_t slot = 0; slot < slot_count(); ++slot) {
      balls_of_[slot] = used;
      used += blocks_for(blocks_for(runs_[slot].count));
    }
    balls_.assign(used * stride(), 0.0);
    for_all(slot_count(), [&](std::size_t slot) {
      if (runs_[slot].count == 1) return;
      for (std::size_t i = 0; i < blocks_for(runs_[slot].count); ++i)
        enclose(runs_[slot].begin + i * stride(),
                balls_.data() + (balls_of_[slot] + i / kLanes) * stride() + i % kLanes);
    });
  }

 private:
  // A generous bound of the relative error of a mean after many merges.
  static constexpr double kMeanError = 1e-12;

  // The distances of this many pairs of points take some tenths of a second.
  static constexpr std::size_t kLong = std::size_t{1} << 27;

  // Where the points of a cluster are stored, if it has more than one.
  struct Run {
    double* begin = nullptr;     // the first block
    double* next = nullptr;      // where the blocks are to be moved, if they are
    std::uint32_t count = 1;     // number of points
    std::uint32_t capacity = 0;  // number of blocks
    double radius = 0.0;
  };

  static double distance_of(const void* clusters, Slot a, Slot b, double limit) {
    return static_cast<const MemberClusters*>(clusters)->distance(a, b, limit);
  }

  std::size_t stride() const { return member_block_doubles(dim_); }
  double* point(const Run& run, std::size_t i) const { return run.begin + i / kLanes * stride() + i % kLanes; }

  template <class Work>
  void for_all(std::size_t count, Work work) const {
    parallel_for(count, 64, threads_, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) work(i);
    });
  }

  Members members(Slot slot) const {
    const Run& run = runs_[slot];
    const double* balls = balls_.empty() ? nullptr : balls_.data() + balls_of_[slot] * stride();
    return {index_.mean(slot), run.begin, run.count, index_.weight(slot), run.radius, balls};
  }

  // In pieces, so that a computation of seconds can be stopped. The result is not used after that.
  double long_average(const Members& a, const Members& b) const {
    constexpr std::size_t kPiece = 64 * kLanes;
    double sum = 0.0;
    for (std::size_t begin = 0; begin < a.count; begin += kPiece) {
      if (patience_.ended()) return kBeyondAll;
      Members piece = a;
      piece.blocks += begin / kLanes * stride();
      piece.count = std::min(kPiece, a.count - begin);
      sum += sum_(piece, b, dim_);
    }
    const double mean = sum / (a.weight * b.weight);
    return mean * mean;
  }

  // Writes a ball around the points of a block to a lane of `ball`. Its centre is the middle of their box.
  void enclose(const double* points, double* ball) const {
    for (std::size_t k = 0; k < dim_; ++k) {
      const auto [least, most] = std::minmax_element(points + k * kLanes, points + (k + 1) * kLanes);
      ball[k * kLanes] = 0.5 * *least + 0.5 * *most;
    }
    ball[dim_ * kLanes] = std::sqrt(member_distance().farthest(points, 1, dim_, ball)) * (1.0 + 1e-12);
  }

  // Room for this many blocks, which stays where it is.
  double* room_for(std::size_t blocks) { return chunks_.emplace_back(blocks * stride()).data(); }

  void fill_block(Slot slot) {
    double* block = runs_[slot].begin;
    const double* mean = index_.mean(slot);
    for (std::size_t l = 0; l < kLanes; ++l) {
      for (std::size_t k = 0; k < dim_; ++k) block[k * kLanes + l] = mean[k * kLanes];
      block[dim_ * kLanes + l] = l == 0 ? index_.weight(slot) : 0.0;
    }
  }

  std::size_t size_of(const MergingPair& pair) const {
    return std::size_t{runs_[pair.into].count} + runs_[pair.from].count;
  }

  // How many blocks the merged cluster takes, if it does not fit into those of `into`.
  std::size_t blocks_to_add(const MergingPair& pair) const {
    const Run& run = runs_[pair.into];
    const std::size_t needed = blocks_for(size_of(pair));
    if (run.capacity >= needed) return 0;
    // Doubling the capacity keeps clusters that grow point by point from being copied often.
    return std::max(needed, run.capacity >= 4 ? std::size_t{2} * run.capacity : 0);
  }

  // Called after the index has merged the two.
  void append(const MergingPair& pair) {
    const std::size_t total = size_of(pair);
    const Run from = runs_[pair.from];
    Run& run = runs_[pair.into];
    if (const std::size_t added = blocks_to_add(pair)) {
      std::copy_n(run.begin, run.capacity * stride(), run.next);
      run.begin = run.next;
      run.capacity = static_cast<std::uint32_t>(added);
    }
    const double share = vote_ == Vote::equal ? 0.5 : 1.0;
    if (vote_ == Vote::equal)
      for (std::size_t i = 0; i < run.count; ++i) point(run, i)[dim_ * kLanes] *= share;
    for (std::size_t i = run.count; i < blocks_for(total) * kLanes; ++i) {
      const double* source = point(from, std::min<std::size_t>(i - run.count, from.count - 1));
      double* to = point(run, i);
      for (std::size_t k = 0; k < dim_; ++k) to[k * kLanes] = source[k * kLanes];
      to[dim_ * kLanes] = i < total ? source[dim_ * kLanes] * share : 0.0;
    }
    run.count = static_cast<std::uint32_t>(total);
    if (complete_) {
      const double farthest = member_distance().farthest(run.begin, total, dim_, index_.mean(pair.into));
      run.radius = std::sqrt(farthest) * (1.0 + 1e-12);
    }
    runs_[pair.from] = {};
    single_[pair.into] = single_[pair.from] = 0;
  }

  std::size_t dim_;
  bool complete_;
  Vote vote_;
  std::size_t threads_;
  Patience patience_;
  IndexedClusters index_;
  std::vector<Run> runs_;
  std::vector<std::uint8_t> single_;
  std::vector<UnsetVector<double>> chunks_;  // of blocks of points
  AlignedDoubles balls_;
  std::vector<std::size_t> balls_of_;  // the first block of balls of each slot
  double margin_ = 0.0;
  MemberDistance::Between between_ = nullptr;
  MemberDistance::Sum sum_ = nullptr;
  IndexSearch::NearestVerified search_ = nullptr;
};

}  // namespace silverbirch

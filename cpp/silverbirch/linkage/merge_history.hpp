// Collects the merges of an algorithm and converts them to scipy's order and numbering.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "silverbirch/base/ascending.hpp"

namespace silverbirch {

// The result of a clustering algorithm: scipy's Z, with heights in the units of the algorithm, and for prototype
// linkages the object that represents each merged cluster.
struct Merges {
  std::vector<double> z;                // row-major, four columns
  std::vector<std::size_t> prototypes;  // zeros for other linkages
};

// An algorithm may name a cluster by any of its objects, so it can store a merged cluster in place of one of its parts.
class MergeHistory {
 public:
  explicit MergeHistory(std::size_t objects)
      : objects_(objects), rank_of_(objects, -std::numeric_limits<double>::infinity()) {
    if (objects >= std::size_t{1} << 31) throw std::invalid_argument("at most 2^31 - 1 objects can be clustered");
    merges_.reserve(objects);
  }

  // Merges a into b: b names the merged cluster from now on.
  void record(std::size_t a, std::size_t b, double height) {
    const double rank = std::max({height, rank_of_[a], rank_of_[b]});
    rank_of_[b] = rank;
    merges_.push_back({static_cast<Id>(a), static_cast<Id>(b), height, rank});
  }

  // For an algorithm that keeps the ranks itself (see `finish`) and records many merges at once on several threads.
  // Call make_room first, then record_at for each merge, and at the end set_rank for each cluster that is left.
  std::size_t make_room(std::size_t count) {
    merges_.resize(merges_.size() + count);
    return merges_.size() - count;
  }
  void record_at(std::size_t place, std::size_t a, std::size_t b, double height, double rank) {
    merges_[place] = {static_cast<Id>(a), static_cast<Id>(b), height, rank};
  }
  void set_rank(std::size_t cluster, double rank) { rank_of_[cluster] = rank; }

  // For prototype linkages. Either all merges or none have a prototype.
  void record(std::size_t a, std::size_t b, double height, std::size_t prototype) {
    record(a, b, height);
    prototypes_.push_back(prototype);
  }

  std::size_t size() const { return merges_.size(); }

  // Orders merges by rank. The rank of a merge is its height or, if greater, the greatest rank of the two clusters it
  // merges. So parts come before the whole. Greedy algorithms record merges in this order already, inversions included.
  // If the linkage is monotone (no inversions), rank and height differ only by rounding, and the rank is written as the
  // height.
  Merges finish(bool monotone) && {
    Merges result;
    const std::vector<Id> order = ascending(merges_.size(), [&](std::size_t i) { return merges_[i].rank; });
    result.prototypes.resize(merges_.size());
    if (!prototypes_.empty())
      for (std::size_t i = 0; i < order.size(); ++i) result.prototypes[i] = prototypes_[order[i]];
    std::vector<Id> parent(2 * objects_);
    std::iota(parent.begin(), parent.end(), Id{0});
    const auto root = [&](Id x) {
      while (parent[x] != x) x = parent[x] = parent[parent[x]];
      return x;
    };
    std::vector<Id> leaves(2 * objects_, 1);

    result.z.reserve(4 * merges_.size());
    Id node = static_cast<Id>(objects_);
    for (const Id next : order) {
      const Merge& merge = merges_[next];
      const Id a = root(merge.a), b = root(merge.b);
      parent[a] = parent[b] = node;
      leaves[node] = leaves[a] + leaves[b];
      result.z.insert(result.z.end(), {static_cast<double>(std::min(a, b)), static_cast<double>(std::max(a, b)),
                                       monotone ? merge.rank : merge.height, static_cast<double>(leaves[node])});
      ++node;
    }
    return result;
  }

 private:
  using Id = std::uint32_t;  // for objects and merged clusters: half the memory

  struct Merge {
    Id a, b;
    double height, rank;
  };

  std::size_t objects_;
  std::vector<double> rank_of_;
  std::vector<Merge> merges_;
  std::vector<std::size_t> prototypes_;
};

// Merges that were found elsewhere, in an order where parts come before the whole: a[i] is merged into b[i], which
// names the merged cluster from then on. If the heights ascend, any objects of the two clusters will do, so the edges
// of a spanning tree in ascending order are merges, too.
inline Merges merged_in_order(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                              std::span<const double> height, bool monotone) {
  const std::size_t objects = height.size() + 1;
  if (a.size() != height.size() || b.size() != height.size())
    throw std::invalid_argument("a, b and height must have the same length");
  MergeHistory history(objects);
  for (std::size_t i = 0; i < height.size(); ++i) {
    const auto x = static_cast<std::size_t>(a[i]), y = static_cast<std::size_t>(b[i]);
    if (x >= objects || y >= objects) throw std::invalid_argument("an object of a merge does not exist");
    history.record(x, y, height[i]);
  }
  return std::move(history).finish(monotone);
}

}  // namespace silverbirch

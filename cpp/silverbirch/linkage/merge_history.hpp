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

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/ascending.hpp"
#include "silverbirch/base/parallel.hpp"

namespace silverbirch {

// The result of a clustering algorithm: scipy's Z, with heights in the units of the algorithm, and for prototype
// linkages the object that represents each merged cluster.
struct Merges {
  UnsetVector<double> z;                // row-major, four columns
  std::vector<std::size_t> prototypes;  // empty for other linkages

  explicit Merges(std::size_t count = 0) : z(4 * count) {}

  // Row i merges nodes a and b.
  void set(std::size_t i, std::size_t a, std::size_t b, double height, std::size_t objects) {
    z[4 * i] = static_cast<double>(std::min(a, b));
    z[4 * i + 1] = static_cast<double>(std::max(a, b));
    z[4 * i + 2] = height;
    z[4 * i + 3] = static_cast<double>(objects);
  }
};

// An algorithm names a cluster by one of its objects, so it can store a merged cluster in place of one of its parts.
class MergeHistory {
 public:
  using Id = std::uint32_t;  // for objects and merged clusters: half the memory

  struct Cluster {
    double rank;  // see `finish`
    Id node;      // an object, or the number of objects plus that of a merge
    Id size;      // how many objects
  };

  explicit MergeHistory(std::size_t objects, std::size_t threads = 1) : objects_(objects), clusters_(objects) {
    if (objects >= std::size_t{1} << 31) throw std::invalid_argument("at most 2^31 - 1 objects can be clustered");
    parallel_for(objects, kPiece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) clusters_[i] = {kLeast, static_cast<Id>(i), 1};
    });
    merges_.reserve(objects);
  }

  // Merges a into b: b names the merged cluster from now on.
  void record(std::size_t a, std::size_t b, double height) {
    const std::size_t place = make_room(1);
    clusters_[b] = record_at(place, clusters_[a], clusters_[b], height);
  }

  // For an algorithm that keeps the clusters itself and records many merges at once on several threads. Call make_room
  // first, then record_at for each merge, and at the end set_cluster for each cluster that is left.
  std::size_t make_room(std::size_t count) {
    merges_.resize(merges_.size() + count);
    return merges_.size() - count;
  }
  Cluster record_at(std::size_t place, const Cluster& a, const Cluster& b, double height) {
    const Cluster merged = {std::max({height, a.rank, b.rank}), static_cast<Id>(objects_ + place), a.size + b.size};
    merges_[place] = {a.node, b.node, merged.size, height, merged.rank};
    return merged;
  }
  const Cluster& cluster(std::size_t name) const { return clusters_[name]; }
  void prefetch(std::size_t name) const { __builtin_prefetch(&clusters_[name]); }
  void set_cluster(std::size_t name, const Cluster& cluster) { clusters_[name] = cluster; }

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
  Merges finish(bool monotone, std::size_t threads = 1) && {
    const std::size_t count = merges_.size();
    const auto for_all = [&](auto work) {
      parallel_for(count, kPiece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) work(i);
      });
    };
    const auto order = ascending(count, [&](std::size_t i) { return merges_[i].rank; }, threads);
    UnsetVector<Id> row(count);  // of each merge
    for_all([&](std::size_t i) { row[order[i]] = static_cast<Id>(i); });
    const auto number = [&](Id node) { return node < objects_ ? node : objects_ + row[node - objects_]; };
    Merges result(count);
    for_all([&](std::size_t i) {
      const Merge& merge = merges_[order[i]];
      result.set(i, number(merge.a), number(merge.b), monotone ? merge.rank : merge.height, merge.size);
    });
    if (!prototypes_.empty())
      for (const Id next : order) result.prototypes.push_back(prototypes_[next]);
    return result;
  }

 private:
  static constexpr std::size_t kPiece = 8192;
  static constexpr double kLeast = -std::numeric_limits<double>::infinity();

  struct Merge {
    Id a, b;  // nodes
    Id size;
    double height, rank;
  };

  std::size_t objects_;
  UnsetVector<Cluster> clusters_;  // by name
  UnsetVector<Merge> merges_;
  std::vector<std::size_t> prototypes_;
};

// Merges that were found elsewhere, in an order where parts come before the whole. a[i] and b[i] are any objects of the
// two clusters, so the edges of a spanning tree in ascending order are merges, too.
inline Merges merged_in_order(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                              std::span<const double> height, bool monotone) {
  const std::size_t objects = height.size() + 1;
  if (a.size() != height.size() || b.size() != height.size())
    throw std::invalid_argument("a, b and height must have the same length");
  MergeHistory history(objects);
  std::vector<std::size_t> name(objects);
  std::iota(name.begin(), name.end(), std::size_t{0});
  const auto name_of = [&](std::int64_t object) {
    auto x = static_cast<std::size_t>(object);
    if (x >= objects) throw std::invalid_argument("an object of a merge does not exist");
    while (name[x] != x) x = name[x] = name[name[x]];
    return x;
  };
  for (std::size_t i = 0; i < height.size(); ++i) {
    const std::size_t x = name_of(a[i]), y = name_of(b[i]);
    if (x == y) throw std::invalid_argument("a merge joins a cluster to itself");
    history.record(x, y, height[i]);
    name[x] = y;
  }
  return std::move(history).finish(monotone);
}

}  // namespace silverbirch

// Collects the merges of an algorithm and puts them into scipy's order and numbering.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace silverbirch {

// What a clustering algorithm hands back: scipy's Z with heights still in the units the algorithm worked in, and for
// prototype linkages the object that stands for each merged cluster.
struct Merges {
  std::vector<double> z;  // row-major, four columns
  std::vector<std::size_t> prototypes;
};

// An algorithm names a cluster by any of its objects, so it can keep a merged cluster in the place of one of the two.
class MergeHistory {
 public:
  explicit MergeHistory(std::size_t objects)
      : objects_(objects), rank_of_(objects, -std::numeric_limits<double>::infinity()) {
    merges_.reserve(objects);
  }

  // b's place goes on as the merged cluster.
  void record(std::size_t a, std::size_t b, double height, std::size_t prototype = 0) {
    const double rank = std::max({height, rank_of_[a], rank_of_[b]});
    rank_of_[b] = rank;
    merges_.push_back({a, b, height, rank, prototype});
  }

  std::size_t size() const { return merges_.size(); }

  // Orders merges by rank: the height or, if greater, the rank of what was merged, so that parts come before the whole.
  // Greedy algorithms record in that order already, inversions included. Where the linkage cannot have inversions, the
  // rank is also the height: it differs by rounding only.
  Merges finish(bool monotone) && {
    std::stable_sort(merges_.begin(), merges_.end(), [](const Merge& x, const Merge& y) { return x.rank < y.rank; });
    std::vector<std::size_t> parent(2 * objects_);
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t x) {
      while (parent[x] != x) x = parent[x] = parent[parent[x]];
      return x;
    };
    std::vector<std::size_t> leaves(2 * objects_, 1);

    Merges result;
    result.z.reserve(4 * merges_.size());
    std::size_t node = objects_;
    for (const Merge& merge : merges_) {
      const std::size_t a = root(merge.a), b = root(merge.b);
      parent[a] = parent[b] = node;
      leaves[node] = leaves[a] + leaves[b];
      result.z.insert(result.z.end(), {static_cast<double>(std::min(a, b)), static_cast<double>(std::max(a, b)),
                                       monotone ? merge.rank : merge.height, static_cast<double>(leaves[node])});
      result.prototypes.push_back(merge.prototype);
      ++node;
    }
    return result;
  }

 private:
  struct Merge {
    std::size_t a, b;
    double height, rank;
    std::size_t prototype;
  };

  std::size_t objects_;
  std::vector<double> rank_of_;
  std::vector<Merge> merges_;
};

}  // namespace silverbirch

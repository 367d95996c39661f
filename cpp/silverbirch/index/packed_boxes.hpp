// The nodes of a packed kd-tree: for each child its bounding box and the extreme term below it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/index/filtered_search.hpp"
#include "silverbirch/index/search.hpp"

namespace silverbirch {

// Scalar is double, or float for filtered_search.hpp. A row of a node is a cache line.
template <class Scalar>
class PackedBoxes {
 public:
  // To bound a distance, average needs the smallest variance and ward the largest 1/weight.
  PackedBoxes(std::size_t dim, std::size_t leaf_slots, Nearness nearness)
      : dim_(dim), leaf_blocks_(leaf_slots / kRow), largest_term_(nearness == Nearness::ward) {}

  void pack(const Scalar* blocks, std::size_t leaf_count, std::size_t threads, const Progress& progress) {
    std::size_t level = 0;
    for (std::size_t children = leaf_count; children > 1; ++level) {
      const std::size_t nodes = (children + kRow - 1) / kRow;
      if (levels_.size() == level) levels_.emplace_back();
      levels_[level].resize(nodes * node_size());
      parallel_for(nodes, 32, threads, no_progress, [&](std::size_t begin, std::size_t end) {
        for (std::size_t child = begin * kRow; child < end * kRow; ++child)
          if (child >= children)
            clear(level, child);
          else if (level == 0)
            bound_leaf(child, blocks + child * leaf_blocks_ * block_size());
          else
            bound_node(level, child);
      });
      progress.poll();
      children = nodes;
    }
    levels_.resize(level);
  }

  // Widens the boxes above a slot for a mean that has moved there; the term follows the mean. Merging only shrinks
  // 1/weight, but the variance can be smaller than that of the slot's former cluster.
  //
  // Several threads may call this at once, and the boxes become the same in any order of the calls. A thread that finds
  // a box wide enough stops: the thread that widened it also widens the boxes above.
  void include(std::size_t slot, const Scalar* mean, std::size_t stride) {
    std::size_t child = slot / (leaf_blocks_ * kRow);
    for (std::size_t level = 0; level < levels_.size(); ++level, child /= kRow) {
      Scalar* lower = box(level, child);
      Scalar* upper = lower + dim_ * kRow;
      bool grew = false;
      for (std::size_t k = 0; k < dim_; ++k) {
        const Scalar x = mean[k * stride];
        grew |= widen(lower[k * kRow], x, std::less());
        grew |= widen(upper[k * kRow], x, std::greater());
      }
      if (!largest_term_) grew |= widen(upper[dim_ * kRow], mean[dim_ * stride], std::less());
      if (!grew) return;  // the boxes above contain this one already
    }
  }

  template <class Tree>
  void show(Tree& tree) const {
    tree.level_count = levels_.size();
    for (std::size_t level = 0; level < levels_.size(); ++level) tree.nodes[level] = levels_[level].data();
  }

 private:
  static constexpr std::size_t kRow = 64 / sizeof(Scalar);
  static constexpr Scalar kEmpty = static_cast<Scalar>(std::is_same_v<Scalar, float> ? kFilterFarAway : kFarAway);
  std::size_t block_size() const { return (dim_ + 1) * kRow; }
  std::size_t node_size() const { return (2 * dim_ + 1) * kRow; }

  template <class Beyond>
  static bool widen(Scalar& bound, Scalar x, Beyond beyond) {
    const std::atomic_ref shared(bound);
    Scalar known = shared.load(std::memory_order_relaxed);
    if (!beyond(x, known)) return false;
    while (beyond(x, known) && !shared.compare_exchange_weak(known, x, std::memory_order_relaxed)) {
    }
    return true;
  }

  Scalar* box(std::size_t level, std::size_t child) {
    return levels_[level].data() + child / kRow * node_size() + child % kRow;
  }

  void clear(std::size_t level, std::size_t child) {
    Scalar* lower = box(level, child);
    for (std::size_t k = 0; k < 2 * dim_; ++k) lower[k * kRow] = kEmpty;
    lower[2 * dim_ * kRow] = Scalar{0};
  }

  // Computes the bounding box of one or several rows of lanes. Lanes at kEmpty are left out; if all are empty, the box
  // lies at kEmpty too.
  void bound(Scalar* into, const Scalar* lower, const Scalar* upper, const Scalar* terms, std::size_t rows,
             std::size_t stride) {
    Scalar extreme = Scalar{0};
    bool any = false;
    for (std::size_t lane = 0; lane < rows * kRow; ++lane) {
      const std::size_t at = lane / kRow * stride + lane % kRow;
      if (lower[at] == kEmpty) continue;
      extreme = !any ? terms[at] : largest_term_ ? std::max(extreme, terms[at]) : std::min(extreme, terms[at]);
      any = true;
    }
    for (std::size_t k = 0; k < dim_; ++k) {
      Scalar least = kEmpty, most = any ? -kEmpty : kEmpty;
      for (std::size_t lane = 0; lane < rows * kRow; ++lane) {
        const std::size_t at = lane / kRow * stride + k * kRow + lane % kRow;
        least = std::min(least, lower[at]);
        most = upper[at] == kEmpty ? most : std::max(most, upper[at]);
      }
      into[k * kRow] = least;
      into[(dim_ + k) * kRow] = most;
    }
    into[2 * dim_ * kRow] = extreme;
  }

  void bound_leaf(std::size_t leaf, const Scalar* rows) {
    bound(box(0, leaf), rows, rows, rows + dim_ * kRow, leaf_blocks_, block_size());
  }

  void bound_node(std::size_t level, std::size_t node) {
    const Scalar* rows = levels_[level - 1].data() + node * node_size();
    bound(box(level, node), rows, rows + dim_ * kRow, rows + 2 * dim_ * kRow, 1, 0);
  }

  std::size_t dim_, leaf_blocks_;
  bool largest_term_;
  std::vector<UnsetVector<Scalar>> levels_;
};

}  // namespace silverbirch

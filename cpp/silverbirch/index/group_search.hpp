// Finds the nearest slots of eight points at once, for labelling. Points that are close together take the same path
// through the tree, so each decision is made once for all eight. Each lane of a vector is a query here, not a slot.
//
// Included by search.cpp alone, which is compiled once per instruction set.
#pragma once

#include "silverbirch/features/block_vectors.hpp"
#include "silverbirch/index/search.hpp"

namespace silverbirch {
namespace {

template <std::size_t Dim>
class GroupSearch {
 public:
  // queries: dim rows of eight coordinates, then the least of each row, then the greatest of each row.
  SILVERBIRCH_INLINE GroupSearch(const PackedTree& tree, const double* queries, Slot likely)
      : tree_(tree), queries_(queries), lower_(queries + dim() * kLanes), upper_(lower_ + dim()) {
    for (std::size_t p = 0; p < kParts; ++p) {
      distance_[p] = broadcast(kBeyondAll);
      name_[p] = slot_[p] = broadcast(0.0);
    }
    if (likely != kNoSlot) improve(likely);
  }

  SILVERBIRCH_INLINE void run() {
    if (tree_.level_count == 0)
      scan(0);
    else
      visit(tree_.level_count - 1, 0);
  }

  SILVERBIRCH_INLINE std::size_t visits() const { return visits_; }

  SILVERBIRCH_INLINE void write(Slot* slots) const {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      slots[lane] = static_cast<Slot>(slot_[lane / kWidth][lane % kWidth]);
  }

 private:
  SILVERBIRCH_INLINE std::size_t dim() const { return Dim ? Dim : tree_.dim; }

  // Every query compares one slot with its best: the slot wins if it is nearer, or as near and with a lower name.
  SILVERBIRCH_INLINE void improve(std::size_t slot) {
    const double* mean = tree_.blocks + slot / kLanes * index_block_doubles(dim()) + slot % kLanes;
    const Doubles here = broadcast(static_cast<double>(slot)), name = broadcast(static_cast<double>(tree_.names[slot]));
    for (std::size_t p = 0; p < kParts; ++p) {
      Doubles gap = {};
      for (std::size_t k = 0; k < dim(); ++k) {
        const Doubles difference = load(queries_ + k * kLanes + p * kWidth) - mean[k * kLanes];
        gap += difference * difference;
      }
      const Truth better = (gap < distance_[p]) | ((gap == distance_[p]) & (name < name_[p]));
      distance_[p] = better ? gap : distance_[p];
      slot_[p] = better ? here : slot_[p];
      name_[p] = better ? name : name_[p];
    }
  }

  SILVERBIRCH_INLINE void scan(std::size_t leaf) {
    ++visits_;
    for (std::size_t slot = leaf * kLabelLeaf; slot < (leaf + 1) * kLabelLeaf; ++slot) {
      if (slot >= tree_.slot_count) return;
      improve(slot);
    }
  }

  // Whether any of the eight queries can find a nearer slot in a box.
  SILVERBIRCH_INLINE bool can_improve(const double* lower) const {
    const double* upper = lower + dim() * kLanes;
    unsigned near = 0;
    for (std::size_t p = 0; p < kParts; ++p) {
      Doubles sum = {};
      for (std::size_t k = 0; k < dim(); ++k) {
        const Doubles query = load(queries_ + k * kLanes + p * kWidth);
        const Doubles below = lower[k * kLanes] - query, above = query - upper[k * kLanes];
        const Doubles gap = outside(below, above);
        sum += gap * gap;
      }
      near |= lanes(sum <= distance_[p]);
    }
    return near != 0;
  }

  // Visits the children whose boxes are near the box of all eight queries, nearest first.
  void visit(std::size_t level, std::size_t node) {
    const double* rows = tree_.nodes[level] + node * index_node_doubles(dim());
    alignas(64) double gaps[kLanes];
    const double farthest = farthest_best();
    unsigned left = 0;
    for (std::size_t p = 0; p < kParts; ++p) {
      Doubles sum = {};
      for (std::size_t k = 0; k < dim(); ++k) {
        const Doubles below = load(rows + k * kLanes + p * kWidth) - upper_[k];
        const Doubles above = lower_[k] - load(rows + (dim() + k) * kLanes + p * kWidth);
        const Doubles gap = outside(below, above);
        sum += gap * gap;
      }
      store(gaps + p * kWidth, sum);
      left |= lanes(sum <= farthest) << (p * kWidth);
    }
    while (left) {
      unsigned lane = static_cast<unsigned>(__builtin_ctz(left));
      for (unsigned rest = left & (left - 1); rest; rest &= rest - 1) {
        const unsigned other = static_cast<unsigned>(__builtin_ctz(rest));
        lane = gaps[other] < gaps[lane] ? other : lane;
      }
      left &= ~(1U << lane);
      if (!can_improve(rows + lane)) continue;
      if (level == 0)
        scan(node * kLanes + lane);
      else
        visit(level - 1, node * kLanes + lane);
    }
  }

  SILVERBIRCH_INLINE double farthest_best() const {
    Doubles most = distance_[0];
    for (std::size_t p = 1; p < kParts; ++p) most = most < distance_[p] ? distance_[p] : most;
    double farthest = most[0];
    for (std::size_t l = 1; l < kWidth; ++l) farthest = farthest < most[l] ? most[l] : farthest;
    return farthest;
  }

  const PackedTree& tree_;
  const double* queries_;
  const double* lower_;
  const double* upper_;
  Doubles distance_[kParts], slot_[kParts], name_[kParts];
  std::size_t visits_ = 0;
};

}  // namespace
}  // namespace silverbirch

// The nodes of a packed kd-tree over blocks: bounding boxes with the extreme term of what lies below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../aligned.hpp"
#include "../parallel.hpp"
#include "search.hpp"

namespace silverbirch {

class PackedBoxes {
 public:
  // The bound of a distance needs the smallest variance (average) or the largest 1/weight (ward).
  PackedBoxes(std::size_t dim, std::size_t leaf_slots, Nearness nearness)
      : dim_(dim), leaf_blocks_(leaf_slots / kLanes), largest_term_(nearness == Nearness::ward) {}

  void pack(const double* blocks, std::size_t leaf_count, std::size_t threads, const Progress& progress) {
    std::size_t level = 0;
    for (std::size_t children = leaf_count; children > 1; ++level) {
      const std::size_t nodes = blocks_for(children);
      if (levels_.size() == level) levels_.emplace_back();
      levels_[level].resize(nodes * index_node_doubles(dim_));
      parallel_for(nodes, 256, threads, no_progress, [&](std::size_t begin, std::size_t end) {
        for (std::size_t child = begin * kLanes; child < end * kLanes; ++child)
          if (child >= children)
            clear(level, child);
          else if (level == 0)
            bound_leaf(child, blocks + child * leaf_blocks_ * index_block_doubles(dim_));
          else
            bound_node(level, child);
      });
      progress.poll();
      children = nodes;
    }
    levels_.resize(level);
  }

  // Widens what is above a slot for a mean that has moved there, its term after it. 1/weight only shrinks by merging,
  // but a variance can become smaller than that of the slot's former cluster.
  void include(std::size_t slot, const double* mean, std::size_t stride) {
    std::size_t child = slot / (leaf_blocks_ * kLanes);
    for (std::size_t level = 0; level < levels_.size(); ++level, child /= kLanes) {
      double* lower = box(level, child);
      double* upper = lower + dim_ * kLanes;
      bool grew = false;
      for (std::size_t k = 0; k < dim_; ++k) {
        const double x = mean[k * stride];
        if (x < lower[k * kLanes]) lower[k * kLanes] = x, grew = true;
        if (x > upper[k * kLanes]) upper[k * kLanes] = x, grew = true;
      }
      double& least_term = upper[dim_ * kLanes];
      if (!largest_term_ && mean[dim_ * stride] < least_term) least_term = mean[dim_ * stride], grew = true;
      if (!grew) return;  // what is above holds this box already
    }
  }

  void show(PackedTree& tree) const {
    tree.level_count = levels_.size();
    for (std::size_t level = 0; level < levels_.size(); ++level) tree.nodes[level] = levels_[level].data();
  }

 private:
  double* box(std::size_t level, std::size_t child) {
    return levels_[level].data() + child / kLanes * index_node_doubles(dim_) + child % kLanes;
  }

  void clear(std::size_t level, std::size_t child) {
    double* lower = box(level, child);
    for (std::size_t k = 0; k < 2 * dim_; ++k) lower[k * kLanes] = kFarAway;
    lower[2 * dim_ * kLanes] = 0.0;
  }

  // A box of eight lanes, or of several eights of them; lanes at kFarAway are empty. All empty: the box is far away,
  // too.
  void bound(double* into, const double* lower, const double* upper, const double* terms, std::size_t eights,
             std::size_t stride) {
    double extreme = 0.0;
    bool any = false;
    for (std::size_t lane = 0; lane < eights * kLanes; ++lane) {
      const std::size_t at = lane / kLanes * stride + lane % kLanes;
      if (lower[at] == kFarAway) continue;
      extreme = !any ? terms[at] : largest_term_ ? std::max(extreme, terms[at]) : std::min(extreme, terms[at]);
      any = true;
    }
    for (std::size_t k = 0; k < dim_; ++k) {
      double least = kFarAway, most = any ? -kFarAway : kFarAway;
      for (std::size_t lane = 0; lane < eights * kLanes; ++lane) {
        const std::size_t at = lane / kLanes * stride + k * kLanes + lane % kLanes;
        least = std::min(least, lower[at]);
        most = upper[at] == kFarAway ? most : std::max(most, upper[at]);
      }
      into[k * kLanes] = least;
      into[(dim_ + k) * kLanes] = most;
    }
    into[2 * dim_ * kLanes] = extreme;
  }

  void bound_leaf(std::size_t leaf, const double* rows) {
    bound(box(0, leaf), rows, rows, rows + dim_ * kLanes, leaf_blocks_, index_block_doubles(dim_));
  }

  void bound_node(std::size_t level, std::size_t node) {
    const double* rows = levels_[level - 1].data() + node * index_node_doubles(dim_);
    bound(box(level, node), rows, rows + dim_ * kLanes, rows + 2 * dim_ * kLanes, 1, 0);
  }

  std::size_t dim_, leaf_blocks_;
  bool largest_term_;
  std::vector<AlignedDoubles> levels_;
};

}  // namespace silverbirch

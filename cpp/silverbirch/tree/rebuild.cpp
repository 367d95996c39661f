// How a CF-tree of too many leaves becomes a smaller one.
#include <algorithm>
#include <cmath>
#include <utility>

#include "silverbirch/tree/group.hpp"

namespace silverbirch {

namespace {

// What a limit allows after a rebuild. A limit too small to leave room in whole numbers may be used up.
std::size_t after_rebuild(std::size_t limit) {
  return limit - static_cast<std::size_t>(kLeastRoom * static_cast<double>(limit));
}

}  // namespace

// Terminates: the limits grow by a constant factor at least, and once they exceed the spread of the data every feature
// is absorbed by the first leaf it meets. The smaller tree is built beside the old one, so that an interrupt
// loses nothing.
void CfTree::rebuild(const Progress& progress) {
  const std::size_t max_leaves = after_rebuild(options_.max_leaves), max_nodes = after_rebuild(options_.max_nodes);
  const double room = room_to_free(total_weight_, static_cast<double>(leaf_count_));
  double least_growth = kLeastGrowth, failed = 0.0;
  MergeExtent limits;
  do {
    // Too many nodes for the memory do not say how many leaves are too many: some, then.
    const double leaves = static_cast<double>(leaf_count_);
    const double share_to_free = std::max((leaves - static_cast<double>(max_leaves)) / leaves, kLeastRoom);
    const Features whole = total();
    limits = merge_limits(limits, sibling_merges(kSampledLeaves, progress), share_to_free, room, least_growth,
                          squared_threshold(), whole.sse[0] / whole.weight[0]);
    CfTree smaller = merged(limits, progress);
    // Where all distances are about the same, as in many dimensions, little more than what frees nothing merges all.
    for (int halvings = 0; failed > 0.0 && smaller.leaf_count_ < max_leaves / 4 && halvings < kMostHalvings;
         ++halvings) {
      const double between = std::sqrt(failed) * std::sqrt(limits.squared_cost);
      CfTree larger = merged({between, limits.squared_size}, progress);
      if (larger.leaf_count_ > max_leaves || larger.node_count() > max_nodes) {
        failed = between;
      } else {
        limits.squared_cost = between;
        smaller = std::move(larger);
      }
    }
    failed = limits.squared_cost;
    smaller.raise_threshold(room_to_grow(room) * limits.squared_size);
    smaller.rebuild_count_ = rebuild_count_ + 1;
    *this = std::move(smaller);
    least_growth = 1.0 + 2.0 * (least_growth - 1.0);
  } while (leaf_count_ > max_leaves || node_count() > max_nodes);
}

CfTree CfTree::merged(const MergeExtent& limits, const Progress& progress) const {
  TreeOptions options = options_;
  options.squared_threshold = limits.squared_size;
  options.max_leaves = options.max_nodes = std::numeric_limits<std::size_t>::max();  // one step at a time
  CfTree smaller(dim_, options);
  if (smaller.rounded() && !rounded()) smaller.use_floats();  // they were too coarse for this data
  smaller.squared_merge_cost_ = limits.squared_cost;
  smaller.set_frame(root_entries());
  // Backwards, so that the leaves that were created together do not meet again in the same order.
  std::vector<Step> leaves;
  leaves.reserve(leaf_count_);
  for (const NodeId node : leaf_nodes())
    for (std::uint32_t s = 0; s < leaf_.count(node); ++s) leaves.push_back({node, s});
  Group group(smaller);
  for (std::size_t i = leaves.size(); i-- > 0;) {
    if (i >= kWideGroup) leaf_.prefetch_record(leaves[i - kWideGroup].node, leaves[i - kWideGroup].slot);
    group.add(leaf_.entry(leaves[i].node, leaves[i].slot));
    if (leaves[i].slot == 0) progress.poll();
    if (i > 0 && group.size() < smaller.group_size()) continue;
    smaller.insert(group, progress);
    group.clear();
  }
  smaller.squared_merge_cost_ = std::numeric_limits<double>::infinity();
  smaller.options_.max_leaves = options_.max_leaves;
  smaller.options_.max_nodes = options_.max_nodes;
  smaller.total_weight_ = total_weight_;
  return smaller;
}

// For the leaves of some nodes, evenly chosen, the cheapest merge inside the node. Chosen by their place in the tree,
// not by their number in the pool, which is another one after the tree was stored and restored.
std::vector<MergeExtent> CfTree::sibling_merges(std::size_t sampled_leaves, const Progress& progress) const {
  std::vector<MergeExtent> merges;
  std::vector<double> costs;
  std::vector<std::size_t> siblings;
  std::vector<Feature> entries(leaf_.shape().slots);
  std::vector<double> squared(leaf_.shape().slots);
  const std::size_t every = 1 + leaf_count_ / sampled_leaves;
  const std::vector<NodeId> nodes = leaf_nodes();
  for (std::size_t i = 0; i < nodes.size(); i += every) {
    const NodeId node = nodes[i];
    const std::size_t count = leaf_.count(node);
    progress.poll();
    if (count < 2) continue;
    costs.assign(count, std::numeric_limits<double>::infinity());
    siblings.resize(count);
    for (std::size_t s = 0; s < count; ++s) {
      entries[s] = leaf_.entry(node, s);
      kernels_->squared_distances(CfDistance::ward, entries[s], entries.data(), s, dim_, squared.data());
      for (std::size_t other = 0; other < s; ++other) {
        if (squared[other] < costs[s]) costs[s] = squared[other], siblings[s] = other;
        if (squared[other] < costs[other]) costs[other] = squared[other], siblings[other] = s;
      }
    }
    for (std::size_t s = 0; s < count; ++s)
      merges.push_back({costs[s], squared_distance(options_.absorption, entries[s], entries[siblings[s]])});
  }
  return merges;
}

}  // namespace silverbirch

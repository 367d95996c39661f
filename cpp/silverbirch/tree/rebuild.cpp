#include "silverbirch/tree/rebuild.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/tree/group.hpp"

namespace silverbirch {

namespace {

// How much of a limit may be used after a rebuild. A limit below 20 may be used up: kLeastRoom of it is less than one.
std::size_t after_rebuild(std::size_t limit) {
  return limit - static_cast<std::size_t>(kLeastRoom * static_cast<double>(limit));
}

bool exceeds(const TreeSize& size, const TreeSize& limits) {
  return size.leaves > limits.leaves || size.nodes > limits.nodes;
}

// The trees of all parts. Each step of a rebuild works on the parts in parallel, one thread per part.
class Parts {
 public:
  Parts(std::span<CfTree> trees, std::size_t threads, const Progress& progress)
      : trees_(trees), threads_(threads), progress_([&progress](std::size_t, std::size_t) { progress.poll(); }) {}

  std::size_t count() const { return trees_.size(); }

  std::vector<MergeExtent> sibling_merges() const {
    const std::size_t sampled = (kSampledLeaves + count() - 1) / count();
    std::vector<std::vector<MergeExtent>> of_part(count());
    for_each([&](std::size_t p, const Progress& poll) { of_part[p] = trees_[p].sibling_merges(sampled, poll); });
    std::vector<MergeExtent> all = std::move(of_part[0]);
    for (std::size_t p = 1; p < count(); ++p) all.insert(all.end(), of_part[p].begin(), of_part[p].end());
    return all;
  }

  std::vector<CfTree> merged(const MergeExtent& limits) const {
    std::vector<std::optional<CfTree>> smaller(count());
    for_each([&](std::size_t p, const Progress& poll) { smaller[p] = trees_[p].merged(limits, poll); });
    std::vector<CfTree> trees;
    for (std::optional<CfTree>& tree : smaller) trees.push_back(std::move(*tree));
    return trees;
  }

  void replace_by(std::vector<CfTree>&& smaller, double squared_threshold) const {
    for (std::size_t p = 0; p < count(); ++p) {
      trees_[p] = std::move(smaller[p]);
      trees_[p].raise_threshold(squared_threshold);
    }
  }

  // The variance of all data in the trees.
  double data_scale() const {
    Features whole{trees_[0].dim(), {}, {}, {}};
    for (const CfTree& tree : trees_) {
      if (tree.leaf_count() == 0) continue;
      const Features part = tree.total();
      whole.size() == 0 ? whole.push_back(part[0]) : whole.absorb(0, part[0]);
    }
    return whole.sse[0] / whole.weight[0];
  }

 private:
  template <class Work>
  void for_each(Work work) const {
    parallel_for(count(), 1, threads_, progress_,
                 [&](std::size_t begin, std::size_t end, const Checkpoint& checkpoint) {
                   const Progress poll([&checkpoint](std::size_t, std::size_t) { checkpoint(); });
                   for (std::size_t p = begin; p < end; ++p) work(p, poll);
                 });
  }

  std::span<CfTree> trees_;
  std::size_t threads_;
  Progress progress_;  // only polls the progress of the caller, because a finished part is no inserted row
};

}  // namespace

TreeSize size_of(std::span<const CfTree> parts) {
  TreeSize size;
  for (const CfTree& part : parts) size = {size.leaves + part.leaf_count(), size.nodes + part.node_count()};
  return size;
}

// Terminates, because the limits grow by at least a constant factor, and once they exceed the spread of the data the
// first leaf absorbs every feature. The smaller trees are built beside the old ones, so an interrupt loses nothing.
std::size_t rebuild(std::span<CfTree> trees, const TreeSize& limits, std::size_t threads, const Progress& progress) {
  const Parts parts(trees, threads, progress);
  const TreeSize wanted{after_rebuild(limits.leaves), after_rebuild(limits.nodes)};
  double points = 0.0, squared_threshold = 0.0;
  for (const CfTree& tree : trees) {
    points += tree.total_weight();
    squared_threshold = std::max(squared_threshold, tree.squared_threshold());
  }
  const double room = room_to_free(points, static_cast<double>(size_of(trees).leaves));
  double least_growth = kLeastGrowth, failed = 0.0;
  MergeExtent extent;
  std::size_t rounds = 0;
  do {
    // If there are too many nodes but not too many leaves, free at least kLeastRoom of the leaves.
    const double leaves = static_cast<double>(size_of(trees).leaves);
    const double share_to_free = std::max((leaves - static_cast<double>(wanted.leaves)) / leaves, kLeastRoom);
    extent = merge_limits(extent, parts.sibling_merges(), share_to_free, room, least_growth, squared_threshold,
                          parts.data_scale());
    std::vector<CfTree> smaller = parts.merged(extent);
    // In many dimensions all distances are about the same: a limit slightly above one that frees too few leaves may
    // merge almost all. Then search between the two.
    for (int halvings = 0; failed > 0.0 && size_of(smaller).leaves < wanted.leaves / 4 && halvings < kMostHalvings;
         ++halvings) {
      const double between = std::sqrt(failed) * std::sqrt(extent.squared_cost);
      std::vector<CfTree> larger = parts.merged({between, extent.squared_size});
      if (exceeds(size_of(larger), wanted)) {
        failed = between;
      } else {
        extent.squared_cost = between;
        smaller = std::move(larger);
      }
    }
    failed = extent.squared_cost;
    squared_threshold = std::max(squared_threshold, room_to_grow(room) * extent.squared_size);
    parts.replace_by(std::move(smaller), squared_threshold);
    least_growth = 1.0 + 2.0 * (least_growth - 1.0);
    ++rounds;
  } while (exceeds(size_of(trees), wanted));
  return rounds;
}

CfTree CfTree::merged(const MergeExtent& limits, const Progress& progress) const {
  TreeOptions options = options_;
  options.squared_threshold = limits.squared_size;
  options.max_leaves = options.max_nodes = std::numeric_limits<std::size_t>::max();  // no rebuild within a rebuild
  CfTree smaller(dim_, options);
  if (smaller.rounded() && !rounded()) smaller.use_floats();  // integers were too coarse for this data
  smaller.squared_merge_cost_ = limits.squared_cost;
  smaller.set_frame(root_entries());
  // In reverse order, so that leaves created together are not inserted in the same order again.
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
  smaller.rebuild_count_ = rebuild_count_;
  return smaller;
}

// Samples nodes evenly, by their position in the tree. Their numbers in the pool would not do: they change when the
// tree is stored and restored.
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
      merges.push_back({costs[s], kernels_->squared_size(options_.absorption, entries[s], entries[siblings[s]], dim_)});
  }
  return merges;
}

}  // namespace silverbirch

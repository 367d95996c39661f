// Makes what a CF-tree has seen count less, so that the tree follows a stream that moves. Damped windows of stream
// clustering do the same [Cao, Ester, Qian & Zhou 2006, "Density-Based Clustering over an Evolving Data Stream with
// Noise"]: weights fade by a factor, and features that have become too light are removed.
#include <algorithm>
#include <numeric>
#include <utility>

#include "silverbirch/tree/cf_tree.hpp"

namespace silverbirch {

namespace {

// The entries of a node that are left, in the new level.
struct Remainder {
  std::size_t begin, end;
  bool changed;  // a leaf below was removed
};

Features merged(const Features& features, std::size_t begin, std::size_t end) {
  Features sum{features.dim, {}, {}, {}};
  sum.push_back(features[begin]);
  for (std::size_t i = begin + 1; i < end; ++i) sum.absorb(0, features[i]);
  return sum;
}

// Scales all entries and removes the light leaves, then the nodes without entries. If a leaf was removed below an inner
// entry, the entry becomes the merged feature of what is left; all others keep their mean to the bit.
TreeLevels decayed_levels(const TreeLevels& levels, double factor, double lightest, const Progress& progress) {
  TreeLevels left;
  std::vector<Remainder> below, here;
  for (std::size_t l = levels.counts.size(); l-- > 0; std::swap(below, here)) {
    const Features& entries = levels.entries[l];
    const bool leaf_level = l + 1 == levels.counts.size();
    Features kept{entries.dim, {}, {}, {}};
    std::vector<std::uint32_t> counts;
    std::size_t entry = 0;
    here.clear();
    for (const std::uint32_t count : levels.counts[l]) {
      progress.poll();
      Remainder node{kept.size(), 0, false};
      for (const std::size_t end = entry + count; entry < end; ++entry) {
        const Feature scaled{factor * entries.weight[entry], entries[entry].mean, factor * entries.sse[entry]};
        const bool changed = leaf_level ? scaled.weight < lightest : below[entry].changed;
        if (!changed)
          kept.push_back(scaled);
        else if (!leaf_level && below[entry].begin < below[entry].end)
          kept.push_back(merged(left.entries.back(), below[entry].begin, below[entry].end)[0]);
        node.changed |= changed;
      }
      node.end = kept.size();
      here.push_back(node);
      if (node.begin < node.end) counts.push_back(static_cast<std::uint32_t>(node.end - node.begin));
    }
    left.counts.push_back(std::move(counts));
    left.entries.push_back(std::move(kept));
  }
  std::ranges::reverse(left.counts);
  std::ranges::reverse(left.entries);
  return left;
}

// Removes the levels above the first one that has several entries: a root with one child is not needed.
void lower_root(TreeLevels& levels) {
  const auto root = std::ranges::find_if(levels.entries, [](const Features& level) { return level.size() > 1; });
  const auto needless = std::min<std::ptrdiff_t>(root - levels.entries.begin(), std::ssize(levels.counts) - 1);
  levels.counts.erase(levels.counts.begin(), levels.counts.begin() + needless);
  levels.entries.erase(levels.entries.begin(), levels.entries.begin() + needless);
}

}  // namespace

CfTree CfTree::decayed(double factor, double lightest, const Progress& progress) const {
  TreeLevels left = decayed_levels(levels(), factor, std::max(lightest, kSmallestWeight), progress);
  const std::vector<double> weights = left.entries.back().weight;
  if (weights.empty()) {
    CfTree empty(dim_, options_);
    empty.rebuild_count_ = rebuild_count_;
    return empty;
  }
  const bool removed = weights.size() < leaf_count_;
  if (removed) lower_root(left);
  const double weight = removed ? std::accumulate(weights.begin(), weights.end(), 0.0) : factor * total_weight_;
  CfTree tree(dim_, options_, left, rebuild_count_, weight);
  if (tree.rounded() && !rounded()) tree.use_floats();  // integers were too coarse for this data
  return tree;
}

}  // namespace silverbirch

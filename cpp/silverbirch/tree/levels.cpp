// Writes a CF-tree to plain arrays (its leaves, its levels), and restores it from its levels.
#include <stdexcept>
#include <utility>

#include "silverbirch/tree/group.hpp"

namespace silverbirch {

std::vector<NodeId> CfTree::leaf_nodes() const {
  std::vector<NodeId> nodes = {root_};
  for (std::size_t level = height_; level > 0; --level) {
    std::vector<NodeId> below;
    for (const NodeId node : nodes)
      for (std::size_t s = 0; s < inner_.count(node); ++s) below.push_back(inner_.child(node, s));
    nodes = std::move(below);
  }
  return nodes;
}

Features CfTree::root_entries() const {
  const NodePool& nodes = height_ == 0 ? leaf_ : inner_;
  Features entries{dim_, {}, {}, {}};
  for (std::size_t s = 0; s < nodes.count(root_); ++s) entries.push_back(nodes.entry(root_, s));
  return entries;
}

Features CfTree::total() const { return sum_of(root_entries()); }

Features CfTree::leaves() const {
  Features leaves{dim_, {}, {}, {}};
  leaves.weight.reserve(leaf_count_);
  leaves.mean.reserve(leaf_count_ * dim_);
  leaves.sse.reserve(leaf_count_);
  for (const NodeId node : leaf_nodes())
    for (std::size_t s = 0; s < leaf_.count(node); ++s) leaves.push_back(leaf_.entry(node, s));
  return leaves;
}

TreeLevels CfTree::levels() const {
  TreeLevels levels;
  std::vector<NodeId> nodes = {root_};
  for (std::size_t level = height_ + 1; level-- > 0;) {
    const NodePool& here = level == 0 ? leaf_ : inner_;
    std::vector<NodeId> below;
    levels.counts.emplace_back();
    levels.entries.push_back({dim_, {}, {}, {}});
    for (const NodeId node : nodes) {
      levels.counts.back().push_back(here.count(node));
      for (std::size_t s = 0; s < here.count(node); ++s) {
        levels.entries.back().push_back(here.entry(node, s));
        if (level > 0) below.push_back(here.child(node, s));
      }
    }
    nodes = std::move(below);
  }
  return levels;
}

CfTree::CfTree(std::size_t dim, const TreeOptions& options, const TreeLevels& levels, std::size_t rebuild_count,
               double total_weight)
    : CfTree(dim, options) {
  if (levels.counts.empty() || levels.counts.front().size() != 1)
    throw std::invalid_argument("a stored tree must have exactly one root");
  height_ = levels.counts.size() - 1;
  rebuild_count_ = rebuild_count;
  total_weight_ = total_weight;
  set_frame(levels.entries.front());
  if (height_ > 0) root_ = inner_.create();
  AlignedFloats position(inner_.shape().entry_floats);
  RouteQuery query{};
  query.position = position.data();
  std::vector<NodeId> nodes = {root_};
  for (std::size_t l = 0; l <= height_; ++l) {
    const bool inner = l < height_;
    NodePool& here = pool(height_ - l);
    if (levels.counts[l].size() != nodes.size())
      throw std::invalid_argument("a stored tree must have a node for each entry of the level above");
    std::vector<NodeId> below;
    std::size_t entry = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (levels.counts[l][i] == 0 && height_ > 0)
        throw std::invalid_argument("a stored tree must not have empty nodes");
      for (std::uint32_t s = 0; s < levels.counts[l][i]; ++s, ++entry) {
        if (s >= options.branching || entry >= levels.entries[l].size())
          throw std::invalid_argument("a stored tree must hold as many entries as its nodes count");
        const Feature stored = levels.entries[l][entry];
        kernels_->positions(&stored.mean, 1, origin_.data(), leaf_.shape(), &query);
        complete(query, stored);
        write(here, {nodes[i], here.count(nodes[i])++}, levels.entries[l][entry]);
        if (!inner) continue;
        // The leaf pool already holds node 0, the root of the empty tree.
        const bool reuse = l + 1 == height_ && below.empty();
        below.push_back(reuse ? 0 : pool(height_ - l - 1).create());
        here.child(nodes[i], s) = below.back();
      }
    }
    if (entry != levels.entries[l].size())
      throw std::invalid_argument("a stored tree must hold as many entries as its nodes count");
    if (!inner) leaf_count_ = entry;
    for (const NodeId node : nodes) link_entries(height_ - l, node);
    nodes = std::move(below);
  }
}

}  // namespace silverbirch

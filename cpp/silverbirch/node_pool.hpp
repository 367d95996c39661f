// Storage for the nodes of one kind: fixed-size runs of feature blocks, handed out by number.
#pragma once

#include <cstdint>
#include <vector>

#include "aligned.hpp"
#include "feature_block.hpp"

namespace silverbirch {

using NodeId = std::uint32_t;

// Nodes live in pages that never move: growing copies nothing, and what is allocated is what is used, but for one page.
class NodePool {
 public:
  NodePool(std::size_t dim, std::size_t blocks_per_node, bool has_children)
      : dim_(dim), blocks_per_node_(blocks_per_node), has_children_(has_children) {}

  NodeId create() {
    const auto id = static_cast<NodeId>(counts_.size());
    if (id % kPageNodes == 0) pages_.emplace_back(kPageNodes * node_doubles());
    counts_.push_back(0);
    if (has_children_) children_.resize(children_.size() + blocks_per_node_ * kLanes);
    for (std::size_t s = 0; s < blocks_per_node_ * kLanes; ++s) slot(id, s).clear();
    return id;
  }

  std::size_t size() const { return counts_.size(); }
  std::size_t blocks_per_node() const { return blocks_per_node_; }
  std::size_t node_doubles() const { return blocks_per_node_ * block_doubles(dim_); }

  double* blocks(NodeId id) { return pages_[id / kPageNodes].data() + id % kPageNodes * node_doubles(); }
  const double* blocks(NodeId id) const { return pages_[id / kPageNodes].data() + id % kPageNodes * node_doubles(); }
  FeatureSlot slot(NodeId id, std::size_t s) { return {blocks(id), dim_, s}; }
  Feature load(NodeId id, std::size_t s, double* mean_row) const {
    return FeatureSlot(const_cast<double*>(blocks(id)), dim_, s).load(mean_row);
  }

  std::uint32_t& count(NodeId id) { return counts_[id]; }
  std::uint32_t count(NodeId id) const { return counts_[id]; }
  NodeId& child(NodeId id, std::size_t s) { return children_[id * blocks_per_node_ * kLanes + s]; }
  NodeId child(NodeId id, std::size_t s) const { return children_[id * blocks_per_node_ * kLanes + s]; }

  // Moves an entry to the end of another node.
  void append_from(NodeId to, NodeId from, std::size_t s) {
    const std::size_t end = counts_[to]++;
    slot(to, end).copy_from(slot(from, s));
    if (has_children_) child(to, end) = child(from, s);
  }

  std::size_t memory_bytes() const {
    return pages_.size() * kPageNodes * node_doubles() * sizeof(double) + counts_.capacity() * sizeof(std::uint32_t) +
           children_.capacity() * sizeof(NodeId);
  }

 private:
  static constexpr std::size_t kPageNodes = 4;

  std::size_t dim_, blocks_per_node_;
  bool has_children_;
  std::vector<AlignedDoubles> pages_;
  std::vector<std::uint32_t> counts_;
  std::vector<NodeId> children_;
};

}  // namespace silverbirch

// Storage for the nodes of one kind: fixed-size runs of feature blocks, handed out by number.
#pragma once

#include <cstdint>
#include <vector>

#include "aligned.hpp"
#include "feature_block.hpp"

namespace silverbirch {

using NodeId = std::uint32_t;

// Each node has memory of its own that never moves: growing copies nothing, and what is allocated is what is used.
class NodePool {
 public:
  NodePool(std::size_t dim, std::size_t blocks_per_node, bool has_children)
      : dim_(dim), slots_(blocks_per_node * kLanes), has_children_(has_children) {}

  NodeId create() {
    const auto id = static_cast<NodeId>(blocks_.size());
    blocks_.emplace_back(slots_ / kLanes * block_doubles(dim_));
    counts_.push_back(0);
    parents_.push_back(id);
    if (has_children_) children_.resize(children_.size() + slots_);
    for (std::size_t s = 0; s < slots_; ++s) slot(id, s).clear();
    return id;
  }

  std::size_t size() const { return blocks_.size(); }

  double* blocks(NodeId id) { return blocks_[id].data(); }
  const double* blocks(NodeId id) const { return blocks_[id].data(); }
  FeatureSlot slot(NodeId id, std::size_t s) { return {blocks(id), dim_, s}; }
  Feature load(NodeId id, std::size_t s, double* mean_row) const {
    return FeatureSlot(const_cast<double*>(blocks(id)), dim_, s).load(mean_row);
  }

  std::uint32_t& count(NodeId id) { return counts_[id]; }
  std::uint32_t count(NodeId id) const { return counts_[id]; }
  NodeId& parent(NodeId id) { return parents_[id]; }  // its own number for the root
  NodeId& child(NodeId id, std::size_t s) { return children_[id * slots_ + s]; }
  NodeId child(NodeId id, std::size_t s) const { return children_[id * slots_ + s]; }

  std::size_t slot_of_child(NodeId id, NodeId child_id) const {
    std::size_t s = 0;
    while (child(id, s) != child_id) ++s;
    return s;
  }

  // Copies an entry to the end of another node.
  void append_from(NodeId to, NodeId from, std::size_t s) {
    const std::size_t end = counts_[to]++;
    slot(to, end).copy_from(slot(from, s));
    if (has_children_) child(to, end) = child(from, s);
  }

  std::size_t memory_bytes() const {
    const std::size_t node = slots_ / kLanes * block_doubles(dim_) * sizeof(double);
    return size() * node + blocks_.capacity() * sizeof(AlignedDoubles) + counts_.capacity() * sizeof(std::uint32_t) +
           (children_.capacity() + parents_.capacity()) * sizeof(NodeId);
  }

 private:
  std::size_t dim_, slots_;
  bool has_children_;
  std::vector<AlignedDoubles> blocks_;
  std::vector<std::uint32_t> counts_;
  std::vector<NodeId> parents_, children_;
};

}  // namespace silverbirch

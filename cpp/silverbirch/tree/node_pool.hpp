// Storage for the nodes of one kind (inner or leaf), addressed by number. tree_kernels.hpp describes what a node holds.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "silverbirch/base/switches.hpp"
#include "silverbirch/features/feature_block.hpp"
#include "silverbirch/tree/kernels/tree_kernels.hpp"
#include "silverbirch/tree/node_memory.hpp"

namespace silverbirch {

using NodeId = std::uint32_t;

// The routing copy of an empty slot: farther than anything that is routed, but near enough not to overflow. Its
// variance is larger than any that is routed, because radius and diameter hardly depend on the gap to a heavy entry.
inline constexpr float kFarFromOrigin = 1e17f, kHeavy = 1e30f, kSpread = 1e33f;

// Whether a new tree has integer routing copies.
inline bool routed_by_integers(std::size_t dim) { return dim >= kRoundedDimensions && on(Mechanism::integer_routing); }

inline constexpr std::uint64_t kAllBits = ~std::uint64_t{0};
// The descent rounds the weight of an inner entry down to steps of a quarter of a power of two, see cf_tree.cpp; of a
// half in many dimensions, where renewing an entry takes longer.
constexpr std::uint64_t leading_bits(std::size_t dim) { return kAllBits << (52 - (dim <= kFewDimensions ? 2 : 1)); }

inline NodeShape node_shape(std::size_t dim, std::size_t entries, bool ward, std::uint64_t weight_bits, bool rounded) {
  const auto rounded_up = [](std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; };
  const std::size_t slots = rounded_up(entries, kRouteLanes);
  const bool few = dim <= kFewDimensions;
  const std::size_t float_entry = few ? dim : rounded_up(dim, kRouteLanes);
  const std::size_t entry_floats = rounded ? rounded_up(dim, 8) / 2 : float_entry;
  return {.dim = dim,
          .slots = slots,
          .ward = ward,
          .weight_bits = weight_bits,
          // a small record must not straddle cache lines
          .record_doubles = dim + 2 <= 4 ? 4 : rounded_up(dim + 2, 8),
          .entry_floats = entry_floats,
          .mean_floats = slots * entry_floats,
          .routing_floats = slots * (entry_floats + (routed_by_integers(dim) ? 4 : 2)),
          .steps = rounded ? kMostSteps : 0.0f,
          .number_bits = static_cast<int>(std::bit_ceil(slots) - 1),
          .relative_doubt = 0x1p-13f + static_cast<float>(dim + 2 * slots) * 0x1p-22f};
}

inline std::size_t node_bytes(const NodeShape& shape) {
  return shape.slots * shape.record_doubles * sizeof(double) + shape.routing_floats * sizeof(float);
}

// Prefetches to the second-level cache, because the records of a group would fill the first. GCC removes calls of a
// function that only prefetches; the empty asm keeps them.
[[gnu::noinline]] inline void prefetch_long(const double* begin, std::size_t size) {
  for (std::size_t offset = 0; offset < size; offset += 8) __builtin_prefetch(begin + offset, 0, 2);
  asm volatile("");
}

class NodePool {
 public:
  NodePool(const NodeShape& shape, bool has_children)
      : shape_(shape), has_children_(has_children), memory_(node_bytes()) {}
  NodePool(NodePool&&) = default;
  NodePool& operator=(NodePool&&) = default;

  NodeId create() {
    const auto id = static_cast<NodeId>(nodes_.size());
    nodes_.push_back({.records = nullptr, .routing = nullptr, .last_change = 0, .count = 0, .parent = id});
    point_into(nodes_.back(), memory_.take());
    for (std::size_t s = 0; s < shape_.slots; ++s) clear_routing(id, s);
    if (has_children_) children_.resize(children_.size() + shape_.slots);
    return id;
  }

  std::size_t size() const { return nodes_.size(); }
  const NodeShape& shape() const { return shape_; }
  void set_shape(const NodeShape& shape) { shape_ = shape; }  // the caller then renews the routing copies
  // Moves all records to memory with room for the larger routing copies of `shape`.
  void make_room_for(const NodeShape& shape) {
    NodeMemory memory(silverbirch::node_bytes(shape));
    std::vector<Node> nodes = nodes_;
    for (Node& node : nodes) {
      const double* records = node.records;
      point_into(node, memory.take());
      std::memcpy(node.records, records, record_bytes());
    }
    memory_ = std::move(memory);
    nodes_ = std::move(nodes);
  }

  // mean, weight, sse
  double* record(NodeId id, std::size_t s) { return nodes_[id].records + s * shape_.record_doubles; }
  Feature entry(NodeId id, std::size_t s) const {
    const double* mean = nodes_[id].records + s * shape_.record_doubles;
    return {mean[shape_.dim], mean, mean[shape_.dim + 1]};
  }
  // The entry with the rounded weight that the descent uses.
  Feature routing_entry(NodeId id, std::size_t s) const {
    const Feature whole = entry(id, s);
    return {routing_weight(whole.weight, shape_.weight_bits), whole.mean, whole.sse};
  }
  float* routing(NodeId id) { return nodes_[id].routing; }
  const float* routing(NodeId id) const { return nodes_[id].routing; }

  std::uint32_t& count(NodeId id) { return nodes_[id].count; }
  std::uint32_t count(NodeId id) const { return nodes_[id].count; }
  std::uint64_t& last_change(NodeId id) { return nodes_[id].last_change; }  // on the clock of the tree
  NodeId& parent(NodeId id) { return nodes_[id].parent; }                   // of the root: its own number
  NodeId& child(NodeId id, std::size_t s) { return children_[id * shape_.slots + s]; }
  NodeId child(NodeId id, std::size_t s) const { return children_[id * shape_.slots + s]; }

  // Prefetches a record only: prefetching routing copies would delay the reads in progress.
  void prefetch_record(NodeId id, std::size_t s) const {
    if (!on(Mechanism::record_prefetch)) return;
    const double* begin = nodes_[id].records + s * shape_.record_doubles;
    if (shape_.dim >= kRoundedDimensions)
      return prefetch_long(begin, std::min<std::size_t>(shape_.record_doubles, 512));
    for (std::size_t offset = 0; offset < shape_.record_doubles; offset += 8) __builtin_prefetch(begin + offset, 1);
  }

  std::uint32_t slot_of_child(NodeId id, NodeId child_id) const {
    std::uint32_t s = 0;
    while (child(id, s) != child_id) ++s;
    return s;
  }

  // Copies everything but the routing copy.
  void copy_entry(NodeId to, std::size_t to_slot, NodeId from, std::size_t from_slot) {
    std::copy_n(record(from, from_slot), shape_.dim + 2, record(to, to_slot));
    if (has_children_) child(to, to_slot) = child(from, from_slot);
  }

  // Makes a slot empty for the filter, so that it is never the nearest; its record may stay. Searches of integers skip
  // empty slots anyway.
  void clear_routing(NodeId id, std::size_t s) {
    if (shape_.steps > 0.0f) return;
    float* means = routing(id);
    if (shape_.dim <= kFewDimensions) {
      for (std::size_t k = 0; k < shape_.dim; ++k) means[k * shape_.slots + s] = kFarFromOrigin;
    } else {
      float* mean = means + s * shape_.entry_floats;
      std::fill_n(mean, kRouteLanes, kFarFromOrigin);
      std::fill_n(mean + kRouteLanes, shape_.entry_floats - kRouteLanes, 0.0f);
    }
    routing(id)[shape_.mean_floats + s] = shape_.ward ? 1.0f : kSpread;
    routing(id)[shape_.mean_floats + shape_.slots + s] = kHeavy;
  }

  std::size_t memory_bytes() const {
    return memory_.bytes() + nodes_.capacity() * sizeof(Node) + children_.capacity() * sizeof(NodeId);
  }

 private:
  // What a descent needs of a node before it reads the memory of the node.
  struct Node {
    double* records;
    float* routing;
    std::uint64_t last_change;
    std::uint32_t count;
    NodeId parent;
  };

  void point_into(Node& node, std::byte* memory) const {
    node.records = reinterpret_cast<double*>(memory);
    node.routing = reinterpret_cast<float*>(memory + record_bytes());
  }
  std::size_t record_bytes() const { return shape_.slots * shape_.record_doubles * sizeof(double); }
  std::size_t node_bytes() const { return silverbirch::node_bytes(shape_); }

  NodeShape shape_;
  bool has_children_;
  NodeMemory memory_;
  std::vector<Node> nodes_;
  std::vector<NodeId> children_;
};

}  // namespace silverbirch

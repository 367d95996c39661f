// Maps rows to their leaf node while the threshold is zero, so that an exact duplicate finds its leaf. The descent
// alone may end at another leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "silverbirch/base/row_hash.hpp"
#include "silverbirch/tree/node_pool.hpp"

namespace silverbirch {

class RowDirectory {
 public:
  void put(std::uint64_t hash_of_row, NodeId leaf_node) { node_of_[hash_of_row] = leaf_node; }

  // The leaf node recorded last for this hash. The caller compares rows there, because hashes may collide.
  std::optional<NodeId> find(std::uint64_t hash_of_row) const {
    const auto found = node_of_.find(hash_of_row);
    return found == node_of_.end() ? std::nullopt : std::optional(found->second);
  }

  void clear() { node_of_ = {}; }
  std::size_t memory_bytes() const {
    return node_of_.size() * (sizeof(std::pair<std::uint64_t, NodeId>) + 2 * sizeof(void*)) +
           node_of_.bucket_count() * sizeof(void*);
  }

 private:
  std::unordered_map<std::uint64_t, NodeId> node_of_;
};

}  // namespace silverbirch

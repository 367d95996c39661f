// Makes CF-trees with too many leaves smaller: the tree of one part, or the trees of all parts together.
#pragma once

#include <cstddef>
#include <span>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/tree/cf_tree.hpp"

namespace silverbirch {

// The size of a tree, or the limits of its size.
struct TreeSize {
  std::size_t leaves = 0, nodes = 0;
};

TreeSize size_of(std::span<const CfTree> parts);

// Merges leaves, and raises the threshold of all parts to the same value, until at least a twentieth of each limit is
// free. Returns the number of rounds. If `progress` throws, nothing is lost.
std::size_t rebuild(std::span<CfTree> parts, const TreeSize& limits, std::size_t threads, const Progress& progress);

}  // namespace silverbirch

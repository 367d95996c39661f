// How CF-trees of too many leaves become smaller ones: the one tree of a part, or those of all parts together.
#pragma once

#include <cstddef>
#include <span>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/tree/cf_tree.hpp"

namespace silverbirch {

// Of leaves and nodes: what a tree may have, or what it has.
struct TreeSize {
  std::size_t leaves = 0, nodes = 0;
};

TreeSize size_of(std::span<const CfTree> parts);

// Merges leaves, and raises the threshold of all parts to the same value, until a twentieth of each limit is free at
// least. Returns how many rounds that took. When `progress` throws, nothing is lost.
std::size_t rebuild(std::span<CfTree> parts, const TreeSize& limits, std::size_t threads, const Progress& progress);

}  // namespace silverbirch

// Single linkage from the edges of a minimum spanning tree, in ascending order [Kruskal 1956; Gower & Ross 1969].
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/ascending.hpp"
#include "silverbirch/linkage/merge_history.hpp"

namespace silverbirch {

struct TreeEdge {
  std::uint32_t a, b;
  double length;
};

// before(i, j) orders edges of the same length. name(i) is the object at end i of an edge.
template <class Before, class Name>
Merges merges_of_tree(const UnsetVector<TreeEdge>& edges, Before before, Name name, std::size_t threads) {
  struct Top {
    std::uint32_t node, size;
  };
  constexpr std::size_t kPiece = 8192;
  const std::size_t count = edges.size(), objects = count + 1;
  const auto order = ascending(count, [&](std::size_t i) { return edges[i].length; }, threads, before);
  UnsetVector<TreeEdge> sorted(count);
  parallel_for(count, kPiece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sorted[i] = edges[order[i]];
  });

  // The only step on one thread: which nodes the ends of each edge belong to.
  std::vector<std::uint32_t> parent(objects);
  std::iota(parent.begin(), parent.end(), 0U);
  std::vector<Top> top(objects);  // of the set whose root it is
  for (std::size_t i = 0; i < objects; ++i) top[i] = {static_cast<std::uint32_t>(i), 1};
  const auto root = [&](std::uint32_t x) {
    while (parent[x] != x) x = parent[x] = parent[parent[x]];
    return x;
  };
  UnsetVector<std::uint32_t> sizes(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t a = root(sorted[i].a), b = root(sorted[i].b);
    if (top[a].size > top[b].size) std::swap(a, b);
    sorted[i].a = top[a].node;
    sorted[i].b = top[b].node;
    parent[a] = b;
    top[b] = {static_cast<std::uint32_t>(objects + i), sizes[i] = top[a].size + top[b].size};
  }

  Merges result(count);
  const auto number = [&](std::uint32_t node) -> std::size_t { return node < objects ? name(node) : node; };
  parallel_for(count, kPiece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      result.set(i, number(sorted[i].a), number(sorted[i].b), sorted[i].length, sizes[i]);
  });
  return result;
}

}  // namespace silverbirch

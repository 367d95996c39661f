// Reads an order from the root down: the ends of a branch decide the inner ends of its two parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/ordering/branches.hpp"

namespace silverbirch {

// The places of the first and the last leaf of a branch, or the two that become neighbours where two branches meet.
struct Ends {
  std::size_t first, last;
};

// inner_ends(first, second, ends) returns the last leaf of the first node and the first leaf of the second node, if
// ends.first begins the first one and ends.last ends the second one.
template <class InnerEnds>
std::vector<std::int64_t> read_order(const Branches& branches, const Ends& ends_of_root, InnerEnds inner_ends,
                                     const Progress& progress) {
  struct Part {
    std::size_t node;
    Ends ends;
  };
  std::vector<std::int64_t> order;
  order.reserve(branches.leaves());
  std::vector<Part> parts{{branches.leaves() + branches.merges() - 1, ends_of_root}};
  while (!parts.empty()) {
    const auto [node, ends] = parts.back();
    parts.pop_back();
    if (node < branches.leaves()) {
      order.push_back(static_cast<std::int64_t>(node));
      continue;
    }
    progress.poll();
    const std::size_t row = node - branches.leaves();
    Part first{branches.left_node(row), ends}, second{branches.right_node(row), ends};
    if (ends.first >= branches[node].middle) std::swap(first.node, second.node);
    const Ends inner = inner_ends(first.node, second.node, ends);
    first.ends.last = inner.first;
    second.ends.first = inner.last;
    parts.push_back(second);
    parts.push_back(first);
  }
  return order;
}

}  // namespace silverbirch

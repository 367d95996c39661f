#include "silverbirch/linkage/ordering/branches.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "silverbirch/linkage/dendrogram.hpp"

namespace silverbirch {

Branches::Branches(const double* z, std::size_t merges)
    : nodes_(2 * merges + 1), left_(merges), right_(merges), leaf_at_(merges + 1) {
  const std::size_t leaves = merges + 1;
  const std::vector<double> counts = leaf_counts(z, merges);  // checks the numbers of the children
  const auto count = [&](std::size_t node) {
    return node < leaves ? 1 : static_cast<std::size_t>(counts[node - leaves]);
  };
  nodes_.back().end = leaves;
  for (std::size_t row = merges; row-- > 0;) {
    Branch& merged = nodes_[leaves + row];
    left_[row] = static_cast<std::size_t>(z[4 * row]);
    right_[row] = static_cast<std::size_t>(z[4 * row + 1]);
    Branch &left = nodes_[left_[row]], &right = nodes_[right_[row]];
    // A node that two rows merge already has its places, and one that no row merges has none.
    if (left_[row] == right_[row] || left.end != 0 || right.end != 0 ||
        merged.size() != count(left_[row]) + count(right_[row]))
      throw std::invalid_argument("Z is not a linkage matrix: each cluster must be merged exactly once");
    merged.middle = merged.begin + count(left_[row]);
    left = {merged.begin, 0, merged.middle};
    right = {merged.middle, 0, merged.end};
  }
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) leaf_at_[nodes_[leaf].begin] = static_cast<std::int64_t>(leaf);
}

std::vector<double> reordered(const double* z, std::size_t merges, const std::int64_t* order) {
  constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  const std::size_t leaves = merges + 1;
  std::vector<std::size_t> first(leaves + merges, nowhere), count(leaves + merges, 1);
  for (std::size_t place = 0; place < leaves; ++place) {
    const std::int64_t leaf = order[place];
    if (leaf < 0 || static_cast<std::size_t>(leaf) >= leaves || first[static_cast<std::size_t>(leaf)] != nowhere)
      throw std::invalid_argument("the order must contain each leaf once; position " + std::to_string(place) + " is " +
                                  std::to_string(leaf));
    first[static_cast<std::size_t>(leaf)] = place;
  }
  std::vector<double> result(z, z + 4 * merges);
  leaf_counts(z, merges);  // checks the numbers of the children
  for (std::size_t row = 0; row < merges; ++row) {
    const auto a = static_cast<std::size_t>(z[4 * row]), b = static_cast<std::size_t>(z[4 * row + 1]);
    const bool exchanged = first[b] < first[a];
    const std::size_t left = exchanged ? b : a, right = exchanged ? a : b;
    if (first[left] + count[left] != first[right])
      throw std::invalid_argument("the order takes the leaves of row " + std::to_string(row) +
                                  " of Z apart: those of a branch must be neighbours");
    first[leaves + row] = first[left];
    count[leaves + row] = count[left] + count[right];
    if (exchanged) std::swap(result[4 * row], result[4 * row + 1]);
  }
  return result;
}

}  // namespace silverbirch

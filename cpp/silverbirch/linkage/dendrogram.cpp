#include "silverbirch/linkage/dendrogram.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace silverbirch {

namespace {

// The node that a row of Z refers to. Z comes from outside, so it is checked before it is used as an index.
std::size_t node(const double* z, std::size_t merges, std::size_t row, std::size_t side) {
  const double value = z[4 * row + side];
  if (!(value >= 0.0 && value < static_cast<double>(merges + 1 + row)))
    throw std::invalid_argument("Z is not a linkage matrix: each row must refer to leaves or to rows above it");
  return static_cast<std::size_t>(value);
}

}  // namespace

std::vector<double> subtree_heights(const double* z, std::size_t merges) {
  const std::size_t leaves = merges + 1;
  std::vector<double> heights(merges);
  for (std::size_t row = 0; row < merges; ++row) {
    heights[row] = z[4 * row + 2];
    for (std::size_t side = 0; side < 2; ++side)
      if (const std::size_t child = node(z, merges, row, side); child >= leaves)
        heights[row] = std::max(heights[row], heights[child - leaves]);
  }
  return heights;
}

std::vector<double> leaf_counts(const double* z, std::size_t merges) {
  const std::size_t leaves = merges + 1;
  std::vector<double> counts(merges, 0.0);
  for (std::size_t row = 0; row < merges; ++row)
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t child = node(z, merges, row, side);
      counts[row] += child < leaves ? 1.0 : counts[child - leaves];
    }
  return counts;
}

std::vector<std::int64_t> cut(const double* z, std::size_t merges, const double* level_of_row, const double* levels,
                              std::size_t level_count) {
  const std::size_t leaves = merges + 1;
  constexpr std::int64_t unlabelled = -1;
  std::vector<std::size_t> top(leaves + merges);
  std::vector<std::int64_t> label_of_top(top.size()), labels(leaves * level_count);
  for (std::size_t column = 0; column < level_count; ++column) {
    // From the root down: both children of an applied merge belong to the cluster of their parent.
    std::iota(top.begin(), top.end(), std::size_t{0});
    for (std::size_t row = merges; row-- > 0;)
      if (level_of_row[row] <= levels[column])
        for (std::size_t side = 0; side < 2; ++side) top[node(z, merges, row, side)] = top[leaves + row];

    std::fill(label_of_top.begin(), label_of_top.end(), unlabelled);
    std::int64_t next = 0;
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      std::int64_t& label = label_of_top[top[leaf]];
      if (label == unlabelled) label = next++;
      labels[leaf * level_count + column] = label;
    }
  }
  return labels;
}

Features merged_features(const double* z, const FeaturesView& leaves) {
  const std::size_t merges = leaves.size - 1;
  Features merged{leaves.dim, {}, {}, {}};
  merged.weight.reserve(merges);
  merged.mean.reserve(merges * leaves.dim);  // no reallocation: part() returns pointers into it
  merged.sse.reserve(merges);
  const auto part = [&](std::size_t id) { return id < leaves.size ? leaves[id] : merged[id - leaves.size]; };
  for (std::size_t row = 0; row < merges; ++row) {
    merged.push_back(part(node(z, merges, row, 0)));
    merged.absorb(row, part(node(z, merges, row, 1)));
  }
  return merged;
}

}  // namespace silverbirch

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/index/packed_boxes.hpp"

using namespace silverbirch;

namespace {

constexpr std::size_t kDim = 3, kLeaves = 400, kSlots = kLeaves * kClusterLeaf;

double* lane(AlignedDoubles& blocks, std::size_t slot) {
  return blocks.data() + slot / kLanes * index_block_doubles(kDim) + slot % kLanes;
}

// Whichever thread widens first, every level ends up with the boxes of the old and the new means.
void several_threads_widen_boxes_to_the_same(Nearness nearness) {
  const std::vector<double> points = random_points(2 * kSlots, kDim + 1, 1);
  AlignedDoubles blocks(kSlots / kLanes * index_block_doubles(kDim));
  for (std::size_t slot = 0; slot < kSlots; ++slot)
    for (std::size_t k = 0; k <= kDim; ++k)
      lane(blocks, slot)[k * kLanes] = std::abs(points[slot * (kDim + 1) + k]) + 10.0 * (k == kDim);
  std::vector<std::vector<double>> expected;
  for (const std::size_t threads : {1, 2, 8}) {
    PackedBoxes<double> boxes(kDim, kClusterLeaf, nearness);
    boxes.pack(blocks.data(), kLeaves, threads, no_progress);
    parallel_for(kSlots, 64, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      // In a mixed order, so that many threads meet in one box.
      for (std::size_t i = begin; i < end; ++i)
        boxes.include(i * 7919 % kSlots, points.data() + (kSlots + i) * (kDim + 1), 1);
    });
    PackedTree tree;
    boxes.show(tree);
    std::vector<std::vector<double>> levels;
    std::size_t nodes = kLeaves;
    for (std::size_t level = 0; level < tree.level_count; ++level) {
      nodes = (nodes + kLanes - 1) / kLanes;
      levels.emplace_back(tree.nodes[level], tree.nodes[level] + nodes * index_node_doubles(kDim));
    }
    if (!CHECK(levels.size() == 3)) return;
    CHECK(nodes == 1);
    for (std::size_t k = 0; k < kDim; ++k) {  // the root, by brute force
      double least = kFarAway, most = -kFarAway;
      for (std::size_t i = 0; i < kSlots; ++i) {
        const double was = lane(blocks, i)[k * kLanes], came = points[(kSlots + i) * (kDim + 1) + k];
        least = std::min({least, was, came});
        most = std::max({most, was, came});
      }
      double least_of_root = kFarAway, most_of_root = -kFarAway;
      for (std::size_t child = 0; child < kLanes && levels[2][child] != kFarAway; ++child) {
        least_of_root = std::min(least_of_root, levels[2][k * kLanes + child]);
        most_of_root = std::max(most_of_root, levels[2][(kDim + k) * kLanes + child]);
      }
      CHECK(least_of_root == least);
      CHECK(most_of_root == most);
    }
    if (threads > 1) CHECK(levels == expected);
    expected = levels;
  }
}

}  // namespace

int main() {
  several_threads_widen_boxes_to_the_same(Nearness::ward);
  several_threads_widen_boxes_to_the_same(Nearness::average);
}

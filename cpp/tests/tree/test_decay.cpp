#include <numeric>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/tree/parts.hpp"

using namespace silverbirch;

namespace {

constexpr std::size_t kDim = 3, kRows = 20000;
constexpr TreeOptions kInParts{.max_leaves = 1200, .max_nodes = 200, .parts = 8};
constexpr TreeOptions kInOne{.max_leaves = 1200, .branching = 5, .parts = 1};

PartitionedTree tree_of(const std::vector<double>& points, const TreeOptions& options, std::size_t dim = kDim) {
  PartitionedTree tree(dim, options);
  tree.insert_rows(points.data(), nullptr, points.size() / dim, no_progress);
  return tree;
}

void check_same(const PartitionedTree& tree, const PartitionedTree& expected) {
  CHECK(tree.leaves().weight == expected.leaves().weight);
  CHECK(tree.leaves().mean == expected.leaves().mean);
  CHECK(tree.leaves().sse == expected.leaves().sse);
  CHECK(tree.total_weight() == expected.total_weight());
  CHECK(tree.rebuild_count() == expected.rebuild_count());
  CHECK(tree.squared_threshold() == expected.squared_threshold());
}

void leaves_are_scaled_and_the_light_ones_removed() {
  for (const TreeOptions& options : {kInOne, kInParts}) {
    PartitionedTree tree = tree_of(random_points(kRows, kDim, 1), options);
    const Features before = tree.leaves();
    const double threshold = tree.squared_threshold();
    tree.decay(0.25, 2.0, no_progress);
    Features expected{kDim, {}, {}, {}};
    for (std::size_t i = 0; i < before.size(); ++i)
      if (0.25 * before.weight[i] >= 2.0)
        expected.push_back({0.25 * before.weight[i], before[i].mean, 0.25 * before.sse[i]});
    CHECK(expected.size() > 0);
    CHECK(expected.size() < before.size());
    CHECK(tree.leaves().weight == expected.weight);
    CHECK(tree.leaves().mean == expected.mean);
    CHECK(tree.leaves().sse == expected.sse);
    CHECK(close(tree.total_weight(), std::accumulate(expected.weight.begin(), expected.weight.end(), 0.0)));
    CHECK(tree.squared_threshold() == threshold);
  }
}

// An inner entry must be the feature of everything below it, up to the lag of its mean.
void inner_entries_hold_what_is_left_below_them() {
  PartitionedTree tree = tree_of(random_points(kRows, kDim, 2), kInOne);
  tree.decay(0.5, 4.0, no_progress);
  const PartitionedTree::State state = tree.state();
  const TreeLevels& levels = state.parts.front().levels;
  CHECK(levels.counts.size() > 2);
  for (std::size_t l = 0; l + 1 < levels.counts.size(); ++l) {
    std::size_t child = 0;
    for (std::size_t i = 0; i < levels.entries[l].size(); ++i) {
      double below = 0.0;
      for (std::uint32_t s = 0; s < levels.counts[l + 1][i]; ++s) below += levels.entries[l + 1].weight[child++];
      CHECK(close(levels.entries[l].weight[i], below));
    }
    CHECK(child == levels.entries[l + 1].size());
  }
}

void a_factor_of_one_changes_no_bit_of_the_rest_of_the_stream() {
  for (const std::size_t dim : {std::size_t{3}, std::size_t{20}, std::size_t{100}})
    for (const TreeOptions& options : {kInOne, kInParts}) {
      const std::vector<double> first = random_points(4000, dim, 3), second = random_points(4000, dim, 4);
      TreeOptions own = options;
      if (dim > 3) own.parts = 1;
      PartitionedTree expected = tree_of(first, own, dim), tree = tree_of(first, own, dim);
      tree.decay(1.0, 0.0, no_progress);
      check_same(tree, expected);
      for (PartitionedTree* one : {&tree, &expected}) one->insert_rows(second.data(), nullptr, 4000, no_progress);
      check_same(tree, expected);
    }
}

void a_decayed_tree_continues_to_the_same_bits_after_storage_and_on_threads() {
  for (const TreeOptions& options : {kInOne, kInParts})
    for (const double lightest : {0.0, 1.0, 8.0}) {
      PartitionedTree tree = tree_of(random_points(kRows, kDim, 5), options);
      tree.decay(0.3, lightest, no_progress);
      PartitionedTree restored(kDim, options, tree.state());
      restored.set_threads(3);
      const std::vector<double> next = random_points(kRows, kDim, 6, 2.0);
      for (PartitionedTree* one : {&tree, &restored}) {
        for (std::size_t begin = 0; begin < kRows; begin += 5000) {
          one->insert_rows(next.data() + begin * kDim, nullptr, 5000, no_progress);
          one->decay(0.8, lightest, no_progress);
          CHECK(one->leaf_count() <= options.max_leaves);
        }
      }
      check_same(restored, tree);
    }
}

void a_tree_without_leaves_takes_rows_again() {
  for (const TreeOptions& options : {kInOne, kInParts}) {
    const std::vector<double> points = random_points(kRows, kDim, 7);
    PartitionedTree tree = tree_of(points, options);
    tree.decay(0.5, 1e9, no_progress);
    CHECK(tree.leaf_count() == 0);
    CHECK(tree.total_weight() == 0.0);
    tree.decay(0.5, 1e9, no_progress);
    tree.insert_rows(points.data(), nullptr, kRows, no_progress);
    CHECK(tree.total_weight() == kRows);
    CHECK(close(sum_of(tree.leaves()).weight[0], static_cast<double>(kRows)));
  }
}

void weights_never_fall_below_the_smallest() {
  const std::vector<double> points = random_points(100, kDim, 8);
  PartitionedTree tree = tree_of(points, kInOne);
  tree.decay(1e-30, 0.0, no_progress);
  CHECK(tree.leaf_count() == 100);
  tree.insert_rows(points.data(), nullptr, 50, no_progress);
  tree.decay(0.999, 0.0, no_progress);
  CHECK(tree.leaf_count() == 50);
}

void an_interrupt_changes_nothing() {
  for (const TreeOptions& options : {kInOne, kInParts}) {
    const std::vector<double> points = random_points(kRows, kDim, 9);
    PartitionedTree tree = tree_of(points, options);
    const PartitionedTree expected = tree_of(points, options);
    for (std::size_t stop_at = 1;; stop_at += 17) {
      std::size_t calls = 0;
      const Progress stop([&](std::size_t, std::size_t) {
        if (++calls == stop_at) throw std::runtime_error("stop");
      });
      try {
        tree.decay(0.5, 1.0, stop);
        CHECK(stop_at > 18);
        break;
      } catch (const std::runtime_error&) {
        check_same(tree, expected);
      }
    }
    CHECK(tree.leaf_count() < expected.leaf_count());
  }
}

void other_factors_are_refused() {
  PartitionedTree tree = tree_of(random_points(10, kDim, 10), kInOne);
  for (const double factor : {0.0, -0.5, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    bool refused = false;
    try {
      tree.decay(factor, 0.0, no_progress);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK(refused);
  }
}

}  // namespace

int main() {
  leaves_are_scaled_and_the_light_ones_removed();
  inner_entries_hold_what_is_left_below_them();
  a_factor_of_one_changes_no_bit_of_the_rest_of_the_stream();
  a_decayed_tree_continues_to_the_same_bits_after_storage_and_on_threads();
  a_tree_without_leaves_takes_rows_again();
  weights_never_fall_below_the_smallest();
  an_interrupt_changes_nothing();
  other_factors_are_refused();
}

#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/tree/parts.hpp"

using namespace silverbirch;

namespace {

void parts_have_about_the_same_mass() {
  constexpr std::size_t dim = 3, count = 4000;
  const Features sample = as_features(random_points(count, dim, 1), dim);
  const SpacePartition partition(sample, 8);
  std::vector<std::size_t> counts(partition.size());
  for (std::size_t i = 0; i < count; ++i) ++counts[partition.part_of(sample[i].mean)];
  for (const std::size_t part : counts) CHECK(part == count / 8);
}

void equal_rows_are_in_one_part() {
  const Features sample = as_features(std::vector<double>(40, 7.0), 2);
  const SpacePartition partition(sample, 4);
  CHECK(partition.part_of(sample[0].mean) == 0);
}

void many_rows_go_where_each_of_them_goes() {
  constexpr std::size_t count = 500;
  for (std::size_t dim = 1; dim <= 10; ++dim) {  // up to 8 dimensions have compiled loops
    const std::vector<double> points = random_points(count, dim, 4);
    const SpacePartition partition(as_features(points, dim), 8);
    std::vector<std::uint32_t> parts(count);
    partition.parts_of(points.data(), count, parts.data());
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t plane = 0;
      while (plane < 7) {
        double along = 0.0;
        for (std::size_t k = 0; k < dim; ++k) along += partition.normals()[plane * dim + k] * points[i * dim + k];
        if (std::abs(along - partition.offsets()[plane]) < 1e-12) break;  // on the plane: rounding decides the side
        plane = 2 * plane + 1 + (along > partition.offsets()[plane]);
      }
      CHECK(parts[i] == partition.part_of(points.data() + i * dim));
      if (plane >= 7) CHECK(parts[i] == plane - 7);
    }
  }
}

constexpr std::size_t kDim = 3, kRows = 40000;
constexpr TreeOptions kOptions{.max_leaves = 1200, .max_nodes = 200, .parts = 8};

PartitionedTree tree_of(const std::vector<double>& points, const TreeOptions& options = kOptions,
                        std::size_t threads = 1) {
  PartitionedTree tree(kDim, options);
  tree.set_threads(threads);
  tree.insert_rows(points.data(), nullptr, points.size() / kDim, no_progress);
  return tree;
}

void check_same(const PartitionedTree& tree, const PartitionedTree& expected) {
  const Features leaves = tree.leaves(), expected_leaves = expected.leaves();
  CHECK(leaves.weight == expected_leaves.weight);
  CHECK(leaves.mean == expected_leaves.mean);
  CHECK(leaves.sse == expected_leaves.sse);
  CHECK(tree.rebuild_count() == expected.rebuild_count());
  CHECK(tree.squared_threshold() == expected.squared_threshold());
}

void threads_change_no_bit() {
  const std::vector<double> points = random_points(kRows, kDim, 2);
  const PartitionedTree expected = tree_of(points);
  CHECK(expected.part_count() == 8 && expected.rebuild_count() > 1 && expected.total_weight() == kRows);
  for (const std::size_t threads : {2, 3, 5}) check_same(tree_of(points, kOptions, threads), expected);
}

void threads_change_no_bit_of_rows_of_weight_zero() {
  const std::vector<double> points = random_points(kRows, kDim, 6);
  std::vector<double> weights(kRows), counted;
  for (std::size_t i = 0; i < kRows; ++i) {
    weights[i] = i < 3000 || i % 50 == 0 ? 1.0 : 0.0;
    if (weights[i] > 0.0) counted.insert(counted.end(), points.begin() + i * kDim, points.begin() + (i + 1) * kDim);
  }
  const PartitionedTree expected = tree_of(counted);
  for (const std::size_t threads : {1, 3}) {
    PartitionedTree tree(kDim, kOptions);
    tree.set_threads(threads);
    tree.insert_rows(points.data(), weights.data(), kRows, no_progress);
    check_same(tree, expected);
  }
}

void a_refused_row_is_the_first_and_leaves_an_empty_tree() {
  std::vector<double> points = random_points(kRows, kDim, 6);
  points[30000 * kDim + 1] = points[35000 * kDim] = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t threads : {1, 3}) {
    PartitionedTree tree(kDim, kOptions);
    tree.set_threads(threads);
    std::size_t row = 0;
    try {
      tree.check_and_insert(points.data(), nullptr, kRows, no_progress);
    } catch (const BadValue& refused) {
      row = refused.row;
    }
    CHECK(row == 30000u);
    CHECK(tree.leaf_count() == 0u);
  }
}

void chunks_change_no_bit_and_the_limits_hold_after_each() {
  const std::vector<double> points = random_points(kRows, kDim, 3);
  const PartitionedTree expected = tree_of(points);
  for (const std::size_t length : {1, 777, 16384}) {
    PartitionedTree tree(kDim, kOptions);
    for (std::size_t begin = 0; begin < kRows; begin += length) {
      tree.insert_rows(points.data() + begin * kDim, nullptr, std::min(length, kRows - begin), no_progress);
      CHECK(tree.leaf_count() <= kOptions.max_leaves);
    }
    check_same(tree, expected);
  }
}

void rows_of_no_weight_change_no_bit() {
  const std::vector<double> points = random_points(kRows, kDim, 5);
  std::vector<double> weights(kRows), some, weights_of_some;
  for (std::size_t i = 0; i < kRows; ++i) {
    weights[i] = static_cast<double>(i % 3);
    if (i % 3 == 0) continue;
    some.insert(some.end(), points.begin() + static_cast<std::ptrdiff_t>(i * kDim),
                points.begin() + static_cast<std::ptrdiff_t>((i + 1) * kDim));
    weights_of_some.push_back(weights[i]);
  }
  PartitionedTree tree(kDim, kOptions), expected(kDim, kOptions);
  tree.set_threads(2);
  tree.insert_rows(points.data(), weights.data(), kRows, no_progress);
  expected.insert_rows(some.data(), weights_of_some.data(), weights_of_some.size(), no_progress);
  check_same(tree, expected);
}

void rows_as_features_change_no_bit() {
  const std::vector<double> points = random_points(kRows, kDim, 6);
  PartitionedTree tree(kDim, kOptions);
  tree.insert_features(view(as_features(points, kDim)), no_progress);
  check_same(tree, tree_of(points));
}

void a_restored_tree_continues_to_the_same_bits() {
  const std::vector<double> points = random_points(kRows, kDim, 7);
  const PartitionedTree expected = tree_of(points);
  for (const std::size_t first : {1000, 2048, 5000, 33333}) {
    PartitionedTree tree(kDim, kOptions);
    tree.insert_rows(points.data(), nullptr, first, no_progress);
    PartitionedTree restored(kDim, kOptions, tree.state());
    restored.set_threads(2);
    restored.insert_rows(points.data() + first * kDim, nullptr, kRows - first, no_progress);
    check_same(restored, expected);
  }
}

// Trees stored by 0.1 have one part.
void a_tree_stored_as_one_part_stays_one_where_it_has_to() {
  const std::vector<double> points = random_points(kRows, kDim, 11);
  const TreeOptions small{.max_leaves = 300};
  for (const auto& [options, left] : {std::pair(kOptions, PartitionedTree::kNever), std::pair(small, std::size_t{7})}) {
    PartitionedTree tree(kDim, options);
    tree.insert_rows(points.data(), nullptr, 1000, no_progress);
    PartitionedTree::State state = tree.state();
    state.interval.left = left;
    PartitionedTree restored(kDim, options, state);
    restored.insert_rows(points.data() + 1000 * kDim, nullptr, kRows - 1000, no_progress);
    CHECK(restored.part_count() == 1 && restored.total_weight() == kRows);
    CHECK(restored.leaf_count() <= options.max_leaves);
  }
}

// The stream covers all parts, and then stays in one.
void a_part_that_uses_up_its_share_keeps_the_limits_of_all() {
  std::vector<double> points = random_points(kRows, kDim, 8);
  for (std::size_t i = kRows / 2 * kDim; i < points.size(); ++i) points[i] = 0.01 * points[i] + 3.0;
  PartitionedTree tree(kDim, kOptions);
  for (std::size_t begin = 0; begin < kRows; begin += 100) {
    tree.insert_rows(points.data() + begin * kDim, nullptr, 100, no_progress);
    CHECK(tree.leaf_count() <= kOptions.max_leaves);
  }
  CHECK(tree.total_weight() == kRows);
}

void as_many_different_rows_as_leaves_are_not_merged() {
  std::vector<double> points = random_points(kOptions.max_leaves, kDim, 9), twice = points;
  for (int i = 0; i < 4; ++i) twice.insert(twice.end(), points.begin(), points.end());
  const PartitionedTree tree = tree_of(twice);
  CHECK(tree.part_count() == 8 && tree.leaf_count() == kOptions.max_leaves && tree.squared_threshold() == 0.0);
}

// Stops at a call of `progress`, for every seventh call: between blocks, or within a rebuild.
void an_interrupt_keeps_the_rows_before_and_no_others() {
  const std::vector<double> points = random_points(kRows, kDim, 10);
  for (const std::size_t parts : {1, 8})
    for (std::size_t stop_at = 1;; stop_at += 7) {
      TreeOptions options = kOptions;
      options.parts = parts;
      PartitionedTree tree(kDim, options);
      std::size_t calls = 0;
      const Progress stop([&](std::size_t, std::size_t) {
        if (++calls == stop_at) throw std::runtime_error("stop");
      });
      try {
        tree.insert_rows(points.data(), nullptr, kRows, stop);
        CHECK(calls < stop_at);
        break;
      } catch (const std::runtime_error&) {
        CHECK(calls == stop_at);
      }
      const auto inserted = static_cast<std::size_t>(tree.total_weight());
      tree.insert_rows(points.data() + inserted * kDim, nullptr, kRows - inserted, no_progress);
      const Features leaves = tree.leaves(), sum = sum_of(leaves), truth = sum_of(as_features(points, kDim));
      CHECK(sum.weight[0] == kRows && tree.total_weight() == kRows && leaves.size() <= options.max_leaves);
      CHECK(close(sum.sse[0], truth.sse[0], 1e-10));
    }
}

void many_columns_and_few_leaves_are_one_part() {
  CHECK(part_count_for(5, {}) > 1);
  CHECK(part_count_for(5, {.max_leaves = 25000}) >= 16);
  CHECK(part_count_for(5, {.max_leaves = 500}) == 1);
  CHECK(part_count_for(17, {}) == 1);
  CHECK(part_count_for(5, {.max_leaves = 25000, .max_nodes = 20}) == 1);
}

}  // namespace

int main() {
  parts_have_about_the_same_mass();
  equal_rows_are_in_one_part();
  many_rows_go_where_each_of_them_goes();
  threads_change_no_bit();
  threads_change_no_bit_of_rows_of_weight_zero();
  a_refused_row_is_the_first_and_leaves_an_empty_tree();
  chunks_change_no_bit_and_the_limits_hold_after_each();
  rows_of_no_weight_change_no_bit();
  rows_as_features_change_no_bit();
  a_restored_tree_continues_to_the_same_bits();
  a_tree_stored_as_one_part_stays_one_where_it_has_to();
  a_part_that_uses_up_its_share_keeps_the_limits_of_all();
  as_many_different_rows_as_leaves_are_not_merged();
  an_interrupt_keeps_the_rows_before_and_no_others();
  many_columns_and_few_leaves_are_one_part();
}

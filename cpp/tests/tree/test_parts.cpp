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
  for (std::size_t dim = 1; dim <= 10; ++dim) {  // some have loops of their own
    const std::vector<double> points = random_points(count, dim, 4);
    const SpacePartition partition(as_features(points, dim), 8);
    std::vector<std::uint32_t> parts(count);
    partition.parts_of(points.data(), count, parts.data());
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t plane = 0;
      while (plane < 7) {
        double along = 0.0;
        for (std::size_t k = 0; k < dim; ++k) along += partition.normals()[plane * dim + k] * points[i * dim + k];
        if (std::abs(along - partition.offsets()[plane]) < 1e-12) break;  // the plane goes through this one
        plane = 2 * plane + 1 + (along > partition.offsets()[plane]);
      }
      CHECK(parts[i] == partition.part_of(points.data() + i * dim));
      if (plane >= 7) CHECK(parts[i] == plane - 7);
    }
  }
}

void rows_of_no_weight_are_left_out() {
  constexpr std::size_t dim = 3, count = 40000;
  const std::vector<double> points = random_points(count, dim, 5);
  std::vector<double> weights(count), some, weights_of_some;
  for (std::size_t i = 0; i < count; ++i) {
    weights[i] = static_cast<double>(i % 3);
    if (i % 3 == 0) continue;
    some.insert(some.end(), points.begin() + static_cast<std::ptrdiff_t>(i * dim),
                points.begin() + static_cast<std::ptrdiff_t>((i + 1) * dim));
    weights_of_some.push_back(weights[i]);
  }
  PartitionedTree tree(dim, {.max_leaves = 1000}, 4, 2), expected(dim, {.max_leaves = 1000}, 4, 2);
  tree.insert_rows(points.data(), weights.data(), count, no_progress);
  expected.insert_rows(some.data(), weights_of_some.data(), weights_of_some.size(), no_progress);
  CHECK(tree.total_weight() == expected.total_weight());
  CHECK(tree.leaves().mean == expected.leaves().mean);  // all are in one block
}

void the_number_of_threads_does_not_change_a_bit() {
  constexpr std::size_t dim = 5, count = 40000;
  const std::vector<double> points = random_points(count, dim, 2);
  Features expected;
  for (const std::size_t threads : {1, 2, 5}) {
    PartitionedTree tree(dim, {.max_leaves = 1000}, 4, threads);
    tree.insert_rows(points.data(), nullptr, count, no_progress);
    const Features leaves = tree.leaves();
    CHECK(leaves.size() == tree.leaf_count());
    CHECK(leaves.size() <= 1000);
    CHECK(tree.total_weight() == count);
    if (threads > 1) {
      CHECK(leaves.mean == expected.mean);
      CHECK(leaves.sse == expected.sse);
    }
    expected = leaves;
  }
}

void an_interrupt_keeps_whole_blocks() {
  constexpr std::size_t dim = 2, count = 200000;
  const std::vector<double> points = random_points(count, dim, 3);
  PartitionedTree tree(dim, {.max_leaves = 1000}, 4, 2);
  std::size_t inserted = 0;
  const Progress stop([&](std::size_t done, std::size_t) {
    inserted = done;
    if (done > 10000) throw std::runtime_error("stop");
  });
  try {
    tree.insert_rows(points.data(), nullptr, count, stop);
    CHECK(false);
  } catch (const std::runtime_error&) {
  }
  CHECK(inserted < count);
  CHECK(tree.total_weight() == static_cast<double>(inserted));
  PartitionedTree expected(dim, {.max_leaves = 1000}, 4, 2);
  expected.insert_rows(points.data(), nullptr, inserted, no_progress);
  CHECK(tree.leaves().mean == expected.leaves().mean);
}

}  // namespace

int main() {
  parts_have_about_the_same_mass();
  equal_rows_are_in_one_part();
  many_rows_go_where_each_of_them_goes();
  rows_of_no_weight_are_left_out();
  the_number_of_threads_does_not_change_a_bit();
  an_interrupt_keeps_whole_blocks();
}

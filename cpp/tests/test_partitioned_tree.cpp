#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/partitioned_tree.hpp"

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

void the_number_of_threads_does_not_change_a_bit() {
  constexpr std::size_t dim = 5, count = 40000;
  const std::vector<double> points = random_points(count, dim, 2);
  Features expected;
  for (const std::size_t threads : {1, 2, 5}) {
    PartitionedTree tree(dim, {.max_leaves = 1000}, 4, threads);
    tree.insert_rows(points.data(), nullptr, count, no_progress);
    const Features leaves = tree.leaves();
    CHECK(leaves.size() == tree.leaf_count() && leaves.size() <= 1000 && tree.total_weight() == count);
    CHECK(threads == 1 || (leaves.mean == expected.mean && leaves.sse == expected.sse));
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
  CHECK(inserted < count && tree.total_weight() == static_cast<double>(inserted));
  PartitionedTree expected(dim, {.max_leaves = 1000}, 4, 2);
  expected.insert_rows(points.data(), nullptr, inserted, no_progress);
  CHECK(tree.leaves().mean == expected.leaves().mean);
}

}  // namespace

int main() {
  parts_have_about_the_same_mass();
  equal_rows_are_in_one_part();
  the_number_of_threads_does_not_change_a_bit();
  an_interrupt_keeps_whole_blocks();
}

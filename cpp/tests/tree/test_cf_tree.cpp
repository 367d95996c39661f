#include <cmath>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/simd/instruction_set.hpp"
#include "silverbirch/tree/cf_tree.hpp"

using namespace silverbirch;

namespace {

Features total(const Features& features) {
  Features sum{features.dim, {}, {}, {}};
  sum.push_back(features[0]);
  for (std::size_t i = 1; i < features.size(); ++i) sum.absorb(0, features[i]);
  return sum;
}

void leaves_sum_up_to_the_data() {
  constexpr std::size_t dim = 4, count = 3000;
  const std::vector<double> points = random_points(count, dim, 7);
  const Features truth = total(as_features(points, dim));
  for (const std::size_t branching : {2, 7, 8, 31})
    for (const std::size_t max_leaves : {1, 2, 17, 500, 100000}) {
      CfTree tree(dim, {.max_leaves = max_leaves, .branching = branching});
      tree.insert_rows(points.data(), nullptr, count, no_progress);
      const Features leaves = tree.leaves();
      CHECK(leaves.size() == tree.leaf_count());
      CHECK(leaves.size() <= max_leaves);
      const Features sum = total(leaves);
      CHECK(sum.weight[0] == count);
      CHECK(tree.total_weight() == count);
      CHECK(close(sum.sse[0], truth.sse[0], 1e-10));
      for (const double sse : leaves.sse) CHECK(sse >= 0.0);
    }
}

void a_stored_tree_goes_on_to_the_same_bits() {
  constexpr std::size_t dim = 2, count = 2000;
  const std::vector<double> points = random_points(count, dim, 3);
  CfTree whole(dim, {.max_leaves = 300, .branching = 7});
  whole.insert_rows(points.data(), nullptr, count, no_progress);

  CfTree half(dim, {.max_leaves = 300, .branching = 7});
  half.insert_rows(points.data(), nullptr, count / 2, no_progress);
  CfTree restored(dim, half.options(), half.levels(), half.rebuild_count(), half.total_weight());
  restored.insert_rows(points.data() + count / 2 * dim, nullptr, count / 2, no_progress);
  CHECK(restored.leaves().mean == whole.leaves().mean);
  CHECK(restored.leaves().sse == whole.leaves().sse);
  CHECK(restored.rebuild_count() == whole.rebuild_count());
}

// Even if that row does not become a leaf.
void a_tree_that_is_over_its_limits_is_rebuilt_at_the_next_row() {
  constexpr std::size_t dim = 5, count = 2000;
  const std::vector<double> points = random_points(count, dim, 5);
  CfTree large(dim, {.max_leaves = 300});
  large.insert_rows(points.data(), nullptr, count, no_progress);
  TreeOptions options = large.options();
  options.max_leaves = 50;
  CfTree restored(dim, options, large.levels(), large.rebuild_count(), large.total_weight());
  CHECK(restored.leaf_count() == large.leaf_count());
  CHECK(large.leaf_count() > 50);
  restored.insert_rows(large.leaves()[0].mean, nullptr, 1, no_progress);
  CHECK(restored.leaf_count() <= 50);
  CHECK(restored.total_weight() == count + 1);
}

bool same(const TreeLevels& a, const TreeLevels& b) {
  bool same = a.counts == b.counts;
  for (std::size_t l = 0; same && l < a.entries.size(); ++l)
    same = a.entries[l].weight == b.entries[l].weight && a.entries[l].mean == b.entries[l].mean &&
           a.entries[l].sse == b.entries[l].sse;
  return same;
}

// One call fills groups, single rows do not. Some rows come twice, at once or later, while only exact duplicates merge;
// then the tree is rebuilt. With a branching of 63, nodes are searched for several rows at once. In a tree of few
// nodes, rows of a group change nodes on the paths of others.
void rows_that_go_down_together_change_no_bit() {
  for (const std::size_t dim : {1, 3, 16, 17, 64, 100})
    for (const CfDistance distance : {CfDistance::ward, CfDistance::manhattan})
      for (const std::size_t branching : {3, 9, 31, 63}) {
        std::vector<double> points = random_points(100, dim, 11);
        points.insert(points.end(), points.end() - 6 * static_cast<std::ptrdiff_t>(dim), points.end());
        points.insert(points.end(), points.begin(), points.begin() + 50 * static_cast<std::ptrdiff_t>(dim));
        const std::vector<double> more = random_points(600, dim, 12);
        points.insert(points.end(), more.begin(), more.end());
        const std::size_t count = points.size() / dim;
        const TreeOptions options{.distance = distance, .max_leaves = 160, .branching = branching};
        CfTree together(dim, options), alone(dim, options);
        together.insert_rows(points.data(), nullptr, count, no_progress);
        for (std::size_t i = 0; i < count; ++i) alone.insert_rows(points.data() + i * dim, nullptr, 1, no_progress);
        CHECK(alone.rebuild_count() > 0);
        CHECK(together.rebuild_count() == alone.rebuild_count());
        CHECK(same(together.levels(), alone.levels()));
      }
}

void a_row_is_absorbed_up_to_the_very_threshold() {
  for (const double scale : {0x1p-520, 1.0, 0x1p300}) {
    const double points[] = {0.0, 2.0 * scale}, squared_radius = scale * scale;
    for (const double squared_threshold : {squared_radius, std::nextafter(squared_radius, 0.0)}) {
      CfTree tree(1, {.squared_threshold = squared_threshold});
      tree.insert_rows(points, nullptr, 2, no_progress);
      CHECK(tree.leaf_count() == (squared_threshold == squared_radius ? 1 : 2));
    }
  }
}

void without_a_threshold_every_row_is_one_leaf() {
  constexpr std::size_t dim = 2, count = 1000;
  const std::vector<double> points = random_points(count, dim, 8);
  for (const CfDistance distance : {CfDistance::ward, CfDistance::radius, CfDistance::diameter}) {
    CfTree tree(dim, {.distance = distance, .branching = 5});
    for (int pass = 0; pass < 3; ++pass) tree.insert_rows(points.data(), nullptr, count, no_progress);
    const Features leaves = tree.leaves();
    CHECK(leaves.size() == count);
    for (const double weight : leaves.weight) CHECK(weight == 3.0);
    for (const double sse : leaves.sse) CHECK(sse == 0.0);
    // inner entries count the duplicates too
    double root_weight = 0.0;
    const TreeLevels levels = tree.levels();
    for (const double weight : levels.entries.front().weight) root_weight += weight;
    CHECK(root_weight == 3.0 * count);
  }
}

void several_distances_at_once_have_the_same_bits() {
  for (const auto name : supported_instruction_sets()) {
    use_instruction_set(name);
    for (const std::size_t dim : {1, 5, 16, 17, 63, 96, 101, 384}) {
      const Features features = as_features(random_points(12, dim, 7, 3.0), dim);
      std::vector<Feature> to;
      for (std::size_t i = 1; i < features.size(); ++i)
        to.push_back({1.0 + double(i), features[i].mean, 0.5 * double(i)});
      std::vector<double> squared(to.size());
      for (const CfDistance distance :
           {CfDistance::centroid, CfDistance::manhattan, CfDistance::ward, CfDistance::radius})
        for (std::size_t count = 0; count <= to.size(); ++count) {
          tree_kernels(dim).squared_distances(distance, features[0], to.data(), count, dim, squared.data());
          for (std::size_t i = 0; i < count; ++i)
            CHECK(squared[i] == tree_kernels(dim).squared_distance(distance, features[0], to[i], dim));
        }
    }
  }
  use_instruction_set(supported_instruction_sets().back());
}

}  // namespace

int main() {
  several_distances_at_once_have_the_same_bits();
  without_a_threshold_every_row_is_one_leaf();
  leaves_sum_up_to_the_data();
  a_stored_tree_goes_on_to_the_same_bits();
  a_tree_that_is_over_its_limits_is_rebuilt_at_the_next_row();
  rows_that_go_down_together_change_no_bit();
  a_row_is_absorbed_up_to_the_very_threshold();
}

#include "check.hpp"
#include "linkage/ordering/dendrograms.hpp"
#include "silverbirch/linkage/ordering/optimal_order.hpp"

using namespace silverbirch;

namespace {

void the_cost_is_the_least_one() {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const RandomDendrogram d = random_dendrogram(2 + seed % 23, seed, seed % 3 == 1, seed % 4 == 3);
    const Branches branches(d.z.data(), d.merges());
    const PointDistances by_points(branches, d.points.data(), d.dim, PointDistance::euclidean);
    const CondensedDistances given(branches, d.condensed.data());
    const double least = least_cost(d);
    for (const LeafDistances* distances :
         {static_cast<const LeafDistances*>(&by_points), static_cast<const LeafDistances*>(&given)}) {
      const std::vector<std::int64_t> order = optimal_order(branches, *distances, 1 + seed % 2, no_progress);
      CHECK(close(d.cost(order) + 1.0, least + 1.0));
      reordered(d.z.data(), d.merges(), order.data());  // throws if the dendrogram does not allow the order
    }
  }
}

void threads_change_nothing() {
  const RandomDendrogram d = random_dendrogram(900, 1);
  const Branches branches(d.z.data(), d.merges());
  const CondensedDistances distances(branches, d.condensed.data());
  CHECK(optimal_order(branches, distances, 4, no_progress) == optimal_order(branches, distances, 1, no_progress));
}

void progress_ends_at_the_total_and_may_throw() {
  const RandomDendrogram d = random_dendrogram(300, 2);
  const Branches branches(d.z.data(), d.merges());
  const CondensedDistances distances(branches, d.condensed.data());
  std::size_t before = 0;
  const Progress watched{[&](std::size_t done, std::size_t total) {
    CHECK(before <= done);
    CHECK(done <= total);
    before = done;
  }};
  optimal_order(branches, distances, 2, watched);
  CHECK(before == 1000000u);

  struct Stop {};
  const Progress stops{[&](std::size_t done, std::size_t total) {
    if (2 * done > total) throw Stop();
  }};
  bool stopped = false;
  try {
    optimal_order(branches, distances, 2, stops);
  } catch (const Stop&) {
    stopped = true;
  }
  CHECK(stopped);
}

void a_single_leaf_is_in_order() {
  const Branches branches(nullptr, 0);
  const CondensedDistances distances(branches, nullptr);
  CHECK(optimal_order(branches, distances, 1, no_progress) == std::vector<std::int64_t>{0});
}

}  // namespace

int main() {
  the_cost_is_the_least_one();
  threads_change_nothing();
  progress_ends_at_the_total_and_may_throw();
  a_single_leaf_is_in_order();
}

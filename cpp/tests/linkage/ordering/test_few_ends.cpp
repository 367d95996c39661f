#include "check.hpp"
#include "linkage/ordering/dendrograms.hpp"
#include "silverbirch/linkage/ordering/few_ends.hpp"
#include "silverbirch/linkage/ordering/optimal_order.hpp"

using namespace silverbirch;

namespace {

void as_many_ends_as_leaves_are_optimal() {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const RandomDendrogram d = random_dendrogram(2 + seed % 20, seed, seed % 3 == 1, seed % 4 == 3);
    const Branches branches(d.z.data(), d.merges());
    const PointDistances distances(branches, d.points.data(), d.dim, PointDistance::euclidean);
    const std::vector<std::int64_t> order = few_ends_order(branches, distances, 20, no_progress);
    CHECK(close(d.cost(order) + 1.0, least_cost(d) + 1.0));
  }
}

void few_ends_cost_no_less_and_not_much_more() {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const RandomDendrogram d = random_dendrogram(400, seed, seed % 3 == 1);
    const Branches branches(d.z.data(), d.merges());
    const CondensedDistances distances(branches, d.condensed.data());
    const double optimal = d.cost(optimal_order(branches, distances, 1, no_progress));
    for (const std::size_t ends : {std::size_t{1}, std::size_t{5}, std::size_t{32}, kMostEnds}) {
      const std::vector<std::int64_t> order = few_ends_order(branches, distances, ends, no_progress);
      reordered(d.z.data(), d.merges(), order.data());  // throws if the dendrogram does not allow the order
      CHECK(d.cost(order) >= optimal * (1.0 - 1e-12));
      CHECK(d.cost(order) <= optimal * (ends < 5 ? 1.5 : ends < 32 ? 1.1 : 1.02));
    }
  }
}

void wrong_numbers_of_ends_are_refused() {
  const Branches branches(nullptr, 0);
  const CondensedDistances distances(branches, nullptr);
  CHECK(few_ends_order(branches, distances, 1, no_progress) == std::vector<std::int64_t>{0});
  for (const std::size_t ends : {std::size_t{0}, kMostEnds + 1}) {
    bool refused = false;
    try {
      few_ends_order(branches, distances, ends, no_progress);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK(refused);
  }
}

}  // namespace

int main() {
  as_many_ends_as_leaves_are_optimal();
  few_ends_cost_no_less_and_not_much_more();
  wrong_numbers_of_ends_are_refused();
}

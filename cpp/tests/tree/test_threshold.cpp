#include "check.hpp"
#include "silverbirch/tree/threshold.hpp"

using namespace silverbirch;

namespace {

// Merges of these costs, all of the same size.
std::vector<MergeExtent> costing(const std::vector<double>& costs, double size = 1.0) {
  std::vector<MergeExtent> merges;
  for (const double cost : costs) merges.push_back({cost, size});
  return merges;
}

double cost_limit(const std::vector<double>& costs, double share_to_free, double data_scale) {
  return merge_limits({}, costing(costs), share_to_free, 0.3, kLeastGrowth, 0.0, data_scale).squared_cost;
}

}  // namespace

int main() {
  // both limits grow from one attempt to the next, whatever the merges are
  for (const auto& merges : {costing({0.1, 0.2, 0.3}), costing({})}) {
    const MergeExtent limits = merge_limits({1.0, 5.0}, merges, 0.3, 0.3, kLeastGrowth, 0.0, 1.0);
    CHECK(limits.squared_cost >= kLeastGrowth);
    CHECK(limits.squared_size >= 5.0 * kLeastGrowth);
  }
  // and are positive, even if most leaves are duplicates or nothing is known of them
  for (const auto& merges : {costing({0.0, 0.0, 0.0, 5.0}, 0.0), costing({})}) {
    const MergeExtent limits = merge_limits({}, merges, 0.25, 0.3, kLeastGrowth, 0.0, 1.0);
    CHECK(limits.squared_cost > 0.0);
    CHECK(limits.squared_size > 0.0);
  }
  // one far leaf does not carry the cost away, nor do many where one merge is enough
  CHECK(cost_limit({1.0, 2.0, 3.0, 4.0, 1e100}, 0.4, 1e100) <= 4.0);
  CHECK(cost_limit({1.0, 1.0, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6}, 1.0 / 9, 1e6) <= 4.0);
  // where more have to go it goes as far as it must
  CHECK(cost_limit({1.0, 1.0, 100.0, 100.0, 100.0, 100.0}, 0.5, 1.0) >= 1.0);
  // the size follows from the cheap merges, not from those that are too dear, and a few large ones do not carry it away
  const std::vector<MergeExtent> merges = {{1.0, 2.0}, {1.1, 2.1}, {1.2, 2.2}, {1.3, 50.0}, {1e9, 1e9}, {1e9, 1e9}};
  const MergeExtent limits = merge_limits({}, merges, 0.3, 0.45, kLeastGrowth, 0.0, 1.0);
  CHECK(limits.squared_cost == 1.3);
  CHECK(limits.squared_size == 2.2);
  // leaves may always be larger than they were allowed to be before
  CHECK(merge_limits({}, merges, 0.3, 0.45, kLeastGrowth, 7.0, 1.0).squared_size > 7.0);
  // the more points there are for a leaf, the smaller the steps, and the room to grow
  CHECK(room_to_free(1e3, 1e3) > room_to_free(1e4, 1e3));
  CHECK(room_to_free(1e4, 1e3) > room_to_free(1e6, 1e3));
  CHECK(room_to_grow(room_to_free(1e3, 1e3)) > 1.0);
  CHECK(room_to_grow(room_to_free(1e6, 1e3)) == 1.0);
}

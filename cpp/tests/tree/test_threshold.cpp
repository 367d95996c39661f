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
  // both limits grow from attempt to attempt, whatever the merges are
  for (const auto& merges : {costing({0.1, 0.2, 0.3}), costing({})}) {
    const MergeExtent limits = merge_limits({1.0, 5.0}, merges, 0.3, 0.3, kLeastGrowth, 0.0, 1.0);
    CHECK(limits.squared_cost >= kLeastGrowth);
    CHECK(limits.squared_size >= 5.0 * kLeastGrowth);
  }
  // both limits are positive, even if most leaves are duplicates or no merge is known
  for (const auto& merges : {costing({0.0, 0.0, 0.0, 5.0}, 0.0), costing({})}) {
    const MergeExtent limits = merge_limits({}, merges, 0.25, 0.3, kLeastGrowth, 0.0, 1.0);
    CHECK(limits.squared_cost > 0.0);
    CHECK(limits.squared_size > 0.0);
  }
  // a single far leaf does not raise the limit of the cost, nor do many dear merges where one cheap merge is enough
  CHECK(cost_limit({1.0, 2.0, 3.0, 4.0, 1e100}, 0.4, 1e100) <= 4.0);
  CHECK(cost_limit({1.0, 1.0, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6}, 1.0 / 9, 1e6) <= 4.0);
  // where many leaves must go, the limit of the cost is the quantile itself
  CHECK(cost_limit({1.0, 1.0, 100.0, 100.0, 100.0, 100.0}, 0.5, 1.0) >= 1.0);
  // the limit of the size follows from the cheap merges only, and a few large ones do not raise it
  const std::vector<MergeExtent> merges = {{1.0, 2.0}, {1.1, 2.1}, {1.2, 2.2}, {1.3, 50.0}, {1e9, 1e9}, {1e9, 1e9}};
  const MergeExtent limits = merge_limits({}, merges, 0.3, 0.45, kLeastGrowth, 0.0, 1.0);
  CHECK(limits.squared_cost == 1.3);
  CHECK(limits.squared_size == 2.2);
  // the limit of the size exceeds the old threshold
  CHECK(merge_limits({}, merges, 0.3, 0.45, kLeastGrowth, 7.0, 1.0).squared_size > 7.0);
  // the more points per leaf, the smaller the share to free and the room to grow
  CHECK(room_to_free(1e3, 1e3) > room_to_free(1e4, 1e3));
  CHECK(room_to_free(1e4, 1e3) > room_to_free(1e6, 1e3));
  CHECK(room_to_grow(room_to_free(1e3, 1e3)) > 1.0);
  CHECK(room_to_grow(room_to_free(1e6, 1e3)) == 1.0);
}

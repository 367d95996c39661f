#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/index/kd_order.hpp"

using namespace silverbirch;

namespace {

void check_select(const std::vector<KdKey>& keys) {
  std::vector<KdKey> sorted = keys, scratch(keys.size());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t middle = 0; middle < keys.size(); middle += 1 + keys.size() / 7) {
    std::vector<KdKey> selected = keys;
    kd_select(selected.data(), selected.size(), middle, scratch.data());
    const auto cut = selected.begin() + static_cast<std::ptrdiff_t>(middle);
    std::sort(selected.begin(), cut);
    std::sort(cut, selected.end());
    CHECK(selected == sorted);  // so all keys before `middle` were below all after it
  }
}

void threads_do_not_change_the_order_of_a_partition() {
  const std::size_t count = 200000;
  const std::vector<double> points = random_points(count, 1, 5);
  std::vector<KdKey> keys(count), scratch(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = kd_key(static_cast<float>(points[i]), i);
  for (const KdKey pivot : {KdKey{0}, keys[0], keys[1], ~KdKey{0}}) {
    std::vector<KdKey> one = keys, several = keys;
    const std::size_t below = kd_partition(one.data(), count, pivot, scratch.data());
    CHECK(kd_partition(several.data(), count, pivot, scratch.data(), 3) == below);
    CHECK(several == one);
  }
}

}  // namespace

int main() {
  threads_do_not_change_the_order_of_a_partition();
  for (const std::size_t count : {1, 2, 17, 64, 1000, 5000}) {
    const std::vector<double> points = random_points(count, 1, 3);
    std::vector<KdKey> keys(count), equal(count), heads(count);
    for (std::size_t i = 0; i < count; ++i) {
      keys[i] = kd_key(static_cast<float>(points[i]), i);
      equal[i] = kd_key(1.0F, i);
      heads[i] = kd_key(i % (count / 8 + 1) == 0 ? 1.0F : 0.0F, i);  // the sampled keys mislead
    }
    check_select(keys);
    check_select(equal);
    check_select(heads);
    std::sort(keys.begin(), keys.end(), std::greater<>());
    check_select(keys);

    // No point is lost, and a leaf is a box of near points: on a line, an interval.
    std::vector<KdKey> order(count);
    std::iota(order.begin(), order.end(), KdKey{0});
    kd_order(order, {32, 16}, 1, [&](std::size_t i, std::size_t) { return points[i]; }, 2, no_progress);
    std::vector<bool> seen(count);
    for (const KdKey key : order) seen[point_of(key)] = true;
    CHECK(std::all_of(seen.begin(), seen.end(), [](bool s) { return s; }));
    for (std::size_t leaf = 32; leaf < count; leaf += 32)
      for (std::size_t i = leaf - 32; i < leaf; ++i) CHECK(points[point_of(order[i])] < points[point_of(order[leaf])]);
  }
}

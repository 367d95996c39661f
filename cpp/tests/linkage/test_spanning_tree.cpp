#include <functional>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/linkage/spanning_tree.hpp"

using namespace silverbirch;

namespace {

std::vector<double> rows(const Merges& merges) { return {merges.z.begin(), merges.z.end()}; }

void shorter_edges_join_first_and_equal_ones_in_the_order_asked_for() {
  UnsetVector<TreeEdge> edges(4);
  edges[0] = {3, 1, 2.0};
  edges[1] = {0, 4, 5.0};
  edges[2] = {2, 3, 1.0};
  edges[3] = {4, 1, 2.0};
  const auto named = [](std::uint32_t object) { return 4 - object; };
  CHECK(rows(merges_of_tree(edges, std::less(), named, 1)) ==
        std::vector<double>{1, 2, 1, 2, 3, 5, 2, 3, 0, 6, 2, 4, 4, 7, 5, 5});
  CHECK(rows(merges_of_tree(edges, std::greater(), named, 1)) ==
        std::vector<double>{1, 2, 1, 2, 0, 3, 2, 2, 5, 6, 2, 4, 4, 7, 5, 5});
}

void threads_change_no_bit() {
  const std::size_t count = 100000;
  const std::vector<double> lengths = random_points(count, 1, 7);
  UnsetVector<TreeEdge> edges(count);
  for (std::uint32_t i = 0; i < count; ++i) edges[i] = {i + 1, i / 2, std::round(1000.0 * lengths[i])};
  const auto by = [&](std::size_t threads) {
    return rows(merges_of_tree(edges, std::less(), std::identity(), threads));
  };
  CHECK(by(3) == by(1));
}

}  // namespace

int main() {
  shorter_edges_join_first_and_equal_ones_in_the_order_asked_for();
  threads_change_no_bit();
}

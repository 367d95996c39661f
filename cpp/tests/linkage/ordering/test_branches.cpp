#include "check.hpp"
#include "linkage/ordering/dendrograms.hpp"
#include "silverbirch/linkage/ordering/branches.hpp"

using namespace silverbirch;

namespace {

template <class Call>
bool refused(Call call) {
  try {
    call();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

void the_parts_of_a_branch_are_next_to_each_other() {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const RandomDendrogram d = random_dendrogram(1 + 3 * seed, seed, seed % 2 == 1);
    const Branches branches(d.z.data(), d.merges());
    CHECK(branches[2 * d.merges()].size() == d.leaves);
    for (std::size_t row = 0; row < d.merges(); ++row) {
      const Branch& merged = branches[d.leaves + row];
      const Branch &left = branches[branches.left_node(row)], &right = branches[branches.right_node(row)];
      CHECK(left.begin == merged.begin);
      CHECK(left.end == merged.middle);
      CHECK(right.begin == merged.middle);
      CHECK(right.end == merged.end);
      CHECK(static_cast<double>(merged.size()) == d.z[4 * row + 3]);
    }
    for (std::size_t leaf = 0; leaf < d.leaves; ++leaf)
      CHECK(branches.leaf_at()[branches[leaf].begin] == static_cast<std::int64_t>(leaf));
    CHECK(reordered(d.z.data(), d.merges(), branches.leaf_at().data()) == d.z);
  }
}

void an_order_turned_round_exchanges_all_children() {
  const RandomDendrogram d = random_dendrogram(30, 1);
  std::vector<std::int64_t> order = Branches(d.z.data(), d.merges()).leaf_at();
  std::reverse(order.begin(), order.end());
  const std::vector<double> z = reordered(d.z.data(), d.merges(), order.data());
  CHECK(Branches(z.data(), d.merges()).leaf_at() == order);
  for (std::size_t row = 0; row < d.merges(); ++row) {
    CHECK(z[4 * row] == d.z[4 * row + 1]);
    CHECK(z[4 * row + 1] == d.z[4 * row]);
    CHECK(z[4 * row + 2] == d.z[4 * row + 2]);
  }
}

void wrong_rows_and_orders_are_refused() {
  // Leaves 0 and 1 merge, then 2 and 3, then both.
  const std::vector<double> z{0, 1, 1, 2, 2, 3, 2, 2, 4, 5, 3, 4};
  const auto with = [&](std::size_t row, double child) {
    std::vector<double> changed = z;
    changed[4 * row] = child;
    return changed;
  };
  for (const std::vector<double>& wrong : {with(2, 5), with(2, 0), with(2, 7), with(1, 1), with(0, -1)})
    CHECK(refused([&] { Branches(wrong.data(), 3); }));
  for (const std::vector<std::int64_t>& wrong :
       {std::vector<std::int64_t>{0, 2, 1, 3}, {0, 1, 2, 2}, {0, 1, 2, 4}, {0, 1, 2, -1}})
    CHECK(refused([&] { reordered(z.data(), 3, wrong.data()); }));
  const std::vector<std::int64_t> right{3, 2, 0, 1};
  CHECK(!refused([&] { reordered(z.data(), 3, right.data()); }));
}

}  // namespace

int main() {
  the_parts_of_a_branch_are_next_to_each_other();
  an_order_turned_round_exchanges_all_children();
  wrong_rows_and_orders_are_refused();
}

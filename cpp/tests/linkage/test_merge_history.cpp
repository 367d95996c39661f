#include "check.hpp"
#include "silverbirch/linkage/merge_history.hpp"

using namespace silverbirch;

namespace {

std::vector<double> rows(const Merges& merges) { return {merges.z.begin(), merges.z.end()}; }

}  // namespace

int main() {
  {  // recorded out of order, as by NN-chain
    MergeHistory history(4);
    history.record(2, 3, 2.0, 3);
    history.record(0, 1, 1.0, 0);
    history.record(1, 3, 5.0, 1);
    const Merges merges = std::move(history).finish(true);
    CHECK(rows(merges) == std::vector<double>{0, 1, 1, 2, 2, 3, 2, 2, 4, 5, 5, 4});
    CHECK(merges.prototypes == std::vector<std::size_t>{0, 3, 1});
  }
  {  // many merges at once, in any order; later merges find the clusters
    MergeHistory history(5);
    const std::size_t first = history.make_room(2);
    CHECK(first == 0);
    CHECK(history.size() == 2);
    history.set_cluster(3, history.record_at(first + 1, history.cluster(2), history.cluster(3), 2.0));
    history.set_cluster(1, history.record_at(first, history.cluster(0), history.cluster(1), 7.0));
    history.record(3, 1, 6.0);  // lower than one of its parts
    history.record(1, 4, 8.0);
    const Merges merges = std::move(history).finish(true);
    CHECK(rows(merges) == std::vector<double>{2, 3, 2, 2, 0, 1, 7, 2, 5, 6, 7, 4, 4, 7, 8, 5});
    CHECK(merges.prototypes.empty());
  }
  {  // an inversion comes after its parts, and keeps its height only if heights may fall
    for (const bool monotone : {false, true}) {
      MergeHistory history(3);
      history.record(0, 1, 3.0);
      history.record(1, 2, 2.0);
      const Merges merges = std::move(history).finish(monotone);
      CHECK(merges.z[2] == 3.0);
      CHECK(merges.z[6] == (monotone ? 3.0 : 2.0));
      CHECK(merges.z[4] == 2);
      CHECK(merges.z[5] == 3);
      CHECK(merges.z[7] == 3);
    }
  }
  {  // the edges of a spanning tree
    const std::vector<std::int64_t> a{2, 0, 3}, b{1, 1, 0};
    const std::vector<double> height{1.0, 2.0, 4.0};
    CHECK(rows(merged_in_order(a, b, height, true)) == std::vector<double>{1, 2, 1, 2, 0, 4, 2, 3, 3, 5, 4, 4});
  }
  {
    const std::vector<std::int64_t> a{2}, b{0};
    const std::vector<double> height{1.0};
    bool refused = false;
    try {
      merged_in_order(a, b, height, true);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK(refused);
  }
}

#include "check.hpp"
#include "silverbirch/merge_history.hpp"

using namespace silverbirch;

int main() {
  {  // recorded out of order, as NN-chain does
    MergeHistory history(4);
    history.record(2, 3, 2.0, 3);
    history.record(0, 1, 1.0, 0);
    history.record(1, 3, 5.0, 1);
    const Merges merges = std::move(history).finish(true);
    CHECK((merges.z == std::vector<double>{0, 1, 1, 2, 2, 3, 2, 2, 4, 5, 5, 4}));
    CHECK((merges.prototypes == std::vector<std::size_t>{0, 3, 1}));
  }
  {  // an inversion stays behind its parts, and keeps its height only where heights may fall
    for (const bool monotone : {false, true}) {
      MergeHistory history(3);
      history.record(0, 1, 3.0);
      history.record(1, 2, 2.0);
      const Merges merges = std::move(history).finish(monotone);
      CHECK(merges.z[2] == 3.0 && merges.z[6] == (monotone ? 3.0 : 2.0));
      CHECK(merges.z[4] == 2 && merges.z[5] == 3 && merges.z[7] == 3);
    }
  }
}

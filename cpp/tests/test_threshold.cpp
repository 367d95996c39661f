#include "check.hpp"
#include "silverbirch/threshold.hpp"

using namespace silverbirch;

int main() {
  // grows from one attempt to the next, whatever the costs are
  CHECK(squared_merge_threshold(1.0, {0.1, 0.2, 0.3}, 0.3, 0.3, kLeastGrowth, 1.0) >= kLeastGrowth);
  CHECK(squared_merge_threshold(1.0, {}, 0.3, 0.3, kLeastGrowth, 1.0) >= kLeastGrowth);
  // becomes positive, even if most leaves are duplicates or nothing is known of them
  CHECK(squared_merge_threshold(0.0, {0.0, 0.0, 0.0, 5.0}, 0.25, 0.3, kLeastGrowth, 1.0) > 0.0);
  CHECK(squared_merge_threshold(0.0, {}, 0.25, 0.3, kLeastGrowth, 1.0) > 0.0);
  // one far leaf does not carry it away, nor do many where one merge is enough
  CHECK(squared_merge_threshold(0.0, {1.0, 2.0, 3.0, 4.0, 1e100}, 0.4, 0.3, kLeastGrowth, 1e100) <= 4.0);
  CHECK(squared_merge_threshold(0.0, {1.0, 1.0, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6}, 1.0 / 9, 0.3, kLeastGrowth, 1e6) <=
        4.0);
  // where more have to go it goes as far as it must
  CHECK(squared_merge_threshold(0.0, {1.0, 1.0, 100.0, 100.0, 100.0, 100.0}, 0.5, 0.3, kLeastGrowth, 1.0) >= 1.0);
  // the more points there are for a leaf, the smaller the steps
  CHECK(room_to_free(1e3, 1e3) > room_to_free(1e4, 1e3) && room_to_free(1e4, 1e3) > room_to_free(1e6, 1e3));
}

#include "check.hpp"
#include "silverbirch/threshold.hpp"

using namespace silverbirch;

int main() {
  // grows, whatever the costs are
  CHECK(next_squared_threshold(1.0, {0.1, 0.2, 0.3}, 1, kLeastGrowth, 1.0) >= kLeastGrowth);
  CHECK(next_squared_threshold(1.0, {}, 1, kLeastGrowth, 1.0) >= kLeastGrowth);
  // becomes positive, even if most leaves are duplicates or nothing is known of them
  CHECK(next_squared_threshold(0.0, {0.0, 0.0, 0.0, 5.0}, 1, kLeastGrowth, 1.0) > 0.0);
  CHECK(next_squared_threshold(0.0, {}, 1, kLeastGrowth, 1.0) > 0.0);
  // one far leaf does not carry it away, nor do many where one merge is enough
  CHECK(next_squared_threshold(0.0, {1.0, 2.0, 3.0, 4.0, 1e100}, 2, kLeastGrowth, 1e100) <= 4.0);
  CHECK(next_squared_threshold(0.0, {1.0, 1.0, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6}, 1, kLeastGrowth, 1e6) <= 4.0);
  // where more have to go it goes as far as it must
  CHECK(next_squared_threshold(0.0, {1.0, 1.0, 100.0, 100.0, 100.0, 100.0}, 3, kLeastGrowth, 1.0) >= 1.0);
}

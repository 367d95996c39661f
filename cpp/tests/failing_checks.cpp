// Checks that fail. CMakeLists.txt tests that each of them is reported with both values.
#include <cstddef>
#include <vector>

#include "check.hpp"

int main() {
  CHECK(std::size_t{1} + 1 == 3);
  CHECK(0.5 < 0.25);
  CHECK(close(1.0, 2.0));
  CHECK(std::vector<int>{1, 2, 3} == std::vector<int>{1, 2, 4});
  CHECK(true);
  CHECK(false);
}

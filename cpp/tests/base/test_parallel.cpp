#include <stdexcept>

#include "check.hpp"
#include "silverbirch/base/parallel.hpp"

using namespace silverbirch;

int main() {
  for (const std::size_t threads : {1, 2, 5})
    for (const std::size_t count : {0, 1, 10, 1001}) {
      std::vector<int> visits(count, 0);
      parallel_for(count, 10, threads, no_progress, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
      for (const int n : visits) CHECK(n == 1);
    }
  for (const std::size_t threads : {1, 2, 5})
    for (const std::size_t count : {0, 1, 8192, 8193, 50000}) {  // from no piece to several
      const auto thirds = parallel_collect<std::size_t>(count, threads, [](std::size_t i, std::size_t& place) {
        place = 2 * i;
        return i % 3 == 0;
      });
      CHECK(thirds.size() == (count + 2) / 3);
      for (std::size_t i = 0; i < thirds.size(); ++i) CHECK(thirds[i] == 6 * i);
    }
  bool caught = false;
  try {
    parallel_for(1000, 1, 3, no_progress, [](std::size_t begin, std::size_t) {
      if (begin == 500) throw std::runtime_error("stop");
    });
  } catch (const std::runtime_error&) {
    caught = true;
  }
  CHECK(caught);
}

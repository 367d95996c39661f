#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "check.hpp"
#include "silverbirch/base/min_heap.hpp"

using namespace silverbirch;

namespace {

using Queue = std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>>;

std::uint64_t second(Queue queue) {
  if (!queue.empty()) queue.pop();
  return queue.empty() ? UINT64_MAX : queue.top();
}

}  // namespace

int main() {
  std::mt19937_64 engine(1);
  for (const std::size_t count : {1, 2, 4, 5, 6, 21, 22, 1000}) {
    std::vector<std::uint64_t> keys(count);
    for (std::uint64_t& key : keys) key = engine() % (2 * count);  // many keys are equal
    MinHeap<std::uint64_t> heap(count, UINT64_MAX);
    for (std::size_t i = 0; i < count; ++i) heap.set(i, keys[i]);
    heap.order();
    Queue expected(std::greater<>(), keys);
    while (!expected.empty()) {
      CHECK(heap.top() == expected.top());
      expected.pop();
      if (engine() % 3) {
        heap.pop();
      } else {
        const std::uint64_t key = engine() % (2 * count);
        heap.replace_top(key);
        expected.push(key);
      }
      std::uint64_t next = UINT64_MAX;
      heap.for_next([&](std::uint64_t key) { next = std::min(next, key); });
      CHECK(next == second(expected));
    }
  }
}

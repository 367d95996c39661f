#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "check.hpp"
#include "silverbirch/base/sorted_queue.hpp"

using namespace silverbirch;

namespace {

struct Key {
  double number;
  std::uint32_t name;
  double value() const { return number; }
  bool operator<(const Key& other) const { return number != other.number ? number < other.number : name < other.name; }
  bool operator==(const Key&) const = default;
};

bool needed(const Key& key) { return key.name % 5 != 0; }

// Keys come out in order, whatever is added meanwhile. Those that are not needed may be left out.
void check_order(std::size_t count, std::size_t threads, double spread) {
  std::mt19937_64 engine(count);
  std::uniform_real_distribution<double> uniform;
  std::uint32_t name = 0;
  const auto next = [&](double least) { return Key{least + std::round(spread * uniform(engine)), ++name}; };
  const auto after = [](const Key& a, const Key& b) { return b < a; };
  std::priority_queue<Key, std::vector<Key>, decltype(after)> expected(after);
  UnsetVector<Key> keys(count);
  for (Key& key : keys) {
    key = next(0.0);
    if (needed(key)) expected.push(key);
  }
  SortedQueue<Key> queue(std::move(keys));
  std::size_t taken = 0;
  while (queue.ready() || queue.sort_more(needed, threads)) {
    const Key key = queue.top();
    queue.pop();
    if (!needed(key)) continue;
    if (!CHECK(!expected.empty()) || !CHECK(key == expected.top())) return;
    expected.pop();
    if (++taken > 2 * count || engine() % 2) continue;
    const Key added = next(key.number - (engine() % 4 == 0 ? spread / 4 : 0.0));  // some come before the last one
    queue.push(added);
    if (needed(added)) expected.push(added);
  }
  CHECK(expected.empty());
}

}  // namespace

int main() {
  for (const std::size_t threads : {1, 3})
    for (const std::size_t count : {0, 1, 10, 4095, 20000})
      for (const double spread : {0.0, 8.0, 1e9}) check_order(count, threads, spread);  // all, many or no ties
}

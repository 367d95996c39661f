#include <algorithm>
#include <numeric>
#include <random>

#include "check.hpp"
#include "silverbirch/base/ascending.hpp"

using namespace silverbirch;

namespace {

void check_order(const std::vector<double>& values) {
  std::vector<std::uint32_t> expected(values.size());
  std::iota(expected.begin(), expected.end(), 0U);
  std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  const auto value = [&](std::size_t i) { return values[i]; };
  for (const std::size_t threads : {1, 3}) {
    const auto order = ascending(values.size(), value, threads);
    CHECK(std::vector(order.begin(), order.end()) == expected);
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [&](auto a, auto b) { return values[a] != values[b] ? values[a] < values[b] : b < a; });
  const auto last_first = ascending(values.size(), value, 2, std::greater());
  CHECK(std::vector(last_first.begin(), last_first.end()) == expected);
}

}  // namespace

int main() {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  for (const std::size_t count : {0, 1, 2, 100, 4095, 4096, 30000, 150000}) {
    std::vector<double> values(count);
    for (double& x : values) x = std::ldexp(normal(engine), static_cast<int>(engine() % 200) - 100);
    check_order(values);
    for (double& x : values) x = 1.0 + 1e-12 * normal(engine);  // the leading bits are the same
    check_order(values);
    for (double& x : values) x = std::round(normal(engine));  // ties, and zeros of both signs
    check_order(values);
  }
}

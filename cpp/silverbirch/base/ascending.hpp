// The ascending order of many numbers: a radix sort by the leading bits, then std::sort within each run of equal
// leading bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/base/radix_sort.hpp"
#include "silverbirch/base/switches.hpp"

namespace silverbirch {

// Returns the positions of value(0), …, value(count - 1) in ascending order of the values. Equal values keep their
// order. No value may be NaN.
template <class Value>
std::vector<std::uint32_t> ascending(std::size_t count, Value value) {
  struct Item {
    std::uint64_t key;
    std::uint32_t place;
    bool operator<(const Item& other) const { return key != other.key ? key < other.key : place < other.place; }
  };
  constexpr std::size_t kDigits = 3, kRest = 64 - kDigits * kDigitBits, kMany = 4096;
  std::vector<Item> items(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(value(i) + 0.0);  // -0 and 0 are the same value
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    items[i] = {bits & kSign ? ~bits : bits | kSign, static_cast<std::uint32_t>(i)};
  }
  if (count < kMany || !on(Mechanism::radix_sort)) {
    std::sort(items.begin(), items.end());
  } else {
    std::vector<Item> sorted(count);
    radix_sort(items, sorted, kRest, 64, [](const Item& item) { return item.key; });
    for (auto run = items.begin(); run != items.end();) {
      auto end = run + 1;
      while (end != items.end() && end->key >> kRest == run->key >> kRest) ++end;
      if (end - run > 1) std::sort(run, end);
      run = end;
    }
  }
  std::vector<std::uint32_t> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = items[i].place;
  return places;
}

}  // namespace silverbirch

// The ascending order of many numbers: a radix sort by the leading bits, then std::sort within each run of equal
// leading bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/radix_sort.hpp"
#include "silverbirch/base/switches.hpp"

namespace silverbirch {

// Returns the positions of value(0), …, value(count - 1) in ascending order of the values. before(i, j) orders the
// positions of equal values, which otherwise keep their order. No value may be NaN.
template <class Value, class Before = std::less<std::uint32_t>>
UnsetVector<std::uint32_t> ascending(std::size_t count, Value value, std::size_t threads = 1, Before before = {}) {
  struct Item {
    std::uint64_t key;
    std::uint32_t place;
  };
  constexpr std::size_t kDigits = 3, kRest = 64 - kDigits * kDigitBits, kMany = 4096, kPiece = 8192;
  const auto precedes = [&](const Item& a, const Item& b) {
    return a.key != b.key ? a.key < b.key : before(a.place, b.place);
  };
  UnsetVector<Item> items(count);
  parallel_for(count, kPiece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(value(i) + 0.0);  // -0 and 0 are the same value
      constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
      items[i] = {bits & kSign ? ~bits : bits | kSign, static_cast<std::uint32_t>(i)};
    }
  });
  if (count < kMany || !on(Mechanism::radix_sort)) {
    std::sort(items.begin(), items.end(), precedes);
  } else {
    UnsetVector<Item> sorted(count);
    radix_sort(items, sorted, kRest, 64, [](const Item& item) { return item.key; }, threads);
    struct Run {
      std::size_t begin, end;
    };
    const auto continues = [&](std::size_t i) { return items[i].key >> kRest == items[i - 1].key >> kRest; };
    const auto runs = parallel_collect<Run>(count, threads, [&](std::size_t i, Run& run) {
      if ((i > 0 && continues(i)) || i + 1 == count || !continues(i + 1)) return false;
      for (run = {i, i + 2}; run.end < count && continues(run.end);) ++run.end;
      return true;
    });
    parallel_for(runs.size(), 256, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r)
        std::sort(items.data() + runs[r].begin, items.data() + runs[r].end, precedes);
    });
  }
  UnsetVector<std::uint32_t> places(count);
  parallel_for(count, kPiece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) places[i] = items[i].place;
  });
  return places;
}

}  // namespace silverbirch

// Radix sort, least significant digit first [Hollerith's sorter; Knuth 1998, "Sorting and searching", 5.2.5]. Each
// piece of the items counts its digits, and then knows where its items go: so several threads can sort, and the order
// is the same for any number of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/base/parallel.hpp"

namespace silverbirch {

// Sorts items by the bits of key(item) from `low` up, in whole digits, until `high` is reached. Equal items keep their
// order. `scratch` is as long as `items`, and its content is lost.
inline constexpr std::size_t kDigitBits = 11;
template <class Items, class Key>
void radix_sort(Items& items, Items& scratch, std::size_t low, std::size_t high, Key key, std::size_t threads = 1) {
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits, kWorthAPiece = 16 * kDigits, kPiecesOfThread = 2;
  const std::size_t pieces =
      threads < 2 ? 1 : std::clamp<std::size_t>(items.size() / kWorthAPiece, 1, kPiecesOfThread * threads);
  const std::size_t piece = std::max<std::size_t>(1, (items.size() + pieces - 1) / pieces);
  std::vector<std::array<std::size_t, kDigits>> places(pieces);  // first counts, then where the next item goes
  for (std::size_t shift = low; shift < high; shift += kDigitBits) {
    const auto digit = [&](const auto& item) { return key(item) >> shift & (kDigits - 1); };
    parallel_for(items.size(), piece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      auto& counts = places[begin / piece];
      counts.fill(0);
      for (std::size_t i = begin; i < end; ++i) ++counts[digit(items[i])];
    });
    std::size_t place = 0;
    for (std::size_t d = 0; d < kDigits; ++d)
      for (auto& of_piece : places) {
        const std::size_t count = of_piece[d];
        of_piece[d] = place;
        place += count;
      }
    parallel_for(items.size(), piece, threads, no_progress, [&](std::size_t begin, std::size_t end) {
      auto& next = places[begin / piece];
      for (std::size_t i = begin; i < end; ++i) scratch[next[digit(items[i])]++] = items[i];
    });
    items.swap(scratch);
  }
}

}  // namespace silverbirch

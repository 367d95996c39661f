// Radix sort, least significant digit first [Hollerith's sorter; Knuth 1998, "Sorting and searching", 5.2.5].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace silverbirch {

// Sorts items by the bits of key(item) from `low` up, in whole digits, until `high` is reached. Equal items keep their
// order. `scratch` is as long as `items`, and its content is lost.
inline constexpr std::size_t kDigitBits = 11;
template <class Item, class Key>
void radix_sort(std::vector<Item>& items, std::vector<Item>& scratch, std::size_t low, std::size_t high, Key key) {
  for (std::size_t shift = low; shift < high; shift += kDigitBits) {
    const auto digit = [&](const Item& item) { return key(item) >> shift & ((std::uint64_t{1} << kDigitBits) - 1); };
    std::array<std::size_t, (std::size_t{1} << kDigitBits) + 1> begin = {};
    for (const Item& item : items) ++begin[digit(item) + 1];
    for (std::size_t d = 1; d < begin.size(); ++d) begin[d] += begin[d - 1];
    for (const Item& item : items) scratch[begin[digit(item)]++] = item;
    items.swap(scratch);
  }
}

}  // namespace silverbirch

// A hash of a row's values: equal rows have equal hashes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace silverbirch {

inline std::uint64_t hashed_with(std::uint64_t h, double value) {
  h ^= std::bit_cast<std::uint64_t>(value + 0.0);  // -0 and 0 are the same value
  h *= 0x9e3779b97f4a7c15u;
  return h ^ (h >> 32);
}

// Wide rows in sums of products of halves, as in XXH3 [Collet 2019], for the vector unit; the key tells places apart.
inline std::uint64_t hash_of_row(const double* row, std::size_t dim) {
  constexpr std::size_t kSums = 8;
  std::uint64_t h = 0;
  std::size_t k = 0;
  if (dim >= 2 * kSums) {
    std::uint64_t sums[kSums] = {}, key = 0x9e3779b97f4a7c15u;
    for (; k + kSums <= dim; k += kSums, key += 0xc2b2ae3d27d4eb4fu)
      for (std::size_t i = 0; i < kSums; ++i) {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(row[k + i] + 0.0), keyed = bits ^ key;
        sums[i] += (keyed & 0xffffffffu) * (keyed >> 32) + (bits << 32 | bits >> 32);
      }
    for (const std::uint64_t sum : sums) h = hashed_with(h, 0.0) ^ sum;
  }
  for (; k < dim; ++k) h = hashed_with(h, row[k]);
  return hashed_with(h, 0.0);
}

}  // namespace silverbirch

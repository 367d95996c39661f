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

inline std::uint64_t hash_of_row(const double* row, std::size_t dim) {
  std::uint64_t h = 0;
  for (std::size_t k = 0; k < dim; ++k) h = hashed_with(h, row[k]);
  return h;
}

}  // namespace silverbirch

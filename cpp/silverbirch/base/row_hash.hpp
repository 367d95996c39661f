// A hash of a row's values: equal rows have equal hashes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "silverbirch/base/switches.hpp"
namespace silverbirch {

inline std::uint64_t hashed_with(std::uint64_t h, double value) {
  h ^= std::bit_cast<std::uint64_t>(value + 0.0);  // -0 and 0 are the same value
  h *= 0x9e3779b97f4a7c15u;
  return h ^ (h >> 32);
}

// Wide rows in four chains, because each link waits for the one before.
inline std::uint64_t hash_of_row(const double* row, std::size_t dim) {
  const bool in_chains = dim >= 16 && on(Mechanism::hash_chains);
  std::uint64_t h = 0, chains[4] = {1, 2, 3, 4};
  std::size_t k = 0;
  for (; k + 4 <= dim && in_chains; k += 4)
    for (std::size_t c = 0; c < 4; ++c) chains[c] = hashed_with(chains[c], row[k + c]);
  for (; k < dim; ++k) h = hashed_with(h, row[k]);
  if (in_chains)
    for (const std::uint64_t chain : chains) h = hashed_with(h, 0.0) ^ chain;
  return h;
}

}  // namespace silverbirch

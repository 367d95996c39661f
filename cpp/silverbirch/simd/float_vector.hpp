// Floats as vectors of the native width. Only for files that are compiled once per instruction set: everything here has
// internal linkage.
#pragma once

#include "silverbirch/simd/vectors.hpp"

namespace silverbirch {
namespace {

constexpr std::size_t kWidth = kFloatWidth;

SILVERBIRCH_INLINE Floats load(const float* p) { return *reinterpret_cast<const Floats*>(p); }
SILVERBIRCH_INLINE void store(float* p, Floats v) { *reinterpret_cast<Floats*>(p) = v; }
SILVERBIRCH_INLINE Floats broadcast(float value) { return value - Floats{}; }

SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, float limit) { return lanes_up_to(v, broadcast(limit)); }

SILVERBIRCH_INLINE float least(Floats v) {
  Four four = least_folded(v);
  four = smaller_four(four, __builtin_shufflevector(four, four, 2, 3, 0, 1));
  return smaller_four(four, __builtin_shufflevector(four, four, 1, 0, 3, 2))[0];
}

SILVERBIRCH_INLINE float sum(Floats v) {
  const Four four = folded(v);
  return (four[0] + four[1]) + (four[2] + four[3]);
}

// Reduces each four of each of four vectors by `join` to one number. Within every four of the result, lane i is the
// reduction of the same four of vector i (a, b, c, d).
template <class Join>
SILVERBIRCH_INLINE Floats joined_fours(Floats a, Floats b, Floats c, Floats d, Join join) {
  const Floats ab = join(low_pairs(a, b), high_pairs(a, b)), cd = join(low_pairs(c, d), high_pairs(c, d));
  return join(low_halves(ab, cd), high_halves(ab, cd));
}

// The sums, and the least lanes, of four vectors; lane i of the result belongs to v[i].
SILVERBIRCH_INLINE Four sums_of(const Floats* v) {
  const auto add = [](Floats x, Floats y) __attribute__((always_inline)) { return x + y; };
  return folded(joined_fours(v[0], v[1], v[2], v[3], add));
}
SILVERBIRCH_INLINE Four least_of(const Floats* v) {
  const auto less = [](Floats x, Floats y) __attribute__((always_inline)) { return smaller(x, y); };
  return least_folded(joined_fours(v[0], v[1], v[2], v[3], less));
}

}  // namespace
}  // namespace silverbirch

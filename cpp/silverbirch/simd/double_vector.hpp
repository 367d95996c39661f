// Doubles as vectors of the native width. Only for files that are compiled once per instruction set: everything here
// has internal linkage.
#pragma once

#include "silverbirch/simd/vectors.hpp"

namespace silverbirch {
namespace {

constexpr std::size_t kWidth = kDoubleWidth;

SILVERBIRCH_INLINE Doubles load(const double* p) { return *reinterpret_cast<const Doubles*>(p); }
SILVERBIRCH_INLINE void store(double* p, Doubles v) { *reinterpret_cast<Doubles*>(p) = v; }
SILVERBIRCH_INLINE Doubles broadcast(double value) { return value - Doubles{}; }

// How far a value lies outside an interval, or 0 inside. below = lower end - value, above = value - upper end.
SILVERBIRCH_INLINE Doubles outside(Doubles below, Doubles above) {
  const Doubles farther = below < above ? above : below, zero = {};
  return farther < zero ? zero : farther;
}

}  // namespace
}  // namespace silverbirch

// The baseline of the platform: SSE2 on x86-64, NEON on ARM; two doubles or four floats. See vectors.hpp; avx512.hpp
// says what each function does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "silverbirch/simd/inline.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace silverbirch {
namespace {

constexpr std::size_t kDoubleWidth = 2, kFloatWidth = 4;

typedef double Doubles __attribute__((vector_size(kDoubleWidth * sizeof(double)), may_alias));
typedef float Floats __attribute__((vector_size(kFloatWidth * sizeof(float)), may_alias));
typedef int Ints __attribute__((vector_size(kFloatWidth * sizeof(int)), may_alias));
typedef float Four __attribute__((vector_size(16)));
typedef decltype(Doubles{} < Doubles{}) Truth;  // an integer in each lane, all ones or zero

#if defined(__SSE2__)
SILVERBIRCH_INLINE unsigned lanes(Truth truth) {
  return static_cast<unsigned>(_mm_movemask_pd(reinterpret_cast<__m128d>(truth)));
}
SILVERBIRCH_INLINE unsigned lanes(Ints truth) { return static_cast<unsigned>(_mm_movemask_ps((__m128)truth)); }
SILVERBIRCH_INLINE Doubles root(Doubles v) { return _mm_sqrt_pd(v); }
SILVERBIRCH_INLINE Floats root(Floats v) { return (Floats)_mm_sqrt_ps((__m128)v); }
#else
SILVERBIRCH_INLINE unsigned lanes(Truth truth) {
  return static_cast<unsigned>(truth[0] & 1) | static_cast<unsigned>(truth[1] & 2);
}
SILVERBIRCH_INLINE unsigned lanes(Ints truth) {
  const Ints bits = truth & Ints{1, 2, 4, 8};
  return static_cast<unsigned>((bits[0] | bits[1]) | (bits[2] | bits[3]));
}
SILVERBIRCH_INLINE Doubles root(Doubles v) { return {__builtin_sqrt(v[0]), __builtin_sqrt(v[1])}; }
SILVERBIRCH_INLINE Floats root(Floats v) {
  return {__builtin_sqrtf(v[0]), __builtin_sqrtf(v[1]), __builtin_sqrtf(v[2]), __builtin_sqrtf(v[3])};
}
#endif
SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, Floats limit) {
  const Ints bits = (v <= limit) & Ints{1, 2, 4, 8};
  return static_cast<unsigned>((bits[0] | bits[1]) | (bits[2] | bits[3]));
}

SILVERBIRCH_INLINE Doubles smaller(Doubles a, Doubles b) { return a < b ? a : b; }
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return a < b ? b : a; }
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }

SILVERBIRCH_INLINE Floats narrowed(Doubles low, Doubles high) {
  typedef float Half __attribute__((vector_size(8)));
  return __builtin_shufflevector(__builtin_convertvector(low, Half), __builtin_convertvector(high, Half), 0, 1, 2, 3);
}

SILVERBIRCH_INLINE void store_lanes(float* p, Floats v, unsigned lanes) {
  for (; lanes != 0; lanes &= lanes - 1) *p++ = v[__builtin_ctz(lanes)];
}
SILVERBIRCH_INLINE std::size_t list_lanes(unsigned lanes, std::size_t first, std::uint32_t* list) {
  std::size_t count = 0;
  for (; lanes; lanes &= lanes - 1)
    list[count++] = static_cast<std::uint32_t>(first) + static_cast<unsigned>(__builtin_ctz(lanes));
  return count;
}

SILVERBIRCH_INLINE Four smaller_four(Four a, Four b) { return a < b ? a : b; }
SILVERBIRCH_INLINE Four least_folded(Floats v) { return (Four)v; }
SILVERBIRCH_INLINE Four folded(Floats v) { return (Four)v; }

SILVERBIRCH_INLINE Floats low_pairs(Floats a, Floats b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
SILVERBIRCH_INLINE Floats high_pairs(Floats a, Floats b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
SILVERBIRCH_INLINE Floats low_halves(Floats a, Floats b) { return __builtin_shufflevector(a, b, 0, 1, 4, 5); }
SILVERBIRCH_INLINE Floats high_halves(Floats a, Floats b) { return __builtin_shufflevector(a, b, 2, 3, 6, 7); }

SILVERBIRCH_INLINE Floats joined(const Four* v) { return (Floats)v[0]; }

}  // namespace
}  // namespace silverbirch

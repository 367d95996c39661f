// AVX2: four doubles or eight floats. See vectors.hpp; avx512.hpp says what each function does.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "silverbirch/simd/inline.hpp"

namespace silverbirch {
namespace {

constexpr std::size_t kDoubleWidth = 4, kFloatWidth = 8;

typedef double Doubles __attribute__((vector_size(kDoubleWidth * sizeof(double)), may_alias));
typedef float Floats __attribute__((vector_size(kFloatWidth * sizeof(float)), may_alias));
typedef int Ints __attribute__((vector_size(kFloatWidth * sizeof(int)), may_alias));
typedef float Four __attribute__((vector_size(16)));
typedef decltype(Doubles{} < Doubles{}) Truth;  // an integer in each lane, all ones or zero

SILVERBIRCH_INLINE unsigned lanes(Truth truth) {
  return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(truth)));
}
SILVERBIRCH_INLINE unsigned lanes(Ints truth) { return static_cast<unsigned>(_mm256_movemask_ps((__m256)truth)); }
SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, Floats limit) { return lanes((Ints)(v <= limit)); }

SILVERBIRCH_INLINE Doubles root(Doubles v) { return _mm256_sqrt_pd(v); }
SILVERBIRCH_INLINE Floats root(Floats v) { return (Floats)_mm256_sqrt_ps((__m256)v); }
SILVERBIRCH_INLINE Doubles smaller(Doubles a, Doubles b) { return (Doubles)_mm256_min_pd((__m256d)a, (__m256d)b); }
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return (Floats)_mm256_min_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return (Floats)_mm256_max_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }

SILVERBIRCH_INLINE Floats narrowed(Doubles low, Doubles high) {
  return (Floats)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)high), _mm256_cvtpd_ps((__m256d)low));
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
SILVERBIRCH_INLINE Four least_folded(Floats v) {
  return smaller_four(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7));
}
SILVERBIRCH_INLINE Four folded(Floats v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
}

SILVERBIRCH_INLINE Floats low_pairs(Floats a, Floats b) { return (Floats)_mm256_unpacklo_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats high_pairs(Floats a, Floats b) { return (Floats)_mm256_unpackhi_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats low_halves(Floats a, Floats b) {
  return (Floats)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x44);
}
SILVERBIRCH_INLINE Floats high_halves(Floats a, Floats b) {
  return (Floats)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xee);
}

SILVERBIRCH_INLINE Floats joined(const Four* v) { return __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 4, 5, 6, 7); }

}  // namespace
}  // namespace silverbirch

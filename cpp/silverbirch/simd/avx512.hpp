// AVX-512: eight doubles or sixteen floats. See vectors.hpp.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "silverbirch/simd/inline.hpp"

namespace silverbirch {
namespace {

constexpr std::size_t kDoubleWidth = 8, kFloatWidth = 16;

typedef double Doubles __attribute__((vector_size(kDoubleWidth * sizeof(double)), may_alias));
typedef float Floats __attribute__((vector_size(kFloatWidth * sizeof(float)), may_alias));
typedef int Ints __attribute__((vector_size(kFloatWidth * sizeof(int)), may_alias));
typedef float Four __attribute__((vector_size(16)));
typedef decltype(Doubles{} < Doubles{}) Truth;  // an integer in each lane, all ones or zero

typedef float Eight __attribute__((vector_size(32)));

// Returns a bit for each lane, 1 where it is true.
SILVERBIRCH_INLINE unsigned lanes(Truth truth) { return _mm512_movepi64_mask(reinterpret_cast<__m512i>(truth)); }
SILVERBIRCH_INLINE unsigned lanes(Ints truth) { return _mm512_movepi32_mask((__m512i)truth); }
SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, Floats limit) {
  return _mm512_cmp_ps_mask((__m512)v, (__m512)limit, _CMP_LE_OQ);
}

SILVERBIRCH_INLINE Doubles root(Doubles v) { return _mm512_maskz_sqrt_pd(0xff, v); }
SILVERBIRCH_INLINE Floats root(Floats v) { return (Floats)_mm512_sqrt_ps((__m512)v); }
SILVERBIRCH_INLINE Doubles smaller(Doubles a, Doubles b) { return (Doubles)_mm512_min_pd((__m512d)a, (__m512d)b); }
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return (Floats)_mm512_min_ps((__m512)a, (__m512)b); }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return (Floats)_mm512_max_ps((__m512)a, (__m512)b); }
// Only for filters: fused where the processor can.
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
  return (Floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

// Converts two vectors of doubles into one of floats.
SILVERBIRCH_INLINE Floats narrowed(Doubles low, Doubles high) {
  const __m512 half = _mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)low));
  return (Floats)_mm512_insertf32x8(half, _mm512_cvtpd_ps((__m512d)high), 1);
}

// Stores the lanes whose bit is set, one after the other. May overwrite the rest of a whole vector after them.
SILVERBIRCH_INLINE void store_lanes(float* p, Floats v, unsigned lanes) {
  _mm512_storeu_ps(p, _mm512_maskz_compress_ps(static_cast<__mmask16>(lanes), (__m512)v));
}
// Writes first + l for each of sixteen lanes l whose bit is set, and returns how many are set. May overwrite the rest
// of the sixteen.
SILVERBIRCH_INLINE std::size_t list_lanes(unsigned lanes, std::size_t first, std::uint32_t* list) {
  const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i shifted = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(first)), numbers);
  _mm512_storeu_si512(list, _mm512_maskz_compress_epi32(static_cast<__mmask16>(lanes), shifted));
  return static_cast<std::size_t>(__builtin_popcount(lanes));
}

SILVERBIRCH_INLINE Four smaller_four(Four a, Four b) { return a < b ? a : b; }
// Folds the fours of a vector into one four: by the least of each lane, or by its sum.
SILVERBIRCH_INLINE Four least_folded(Floats v) {
  const Eight eight = (Eight)_mm256_min_ps(_mm512_castps512_ps256((__m512)v), _mm512_extractf32x8_ps((__m512)v, 1));
  return smaller_four(__builtin_shufflevector(eight, eight, 0, 1, 2, 3),
                      __builtin_shufflevector(eight, eight, 4, 5, 6, 7));
}
SILVERBIRCH_INLINE Four folded(Floats v) {
  const Eight eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                      __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  return __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
}

// Within each four of the vectors a and b, low_pairs gives (a0, b0, a1, b1), high_pairs (a2, b2, a3, b3), low_halves
// (a0, a1, b0, b1) and high_halves (a2, a3, b2, b3).
SILVERBIRCH_INLINE Floats low_pairs(Floats a, Floats b) { return (Floats)_mm512_unpacklo_ps((__m512)a, (__m512)b); }
SILVERBIRCH_INLINE Floats high_pairs(Floats a, Floats b) { return (Floats)_mm512_unpackhi_ps((__m512)a, (__m512)b); }
SILVERBIRCH_INLINE Floats low_halves(Floats a, Floats b) {
  return (Floats)_mm512_shuffle_ps((__m512)a, (__m512)b, 0x44);
}
SILVERBIRCH_INLINE Floats high_halves(Floats a, Floats b) {
  return (Floats)_mm512_shuffle_ps((__m512)a, (__m512)b, 0xee);
}

// Joins fours into one vector.
SILVERBIRCH_INLINE Floats joined(const Four* v) {
  const Eight low = __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 4, 5, 6, 7);
  const Eight high = __builtin_shufflevector(v[2], v[3], 0, 1, 2, 3, 4, 5, 6, 7);
  return (Floats)_mm512_insertf32x8(_mm512_castps256_ps512((__m256)low), (__m256)high, 1);
}

}  // namespace
}  // namespace silverbirch

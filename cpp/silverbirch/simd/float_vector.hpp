// Floats as vectors of the native width. Only for files that are compiled once per instruction set: all of it
// has internal linkage.
#pragma once

#include <cstddef>

#include "silverbirch/features/cf_distance.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace silverbirch {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t kWidth = 16;
#elif defined(__AVX__)
constexpr std::size_t kWidth = 8;
#else
constexpr std::size_t kWidth = 4;
#endif

typedef float Floats __attribute__((vector_size(kWidth * sizeof(float)), may_alias));
typedef int Ints __attribute__((vector_size(kWidth * sizeof(int)), may_alias));

SILVERBIRCH_INLINE Floats load(const float* p) { return *reinterpret_cast<const Floats*>(p); }
SILVERBIRCH_INLINE void store(float* p, Floats v) { *reinterpret_cast<Floats*>(p) = v; }
SILVERBIRCH_INLINE Floats broadcast(float value) { return value - Floats{}; }
typedef float Four __attribute__((vector_size(16)));
#if defined(__AVX__)
typedef float Eight __attribute__((vector_size(32)));
#endif

// What compilers do not make of `a < b ? a : b` and of a bit for each lane by themselves. The filter may fuse
// multiply-add, because the records decide.
#if defined(__AVX512F__)
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return (Floats)_mm512_min_ps((__m512)a, (__m512)b); }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return (Floats)_mm512_max_ps((__m512)a, (__m512)b); }
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
  return (Floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, Floats limit) {
  return _mm512_cmp_ps_mask((__m512)v, (__m512)limit, _CMP_LE_OQ);
}
SILVERBIRCH_INLINE Floats root(Floats v) { return (Floats)_mm512_sqrt_ps((__m512)v); }
#elif defined(__AVX__)
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return (Floats)_mm256_min_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return (Floats)_mm256_max_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, Floats limit) {
  return static_cast<unsigned>(_mm256_movemask_ps((__m256)(v <= limit)));
}
SILVERBIRCH_INLINE Floats root(Floats v) { return (Floats)_mm256_sqrt_ps((__m256)v); }
#else
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return a < b ? b : a; }
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, Floats limit) {
  const Ints bits = (v <= limit) & Ints{1, 2, 4, 8};
  return static_cast<unsigned>((bits[0] | bits[1]) | (bits[2] | bits[3]));
}
SILVERBIRCH_INLINE Floats root(Floats v) {
#if defined(__SSE2__)
  return (Floats)_mm_sqrt_ps((__m128)v);
#else
  for (std::size_t l = 0; l < kWidth; ++l) v[l] = __builtin_sqrtf(v[l]);
  return v;
#endif
}
#endif
SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, float limit) { return lanes_up_to(v, broadcast(limit)); }

// The chosen lanes, one after the other, to anywhere; what follows them, as far as a whole vector reaches, is lost.
SILVERBIRCH_INLINE void store_lanes(float* p, Floats v, unsigned lanes) {
#if defined(__AVX512F__)
  _mm512_storeu_ps(p, _mm512_maskz_compress_ps(static_cast<__mmask16>(lanes), (__m512)v));
#else
  for (; lanes != 0; lanes &= lanes - 1) *p++ = v[__builtin_ctz(lanes)];
#endif
}

SILVERBIRCH_INLINE Four smaller_four(Four a, Four b) { return a < b ? a : b; }
SILVERBIRCH_INLINE Four least_folded(Four v) { return v; }
#if defined(__AVX__)
SILVERBIRCH_INLINE Four least_folded(Eight v) {
  return smaller_four(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7));
}
#endif
#if defined(__AVX512F__)
SILVERBIRCH_INLINE Four least_folded(Floats v) {
  const __m256 low = _mm512_castps512_ps256((__m512)v), high = _mm512_extractf32x8_ps((__m512)v, 1);
  return least_folded((Eight)_mm256_min_ps(low, high));
}
#endif
SILVERBIRCH_INLINE float least(Floats v) {
  Four four = least_folded(v);
  four = smaller_four(four, __builtin_shufflevector(four, four, 2, 3, 0, 1));
  return smaller_four(four, __builtin_shufflevector(four, four, 1, 0, 3, 2))[0];
}

SILVERBIRCH_INLINE Four folded(Four v) { return v; }
#if defined(__AVX__)
SILVERBIRCH_INLINE Four folded(Eight v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
}
#endif
#if defined(__AVX512F__)
SILVERBIRCH_INLINE Four folded(Floats v) {
  return folded(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
}
#endif
SILVERBIRCH_INLINE float sum(Floats v) {
  const Four four = folded(v);
  return (four[0] + four[1]) + (four[2] + four[3]);
}

// Four vectors, seen as vectors of fours: what `join` makes of the first four of each side by side, then of the second
// ...
template <class Join>
SILVERBIRCH_INLINE Four joined_fours(Four a, Four b, Four c, Four d, Join join) {
  const Four ab = join(__builtin_shufflevector(a, b, 0, 4, 1, 5), __builtin_shufflevector(a, b, 2, 6, 3, 7));
  const Four cd = join(__builtin_shufflevector(c, d, 0, 4, 1, 5), __builtin_shufflevector(c, d, 2, 6, 3, 7));
  return join(__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
}
#if defined(__AVX__)
#if defined(__AVX512F__)
SILVERBIRCH_INLINE Floats low_pairs(Floats a, Floats b) { return (Floats)_mm512_unpacklo_ps((__m512)a, (__m512)b); }
SILVERBIRCH_INLINE Floats high_pairs(Floats a, Floats b) { return (Floats)_mm512_unpackhi_ps((__m512)a, (__m512)b); }
SILVERBIRCH_INLINE Floats low_halves(Floats a, Floats b) {
  return (Floats)_mm512_shuffle_ps((__m512)a, (__m512)b, 0x44);
}
SILVERBIRCH_INLINE Floats high_halves(Floats a, Floats b) {
  return (Floats)_mm512_shuffle_ps((__m512)a, (__m512)b, 0xee);
}
#else
SILVERBIRCH_INLINE Floats low_pairs(Floats a, Floats b) { return (Floats)_mm256_unpacklo_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats high_pairs(Floats a, Floats b) { return (Floats)_mm256_unpackhi_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats low_halves(Floats a, Floats b) {
  return (Floats)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x44);
}
SILVERBIRCH_INLINE Floats high_halves(Floats a, Floats b) {
  return (Floats)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xee);
}
#endif
template <class Join>
SILVERBIRCH_INLINE Floats joined_fours(Floats a, Floats b, Floats c, Floats d, Join join) {
  const Floats ab = join(low_pairs(a, b), high_pairs(a, b)), cd = join(low_pairs(c, d), high_pairs(c, d));
  return join(low_halves(ab, cd), high_halves(ab, cd));
}
#endif

// The sums, and the least, of four vectors, side by side.
SILVERBIRCH_INLINE Four sums_of(const Floats* v) {
  const auto add = [](auto x, auto y) __attribute__((always_inline)) { return x + y; };
  return folded(joined_fours(v[0], v[1], v[2], v[3], add));
}
SILVERBIRCH_INLINE Four least_of(const Floats* v) {
  const auto less = [](auto x, auto y) __attribute__((always_inline)) { return smaller(x, y); };
  return least_folded(joined_fours(v[0], v[1], v[2], v[3], less));
}

// As many fours as make a vector.
SILVERBIRCH_INLINE Floats joined(const Four* v) {
#if defined(__AVX__)
  const Eight eight = __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 4, 5, 6, 7);
#endif
#if defined(__AVX512F__)
  const Eight more = __builtin_shufflevector(v[2], v[3], 0, 1, 2, 3, 4, 5, 6, 7);
  return (Floats)_mm512_insertf32x8(_mm512_castps256_ps512((__m256)eight), (__m256)more, 1);
#elif defined(__AVX__)
  return eight;
#else
  return v[0];
#endif
}

}  // namespace
}  // namespace silverbirch

// Floats as vectors of the native width. Only for files that are compiled once per instruction set: all of it
// has internal linkage.
#pragma once

#include <cstddef>

#include "cf_distance.hpp"

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
#elif defined(__AVX__)
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return (Floats)_mm256_min_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return (Floats)_mm256_max_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, Floats limit) {
  return static_cast<unsigned>(_mm256_movemask_ps((__m256)(v <= limit)));
}
#else
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return a < b ? b : a; }
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, Floats limit) {
  const Ints bits = (v <= limit) & Ints{1, 2, 4, 8};
  return static_cast<unsigned>((bits[0] | bits[1]) | (bits[2] | bits[3]));
}
#endif
SILVERBIRCH_INLINE unsigned lanes_up_to(Floats v, float limit) { return lanes_up_to(v, broadcast(limit)); }

SILVERBIRCH_INLINE Four smaller_four(Four a, Four b) { return a < b ? a : b; }
SILVERBIRCH_INLINE float least(Four v) {
  v = smaller_four(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
  return smaller_four(v, __builtin_shufflevector(v, v, 1, 0, 3, 2))[0];
}
#if defined(__AVX__)
SILVERBIRCH_INLINE float least(Eight v) {
  return least(smaller_four(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7)));
}
#endif
#if defined(__AVX512F__)
SILVERBIRCH_INLINE float least(Floats v) {
  const __m256 low = _mm512_castps512_ps256((__m512)v), high = _mm512_extractf32x8_ps((__m512)v, 1);
  return least((Eight)_mm256_min_ps(low, high));
}
#endif

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
// The sums of four vectors, side by side.
SILVERBIRCH_INLINE Four sums_of(const Floats* v) {
  const Four a = folded(v[0]), b = folded(v[1]), c = folded(v[2]), d = folded(v[3]);
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

}  // namespace
}  // namespace silverbirch

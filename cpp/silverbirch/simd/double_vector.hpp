// Eight doubles as vectors of the native width. Only for the files that are compiled once per instruction set: all of
// it has internal linkage, so no code for a new processor leaks into the rest.
#pragma once

#include <cstddef>

#include "silverbirch/features/cf_distance.hpp"
#include "silverbirch/features/feature_block.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace silverbirch {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t kWidth = 8;
#elif defined(__AVX__)
constexpr std::size_t kWidth = 4;
#else
constexpr std::size_t kWidth = 2;
#endif
constexpr std::size_t kParts = kLanes / kWidth;  // a block's row is this many vectors of the native width

typedef double Vector __attribute__((vector_size(kWidth * sizeof(double)), may_alias));
typedef decltype(Vector{} < Vector{}) Truth;  // an integer in each lane, all ones or zero

SILVERBIRCH_INLINE Vector load(const double* p) { return *reinterpret_cast<const Vector*>(p); }
SILVERBIRCH_INLINE void store(double* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
SILVERBIRCH_INLINE Vector broadcast(double value) { return value - Vector{}; }

// How far a value lies outside an interval, from how far it is below the lower end and above the upper one.
SILVERBIRCH_INLINE Vector outside(Vector below, Vector above) {
  const Vector farther = below < above ? above : below, zero = {};
  return farther < zero ? zero : farther;
}

// One bit for each lane that is true.
SILVERBIRCH_INLINE unsigned lanes(Truth truth) {
#if defined(__AVX512F__)
  return _mm512_movepi64_mask(reinterpret_cast<__m512i>(truth));
#elif defined(__AVX__)
  return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(truth)));
#elif defined(__SSE2__)
  return static_cast<unsigned>(_mm_movemask_pd(reinterpret_cast<__m128d>(truth)));
#else
  unsigned bits = 0;
  for (std::size_t l = 0; l < kWidth; ++l) bits |= truth[l] ? 1U << l : 0U;
  return bits;
#endif
}

}  // namespace
}  // namespace silverbirch

// Routing copies of means of many dimensions: each coordinate is rounded to a whole number of steps and stored in 16
// bits. Only for files that are compiled once per instruction set: everything has internal linkage.
//
// A search of a large node waits for memory. 16-bit integers take half the memory of floats, and a processor multiplies
// and adds twice as many of them at once, without rounding. When a mean is copied, the distance that rounding moves it
// is measured and stored as its error, so the bounds of distances hold for any data. A mean beyond the range of the
// steps is stored as the origin, and its error is its distance from the origin.
//
// Four entries form a quad: eight coordinates of the first entry, of the second and so on, then the next eight of each.
// So one multiplication serves four entries, and an entry is written in few pieces.
#pragma once

#include "silverbirch/simd/float_vector.hpp"
#include "silverbirch/tree/kernels/routes.hpp"
#include "silverbirch/tree/kernels/tree_kernels.hpp"

namespace silverbirch {
namespace {

constexpr std::size_t kPart = 8, kQuad = 4;             // coordinates of an entry, and entries of a quad, side by side
constexpr std::size_t kUnitFloats = kPart * kQuad / 2;  // one part of each entry of a quad

typedef short Part __attribute__((vector_size(kPart * sizeof(short)), may_alias));
typedef unsigned UintFour __attribute__((vector_size(16), may_alias));
typedef int PartInts __attribute__((vector_size(kPart * sizeof(int)), may_alias));
typedef unsigned PartUints __attribute__((vector_size(kPart * sizeof(unsigned)), may_alias));
typedef float PartFloats __attribute__((vector_size(kPart * sizeof(float)), may_alias));
typedef double PartDoubles __attribute__((vector_size(kPart * sizeof(double)), aligned(8), may_alias));

SILVERBIRCH_INLINE std::size_t part_count(std::size_t dim) { return (dim + kPart - 1) / kPart; }

// Adds the products of coordinates to the sums of the four lanes of an entry, modulo 2^32: the sums may overflow for a
// mean beyond the range of the steps.
SILVERBIRCH_INLINE UintFour add_products(UintFour sums, Part a, Part b) {
#if defined(__SSE2__)
  return sums + (UintFour)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  const auto products = (PartUints)(__builtin_convertvector(a, PartInts) * __builtin_convertvector(b, PartInts));
  return sums + __builtin_shufflevector(products, products, 0, 2, 4, 6) +
         __builtin_shufflevector(products, products, 1, 3, 5, 7);
#endif
}

// The result of rounding a mean.
struct Rounded {
  std::uint32_t squared_steps;  // the squared norm of the rounded mean, in squared steps
  float norm;                   // the norm before rounding; may overflow
  float error;                  // an upper bound of the distance that rounding moved the mean
};

SILVERBIRCH_INLINE PartDoubles load_part(const double* p) { return *reinterpret_cast<const PartDoubles*>(p); }

// Eight coordinates of mean - origin from k on; zeros beyond the last.
SILVERBIRCH_INLINE PartDoubles gap_to_origin(const double* mean, const double* origin, std::size_t k, std::size_t dim) {
  if (k + kPart <= dim) return load_part(mean + k) - load_part(origin + k);
  double gap[kPart] = {};
  for (std::size_t i = 0; k + i < dim; ++i) gap[i] = mean[k + i] - origin[k + i];
  return load_part(gap);
}

// Moves eight coordinates of `mean` towards `other` by `share` of their difference; then returns the same as
// gap_to_origin.
SILVERBIRCH_INLINE PartDoubles moved_gap(double* mean, const double* other, double share, const double* origin,
                                         std::size_t k, std::size_t dim) {
  if (k + kPart <= dim) {
    const PartDoubles old = load_part(mean + k), moved = old + share * (load_part(other + k) - old);
    *reinterpret_cast<PartDoubles*>(mean + k) = moved;
    return moved - load_part(origin + k);
  }
  for (std::size_t i = k; i < dim; ++i) mean[i] += share * (other[i] - mean[i]);
  return gap_to_origin(mean, origin, k, dim);
}

SILVERBIRCH_INLINE float sum_of(PartFloats v) {
  const Four four = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
  return (four[0] + four[1]) + (four[2] + four[3]);
}

// Rounds a mean to steps. gap(k) returns eight coordinates from k on, relative to the origin. Parts are written
// `stride` apart.
template <class Gap>
SILVERBIRCH_INLINE Rounded round_to_steps(Gap gap, float steps_a_unit, std::size_t dim, Part* parts,
                                          std::size_t stride) {
  constexpr float kWhole = 0x1.8p23f;  // adding this to a float rounds it to a whole number
  PartFloats norm = {}, moved = {};
  UintFour squares = {};
  for (std::size_t p = 0; p < part_count(dim); ++p) {
    const PartFloats steps = __builtin_convertvector(gap(p * kPart), PartFloats) * steps_a_unit;
    const PartFloats whole = steps + kWhole, rest = steps - (whole - kWhole);
    const Part rounded = __builtin_convertvector((PartUints)whole - __builtin_bit_cast(unsigned, kWhole), Part);
    norm += steps * steps;
    moved += rest * rest;
    squares = add_products(squares, rounded, rounded);
    parts[p * stride] = rounded;
  }
  const float step = 1.0f / steps_a_unit, length = __builtin_sqrtf(sum_of(norm)) * step;
  // covers the rounding of float sums, and of coordinates converted to floats and multiplied
  const float more = 1.0f + 1e-5f + 0x1p-24f * static_cast<float>(part_count(dim));
  const Four lanes = __builtin_shufflevector(norm, norm, 0, 2, 4, 6) + __builtin_shufflevector(norm, norm, 1, 3, 5, 7);
  constexpr float kMost = kMostSteps * kMostSteps;
  if (lanes[0] <= kMost && lanes[1] <= kMost && lanes[2] <= kMost && lanes[3] <= kMost)
    return {squares[0] + squares[1] + squares[2] + squares[3], length,
            more * (__builtin_sqrtf(sum_of(moved)) * step + 0x1p-21f * length)};
  for (std::size_t p = 0; p < part_count(dim); ++p) parts[p * stride] = Part{};
  return {0, length, more * length};
}

SILVERBIRCH_INLINE Part* parts_of(float* routing, const NodeShape& shape, std::size_t slot) {
  return reinterpret_cast<Part*>(routing + slot / kQuad * kQuad * shape.entry_floats) + slot % kQuad;
}
SILVERBIRCH_INLINE const Part* parts_of(const float* routing, const NodeShape& shape, std::size_t slot) {
  return parts_of(const_cast<float*>(routing), shape, slot);
}

// Writes the mean and its four rows: the two that floats have, the squared norm in squared steps, and the error.
template <class Gap>
SILVERBIRCH_INLINE void write_rounded(float* routing, const NodeShape& shape, std::size_t slot, Gap gap, double weight,
                                      double sse) {
  const Rounded rounded = round_to_steps(gap, shape.steps, shape.dim, parts_of(routing, shape, slot), kQuad);
  write_rows(routing, shape, slot, weight, sse);
  float* rows = routing + shape.mean_floats;
  rows[2 * shape.slots + slot] = __builtin_bit_cast(float, rounded.squared_steps);
  rows[3 * shape.slots + slot] = rounded.error;
}

// A search adds up products, or absolute differences, in four vectors at once. They hold the sums of kQuadsAtOnce
// quads.
constexpr std::size_t kQuadsAtOnce = kWidth / kQuad, kVectorsOfQuad = kQuad / kQuadsAtOnce;

typedef unsigned Uints __attribute__((vector_size(kWidth * sizeof(unsigned)), may_alias));

SILVERBIRCH_INLINE Ints repeated(Part part) {
#if defined(__AVX512F__)
  return (Ints)_mm512_broadcast_i32x4((__m128i)part);
#elif defined(__AVX__)
  return (Ints)_mm256_broadcastsi128_si256((__m128i)part);
#else
  return (Ints)part;
#endif
}

SILVERBIRCH_INLINE Ints add_products(Ints sums, Ints a, Ints b) {
#if defined(__AVX512F__)
  return sums + (Ints)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX__)
  return sums + (Ints)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
  return (Ints)add_products((UintFour)sums, (Part)a, (Part)b);
#endif
}

SILVERBIRCH_INLINE Ints add_absolute_gaps(Ints sums, Ints a, Ints b) {
  // The differences do not fit 16 bits, so low and high halves are computed one after the other.
  const Ints low = (a << 16 >> 16) - (b << 16 >> 16), high = (a >> 16) - (b >> 16);
  return sums + (low < 0 ? -low : low) + (high < 0 ? -high : high);
}

// Takes four vectors with four sums per entry. Returns the total of each entry, in the order of the entries; totals may
// wrap around.
SILVERBIRCH_INLINE Ints sums_of_entries(const Ints* v) {
#if defined(__AVX512F__)
  const auto pairs = [](Ints a, Ints b) __attribute__((always_inline)) {
    return _mm512_add_epi32(_mm512_unpacklo_epi32((__m512i)a, (__m512i)b),
                            _mm512_unpackhi_epi32((__m512i)a, (__m512i)b));
  };
  const __m512i ab = pairs(v[0], v[1]), cd = pairs(v[2], v[3]);
  const __m512i sums = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return (Ints)_mm512_permutexvar_epi32(order, sums);
#elif defined(__AVX__)
  const auto pairs = [](Ints a, Ints b)
                         __attribute__((always_inline)) { return _mm256_hadd_epi32((__m256i)a, (__m256i)b); };
  const __m256i sums = _mm256_hadd_epi32(pairs(v[0], v[1]), pairs(v[2], v[3]));
  return (Ints)_mm256_permutevar8x32_epi32(sums, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#else
  const auto pairs = [](Ints a, Ints b) __attribute__((always_inline)) {
    return (Uints)__builtin_shufflevector(a, b, 0, 4, 1, 5) + (Uints)__builtin_shufflevector(a, b, 2, 6, 3, 7);
  };
  const Uints ab = pairs(v[0], v[1]), cd = pairs(v[2], v[3]);
  return (Ints)(__builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
#endif
}

// whole: the sums modulo 2^32. quarters: a quarter of the sums, too small by less than four.
struct Sums {
  Ints whole, quarters;
};

template <class Kind, std::size_t Quads>
SILVERBIRCH_INLINE Sums sums_of_quads(const float* quads, const NodeShape& shape, const Part* query) {
  Ints sums[kQuad] = {};
  const float* vectors[kQuad];
  for (std::size_t v = 0; v < kQuad; ++v)
    vectors[v] = quads + v / kVectorsOfQuad * kQuad * shape.entry_floats + v % kVectorsOfQuad * kWidth;
  const std::size_t end = part_count(shape.dim) * kUnitFloats;
  for (std::size_t at = 0; at < end; at += kUnitFloats, ++query) {
    const Ints here = repeated(*query);
    for (std::size_t v = 0; v < Quads * kVectorsOfQuad; ++v) {
      const Ints there = (Ints)load(vectors[v] + at);
      sums[v] = Kind::manhattan_gap ? add_absolute_gaps(sums[v], there, here) : add_products(sums[v], there, here);
    }
  }
  const Ints whole = sums_of_entries(sums);
  if (Kind::manhattan_gap) return {whole, whole};
  for (Ints& sum : sums) sum >>= 2;
  return {whole, sums_of_entries(sums)};
}

// Squared gaps in squared steps, from sums of products and squared norms. Where a squared gap may have wrapped around,
// four times its quarter is used: there the rounding of the quarter, at most ten, is negligible.
SILVERBIRCH_INLINE Floats squared_gaps(const Sums& sums, Uints squares, std::uint32_t query_square) {
  const Uints whole = squares + query_square - 2u * (Uints)sums.whole;
  const Uints quarters = (squares >> 2) + ((query_square >> 2) + 2u) - 2u * (Uints)sums.quarters;
  const Ints exact = (Ints)(quarters >> 29) == 0;
  return __builtin_convertvector(exact ? whole : quarters, Floats) * (exact ? broadcast(1.0f) : broadcast(4.0f));
}

template <class Kind>
SILVERBIRCH_INLINE Sums sums_with(const float* quads, const NodeShape& shape, const Part* query, std::size_t entries) {
  if constexpr (kQuadsAtOnce == 4) {
    if (entries <= kQuad) return sums_of_quads<Kind, 1>(quads, shape, query);
    if (entries <= 2 * kQuad) return sums_of_quads<Kind, 2>(quads, shape, query);
    if (entries <= 3 * kQuad) return sums_of_quads<Kind, 3>(quads, shape, query);
  }
  return sums_of_quads<Kind, kQuadsAtOnce>(quads, shape, query);
}

// The root of a value grows no faster than the root of the gap. So a mean that rounding moved by `error` changes the
// root of the value by at most `error` (sqrt(dim) times as much for sums of absolute gaps). This gives a lower and an
// upper bound for each entry. The nearest entry does not exceed the least of the upper bounds, so only entries whose
// lower bound is within it are candidates.
template <class Kind>
Candidates nearest_rounded_entry(const float* routing, const NodeShape& shape, std::size_t count,
                                 const RouteQuery& query, float* values) {
  const float* rows = routing + shape.mean_floats;
  const Part* parts = reinterpret_cast<const Part*>(query.position);
  const float moved = Kind::manhattan_gap ? __builtin_sqrtf(static_cast<float>(shape.dim)) : 1.0f;
  const float step = 1.0f / shape.steps, squared_step = step * step;
  Ints number;
  for (std::size_t l = 0; l < kWidth; ++l) number[l] = static_cast<int>(l);
  Floats least_upper = broadcast(3e38f);
  for (std::size_t s = 0; s < count; s += kWidth) {
    const Sums sums = sums_with<Kind>(routing + s * shape.entry_floats, shape, parts, count - s);
    const float* row = rows + s;
    Floats gap;
    if constexpr (Kind::manhattan_gap)
      gap = __builtin_convertvector(sums.whole, Floats) * step;
    else
      gap = squared_gaps(sums, (Uints)load(row + 2 * shape.slots), query.rounded_norm) * squared_step;
    const Floats centre = root(Kind::value(gap, load(row), load(row + shape.slots), query));
    const Floats error = moved * load(row + 3 * shape.slots);
    const Ints there = number < static_cast<int>(count - s);
    store(values + s, there ? centre - error : broadcast(3e38f));
    least_upper = smaller(least_upper, there ? centre + error : broadcast(3e38f));
  }
  const float limit = limit_of_root(least(least_upper) + 2.0f * moved * query.error);
  Candidates candidates{0, limit, true};
  std::size_t found = 0;
  for (std::size_t s = 0; s < count; s += kWidth)
    for (unsigned lanes = lanes_up_to(load(values + s), limit); lanes != 0; lanes &= lanes - 1, ++found) {
      const std::size_t slot = s + static_cast<std::size_t>(__builtin_ctz(lanes));
      if (found == 0 || values[slot] < values[candidates.slot]) candidates.slot = slot;
    }
  candidates.sure = found == 1;
  return candidates;
}

}  // namespace
}  // namespace silverbirch

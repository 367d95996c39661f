// Compiled once per instruction set; SILVERBIRCH_TREE_KERNELS names the set it defines. As in kernels.cpp, everything
// else has internal linkage and no standard-library template is instantiated here.
#include "tree_kernels.hpp"

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

// What compilers do not make of `a < b ? a : b` and of `any` by themselves. The filter may fuse multiply-add, because
// the records decide.
#if defined(__AVX512F__)
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return (Floats)_mm512_min_ps((__m512)a, (__m512)b); }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return (Floats)_mm512_max_ps((__m512)a, (__m512)b); }
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) {
  return (Floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
SILVERBIRCH_INLINE bool any_up_to(Floats v, float limit) {
  return _mm512_cmp_ps_mask((__m512)v, _mm512_set1_ps(limit), _CMP_LE_OQ) != 0;
}
#elif defined(__AVX__)
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return (Floats)_mm256_min_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return (Floats)_mm256_max_ps((__m256)a, (__m256)b); }
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
SILVERBIRCH_INLINE bool any_up_to(Floats v, float limit) { return _mm256_movemask_ps((__m256)(v <= limit)) != 0; }
#else
SILVERBIRCH_INLINE Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
SILVERBIRCH_INLINE Floats larger(Floats a, Floats b) { return a < b ? b : a; }
SILVERBIRCH_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
SILVERBIRCH_INLINE bool any_up_to(Floats v, float limit) {
  const Ints mask = v <= limit;
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}
#endif

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

SILVERBIRCH_INLINE float sum(Four v) { return (v[0] + v[1]) + (v[2] + v[3]); }
#if defined(__AVX__)
SILVERBIRCH_INLINE float sum(Eight v) {
  return sum(__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7));
}
#endif
#if defined(__AVX512F__)
SILVERBIRCH_INLINE float sum(Floats v) {
  return sum(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
             __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
}
#endif

// Many dimensions are looked at in two parts, the first this long.
constexpr std::size_t kFirstPart = 64;

// How the value follows from the gap of the means; `first` and `second` are the node's two rows, `Value` is float or a
// vector. What is the same for all entries is left out, and so is the weight of the query as a factor: a gap is never
// multiplied with more than one, and nothing overflows. The formulas are those of cf_distance.hpp.
struct CentroidRoute {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value, Value, const RouteQuery&) {
    return gap;
  }
};
struct ManhattanRoute {
  static constexpr bool manhattan_gap = true;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value, Value, const RouteQuery&) {
    return gap * gap;
  }
};
struct AverageRoute {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value first, Value, const RouteQuery&) {
    return gap + first;
  }
};
struct WardRowRoute {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value first, Value, const RouteQuery&) {
    return gap * first;
  }
};
struct WardRoute {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value, Value second, const RouteQuery& query) {
    return gap * (second / (second + query.weight));
  }
};
struct RadiusRoute {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value first, Value second, const RouteQuery& query) {
    const Value total = second + query.weight, share = second / total, query_share = query.weight / total;
    return first * share + query.variance * query_share + share * query_share * gap;
  }
};
struct DiameterRoute {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value first, Value second, const RouteQuery& query) {
    const Value total = second + query.weight, others = total - 1.0f, half = total * 0.5f;
    return 0.5f * total / (others < half ? half : others) * RadiusRoute::value(gap, first, second, query);
  }
};

// How much larger than the least value another one may be if the exact order could be the other way round.
//
// Let u = 2^-24, Q the norm of the query's position and G a gap. Rounding position and mean to floats and subtracting
// them moves the gap vector by at most 2u(Q + G); summing up, the factors and the slot's number in the last bits change
// the value by a relative (dim + 16 + 2·slots)u at most. So the roots of two values that are in the wrong order differ
// by a relative (dim + 2·slots + 18)u and an absolute 4u·Q. Squared, with (a + b)² <= (1 + e)a² + (1 + 1/e)b² and
// e = 2^-14, that is what follows; constants are rounded up;
// the relative part is shape.relative_doubt. For sums of absolute gaps, Q is at most sqrt(dim) times as
// large. The last term is for what is too small for a float.
template <class Kind>
SILVERBIRCH_INLINE float doubtful_limit(float least_value, const NodeShape& shape, const RouteQuery& query) {
  const float norms = Kind::manhattan_gap ? static_cast<float>(shape.dim) : 1.0f;
  return least_value + shape.relative_doubt * least_value + norms * (0x1p-29f * query.squared_norm + 1e-30f);
}

template <class Kind>
SILVERBIRCH_INLINE Floats add_gap(Floats gap, Floats difference) {
  if constexpr (Kind::manhattan_gap)
    return gap + (difference < 0.0f ? -difference : difference);
  else
    return multiply_add(difference, difference, gap);
}

// The values of kWidth entries from slot s on. Lanes are entries, the empty ones so far away that they lose.
// D: the dimensions, or 0 to be told.
template <class Kind, std::size_t D>
SILVERBIRCH_INLINE Floats values_at(const float* routing, const NodeShape& shape, const RouteQuery& query,
                                    std::size_t s) {
  const std::size_t dim = D > 0 ? D : shape.dim;
  const float* row = routing + s;
  Floats gap = {};
  for (std::size_t k = 0; k < dim; ++k, row += shape.slots) gap = add_gap<Kind>(gap, query.position[k] - load(row));
  return Kind::value(gap, load(row), load(row + shape.slots), query);
}

template <class Kind, std::size_t D>
Candidates nearest_entry(const float* routing, const NodeShape& shape, std::size_t, const RouteQuery& query,
                         float* values) {
  Ints number;  // the slot's number takes the lowest bits of the value: one minimum finds both
  for (std::size_t l = 0; l < kWidth; ++l) number[l] = static_cast<int>(l);
  Floats lowest = broadcast(3e38f), second = lowest;  // of each lane
  for (std::size_t s = 0; s < shape.slots; s += kWidth) {
    const Floats value = values_at<Kind, D>(routing, shape, query, s);
    const Floats numbered = (Floats)(((Ints)value & ~shape.number_bits) | number);
    number += static_cast<int>(kWidth);
    second = smaller(second, larger(lowest, numbered));
    lowest = smaller(lowest, numbered);
  }
  const float winner = least(lowest);
  const float limit = doubtful_limit<Kind>(winner, shape, query);
  const Floats others = lowest == broadcast(winner) ? second : smaller(lowest, second);
  const auto slot = static_cast<std::size_t>(__builtin_bit_cast(int, winner) & shape.number_bits);
  if (!any_up_to(others, limit)) return {slot, limit, true};
  for (std::size_t s = 0; s < shape.slots; s += kWidth) store(values + s, values_at<Kind, D>(routing, shape, query, s));
  return {slot, limit, false};
}

// Adds to `gaps` the gaps over the floats begin..end-1 of up to four entries, given by their slots.
template <class Kind>
SILVERBIRCH_INLINE void add_gaps(const float* routing, std::size_t entry_floats, const unsigned* slots, std::size_t n,
                                 const float* position, std::size_t begin, std::size_t end, float* gaps) {
  const float* means[4];
  for (std::size_t i = 0; i < 4; ++i) means[i] = routing + slots[i < n ? i : 0] * entry_floats;
  Floats sums[4] = {};
  for (std::size_t k = begin; k < end; k += kWidth) {
    const Floats here = load(position + k);
    for (std::size_t i = 0; i < 4; ++i) sums[i] = add_gap<Kind>(sums[i], here - load(means[i] + k));
  }
  for (std::size_t i = 0; i < n; ++i) gaps[slots[i]] += sum(sums[i]);
}

// Lanes are dimensions. The first of them are enough to rule out many entries, because a sum of squares only grows.
template <class Kind>
Candidates nearest_wide_entry(const float* routing, const NodeShape& shape, std::size_t count, const RouteQuery& query,
                              float* values) {
  const std::size_t width = shape.entry_floats, part = width < 2 * kFirstPart ? width : kFirstPart;
  const float* first_row = routing + shape.mean_floats;
  const float* second_row = first_row + shape.slots;
  float* gaps = values + shape.slots;

  std::size_t best = 0;
  for (std::size_t s = 0; s < count; s += 4) {
    const auto first = static_cast<unsigned>(s);
    const unsigned slots[4] = {first, first + 1, first + 2, first + 3};
    const std::size_t n = count - s < 4 ? count - s : 4;
    for (std::size_t i = 0; i < n; ++i) gaps[s + i] = 0.0f;
    add_gaps<Kind>(routing, width, slots, n, query.position, 0, part, gaps);
    for (std::size_t i = s; i < s + n; ++i) {
      values[i] = Kind::value(gaps[i], first_row[i], second_row[i], query);
      if (values[i] < values[best]) best = i;
    }
  }
  unsigned open[4] = {static_cast<unsigned>(best)};
  std::size_t open_count = 1;
  float limit = 3e38f;
  const auto finish = [&] {
    add_gaps<Kind>(routing, width, open, open_count, query.position, part, width, gaps);
    for (std::size_t i = 0; i < open_count; ++i) {
      const std::size_t s = open[i];
      values[s] = Kind::value(gaps[s], first_row[s], second_row[s], query);
      if (values[s] < values[best]) best = s;
    }
    limit = doubtful_limit<Kind>(values[best], shape, query);
    open_count = 0;
  };
  if (part < width) {
    const std::size_t first = best;
    finish();
    for (std::size_t s = 0; s < count; ++s) {
      if (s == first || values[s] > limit) continue;
      open[open_count++] = static_cast<unsigned>(s);
      if (open_count == 4) finish();
    }
    if (open_count > 0) finish();
  }
  limit = doubtful_limit<Kind>(values[best], shape, query);
  bool sure = true;
  for (std::size_t s = 0; s < count; ++s) sure &= s == best || values[s] > limit;
  return {best, limit, sure};
}

// The order of operations of sums over dimensions, the same on all instruction sets: one after the other for few, eight
// interleaved sums for many.
constexpr std::size_t kSums = 8;

SILVERBIRCH_INLINE double total(const double* sums) {
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

template <std::size_t D>
SILVERBIRCH_INLINE double squared_gap(const double* a, const double* b, std::size_t dim) {
  if constexpr (D > 0) {
    double gap = 0.0;
    for (std::size_t k = 0; k < D; ++k) gap += (a[k] - b[k]) * (a[k] - b[k]);
    return gap;
  } else {
    double sums[kSums] = {};
    std::size_t k = 0;
    for (; k + kSums <= dim; k += kSums)
      for (std::size_t l = 0; l < kSums; ++l) sums[l] += (a[k + l] - b[k + l]) * (a[k + l] - b[k + l]);
    for (std::size_t l = 0; k < dim; ++k, ++l) sums[l] += (a[k] - b[k]) * (a[k] - b[k]);
    return total(sums);
  }
}

template <std::size_t D>
void absorb(double* record, float* routing, const NodeShape& shape, std::size_t slot, const Feature& other,
            const double* origin) {
  const std::size_t dim = D > 0 ? D : shape.dim;
  const double weight = record[dim], sum_of_weights = weight + other.weight, share = other.weight / sum_of_weights;
  double gap;
  if constexpr (D > 0) {
    gap = 0.0;
    for (std::size_t k = 0; k < D; ++k) {
      const double difference = other.mean[k] - record[k];
      record[k] += share * difference;
      gap += difference * difference;
    }
  } else {
    gap = squared_gap<0>(other.mean, record, dim);
    for (std::size_t k = 0; k < dim; ++k) record[k] += share * (other.mean[k] - record[k]);
  }
  record[dim] = sum_of_weights;
  record[dim + 1] += other.sse + weight * share * gap;
  write_routing<D>(routing, shape, slot, record, origin);
}

template <class Distance, std::size_t D>
SILVERBIRCH_INLINE double squared_between(const Feature& a, const Feature& b, std::size_t dim) {
  double gap = 0.0;
  if constexpr (Distance::manhattan_gap)
    for (std::size_t k = 0; k < dim; ++k) gap += __builtin_fabs(a.mean[k] - b.mean[k]);
  else
    gap = squared_gap<D>(a.mean, b.mean, dim);
  return Distance::squared(gap, a.weight, a.sse, b.weight, b.sse);
}

template <std::size_t D>
double squared_distance(CfDistance distance, const Feature& a, const Feature& b, std::size_t told_dim) {
  const std::size_t dim = D > 0 ? D : told_dim;
  switch (distance) {
    case CfDistance::centroid: return squared_between<CentroidDistance, D>(a, b, dim);
    case CfDistance::manhattan: return squared_between<ManhattanDistance, D>(a, b, dim);
    case CfDistance::average: return squared_between<AverageDistance, D>(a, b, dim);
    case CfDistance::diameter: return squared_between<DiameterDistance, D>(a, b, dim);
    case CfDistance::ward: return squared_between<WardDistance, D>(a, b, dim);
    case CfDistance::radius: break;
  }
  return squared_between<RadiusDistance, D>(a, b, dim);
}

template <std::size_t D>
void copy_for_routing(float* routing, const NodeShape& shape, std::size_t slot, const double* record,
                      const double* origin) {
  write_routing<D>(routing, shape, slot, record, origin);
}

// In the order of Route; compiled for each number of dimensions where it pays.
template <std::size_t D>
constexpr TreeKernels few() {
  return {{nearest_entry<CentroidRoute, D>, nearest_entry<ManhattanRoute, 0>, nearest_entry<AverageRoute, D>,
           nearest_entry<DiameterRoute, 0>, nearest_entry<WardRoute, D>, nearest_entry<RadiusRoute, 0>,
           nearest_entry<WardRowRoute, D>},
          squared_distance<D>,
          copy_for_routing<D>,
          absorb<D>};
}

constexpr TreeKernels many() {
  return {{nearest_wide_entry<CentroidRoute>, nearest_wide_entry<ManhattanRoute>, nearest_wide_entry<AverageRoute>,
           nearest_wide_entry<DiameterRoute>, nearest_wide_entry<WardRoute>, nearest_wide_entry<RadiusRoute>,
           nearest_wide_entry<WardRowRoute>},
          squared_distance<0>,
          copy_for_routing<0>,
          absorb<0>};
}

}  // namespace

extern const TreeKernelSet SILVERBIRCH_TREE_KERNELS;
const TreeKernelSet SILVERBIRCH_TREE_KERNELS = {{many(), few<1>(), few<2>(), few<3>(), few<4>(), few<5>(), few<6>(),
                                                 few<7>(), few<8>(), few<9>(), few<10>(), few<11>(), few<12>(),
                                                 few<13>(), few<14>(), few<15>(), few<16>()}};

}  // namespace silverbirch

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
Candidates nearest_entry(const float* routing, const NodeShape& shape, std::size_t count, const RouteQuery& query,
                         float* values) {
  Ints number;  // the slot's number takes the lowest bits of the value: one minimum finds both
  for (std::size_t l = 0; l < kWidth; ++l) number[l] = static_cast<int>(l);
  Floats lowest = broadcast(3e38f), second = lowest;  // of each lane
  for (std::size_t s = 0; s < count; s += kWidth) {
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

// What follows the first dimensions of every entry's mean, and of the query's position.
struct Part {
  const float* means;
  const float* position;
  std::size_t width;
};

// The gaps over a part of four entries, given by their slots.
template <class Kind>
SILVERBIRCH_INLINE Four gaps_of(const Part& part, const unsigned* slots) {
  const float* means[4];
  for (std::size_t i = 0; i < 4; ++i) means[i] = part.means + slots[i] * part.width;
  Floats sums[4] = {};
  for (std::size_t k = 0; k < part.width; k += kWidth) {
    const Floats here = load(part.position + k);
    for (std::size_t i = 0; i < 4; ++i) sums[i] = add_gap<Kind>(sums[i], here - load(means[i] + k));
  }
  return sums_of(sums);
}

SILVERBIRCH_INLINE std::size_t slot_of_least(const float* values, std::size_t slots) {
  Floats lowest = load(values);
  for (std::size_t s = kWidth; s < slots; s += kWidth) lowest = smaller(lowest, load(values + s));
  const float winner = least(lowest);
  std::size_t slot = 0;
  while (values[slot] != winner) ++slot;
  return slot;
}

// Many dimensions. The first of them, lanes being entries, are enough to rule out many entries, because a sum of
// squares only grows; for the others lanes are dimensions.
template <class Kind>
Candidates nearest_wide_entry(const float* routing, const NodeShape& shape, std::size_t count, const RouteQuery& query,
                              float* values) {
  const Part other_part = {routing + shape.slots * shape.first_floats, query.position + shape.first_floats,
                           shape.entry_floats - shape.first_floats};
  const float* first_row = routing + shape.mean_floats;
  const float* second_row = first_row + shape.slots;
  float* gaps = values + shape.slots;

  for (std::size_t s = 0; s < shape.slots; s += kWidth) {
    Floats sums[4] = {};
    const float* row = routing + s;
    for (std::size_t k = 0; k < shape.first_floats; k += 4)
      for (std::size_t i = 0; i < 4; ++i, row += shape.slots)
        sums[i] = add_gap<Kind>(sums[i], query.position[k + i] - load(row));
    const Floats gap = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    store(gaps + s, gap);
    store(values + s, Kind::value(gap, load(first_row + s), load(second_row + s), query));
  }

  // The most promising entry first, because it rules out the most.
  std::size_t best = slot_of_least(values, shape.slots);
  unsigned open[4] = {static_cast<unsigned>(best)};
  std::size_t open_count = 1;
  float limit = 0.0f;
  const auto finish = [&]() __attribute__((always_inline)) {
    for (std::size_t i = open_count; i < 4; ++i) open[i] = open[0];
    const Four gap = gaps_of<Kind>(other_part, open);
    for (std::size_t i = 0; i < open_count; ++i) {
      const std::size_t s = open[i];
      values[s] = Kind::value(gaps[s] + gap[i], first_row[s], second_row[s], query);
      if (values[s] < values[best]) best = s;
    }
    limit = doubtful_limit<Kind>(values[best], shape, query);
    open_count = 0;
  };
  const std::size_t most_promising = best;
  finish();
  for (std::size_t s = 0; s < count && other_part.width > 0; ++s) {
    if (s == most_promising || values[s] > limit) continue;
    open[open_count++] = static_cast<unsigned>(s);
    if (open_count == 4) finish();
  }
  if (open_count > 0) finish();
  int within = 0;
  for (std::size_t s = 0; s < shape.slots; ++s) within += values[s] <= limit;
  return {best, limit, within == 1};
}

// The order of operations of sums over dimensions, the same on all instruction sets: one after the other for few, eight
// interleaved sums for many.
constexpr std::size_t kSums = 8, kDoubles = kWidth / 2;
typedef double Doubles __attribute__((vector_size(kDoubles * sizeof(double)), aligned(8), may_alias));

SILVERBIRCH_INLINE Doubles load(const double* p) { return *reinterpret_cast<const Doubles*>(p); }
SILVERBIRCH_INLINE void store(double* p, Doubles v) { *reinterpret_cast<Doubles*>(p) = v; }

// Calls step(k, sums) for all that comes in eights, and last(k, sum) for the rest; returns the total.
template <class Step, class Last>
SILVERBIRCH_INLINE double interleaved_sum(std::size_t dim, Step step, Last last) {
  Doubles sums[kSums / kDoubles] = {};
  std::size_t k = 0;
  for (; k + kSums <= dim; k += kSums)
    for (std::size_t p = 0; p < kSums / kDoubles; ++p) step(k + p * kDoubles, sums[p]);
  double s[kSums];
  for (std::size_t p = 0; p < kSums / kDoubles; ++p) store(s + p * kDoubles, sums[p]);
  for (std::size_t l = 0; k < dim; ++k, ++l) last(k, s[l]);
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

template <std::size_t D>
SILVERBIRCH_INLINE double squared_gap(const double* a, const double* b, std::size_t dim) {
  if constexpr (D > 0) {
    double gap = 0.0;
    for (std::size_t k = 0; k < D; ++k) gap += (a[k] - b[k]) * (a[k] - b[k]);
    return gap;
  } else {
    return interleaved_sum(
        dim,
        [&](std::size_t k, Doubles& sum) __attribute__((always_inline)) {
          const Doubles difference = load(a + k) - load(b + k);
          sum += difference * difference;
        },
        [&](std::size_t k, double& sum) __attribute__((always_inline)) { sum += (a[k] - b[k]) * (a[k] - b[k]); });
  }
}

// Moves a mean by a share of the way to another; returns the squared gap there was.
template <std::size_t D>
SILVERBIRCH_INLINE double move_mean(double* mean, const double* other, double share, std::size_t dim) {
  if constexpr (D > 0) {
    double gap = 0.0;
    for (std::size_t k = 0; k < D; ++k) {
      const double difference = other[k] - mean[k];
      mean[k] += share * difference;
      gap += difference * difference;
    }
    return gap;
  } else {
    return interleaved_sum(
        dim,
        [&](std::size_t k, Doubles& sum) __attribute__((always_inline)) {
          const Doubles old = load(mean + k), difference = load(other + k) - old;
          store(mean + k, old + share * difference);
          sum += difference * difference;
        },
        [&](std::size_t k, double& sum) __attribute__((always_inline)) {
          const double difference = other[k] - mean[k];
          mean[k] += share * difference;
          sum += difference * difference;
        });
  }
}

template <std::size_t D>
void merge(double* record, const Feature& other, std::size_t told_dim) {
  const std::size_t dim = D > 0 ? D : told_dim;
  const double weight = record[dim], sum_of_weights = weight + other.weight, share = other.weight / sum_of_weights;
  const double gap = move_mean<D>(record, other.mean, share, dim);
  record[dim] = sum_of_weights;
  record[dim + 1] += other.sse + weight * share * gap;
}

template <std::size_t D>
float position(const double* mean, const double* origin, std::size_t told_dim, float* place) {
  const std::size_t dim = D > 0 ? D : told_dim;
  for (std::size_t k = 0; k < dim; ++k) place[k] = static_cast<float>(mean[k] - origin[k]);
  float squared_norm = 0.0f;
  if constexpr (D > 0) {
    for (std::size_t k = 0; k < D; ++k) squared_norm += place[k] * place[k];
  } else {
    Floats sums = {};
    std::size_t k = 0;
    for (; k + kWidth <= dim; k += kWidth) sums = multiply_add(load(place + k), load(place + k), sums);
    for (; k < dim; ++k) squared_norm += place[k] * place[k];
    squared_norm += sum(sums);
  }
  return squared_norm;
}

// The squared distance of two features whose squared gap is known.
SILVERBIRCH_INLINE double squared_by_gap(CfDistance distance, double gap, const Feature& a, const Feature& b,
                                         std::size_t dim) {
  switch (distance) {
    case CfDistance::centroid: return CentroidDistance::squared(gap, a.weight, a.sse, b.weight, b.sse);
    case CfDistance::average: return AverageDistance::squared(gap, a.weight, a.sse, b.weight, b.sse);
    case CfDistance::diameter: return DiameterDistance::squared(gap, a.weight, a.sse, b.weight, b.sse);
    case CfDistance::ward: return WardDistance::squared(gap, a.weight, a.sse, b.weight, b.sse);
    case CfDistance::radius: return RadiusDistance::squared(gap, a.weight, a.sse, b.weight, b.sse);
    case CfDistance::manhattan: break;
  }
  double manhattan = 0.0;
  for (std::size_t k = 0; k < dim; ++k) manhattan += __builtin_fabs(a.mean[k] - b.mean[k]);
  return ManhattanDistance::squared(manhattan, a.weight, a.sse, b.weight, b.sse);
}

template <std::size_t D>
double squared_distance(CfDistance distance, const Feature& a, const Feature& b, std::size_t told_dim) {
  const std::size_t dim = D > 0 ? D : told_dim;
  return squared_by_gap(distance, squared_gap<D>(a.mean, b.mean, dim), a, b, dim);
}

template <std::size_t D>
bool absorb_within(CfDistance criterion, double squared_threshold, double* record, float* routing,
                   const NodeShape& shape, std::size_t slot, const Feature& other, const double* origin) {
  const std::size_t dim = D > 0 ? D : shape.dim;
  const double weight = record[dim], sse = record[dim + 1];
  const double gap = squared_gap<D>(other.mean, record, dim);
  if (!(squared_by_gap(criterion, gap, other, {weight, record, sse}, dim) <= squared_threshold)) return false;
  const double sum_of_weights = weight + other.weight, share = other.weight / sum_of_weights;
  for (std::size_t k = 0; k < dim; ++k) record[k] += share * (other.mean[k] - record[k]);
  record[dim] = sum_of_weights;
  record[dim + 1] = sse + (other.sse + weight * share * gap);
  write_routing<D>(routing, shape, slot, record, origin);
  return true;
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
          position<D>,
          squared_distance<D>,
          copy_for_routing<D>,
          merge<D>,
          absorb_within<D>};
}

constexpr TreeKernels many() {
  return {{nearest_wide_entry<CentroidRoute>, nearest_wide_entry<ManhattanRoute>, nearest_wide_entry<AverageRoute>,
           nearest_wide_entry<DiameterRoute>, nearest_wide_entry<WardRoute>, nearest_wide_entry<RadiusRoute>,
           nearest_wide_entry<WardRowRoute>},
          position<0>,
          squared_distance<0>,
          copy_for_routing<0>,
          merge<0>,
          absorb_within<0>};
}

}  // namespace

extern const TreeKernelSet SILVERBIRCH_TREE_KERNELS;
const TreeKernelSet SILVERBIRCH_TREE_KERNELS = {{many(), few<1>(), few<2>(), few<3>(), few<4>(), few<5>(), few<6>(),
                                                 few<7>(), few<8>(), few<9>(), few<10>(), few<11>(), few<12>(),
                                                 few<13>(), few<14>(), few<15>(), few<16>()}};

}  // namespace silverbirch

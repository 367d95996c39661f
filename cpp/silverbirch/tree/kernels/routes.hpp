// What the filter on the way down computes, and how far it may be wrong. Only for files that are compiled once per
// instruction set: all of it has internal linkage.
#pragma once

#include "silverbirch/simd/float_vector.hpp"
#include "silverbirch/tree/kernels/tree_kernels.hpp"

namespace silverbirch {
namespace {

// How the value follows from the gap of the means; `first` and `second` are the node's two rows, `Value` is float or a
// vector. What is the same for all entries is left out, and so is the weight of the query as a factor: a gap is never
// multiplied with more than one, and nothing overflows. The formulas are those of cf_distance.hpp. `unrolled`: compiled
// for each number of few dimensions.
template <CfDistance distance>
struct RouteOf;
template <>
struct RouteOf<CfDistance::centroid> {
  static constexpr bool unrolled = true;
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value, Value, const RouteQuery&) {
    return gap;
  }
};
template <>
struct RouteOf<CfDistance::manhattan> {
  static constexpr bool unrolled = false;
  static constexpr bool manhattan_gap = true;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value, Value, const RouteQuery&) {
    return gap * gap;
  }
};
template <>
struct RouteOf<CfDistance::average> {
  static constexpr bool unrolled = true;
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
template <>
struct RouteOf<CfDistance::ward> {
  static constexpr bool unrolled = true;
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value, Value second, const RouteQuery& query) {
    return gap * (second / (second + query.weight));
  }
};
template <>
struct RouteOf<CfDistance::radius> {
  static constexpr bool unrolled = false;
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value first, Value second, const RouteQuery& query) {
    const Value total = second + query.weight, share = second / total, query_share = query.weight / total;
    return first * share + query.variance * query_share + share * query_share * gap;
  }
};
template <>
struct RouteOf<CfDistance::diameter> {
  static constexpr bool unrolled = false;
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value value(Value gap, Value first, Value second, const RouteQuery& query) {
    const Value total = second + query.weight, others = total - 1.0f, half = total * 0.5f;
    return 0.5f * total / (others < half ? half : others) *
           RouteOf<CfDistance::radius>::value(gap, first, second, query);
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
template <class Kind, class Value>
SILVERBIRCH_INLINE Value doubtful_limit(Value least_value, const NodeShape& shape, Value squared_norm) {
  const float norms = Kind::manhattan_gap ? static_cast<float>(shape.dim) : 1.0f;
  return least_value + shape.relative_doubt * least_value + norms * (0x1p-29f * squared_norm + 1e-30f);
}

template <class Kind>
SILVERBIRCH_INLINE Floats first_gap(Floats difference) {
  if constexpr (Kind::manhattan_gap)
    return difference < 0.0f ? -difference : difference;
  else
    return difference * difference;
}

template <class Kind>
SILVERBIRCH_INLINE Floats add_gap(Floats gap, Floats difference) {
  if constexpr (Kind::manhattan_gap)
    return gap + (difference < 0.0f ? -difference : difference);
  else
    return multiply_add(difference, difference, gap);
}

}  // namespace
}  // namespace silverbirch

// The formulas of the routing filter, and the bound of their rounding error. Only for files that are compiled once per
// instruction set: everything has internal linkage.
#pragma once

#include "silverbirch/simd/float_vector.hpp"
#include "silverbirch/tree/kernels/tree_kernels.hpp"

namespace silverbirch {
namespace {

// Each `value` computes the filter's value from the gap of the means. `first` and `second` come from the two rows of
// the node (see NodeShape::ward); `Value` is float or a vector. The formulas are those of cf_distance.hpp without terms
// and factors that are the same for all entries, such as the weight of the query. So a gap is never multiplied by more
// than one, and nothing overflows. `unrolled`: compiled separately for each number of dimensions up to kFewDimensions.
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

// The largest value that an entry may have if, in exact arithmetic, it could be nearer than the entry of the least
// value.
//
// Let u = 2^-24, Q the norm of the query's position and G a gap. Rounding position and mean to floats and subtracting
// them moves the gap vector by at most 2u(Q + G). Summation, factors and the slot number in the last bits change the
// value by a relative (dim + 16 + 2·slots)u at most. So the roots of two values that are in the wrong order differ by
// at most a relative (dim + 2·slots + 18)u and an absolute 4u·Q. Squaring with (a + b)² <= (1 + e)a² + (1 + 1/e)b² and
// e = 2^-14 gives the bound below; its constants are rounded up, and shape.relative_doubt is its relative part. For
// sums of absolute gaps, Q is at most sqrt(dim) times as large. The last term covers values too small for a float.
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

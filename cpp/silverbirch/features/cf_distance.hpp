// The distances of two cluster features, from their summary statistics alone.
//
// Each struct is named after a distance and computes its *square* from the gap of the means, the weights and the sses.
// The comment before it gives the paper's code (D0 …). `Value` is double or a vector of doubles. The formulas are
// symmetric to the last bit, which the clustering algorithms rely on: swapping the two features gives the same number.
// Formulas: Lang & Schubert 2022, "BETULA: Fast clustering of large data with improved BIRCH CF-trees".
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "silverbirch/base/names.hpp"
#include "silverbirch/simd/inline.hpp"

namespace silverbirch {

enum class CfDistance { centroid, manhattan, average, diameter, ward, radius };

// gap: squared Euclidean gap of the means (for manhattan: the sum of absolute gaps); n, s: weights and sses.

// D0: Euclidean distance of the means.
struct CentroidDistance {
  static constexpr std::string_view name = "centroid";
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double, double, Value, Value) {
    return gap;
  }
};

// D1: Manhattan distance of the means.
struct ManhattanDistance {
  static constexpr std::string_view name = "manhattan";
  static constexpr bool manhattan_gap = true;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double, double, Value, Value) {
    return gap * gap;
  }
};

// D4: how much the sum of squares grows when the two features are merged; half the square of Ward's linkage distance.
struct WardDistance {
  static constexpr std::string_view name = "ward";
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double n_a, double, Value n_b, Value) {
    return (n_a * n_b) / (n_a + n_b) * gap;
  }
};

// D2: root mean squared distance between the points of one feature and the points of the other.
struct AverageDistance {
  static constexpr std::string_view name = "average";
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double n_a, double s_a, Value n_b, Value s_b) {
    return gap + (s_a / n_a + s_b / n_b);
  }
};

// R: root mean squared distance of the merged points from their mean.
struct RadiusDistance {
  static constexpr std::string_view name = "radius";
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double n_a, double s_a, Value n_b, Value s_b) {
    return ((s_a + s_b) + WardDistance::squared(gap, n_a, s_a, n_b, s_b)) / (n_a + n_b);
  }
};

// D3: root mean squared distance over all pairs of different points of the merged set, 2·sse/(n - 1). Two merged points
// have n ≥ 2. Fractional weights may sum to less: there n/2 replaces n - 1, and the two are equal at n = 2.
struct DiameterDistance {
  static constexpr std::string_view name = "diameter";
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double n_a, double s_a, Value n_b, Value s_b) {
    const Value n = n_a + n_b;
    const Value others = n - 1.0;
    const Value half = n * 0.5;
    return 2.0 * ((s_a + s_b) + WardDistance::squared(gap, n_a, s_a, n_b, s_b)) / (others < half ? half : others);
  }
};

// The formula of an enumerator. Tables with an entry for each enumerator, such as those of kernels, are generated from
// these. Another distance needs its enumerator, its formula and its line here, and a route in tree/kernels/routes.hpp.
template <auto kind>
struct FormulaOf;
template <>
struct FormulaOf<CfDistance::centroid> : CentroidDistance {};
template <>
struct FormulaOf<CfDistance::manhattan> : ManhattanDistance {};
template <>
struct FormulaOf<CfDistance::average> : AverageDistance {};
template <>
struct FormulaOf<CfDistance::diameter> : DiameterDistance {};
template <>
struct FormulaOf<CfDistance::ward> : WardDistance {};
template <>
struct FormulaOf<CfDistance::radius> : RadiusDistance {};

using AllCfDistances = std::make_index_sequence<static_cast<std::size_t>(CfDistance::radius) + 1>;

template <class Enum, std::size_t... I>
constexpr std::array<std::string_view, sizeof...(I)> names_of(std::index_sequence<I...>) {
  return {FormulaOf<static_cast<Enum>(I)>::name...};
}

inline constexpr auto kCfDistanceNames = names_of<CfDistance>(AllCfDistances{});

inline CfDistance cf_distance_from_name(std::string_view name) {
  return from_name<CfDistance>(kCfDistanceNames, name, "cluster feature distance");
}

}  // namespace silverbirch

// The distances of two cluster features, from their summary statistics alone.
//
// Each struct is named after a distance and computes its *square* from the gap of the means, the weights and the sses.
// The comment before it gives the paper's code (D0 …). `Value` is double or a vector of doubles. The formulas are
// symmetric to the last bit, which the clustering algorithms rely on: swapping the two features gives the same number.
// Formulas: Lang & Schubert 2022, "BETULA: Fast clustering of large data with improved BIRCH CF-trees".
#pragma once

#include <array>
#include <string_view>

#include "silverbirch/base/names.hpp"
#include "silverbirch/simd/inline.hpp"

namespace silverbirch {

enum class CfDistance { centroid, manhattan, average, diameter, ward, radius };

inline constexpr std::array<std::string_view, 6> kCfDistanceNames = {"centroid", "manhattan", "average",
                                                                     "diameter", "ward",      "radius"};

inline CfDistance cf_distance_from_name(std::string_view name) {
  return from_name<CfDistance>(kCfDistanceNames, name, "cluster feature distance");
}

// gap: squared Euclidean gap of the means (for manhattan: the sum of absolute gaps); n, s: weights and sses.

// D0: Euclidean distance of the means.
struct CentroidDistance {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double, double, Value, Value) {
    return gap;
  }
};

// D1: Manhattan distance of the means.
struct ManhattanDistance {
  static constexpr bool manhattan_gap = true;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double, double, Value, Value) {
    return gap * gap;
  }
};

// D4: how much the sum of squares grows when the two features are merged; half the square of Ward's linkage distance.
struct WardDistance {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double n_a, double, Value n_b, Value) {
    return (n_a * n_b) / (n_a + n_b) * gap;
  }
};

// D2: root mean squared distance between the points of one feature and the points of the other.
struct AverageDistance {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double n_a, double s_a, Value n_b, Value s_b) {
    return gap + (s_a / n_a + s_b / n_b);
  }
};

// R: root mean squared distance of the merged points from their mean.
struct RadiusDistance {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double n_a, double s_a, Value n_b, Value s_b) {
    return ((s_a + s_b) + WardDistance::squared(gap, n_a, s_a, n_b, s_b)) / (n_a + n_b);
  }
};

// D3: root mean squared distance over all pairs of different points of the merged set, 2·sse/(n - 1). Two merged points
// have n ≥ 2. Fractional weights may sum to less: there n/2 replaces n - 1, and the two are equal at n = 2.
struct DiameterDistance {
  static constexpr bool manhattan_gap = false;
  template <class Value>
  static SILVERBIRCH_INLINE Value squared(Value gap, double n_a, double s_a, Value n_b, Value s_b) {
    const Value n = n_a + n_b;
    const Value others = n - 1.0;
    const Value half = n * 0.5;
    return 2.0 * ((s_a + s_b) + WardDistance::squared(gap, n_a, s_a, n_b, s_b)) / (others < half ? half : others);
  }
};

}  // namespace silverbirch

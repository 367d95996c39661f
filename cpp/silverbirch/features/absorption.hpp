// The absorption criteria. A criterion is the size that a leaf of a CF-tree would have after it absorbed a feature; the
// tree's threshold limits it. The formula of a criterion gives the square of that size from the two features to be
// merged. All present criteria use formulas of the CF distances. Another criterion needs its enumerator and its line
// here, and its formula.
#pragma once

#include "silverbirch/features/cf_distance.hpp"

namespace silverbirch {

enum class Absorption { centroid, manhattan, average, diameter, ward, radius };

template <>
struct FormulaOf<Absorption::centroid> : CentroidDistance {};
template <>
struct FormulaOf<Absorption::manhattan> : ManhattanDistance {};
template <>
struct FormulaOf<Absorption::average> : AverageDistance {};
template <>
struct FormulaOf<Absorption::diameter> : DiameterDistance {};
template <>
struct FormulaOf<Absorption::ward> : WardDistance {};
template <>
struct FormulaOf<Absorption::radius> : RadiusDistance {};

using AllAbsorptions = std::make_index_sequence<static_cast<std::size_t>(Absorption::radius) + 1>;

inline constexpr auto kAbsorptionNames = names_of<Absorption>(AllAbsorptions{});

inline Absorption absorption_from_name(std::string_view name) {
  return from_name<Absorption>(kAbsorptionNames, name, "absorption criterion");
}

}  // namespace silverbirch

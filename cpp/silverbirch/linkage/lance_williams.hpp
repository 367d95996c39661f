// All linkages in one table: the properties of each, which algorithms can compute it, and its formula.
//
// Most formulas are Lance-Williams recurrences (table 1 of the paper). They give the distance between a merged cluster
// A∪B and a third cluster C from the three distances before the merge. ac, bc, ab are these distances (squared for
// centroid, median and ward); a, b, c are the weights of the clusters. Linkages with prototypes have no recurrence:
// their formula is a cluster space of reference/prototype_space.hpp.
//
// To add a linkage, write its formula, here or in prototype_space.hpp, and its row in kLinkageTable.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include "silverbirch/features/cf_distance.hpp"

namespace silverbirch {

// by_weight: each cluster counts by its weight (ward, average, centroid). equal: both parts of a merge count the same,
// as in weighted (WPGMA) and median (WPGMC) linkage. Then the merged mean is the midpoint, and its variance
// (v_a + v_b)/2 + gap²/4 makes D2 follow the WPGMA recurrence exactly.
enum class Vote { by_weight, equal };

// How the distance of two clusters follows from the distances of all pairs of a point of one and a point of the other.
// A minimum follows from a spanning tree; a maximum or a mean can be verified point by point. None of them needs a
// matrix.
enum class OverPairs { none, minimum, maximum, mean };

// One row of the table.
struct Linkage {
  std::string_view name;
  // The merged cluster is never nearer to a third one than the nearer of its two parts was [Bruynooghe 1977], and the
  // distance of two clusters does not depend on the order of the merges that made them. Then NN-chain and rounds, which
  // merge in another order, give the greedy result, and there are no inversions.
  bool reducible = true;
  bool squared = false;  // defined on squared Euclidean distances; heights are their roots
  Vote vote = Vote::by_weight;
  // If the linkage can be computed from cluster features (table 2 of the paper): the CF distance whose square, times
  // `scale`, is what the recurrence works on. For average and weighted that is the mean squared distance.
  std::optional<CfDistance> distance = std::nullopt;
  double scale = 1.0;
  OverPairs over_pairs = OverPairs::none;
  bool prototypes = false;  // one object represents each cluster; set from the formula

  // Whether rounds over the points of the clusters compute the linkage without a matrix.
  constexpr bool by_members() const { return over_pairs == OverPairs::maximum || over_pairs == OverPairs::mean; }
};

template <class Formula>
concept Recurrence = requires(double x) {
  { Formula::combine(x, x, x, x, x, x) } -> std::same_as<double>;
};

template <class Formula>
concept Prototypes = !Recurrence<Formula>;

struct SingleLinkage {
  static double combine(double ac, double bc, double, double, double, double) { return std::min(ac, bc); }
};

struct CompleteLinkage {
  static double combine(double ac, double bc, double, double, double, double) { return std::max(ac, bc); }
};

// UPGMA
struct AverageLinkage {
  static double combine(double ac, double bc, double, double a, double b, double) {
    return (a * ac + b * bc) / (a + b);
  }
};

// WPGMA, McQuitty
struct WeightedLinkage {
  static double combine(double ac, double bc, double, double, double, double) { return 0.5 * (ac + bc); }
};

// UPGMC
struct CentroidLinkage {
  static double combine(double ac, double bc, double ab, double a, double b, double) {
    return (a * ac + b * bc - a * b * ab / (a + b)) / (a + b);
  }
};

// WPGMC
struct MedianLinkage {
  static double combine(double ac, double bc, double ab, double, double, double) { return 0.5 * (ac + bc) - 0.25 * ab; }
};

struct WardLinkage {
  static double combine(double ac, double bc, double ab, double a, double b, double c) {
    return ((a + c) * ac + (b + c) * bc - c * ab) / (a + b + c);
  }
};

template <class Objects>
class MinimaxSpace;
template <class Objects>
class MedoidSpace;

struct MinimaxLinkage {
  template <class Objects>
  using Space = MinimaxSpace<Objects>;
};

struct MedoidLinkage {
  template <class Objects>
  using Space = MedoidSpace<Objects>;
};

template <class Formula>
struct LinkageRow {
  Linkage linkage;
};

template <class Formula>
consteval LinkageRow<Formula> linkage_row(Linkage linkage) {
  if (linkage.squared && !linkage.distance) throw std::logic_error("a squared linkage needs its CF distance");
  linkage.prototypes = Prototypes<Formula>;
  return {linkage};
}

inline constexpr std::tuple kLinkageTable = {
    linkage_row<SingleLinkage>({.name = "single", .over_pairs = OverPairs::minimum}),
    linkage_row<CompleteLinkage>({.name = "complete", .over_pairs = OverPairs::maximum}),
    linkage_row<AverageLinkage>({.name = "average", .distance = CfDistance::average, .over_pairs = OverPairs::mean}),
    linkage_row<WeightedLinkage>(
        {.name = "weighted", .vote = Vote::equal, .distance = CfDistance::average, .over_pairs = OverPairs::mean}),
    linkage_row<CentroidLinkage>(
        {.name = "centroid", .reducible = false, .squared = true, .distance = CfDistance::centroid}),
    linkage_row<MedianLinkage>(
        {.name = "median", .reducible = false, .squared = true, .vote = Vote::equal, .distance = CfDistance::centroid}),
    linkage_row<WardLinkage>({.name = "ward", .squared = true, .distance = CfDistance::ward, .scale = 2.0}),
    linkage_row<MinimaxLinkage>({.name = "minimax"}),
    linkage_row<MedoidLinkage>({.name = "medoid", .reducible = false}),
};

inline constexpr std::array kLinkages =
    std::apply([](const auto&... rows) { return std::array{rows.linkage...}; }, kLinkageTable);

inline const Linkage& linkage_from_name(std::string_view name) {
  for (const Linkage& linkage : kLinkages)
    if (linkage.name == name) return linkage;
  throw std::invalid_argument("unknown linkage '" + std::string(name) + "'");
}

// The linkage that merges features at each step and recomputes this CF distance: the paper's "CF aggregation". For D0,
// D2 and D4 it equals a row of the table, by algebra. The others can have inversions.
constexpr Linkage aggregation_by(CfDistance distance) {
  for (const Linkage& linkage : kLinkages)
    if (linkage.distance == distance && linkage.vote == Vote::by_weight) return linkage;
  return {.name = kCfDistanceNames[static_cast<std::size_t>(distance)],
          .reducible = false,
          .squared = true,
          .distance = distance};
}

// Calls visit with the formula of a linkage, which must be of the kind that visit accepts: `Recurrence` or
// `Prototypes`.
template <class Result, class Visit>
Result with_formula(const Linkage& linkage, Visit visit) {
  std::optional<Result> result;
  const auto try_row = [&]<class Formula>(const LinkageRow<Formula>& row) {
    if constexpr (std::invocable<Visit, Formula>)
      if (row.linkage.name == linkage.name) result.emplace(visit(Formula{}));
  };
  std::apply([&](const auto&... rows) { (try_row(rows), ...); }, kLinkageTable);
  if (!result) throw std::logic_error(std::string(linkage.name) + " linkage has no formula of this kind");
  return *std::move(result);
}

}  // namespace silverbirch

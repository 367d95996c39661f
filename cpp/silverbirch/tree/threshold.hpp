// What a rebuild merges when the tree has to become smaller, and how the absorption threshold grows.
//
// Leaves are merged where that adds least to their sum of squares (D4, Ward's cost), within a limit; and no larger, by
// the absorption criterion, than another limit, which becomes the threshold. The cost knows how heavy leaves are, the
// criterion need not: the radius of a merge is small where the data is dense, however many points it concerns. By the
// radius alone, the many leaves of a dense region would be merged before a few outliers, and the sum of squares of data
// of uneven density be a multiple. The size keeps leaves of a sorted stream, light while they are new, from becoming
// too large. Then rows are absorbed by a somewhat larger threshold while the tree is young: it will be raised anyway.
// Measured by benchmarks/studies/tree_quality.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace silverbirch {

// The limits are raised by at least this factor (in squares) when they did not free enough leaves. By little, because
// in many dimensions a limit that allows a few more merges is close to one that allows all; the excess over one is
// doubled each time.
inline constexpr double kLeastGrowth = 1.02;
// A rebuild has to leave room for this share of the leaves, or the next one follows at once.
inline constexpr double kLeastRoom = 0.05;

// So many leaves tell how much it costs to merge one with its nearest sibling.
inline constexpr std::size_t kSampledLeaves = 2048;

// The quantile of costs is followed up to this factor (in squares) over what frees just enough leaves: where few merges
// are cheap and all others dear, as between groups far apart, it would merge the groups.
inline constexpr double kLargestStep = 4.0;

// How often a rebuild that merged far too much is tried again with less.
inline constexpr int kMostHalvings = 8;

// The share of the leaves a rebuild tries to free. While the tree has seen few points for its size, rebuilds are what
// costs time and the threshold is far from where it will be, so the steps are large; later the leaves are worth more.
inline constexpr double kSmallestRoom = 0.15, kLargestRoom = 0.32;
inline double room_to_free(double points, double max_leaves) {
  return std::clamp(2.0 * max_leaves / points, kSmallestRoom, kLargestRoom);
}

// Absorption threshold over the limit of size, in squares. The larger the step, the more room there is.
inline double room_to_grow(double room) { return 1.0 + 3.5 * (room - kSmallestRoom); }

// Of the merges that are cheap enough, about so many are small enough.
inline constexpr double kShareWithinSize = 0.75;

// Of a merge of two leaves, or of the greatest that is allowed.
struct MergeExtent {
  double squared_cost = 0.0;  // what it adds to the sum of squares
  double squared_size = 0.0;  // by the absorption criterion
};

// The value that this share of them do not exceed; of some at least.
inline double quantile(std::vector<double>& values, double share) {
  const double rank = std::clamp(share, 0.0, 1.0) * static_cast<double>(values.size());
  const auto place = values.begin() + (rank < 1.0 ? 0 : static_cast<std::ptrdiff_t>(rank) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

// What a rebuild may merge.
// tried: limits that did not free enough, or zero at the first attempt; the result is larger.
// merges: of some leaves with their cheapest siblings; may be empty.
// share_to_free: of the leaves that have to go; room: that should, see above.
// squared_threshold: the absorption threshold until now, to be raised.
// data_scale: a squared length of the order of the data's spread, for the case that no merge tells one.
inline MergeExtent merge_limits(const MergeExtent& tried, const std::vector<MergeExtent>& merges, double share_to_free,
                                double room, double least_growth, double squared_threshold, double data_scale) {
  MergeExtent limits{0.0, kLeastGrowth * squared_threshold};
  double least_cost = 1e-12 * data_scale;
  if (!merges.empty()) {
    std::vector<double> costs;
    for (const MergeExtent& merge : merges) costs.push_back(merge.squared_cost);
    // Both leaves of a merge have its cost, but a merged leaf goes on merging.
    limits.squared_cost = std::min(quantile(costs, 1.5 * room), kLargestStep * quantile(costs, 2.0 * share_to_free));
    std::erase(costs, 0.0);
    if (!costs.empty()) least_cost = *std::min_element(costs.begin(), costs.end());
  }
  const auto larger = [&](double limit, double before, double least) {
    return std::max(limit, before > 0.0 ? least_growth * before : least);
  };
  limits.squared_cost = larger(limits.squared_cost, tried.squared_cost, least_cost);
  std::vector<double> sizes;
  for (const MergeExtent& merge : merges)
    if (merge.squared_cost <= limits.squared_cost) sizes.push_back(merge.squared_size);
  if (!sizes.empty()) limits.squared_size = std::max(limits.squared_size, quantile(sizes, kShareWithinSize));
  limits.squared_size = larger(limits.squared_size, tried.squared_size, 1e-12 * data_scale);
  return limits;
}

}  // namespace silverbirch

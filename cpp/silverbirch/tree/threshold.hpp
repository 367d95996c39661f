// Chooses what a rebuild merges, and how the absorption threshold grows.
//
// Two leaves are merged if the merge is cheap and small enough. Its cost is what it adds to the sum of squares (D4,
// Ward's cost). Its size is measured by the absorption criterion, and the limit of the size becomes the threshold.
//
// The cost depends on the weight of the leaves; the size need not. The radius of a merge is small where the data is
// dense, however many points it concerns. With a limit of the radius alone, the many leaves of a dense region would be
// merged before a few outliers, and the sum of squares would be a multiple on data of uneven density. The limit of the
// size is for sorted streams, whose new leaves are light: it keeps them from becoming too large.
//
// While the tree is young, the threshold is somewhat larger than the limit of the size: it will be raised soon anyway.
// Measured by benchmarks/studies/tree_quality.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace silverbirch {

// The limits grow by at least this factor (in squares) when they did not free enough leaves. The factor is small,
// because in many dimensions a limit that allows a few more merges is close to one that allows all. Its excess over one
// doubles with each attempt.
inline constexpr double kLeastGrowth = 1.02;
// A rebuild must free this share of the limits, or the next one would follow at once.
inline constexpr double kLeastRoom = 0.05;

// The sample of leaves whose merge costs are measured.
inline constexpr std::size_t kSampledLeaves = 2048;

// The limit of the cost is a quantile, but at most this factor (in squares) over the cost that frees just enough
// leaves. Where few merges are cheap and all others dear, as with groups far apart, the quantile alone would merge the
// groups.
inline constexpr double kLargestStep = 4.0;

// How often a rebuild that merged far too much is repeated with a smaller limit.
inline constexpr int kMostHalvings = 8;

// The share of the leaves that a rebuild tries to free. While the tree has seen few points for its size, rebuilds
// dominate the time and the threshold is far from its final value, so the share is large. Later the leaves are worth
// more.
inline constexpr double kSmallestRoom = 0.15, kLargestRoom = 0.32;
inline double room_to_free(double points, double max_leaves) {
  return std::clamp(2.0 * max_leaves / points, kSmallestRoom, kLargestRoom);
}

// The ratio of the threshold to the limit of the size, in squares. The larger the share to free, the larger the ratio.
inline double room_to_grow(double room) { return 1.0 + 3.5 * (room - kSmallestRoom); }

// The share of the cheap enough merges that are also small enough.
inline constexpr double kShareWithinSize = 0.75;

// The cost and size of a merge of two leaves, or the limits of both.
struct MergeExtent {
  double squared_cost = 0.0;  // what the merge adds to the sum of squares
  double squared_size = 0.0;  // by the absorption criterion
};

// The quantile, rounded down to one of the values. There must be at least one value.
inline double quantile(std::vector<double>& values, double share) {
  const double rank = std::clamp(share, 0.0, 1.0) * static_cast<double>(values.size());
  const auto place = values.begin() + (rank < 1.0 ? 0 : static_cast<std::ptrdiff_t>(rank) - 1);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

// The limits of the merges of a rebuild.
// tried: limits that did not free enough leaves, or zero at the first attempt; the result is larger
// merges: a sample of leaves, each with its cheapest sibling; may be empty
// share_to_free: the share of the leaves that must go
// room: the share of the leaves that should go, see room_to_free
// squared_threshold: the absorption threshold so far
// data_scale: a squared length of the order of the spread of the data, used where no merge gives a scale
inline MergeExtent merge_limits(const MergeExtent& tried, const std::vector<MergeExtent>& merges, double share_to_free,
                                double room, double least_growth, double squared_threshold, double data_scale) {
  MergeExtent limits{0.0, kLeastGrowth * squared_threshold};
  double least_cost = 1e-12 * data_scale;
  if (!merges.empty()) {
    std::vector<double> costs;
    for (const MergeExtent& merge : merges) costs.push_back(merge.squared_cost);
    // A merge frees one of two leaves, so twice the share of leaves must be cheap enough. 1.5 times is enough for
    // `room`, because merged leaves merge again.
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

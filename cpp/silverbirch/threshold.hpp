// How the absorption threshold grows when the tree has to become smaller.
//
// Leaves are merged by one threshold, and then rows are absorbed by a larger one. If both were the same, every leaf
// would soon be as large as the threshold allows, and what is turned away by full leaves would fill the tree with small
// ones between them; with room to grow, leaves settle where the data is. Few rebuilds with large steps give finer
// leaves than many with small ones. Measured by benchmarks/tree_quality.py.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace silverbirch {

// The threshold is raised by at least this factor (in squares), or it could be rebuilt forever for no gain. By little,
// because in many dimensions a threshold that allows a few more merges is close to one that allows all; the excess over
// one is doubled each time a rebuild did not free enough leaves.
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
inline double room_to_free(double points, double max_leaves) {
  return std::clamp(2.0 * max_leaves / points, 0.15, 0.32);
}

// Absorption threshold over merge threshold, in squares. The larger the step, the more room there is.
inline double room_to_grow(double room) { return 1.1 + 2.6 * room; }

// The threshold to absorb rows by, after leaves were merged by another.
inline double absorption_threshold(double squared_merge_threshold, double room, double squared_threshold_before) {
  return std::max(room_to_grow(room) * squared_merge_threshold, kLeastGrowth * squared_threshold_before);
}

// The threshold to merge leaves by.
// tried: a squared threshold that did not free enough, or 0 at the first attempt; the result is larger.
// squared_costs: for some leaves the squared absorption cost of merging it with its nearest sibling; may be empty.
// share_to_free: of the leaves that have to go; room: that should, see above.
// data_scale: a squared length of the order of the data's spread, for the case that no cost tells one.
inline double squared_merge_threshold(double tried, std::vector<double> squared_costs, double share_to_free,
                                      double room, double least_growth, double data_scale) {
  double candidate = 0.0, smallest = 1e-12 * data_scale;
  if (!squared_costs.empty()) {
    const auto cost_at = [&](double share) {
      const double rank = std::clamp(share, 0.0, 1.0) * static_cast<double>(squared_costs.size());
      const auto place = squared_costs.begin() + (rank < 1.0 ? 0 : static_cast<std::ptrdiff_t>(rank) - 1);
      std::nth_element(squared_costs.begin(), place, squared_costs.end());
      return *place;
    };
    // Both leaves of a merge have its cost, but a merged leaf goes on merging.
    const double wanted = cost_at(1.5 * room), enough = cost_at(2.0 * share_to_free);
    candidate = std::min(wanted, kLargestStep * enough);
    std::erase(squared_costs, 0.0);
    if (!squared_costs.empty()) smallest = *std::min_element(squared_costs.begin(), squared_costs.end());
  }
  return std::max(candidate, tried > 0.0 ? least_growth * tried : smallest);
}

}  // namespace silverbirch

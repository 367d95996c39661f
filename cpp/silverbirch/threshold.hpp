// How the absorption threshold grows when the tree has to become smaller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace silverbirch {

// Share of the leaves whose nearest sibling comes within the new threshold. Lower rebuilds more often, higher throws
// away leaves that were still affordable; between a quarter and a half the leaves come out much alike.
inline constexpr double kRebuildQuantile = 0.25;
// The threshold is raised by at least this factor (in squares), or it could be rebuilt forever for no gain. By little,
// because in many dimensions a threshold that allows a few more merges is close to one that allows all; the excess over
// one is doubled each time a rebuild did not free enough leaves.
inline constexpr double kLeastGrowth = 1.02;
// A rebuild has to leave room for this share of the leaves, or the next one follows at once.
inline constexpr double kRoomAfterRebuild = 0.05;

// The quantile is followed up to this factor (in squares) over what frees just enough leaves: where few merges are
// cheap and all others dear, as between groups far apart, it would merge the groups.
inline constexpr double kLargestStep = 4.0;

// squared_costs: for each leaf the squared absorption cost of merging it with its nearest sibling; may be empty.
// leaves_to_free: how many leaves have to go.
// data_scale: a squared length of the order of the data's spread, for the case that no cost tells one.
inline double next_squared_threshold(double squared_threshold, std::vector<double> squared_costs,
                                     std::size_t leaves_to_free, double least_growth, double data_scale) {
  double candidate = 0.0, smallest = 1e-12 * data_scale;
  if (!squared_costs.empty()) {
    const std::size_t last = squared_costs.size() - 1;
    const auto cost_at = [&](std::size_t rank) {
      const auto place = squared_costs.begin() + static_cast<std::ptrdiff_t>(rank);
      std::nth_element(squared_costs.begin(), place, squared_costs.end());
      return *place;
    };
    const double wanted = cost_at(static_cast<std::size_t>(kRebuildQuantile * static_cast<double>(last)));
    const double enough = cost_at(std::min(last, 2 * leaves_to_free - 1));  // both leaves of a merge have its cost
    candidate = std::min(wanted, kLargestStep * enough);
    std::erase(squared_costs, 0.0);
    if (!squared_costs.empty()) smallest = *std::min_element(squared_costs.begin(), squared_costs.end());
  }
  const double floor = squared_threshold > 0.0 ? least_growth * squared_threshold : smallest;
  return std::max(candidate, floor);
}

}  // namespace silverbirch

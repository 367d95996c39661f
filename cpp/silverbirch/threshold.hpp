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

// squared_costs: for each leaf the squared absorption cost of merging it with its nearest sibling; may be empty.
// data_scale: a squared length of the order of the data's spread, for the case that no cost tells one.
inline double next_squared_threshold(double squared_threshold, std::vector<double> squared_costs, double least_growth,
                                     double data_scale) {
  double candidate = 0.0, smallest = 1e-12 * data_scale;
  if (!squared_costs.empty()) {
    const auto rank = static_cast<std::ptrdiff_t>(kRebuildQuantile * static_cast<double>(squared_costs.size() - 1));
    std::nth_element(squared_costs.begin(), squared_costs.begin() + rank, squared_costs.end());
    candidate = squared_costs[static_cast<std::size_t>(rank)];
    std::erase(squared_costs, 0.0);
    if (!squared_costs.empty()) smallest = *std::min_element(squared_costs.begin(), squared_costs.end());
  }
  const double floor = squared_threshold > 0.0 ? least_growth * squared_threshold : smallest;
  return std::max(candidate, floor);
}

}  // namespace silverbirch

// The distances of all pairs of objects as scipy's condensed vector: the input of the algorithms on a matrix.
#pragma once

#include <cstddef>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/cf_distance.hpp"
#include "silverbirch/features/features.hpp"

namespace silverbirch {

// Squared CF distances of all pairs.
void pairwise_squared_distances(const FeaturesView& features, CfDistance distance, double* condensed,
                                std::size_t threads, const Progress& progress);

}  // namespace silverbirch

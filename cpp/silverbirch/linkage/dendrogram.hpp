// What follows from a finished dendrogram (scipy's Z) in one pass over its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/features/features.hpp"

namespace silverbirch {

// For every row of Z, the greatest height in its subtree: its own height unless there are inversions.
std::vector<double> subtree_heights(const double* z, std::size_t merges);

// For every row of Z, the number of leaves below it.
std::vector<double> leaf_counts(const double* z, std::size_t merges);

// Labels of the leaves when only the rows up to a level are merged, for several levels at once. A row r is merged if
// level_of_row[r] is at most the level; it must not be below the values of the rows that r refers to. The result has
// one row per leaf and one column per level. Labels are numbered by first occurrence.
std::vector<std::int64_t> cut(const double* z, std::size_t merges, const double* level_of_row, const double* levels,
                              std::size_t level_count);

// The features of the merged clusters, one for each row of Z.
Features merged_features(const double* z, const FeaturesView& leaves);

}  // namespace silverbirch

// What can be read off a finished dendrogram (scipy's Z) in one pass over its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/features/features.hpp"

namespace silverbirch {

// For every row of Z the greatest height at or below it: the height itself unless there are inversions.
std::vector<double> subtree_heights(const double* z, std::size_t merges);

// For every row of Z the number of leaves below it.
std::vector<double> leaf_counts(const double* z, std::size_t merges);

// The clusters that remain when only the rows up to a level are merged, for several levels at once. level_of_row: what
// the levels are compared with; that of a row must be no less than those of the rows it refers to. Labels of the
// leaves, one row a leaf and one column a level, numbered by first occurrence.
std::vector<std::int64_t> cut(const double* z, std::size_t merges, const double* level_of_row, const double* levels,
                              std::size_t level_count);

// The features of the merged clusters, one for each row of Z.
Features merged_features(const double* z, const FeaturesView& leaves);

}  // namespace silverbirch

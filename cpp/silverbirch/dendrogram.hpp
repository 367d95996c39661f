// What can be read off a finished dendrogram (scipy's Z) in one pass over its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "features.hpp"

namespace silverbirch {

// For every row of Z the greatest height at or below it: the height itself unless there are inversions.
std::vector<double> subtree_heights(const double* z, std::size_t merges);

// For every row of Z the number of leaves below it.
std::vector<double> leaf_counts(const double* z, std::size_t merges);

// The clusters that remain when only the rows with applied[row] are merged; a row may be applied only where the rows it
// refers to are. Labels of the leaves, numbered by first occurrence.
std::vector<std::int64_t> cut(const double* z, std::size_t merges, const bool* applied);

// The features of the merged clusters, one for each row of Z.
Features merged_features(const double* z, const FeaturesView& leaves);

}  // namespace silverbirch

// Single linkage of sparse rows, in memory linear in their nonzero values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "silverbirch/base/progress.hpp"
#include "silverbirch/linkage/merge_history.hpp"

namespace silverbirch {

// Compressed sparse rows whose arrays belong to someone else. Row i has the values data[begins[i]] … data[begins[i + 1]
// - 1], in columns that ascend; all other values are zero.
struct SparseRows {
  std::size_t rows = 0, columns = 0;
  const std::int64_t* begins = nullptr;
  const std::int32_t* indices = nullptr;
  const double* data = nullptr;
};

enum class SparseMetric { euclidean, cosine, correlation };
inline constexpr std::array<std::string_view, 3> kSparseMetricNames = {"euclidean", "cosine", "correlation"};
SparseMetric sparse_metric_from_name(std::string_view name);

// Heights are in scipy's units. Throws std::invalid_argument if the arrays are not such rows, a value is not finite or
// too large to square, or the metric is not defined for a row: cosine needs a value that is not zero, correlation
// values that are not all the same.
Merges sparse_mst(const SparseRows& rows, SparseMetric metric, const Progress& progress);

}  // namespace silverbirch

// A minimum spanning tree by Prim's algorithm needs the distances from one row to all others at each step. The products
// of the row with all others come from lists of the rows that have a value in each column, so a step costs the lengths
// of the lists of the row's own columns, and a pass over all rows.
//
// All three metrics are Euclidean distances of rows u = (x - m) r: m = 0 and r = 1 for Euclidean distances; r = 1 / |x|
// for cosine; for correlation m is the mean of the row and r = 1 / |x - m|. The last two are half the squared distance.
// The centred rows are not sparse, but never needed: with d columns,
//   |u - v|² = |u|² + |v|² - 2 (x·y - d m_x m_y) r_x r_y.
// For rows near each other these terms cancel. So the expansion is only a filter. Where it does not prove that the row
// is at least as far as an earlier one, the distance is computed from the differences of the values. Equal rows have
// distance zero, and the tree is the same as if all distances had been computed from differences.
//
// The error of the filter. Let e = 2^-53, n the largest number of values in a row, and N = |x|² r² ≥ |u|². To first
// order, in units of e (N_x + N_y):
//   |u|² and |v|², sums of n + 1 squares of relative error 5e:                n + 6
//   x·y, a sum of n products, by |x·y| ≤ (|x|² + |y|²) / 2:                   n
//   m is not quite the mean: m_y (Σx - d m_x), likewise for y:                2 (n + 1)
//   d m_x m_y, the factors r_x r_y, and the sums:                             7
//   the distance by differences, 2n + 1 squares of u_k - v_k:                 4n + 16
// The sum is at most 8n + 31. The bound (n + 8) 2^-50 = (8n + 64) e leaves room for the higher orders.
#include "silverbirch/linkage/reference/sparse_mst.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "silverbirch/base/names.hpp"
#include "silverbirch/features/feature_block.hpp"
#include "silverbirch/linkage/reference/mst.hpp"

namespace silverbirch {

namespace {

struct Entry {
  std::uint32_t row;
  double value;
};

void check(const SparseRows& rows) {
  if (rows.rows == 0) throw std::invalid_argument("at least one row is needed");
  if (rows.begins[0] != 0) throw std::invalid_argument("the first sparse row must begin at 0");
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const std::string row = "row " + std::to_string(i);
    if (rows.begins[i] > rows.begins[i + 1]) throw std::invalid_argument(row + " ends before it begins");
    for (std::int64_t p = rows.begins[i]; p < rows.begins[i + 1]; ++p) {
      if (rows.indices[p] < 0 || static_cast<std::size_t>(rows.indices[p]) >= rows.columns)
        throw std::invalid_argument(row + " has a value beyond the last column");
      if (p > rows.begins[i] && rows.indices[p - 1] >= rows.indices[p])
        throw std::invalid_argument(row + " has columns that do not ascend: sort them and sum duplicates");
      if (!(std::abs(rows.data[p]) <= kLargestCoordinate))
        throw std::invalid_argument(row + " has a value that is not finite or too large to square");
    }
  }
}

class SparseSpace {
 public:
  SparseSpace(const SparseRows& rows, SparseMetric metric, const Progress& progress)
      : rows_(rows),
        metric_(metric),
        values_(rows.data, rows.data + rows.begins[rows.rows]),
        list_begins_(rows.columns + 1),
        lists_(values_.size()),
        row_(rows.rows),
        products_(rows.rows),
        nearest_(rows.rows, std::numeric_limits<double>::infinity()) {
    for (std::size_t i = 0; i < rows.rows; ++i) {
      progress.poll();
      row_[i] = metric == SparseMetric::euclidean ? measured(i, 0.0, 1.0) : normalised(i);
      longest_ = std::max(longest_, end(i) - begin(i));
    }
    make_lists(progress);
  }

  // Writes the squared distance from `x` to each row, or infinity where it is not less than that from an earlier `x`.
  void distances_from(std::size_t x, double* squared) {
    multiply(x);
    nearest_[x] = -std::numeric_limits<double>::infinity();  // a row in the tree needs no more distances
    const Row& from = row_[x];
    const double relative_error = static_cast<double>(longest_ + 8) * 0x1p-50;
    const double columns_times_mean = static_cast<double>(rows_.columns) * from.mean;
    for (std::size_t y = 0; y < rows_.rows; ++y) {
      const Row& to = row_[y];
      const double product = (products_[y] - columns_times_mean * to.mean) * (from.scale * to.scale);
      const double expanded = from.squared_norm + to.squared_norm - 2.0 * product;
      const double error = relative_error * (from.uncentred + to.uncentred);
      squared[y] = std::numeric_limits<double>::infinity();
      if (expanded - error >= nearest_[y]) continue;
      squared[y] = squared_distance(x, y);
      nearest_[y] = std::min(nearest_[y], squared[y]);
    }
  }

 private:
  // u = (x - mean) · scale; squared_norm is |u|², uncentred is |x|² · scale².
  struct Row {
    double mean, scale, squared_norm, uncentred;
  };

  std::size_t begin(std::size_t i) const { return static_cast<std::size_t>(rows_.begins[i]); }
  std::size_t end(std::size_t i) const { return static_cast<std::size_t>(rows_.begins[i + 1]); }

  Row measured(std::size_t i, double mean, double scale) const {
    double centred = static_cast<double>(rows_.columns - (end(i) - begin(i))) * mean * mean, uncentred = 0.0;
    for (std::size_t p = begin(i); p < end(i); ++p) {
      centred += (values_[p] - mean) * (values_[p] - mean);
      uncentred += values_[p] * values_[p];
    }
    return {mean, scale, centred * scale * scale, uncentred * scale * scale};
  }

  // The length of a row does not matter here, so a power of two brings its largest value near one. This is exact, and
  // nothing overflows or underflows then.
  Row normalised(std::size_t i) {
    double largest = 0.0, sum = 0.0;
    for (std::size_t p = begin(i); p < end(i); ++p) largest = std::max(largest, std::abs(values_[p]));
    const int exponent = largest > 0.0 ? std::ilogb(largest) : 0;
    for (std::size_t p = begin(i); p < end(i); ++p) sum += values_[p] = std::ldexp(values_[p], -exponent);
    const double mean = metric_ == SparseMetric::correlation ? sum / static_cast<double>(rows_.columns) : 0.0;
    const Row unscaled = measured(i, mean, 1.0);
    // A constant row differs from its mean by rounding.
    const double rounding = static_cast<double>(end(i) - begin(i) + 8) * 0x1p-53;
    if (!(unscaled.squared_norm > rounding * rounding * unscaled.uncentred))
      throw std::invalid_argument("row " + std::to_string(i) +
                                  (metric_ == SparseMetric::cosine
                                       ? " is zero: it has no cosine distance; drop such rows first"
                                       : " is constant: it has no correlation distance; drop such rows first"));
    return measured(i, mean, 1.0 / std::sqrt(unscaled.squared_norm));
  }

  void make_lists(const Progress& progress) {
    for (std::size_t p = 0; p < values_.size(); ++p) ++list_begins_[static_cast<std::size_t>(rows_.indices[p]) + 1];
    for (std::size_t k = 0; k < rows_.columns; ++k) list_begins_[k + 1] += list_begins_[k];
    std::vector<std::size_t> next(list_begins_.begin(), list_begins_.end() - 1);
    for (std::size_t i = 0; i < rows_.rows; ++i) {
      progress.poll();
      for (std::size_t p = begin(i); p < end(i); ++p)
        lists_[next[static_cast<std::size_t>(rows_.indices[p])]++] = {static_cast<std::uint32_t>(i), values_[p]};
    }
  }

  // The products of x with all rows.
  void multiply(std::size_t x) {
    std::ranges::fill(products_, 0.0);
    for (std::size_t p = begin(x); p < end(x); ++p) {
      const auto k = static_cast<std::size_t>(rows_.indices[p]);
      const double value = values_[p];
      for (std::size_t e = list_begins_[k]; e < list_begins_[k + 1]; ++e)
        products_[lists_[e].row] += value * lists_[e].value;
    }
  }

  double squared_distance(std::size_t x, std::size_t y) const {
    const Row &a = row_[x], &b = row_[y];
    const auto gap = [&](double value_a, double value_b) {
      const double difference = (value_a - a.mean) * a.scale - (value_b - b.mean) * b.scale;
      return difference * difference;
    };
    double sum = 0.0;
    std::size_t p = begin(x), q = begin(y), columns = 0;
    for (const std::size_t last_p = end(x), last_q = end(y); p < last_p || q < last_q; ++columns) {
      const bool in_a = q == last_q || (p < last_p && rows_.indices[p] <= rows_.indices[q]);
      const bool in_b = p == last_p || (q < last_q && rows_.indices[q] <= rows_.indices[p]);
      sum += gap(in_a ? values_[p] : 0.0, in_b ? values_[q] : 0.0);
      p += in_a;
      q += in_b;
    }
    return sum + static_cast<double>(rows_.columns - columns) * gap(0.0, 0.0);
  }

  const SparseRows& rows_;
  SparseMetric metric_;
  std::vector<double> values_;
  std::vector<std::size_t> list_begins_;
  std::vector<Entry> lists_;  // the rows with a value in each column
  std::vector<Row> row_;
  std::size_t longest_ = 0;  // the largest number of values in a row
  std::vector<double> products_, nearest_;
};

}  // namespace

SparseMetric sparse_metric_from_name(std::string_view name) {
  return from_name<SparseMetric>(kSparseMetricNames, name, "metric");
}

Merges sparse_mst(const SparseRows& rows, SparseMetric metric, const Progress& progress) {
  check(rows);
  SparseSpace space(rows, metric, progress);
  Merges merges = mst(rows.rows, [&](std::size_t x, double* squared) { space.distances_from(x, squared); }, progress);
  for (std::size_t i = 2; i < merges.z.size(); i += 4)
    merges.z[i] = metric == SparseMetric::euclidean ? std::sqrt(merges.z[i]) : 0.5 * merges.z[i];
  return merges;
}

}  // namespace silverbirch

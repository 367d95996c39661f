#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "check.hpp"
#include "silverbirch/linkage/cluster.hpp"
#include "silverbirch/linkage/reference/sparse_mst.hpp"

using namespace silverbirch;

namespace {

constexpr std::size_t kColumns = 40;
constexpr SparseMetric kMetrics[] = {SparseMetric::euclidean, SparseMetric::cosine, SparseMetric::correlation};

// A dense matrix, and the same rows without their zeros.
struct Rows {
  explicit Rows(std::vector<double> dense_) : dense(std::move(dense_)) {
    for (std::size_t i = 0; i < dense.size(); ++i) {
      if (i % kColumns == 0 && i > 0) begins.push_back(static_cast<std::int64_t>(data.size()));
      if (dense[i] == 0.0) continue;
      indices.push_back(static_cast<std::int32_t>(i % kColumns));
      data.push_back(dense[i]);
    }
    begins.push_back(static_cast<std::int64_t>(data.size()));
  }
  std::size_t count() const { return dense.size() / kColumns; }
  SparseRows sparse() const { return {count(), kColumns, begins.data(), indices.data(), data.data()}; }

  std::vector<double> dense, data;
  std::vector<std::int64_t> begins = {0};
  std::vector<std::int32_t> indices;
};

std::vector<double> random_rows(std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0.5, 1.0);
  std::vector<double> dense(count * kColumns);
  for (std::size_t i = 0; i < dense.size(); ++i)
    if (engine() % 5 == 0 || i % kColumns == (i / kColumns) % 7) dense[i] = normal(engine);
  return dense;
}

// The distance by its definition, in long double.
double distance(const double* x, const double* y, SparseMetric metric) {
  using Long = long double;
  Long mean_x = 0, mean_y = 0, xx = 0, yy = 0, gap = 0;
  for (std::size_t k = 0; k < kColumns; ++k) mean_x += x[k], mean_y += y[k];
  mean_x = metric == SparseMetric::correlation ? mean_x / kColumns : 0;
  mean_y = metric == SparseMetric::correlation ? mean_y / kColumns : 0;
  for (std::size_t k = 0; k < kColumns; ++k) {
    xx += (x[k] - mean_x) * (x[k] - mean_x);
    yy += (y[k] - mean_y) * (y[k] - mean_y);
  }
  const bool euclidean = metric == SparseMetric::euclidean;
  const Long scale_x = euclidean ? 1 : 1 / std::sqrt(xx), scale_y = euclidean ? 1 : 1 / std::sqrt(yy);
  for (std::size_t k = 0; k < kColumns; ++k) {
    const Long difference = (x[k] - mean_x) * scale_x - (y[k] - mean_y) * scale_y;
    gap += difference * difference;
  }
  return static_cast<double>(euclidean ? std::sqrt(gap) : gap / 2);
}

void check_heights(const Rows& rows, double relative) {
  const std::size_t count = rows.count();
  const std::vector<double> weights(count, 1.0);
  for (const SparseMetric metric : kMetrics) {
    std::vector<double> pairs;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j)
        pairs.push_back(distance(&rows.dense[i * kColumns], &rows.dense[j * kColumns], metric));
    const Merges expected = cluster_distances(pairs.data(), weights.data(), count, linkage_from_name("single"),
                                              Algorithm::mst, no_progress);
    const Merges merges = sparse_mst(rows.sparse(), metric, no_progress);
    if (!CHECK(merges.z.size() == expected.z.size())) return;
    for (std::size_t i = 2; i < merges.z.size(); i += 4) CHECK(close(merges.z[i], expected.z[i], relative));
  }
}

void heights_are_those_of_the_dense_rows() { check_heights(Rows(random_rows(200, 1)), 1e-13); }

// Pairs that differ by a billionth in one value, far from zero: their squared distance is a 1e-18 of their norms.
void heights_of_near_duplicates_keep_their_digits() {
  std::vector<double> dense = random_rows(100, 2);
  for (std::size_t i = 0; i < 50 * kColumns; ++i) dense[50 * kColumns + i] = dense[i];
  for (std::size_t i = 0; i < 50; ++i) {
    double& value = dense[(50 + i) * kColumns + i % 7];
    value += 1e-9 * (1.0 + static_cast<double>(i)) * std::abs(value);
  }
  check_heights(Rows(dense), 1e-6);  // the values themselves, near one, have seven digits of such a difference
}

void equal_rows_merge_at_exactly_zero() {
  std::vector<double> dense = random_rows(30, 3);
  for (int copies = 0; copies < 2; ++copies) dense.insert(dense.end(), dense.begin(), dense.begin() + 30 * kColumns);
  const Rows rows(dense);
  for (const SparseMetric metric : kMetrics) {
    const Merges merges = sparse_mst(rows.sparse(), metric, no_progress);
    for (std::size_t i = 0; i < merges.z.size() / 4; ++i) CHECK((merges.z[4 * i + 2] == 0.0) == (i < 60));
  }
}

void lengths_do_not_matter_for_cosine_and_correlation() {
  const std::vector<double> dense = random_rows(60, 4);
  std::vector<double> scaled = dense;
  for (std::size_t i = 0; i < dense.size(); ++i)
    scaled[i] = std::ldexp(dense[i], static_cast<int>(i / kColumns) * 20 - 860);
  for (const SparseMetric metric : {SparseMetric::cosine, SparseMetric::correlation})
    CHECK(sparse_mst(Rows(scaled).sparse(), metric, no_progress).z ==
          sparse_mst(Rows(dense).sparse(), metric, no_progress).z);
}

bool refuses(const SparseRows& rows, SparseMetric metric = SparseMetric::euclidean) {
  try {
    sparse_mst(rows, metric, no_progress);
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

void rows_without_a_distance_are_refused() {
  const std::vector<double> ordinary = random_rows(1, 5);
  for (const double constant : {0.0, 0.1, -1e90}) {
    std::vector<double> dense = ordinary;
    dense.insert(dense.end(), kColumns, constant);
    const Rows rows(dense);
    CHECK(!refuses(rows.sparse()));
    CHECK(refuses(rows.sparse(), SparseMetric::cosine) == (constant == 0.0));
    CHECK(refuses(rows.sparse(), SparseMetric::correlation));
  }
}

void arrays_that_are_not_sparse_rows_are_refused() {
  const std::int64_t begins[] = {0, 2, 3}, backwards[] = {0, 3, 2}, late[] = {1, 2, 3};
  const std::int32_t columns[] = {1, 4, 0}, unsorted[] = {4, 1, 0}, twice[] = {4, 4, 0}, outside[] = {1, 5, 0},
                     negative[] = {-1, 4, 0};
  const double values[] = {1, 2, 3}, infinite[] = {1, std::numeric_limits<double>::infinity(), 3},
               missing[] = {1, std::numeric_limits<double>::quiet_NaN(), 3};
  CHECK(!refuses({2, 5, begins, columns, values}));
  CHECK(refuses({0, 5, begins, columns, values}));
  for (const auto* wrong : {backwards, late}) CHECK(refuses({2, 5, wrong, columns, values}));
  for (const auto* wrong : {unsorted, twice, outside, negative}) CHECK(refuses({2, 5, begins, wrong, values}));
  for (const auto* wrong : {infinite, missing}) CHECK(refuses({2, 5, begins, columns, wrong}));
}

void one_row_has_no_merges() {
  for (const SparseMetric metric : kMetrics)
    CHECK(sparse_mst(Rows(random_rows(1, 6)).sparse(), metric, no_progress).z.empty());
}

}  // namespace

int main() {
  heights_are_those_of_the_dense_rows();
  heights_of_near_duplicates_keep_their_digits();
  equal_rows_merge_at_exactly_zero();
  lengths_do_not_matter_for_cosine_and_correlation();
  rows_without_a_distance_are_refused();
  arrays_that_are_not_sparse_rows_are_refused();
  one_row_has_no_merges();
}

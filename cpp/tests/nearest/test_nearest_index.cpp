#include <cmath>

#include "check.hpp"
#include "data.hpp"
#include "silverbirch/nearest/nearest_index.hpp"
#include "silverbirch/simd/instruction_set.hpp"

using namespace silverbirch;

namespace {

std::vector<std::int64_t> by_brute_force(const std::vector<double>& points, const std::vector<double>& queries,
                                         std::size_t dim) {
  std::vector<std::int64_t> nearest(queries.size() / dim);
  for (std::size_t q = 0; q < nearest.size(); ++q) {
    double least = INFINITY;
    for (std::size_t i = 0; i < points.size() / dim; ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < dim; ++k) sum += std::pow(queries[q * dim + k] - points[i * dim + k], 2);
      if (sum < least) {
        least = sum;
        nearest[q] = static_cast<std::int64_t>(i);
      }
    }
  }
  return nearest;
}

// For every strategy and all kinds of rows: ties, points far from the origin, rows far from all points.
void check_all_strategies(const std::vector<double>& points, const std::vector<double>& queries, std::size_t dim) {
  const std::vector<std::int64_t> expected = by_brute_force(points, queries, dim);
  using Strategy = NearestIndex::Strategy;
  for (const auto strategy : {Strategy::undecided, Strategy::tree, Strategy::panels, Strategy::cells}) {
    if (strategy == Strategy::cells && !NearestCells::suits(points.size() / dim, dim)) continue;
    const NearestIndex index(points.data(), points.size() / dim, dim, 1, no_progress, strategy);
    std::vector<std::int64_t> nearest(expected.size());
    index.nearest(queries.data(), nearest.size(), nearest.data(), 2, no_progress);
    CHECK(nearest == expected);
  }
}

// Every strategy refuses values that are not finite or too large, and names the first, whichever thread finds one.
void check_refusals() {
  const std::size_t dim = 3;
  const std::vector<double> points = random_points(300, dim, 41), good = random_points(20000, dim, 42);
  using Strategy = NearestIndex::Strategy;
  for (const auto strategy : {Strategy::undecided, Strategy::tree, Strategy::panels, Strategy::cells})
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e200}) {
      const NearestIndex index(points.data(), points.size() / dim, dim, 2, no_progress, strategy);
      std::vector<double> rows = good;
      rows[7000 * dim + 1] = rows[19000 * dim] = bad;
      std::vector<std::int64_t> nearest(rows.size() / dim);
      std::size_t row = 0, column = 0;
      try {
        index.nearest(rows.data(), nearest.size(), nearest.data(), 2, no_progress);
      } catch (const BadValue& refused) {
        row = refused.row;
        column = refused.column;
      }
      CHECK(row == 7000u);
      CHECK(column == 1u);
    }
}

// A tree without boxes: the cells only read the slots.
struct Slots {
  Slots(const std::vector<double>& points, std::size_t dim)
      : names(points.size() / dim), blocks(blocks_for(names.size()) * index_block_doubles(dim)) {
    for (std::size_t slot = 0; slot < names.size(); ++slot) {
      names[slot] = static_cast<std::uint32_t>(slot);
      for (std::size_t k = 0; k < dim; ++k)
        blocks[slot / kLanes * index_block_doubles(dim) + k * kLanes + slot % kLanes] = points[slot * dim + k];
    }
    tree.dim = dim;
    tree.slot_count = names.size();
    tree.blocks = blocks.data();
    tree.names = names.data();
  }

  std::vector<std::uint32_t> names;
  AlignedDoubles blocks;
  PackedTree tree;
};

// The share of rows that the cells leave to the tree. The answers for all other rows are checked.
double left_by_cells(const std::vector<double>& points, const std::vector<double>& queries, std::size_t dim) {
  const Slots slots(points, dim);
  const NearestCells cells(slots.tree, 2, no_progress);
  std::vector<std::int64_t> expected = by_brute_force(points, queries, dim), nearest(expected.size(), -1);
  Spares<NearestCells::Batch> batches;
  const std::vector<std::size_t> left =
      cells.nearest(queries.data(), nearest.size(), nearest.data(), batches, Checkpoint());
  for (const std::size_t row : left) {
    CHECK(nearest[row] == -1);
    nearest[row] = expected[row];
  }
  CHECK(nearest == expected);
  return static_cast<double>(left.size()) / static_cast<double>(expected.size());
}

void check_cells(std::size_t dim) {
  const std::vector<double> points = random_points(3000, dim, 21), queries = random_points(1000, dim, 22);
  CHECK(left_by_cells(points, queries, dim) < 0.2);
  const auto changed = [](std::vector<double> rows, auto change) {
    for (double& x : rows) x = change(x);
    return rows;
  };
  const auto moved = [&](double x) { return 1e5 + x; };
  CHECK(left_by_cells(changed(points, moved), changed(queries, moved), dim) < 0.5);
  const auto small = [&](double x) { return 1e-9 * x; };
  const auto large = [&](double x) { return 1e12 * x; };
  CHECK(left_by_cells(changed(points, small), changed(queries, small), dim) < 0.5);
  CHECK(left_by_cells(changed(points, large), changed(queries, large), dim) < 0.5);
  const auto grid = [&](double x) { return std::round(x / 3); };
  CHECK(left_by_cells(changed(points, grid), queries, dim) > 0.25);  // duplicates: floats cannot tell the lowest number
  // If floats cannot hold the points, or cannot tell them apart, all rows are left out.
  const auto tiny = [&](double x) { return 1e-20 * x; };
  CHECK(left_by_cells(changed(points, tiny), changed(queries, tiny), dim) == 1.0);
  const auto huge = [&](double x) { return 1e40 * x; };
  const auto far = [&](double x) { return 1e-8 * x + (x > 0 ? 1.0 : -1.0); };
  CHECK(left_by_cells(changed(points, huge), changed(queries, huge), dim) == 1.0);
  CHECK(left_by_cells(changed(points, far), changed(queries, far), dim) == 1.0);
  // Rows far from all points.
  CHECK(left_by_cells(points, changed(queries, [](double x) { return 1e18 * x; }), dim) == 1.0);
  left_by_cells(points, changed(queries, [](double x) { return 30 * x; }), dim);
  // Groups far apart, each smaller than a list.
  const auto groups = [&](double x) { return x + 1000 * std::floor(3 * x); };
  left_by_cells(changed(points, groups), changed(queries, groups), dim);
}

// More rows than a batch, cells with more rows than are scanned together, and cells without rows.
void check_crowded_cells() {
  std::vector<double> queries = random_points(140000, 2, 32);
  for (std::size_t i = 0; i < queries.size(); i += 2) queries[i] = std::abs(queries[i]);
  CHECK(left_by_cells(random_points(300, 2, 31), queries, 2) < 0.05);
}

// A group smaller than a list, and all other points far away: the points that are not listed bound those that are.
// Cells whose points are all equal have no extent to begin with.
void check_clusters_of_many_sizes(std::size_t dim) {
  std::vector<double> points = random_points(2000, dim, 41), queries = random_points(1000, dim, 42);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t row = i / dim;
    points[i] = row < 20 ? points[i] : row < 1000 ? 1e-3 * points[i] + 50 : row < 1500 ? 1e4 : 100 * points[i];
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const std::size_t row = i / dim;
    queries[i] = row < 300 ? queries[i] : row < 600 ? 1e-3 * queries[i] + 50 : 100 * queries[i];
  }
  left_by_cells(points, queries, dim);
}

}  // namespace

int main() {
  check_refusals();
  for (const std::string_view name : supported_instruction_sets()) {
    use_instruction_set(name);
    for (std::size_t dim = 1; dim <= kMostCellDimensions; ++dim) {
      check_cells(dim);
      check_clusters_of_many_sizes(dim);
    }
    check_crowded_cells();
  }
  for (const std::size_t dim : {1, 3, 20, 150})
    for (const std::size_t count : {1, 8, 9, 64, 65, 256, 700}) {
      std::vector<double> points = random_points(count, dim, 11), queries = random_points(400, dim, 12);
      check_all_strategies(points, queries, dim);
      std::vector<double> far_points = points, far_queries = queries;
      for (double& x : far_points) x = 1e6 + std::round(1e3 * x) / 1e3;
      for (double& x : far_queries) x = 1e6 + std::round(1e3 * x) / 1e3;
      check_all_strategies(far_points, far_queries, dim);

      for (double& x : points) x = std::round(2 * x) / 2;  // many duplicates and ties
      check_all_strategies(points, queries, dim);
      for (double& x : queries) x = std::round(2 * x) / 2;
      for (std::size_t k = 0; k < dim; ++k) {
        queries[k] = 1e90;
        queries[dim + k] = -1e25;
      }
      check_all_strategies(points, queries, dim);
    }
}

#include "silverbirch/linkage/ordering/optimal_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/linkage/ordering/order_kernels.hpp"
#include "silverbirch/linkage/ordering/reading.hpp"

namespace silverbirch {

namespace {

constexpr double kStepsForThreads = 1 << 23;  // fewer are done before a thread has started

// Two numbers for each pair of places: distances below the diagonal of a square matrix, costs above it.
class PairTable {
 public:
  PairTable(std::size_t size, const LeafDistances& distances, std::size_t threads, const Progress& progress)
      : size_(size), table_(size * size) {
    constexpr std::size_t strip = 64;
    std::vector<std::uint32_t> places(size);
    std::iota(places.begin(), places.end(), 0u);
    const LeafDistances::Places all(places);
    parallel_for(size, strip, threads, progress, [&](std::size_t begin, std::size_t end, const Checkpoint& checkpoint) {
      LeafDistances::Workspace workspace;
      // Some columns at a time: their points stay in the caches, and Ctrl-C need not wait for all columns.
      constexpr std::size_t columns = 512;
      for (std::size_t first = 0; first < begin; first += columns) {
        distances.between(all.subspan(begin, end - begin), all.subspan(first, std::min(columns, begin - first)),
                          table_.data() + begin * size_ + first, size_, workspace);
        checkpoint();
      }
      for (std::size_t i = begin + 1; i < end; ++i)
        distances.between(all.subspan(i, 1), all.subspan(begin, i - begin), table_.data() + i * size_ + begin, size_,
                          workspace);
    });
  }

  std::size_t size() const { return size_; }
  double distance(std::size_t a, std::size_t b) const { return table_[std::max(a, b) * size_ + std::min(a, b)]; }
  double cost(std::size_t a, std::size_t b) const { return table_[std::min(a, b) * size_ + std::max(a, b)]; }
  double* costs_at(std::size_t a, std::size_t b) { return table_.data() + a * size_ + b; }  // a < b

  // Rows a, a + 1, … and columns b, b + 1, …
  MatrixView distances(std::size_t a, std::size_t b) const { return view(a, b, a > b); }
  MatrixView costs(std::size_t a, std::size_t b) const { return view(a, b, a < b); }

 private:
  MatrixView view(std::size_t a, std::size_t b, bool as_stored) const {
    return as_stored ? MatrixView{table_.data() + a * size_ + b, size_, 1}
                     : MatrixView{table_.data() + b * size_ + a, 1, size_};
  }

  std::size_t size_;
  UnsetVector<double> table_;
};

// Leaves that have the same inner ends to choose from.
struct Strip {
  std::size_t begin, end;
  Branch inner;
};

std::vector<Strip> strips_of(const Branch& branch, std::size_t most) {
  std::vector<Strip> strips;
  for (std::size_t begin = branch.begin; begin < branch.end;) {
    const std::size_t end = std::min(begin + most, begin < branch.middle ? branch.middle : branch.end);
    strips.push_back({begin, end, branch.other_part(begin)});
    begin = end;
  }
  return strips;
}

double steps_of(const Branch& left, const Branch& right) {
  const auto within = [](const Branch& branch) {
    if (branch.is_leaf()) return 0.0;
    return 2.0 * static_cast<double>(branch.middle - branch.begin) * static_cast<double>(branch.end - branch.middle);
  };
  const auto a = static_cast<double>(left.size()), b = static_cast<double>(right.size());
  return a * b + within(left) * b + a * within(right);
}

class OptimalOrder {
 public:
  OptimalOrder(const Branches& branches, PairTable& table) : branches_(branches), table_(table) {}

  void compute_costs(std::size_t threads, const Progress& progress);
  Ends ends_of_root() const;
  Ends inner_ends(const Branch& first, const Branch& second, const Ends& outer) const;

 private:
  struct Workspace {
    AlignedDoubles product;
    std::vector<double> through;
  };

  // Computes the costs from the leaves of a strip to all leaves of the branch on the right.
  void merge(const Strip& strip, const Branch& right, const std::vector<Strip>& columns, Workspace& workspace,
             const Checkpoint& checkpoint);
  const Branch& left(std::size_t row) const { return branches_[branches_.left_node(row)]; }
  const Branch& right(std::size_t row) const { return branches_[branches_.right_node(row)]; }

  const Branches& branches_;
  PairTable& table_;
};

void OptimalOrder::compute_costs(std::size_t threads, const Progress& progress) {
  constexpr std::size_t units = 1000000;
  double total = 0.0, done = 0.0;
  for (std::size_t row = 0; row < branches_.merges(); ++row) total += steps_of(left(row), right(row));
  Workspace reused;
  for (std::size_t row = 0; row < branches_.merges(); ++row) {
    const double steps = steps_of(left(row), right(row));
    const Progress within{[&](std::size_t part, std::size_t parts) {
      const double share = static_cast<double>(part) / static_cast<double>(parts);
      progress(static_cast<std::size_t>(units * ((done + share * steps) / total)), units);
    }};
    const std::vector<Strip> strips = strips_of(left(row), kProductRows);
    const std::vector<Strip> columns = strips_of(right(row), right(row).size());
    const bool alone = threads == 1 || steps < kStepsForThreads;
    parallel_for(strips.size(), 1, alone ? 1 : threads, within,
                 [&](std::size_t begin, std::size_t end, const Checkpoint& checkpoint) {
                   Workspace own;
                   for (std::size_t i = begin; i < end; ++i)
                     merge(strips[i], right(row), columns, alone ? reused : own, checkpoint);
                 });
    done += steps;
  }
}

void OptimalOrder::merge(const Strip& strip, const Branch& right, const std::vector<Strip>& columns,
                         Workspace& workspace, const Checkpoint& checkpoint) {
  workspace.product.resize(kProductDoubles);
  const std::size_t rows = strip.end - strip.begin;
  const auto product = [&](const MatrixView& a, const MatrixView& b, double* c, std::size_t c_row_step,
                           std::size_t depth, std::size_t width) {
    order_kernels().min_plus({a, b, c, c_row_step, rows, depth, width}, workspace.product.data());
    checkpoint();
  };
  // From each leaf u of the strip to each k on the right: least cost(u, m) + d(m, k). A single leaf is m itself.
  MatrixView through = table_.distances(strip.begin, right.begin);
  if (strip.inner.begin != strip.begin) {
    workspace.through.resize(std::max(workspace.through.size(), rows * right.size()));
    product(table_.costs(strip.begin, strip.inner.begin), table_.distances(strip.inner.begin, right.begin),
            workspace.through.data(), right.size(), strip.inner.size(), right.size());
    through = {workspace.through.data(), right.size(), 1};
  }
  if (right.is_leaf()) {
    for (std::size_t i = 0; i < rows; ++i)
      *table_.costs_at(strip.begin + i, right.begin) = through.data[i * through.row_step];
    return;
  }
  for (const Strip& column : columns)
    product(through.from(0, column.inner.begin - right.begin), table_.costs(column.inner.begin, column.begin),
            table_.costs_at(strip.begin, column.begin), table_.size(), column.inner.size(), column.end - column.begin);
}

Ends OptimalOrder::ends_of_root() const {
  const Branch& root = branches_[branches_.leaves() + branches_.merges() - 1];
  Ends best{root.begin, root.middle};
  for (std::size_t u = root.begin; u < root.middle; ++u)
    for (std::size_t w = root.middle; w < root.end; ++w)
      if (table_.cost(u, w) < table_.cost(best.first, best.last)) best = {u, w};
  return best;
}

Ends OptimalOrder::inner_ends(const Branch& first, const Branch& second, const Ends& outer) const {
  const auto cost = [&](std::size_t a, std::size_t b) { return a == b ? 0.0 : table_.cost(a, b); };
  const Branch from = first.other_part(outer.first), to = second.other_part(outer.last);
  std::vector<double> from_outer(from.size());
  for (std::size_t m = from.begin; m < from.end; ++m) from_outer[m - from.begin] = cost(outer.first, m);
  Ends best{from.begin, to.begin};
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = to.begin; k < to.end; ++k) {
    const double to_outer = cost(k, outer.last);
    for (std::size_t m = from.begin; m < from.end; ++m)
      if (const double sum = from_outer[m - from.begin] + table_.distance(m, k) + to_outer; sum < least) {
        least = sum;
        best = {m, k};
      }
  }
  return best;
}

}  // namespace

std::vector<std::int64_t> optimal_order(const Branches& branches, const LeafDistances& distances, std::size_t threads,
                                        const Progress& progress) {
  if (branches.merges() == 0) return branches.leaf_at();
  const Progress polls{[&](std::size_t, std::size_t) { progress.poll(); }};
  PairTable table(branches.leaves(), distances, threads, polls);
  OptimalOrder order(branches, table);
  order.compute_costs(threads, progress);
  const auto inner_ends = [&](std::size_t first, std::size_t second, const Ends& outer) {
    return order.inner_ends(branches[first], branches[second], outer);
  };
  return read_order(branches, order.ends_of_root(), inner_ends, progress);
}

}  // namespace silverbirch

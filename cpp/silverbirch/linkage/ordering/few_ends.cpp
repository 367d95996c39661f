#include "silverbirch/linkage/ordering/few_ends.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "silverbirch/linkage/ordering/order_kernels.hpp"
#include "silverbirch/linkage/ordering/reading.hpp"

namespace silverbirch {

namespace {

using Places = LeafDistances::Places;

// The leaves that may be an end of a branch: those of its left part, then those of its right part. costs(i, j) is the
// cost of the branch from end i of the left part to end j of the right part.
struct Candidates {
  Places ends;
  std::size_t left;     // 0: a single leaf
  const double* costs;  // left × right

  std::size_t size() const { return ends.size(); }
  std::size_t right() const { return ends.size() - left; }
  MatrixView from_left() const { return {costs, right(), 1}; }
  MatrixView from_right() const { return {costs, 1, right()}; }
};

class FewEnds {
 public:
  FewEnds(const Branches& branches, const LeafDistances& distances, std::size_t most);

  void merge(std::size_t row);
  Ends ends_of_root() const;
  Ends inner_ends(std::size_t first, std::size_t second, const Ends& outer);

 private:
  // What a row of Z keeps: `left` and `right` ends and left × right costs, from these positions on.
  struct Kept {
    std::size_t first_end, first_cost;
    std::uint32_t left, right;
  };
  // The ends that a branch may have if the other end is given, and its costs.
  struct OtherEnds {
    Places ends;
    MatrixView costs;  // one row
  };

  Candidates candidates(std::size_t node) const;
  OtherEnds other_ends(std::size_t node, std::size_t end) const;
  void join(const Candidates& left, const Candidates& right);

  const Branches& branches_;
  const LeafDistances& distances_;
  std::vector<Kept> kept_;
  std::vector<std::uint32_t> place_of_leaf_, ends_;
  UnsetVector<double> costs_;

  // Reused by all merges: the distances of the candidates of two branches, cost + distance, cost + distance + cost.
  LeafDistances::Workspace workspace_;
  std::vector<double> gaps_, half_, whole_;
};

FewEnds::FewEnds(const Branches& branches, const LeafDistances& distances, std::size_t most)
    : branches_(branches), distances_(distances), kept_(branches.merges()), place_of_leaf_(branches.leaves()) {
  for (std::size_t leaf = 0; leaf < branches.leaves(); ++leaf)
    place_of_leaf_[leaf] = static_cast<std::uint32_t>(branches[leaf].begin);
  std::size_t ends = 0, costs = 0;
  const auto count = [&](std::size_t node) {
    return static_cast<std::uint32_t>(std::min(candidates(node).size(), most));
  };
  for (std::size_t row = 0; row < branches.merges(); ++row) {
    kept_[row] = {ends, costs, count(branches.left_node(row)), count(branches.right_node(row))};
    ends += kept_[row].left + kept_[row].right;
    costs += std::size_t{kept_[row].left} * kept_[row].right;
  }
  ends_.resize(ends);
  costs_.resize(costs);
  const std::size_t pairs = 4 * most * most;
  gaps_.resize(pairs);
  half_.resize(pairs);
  whole_.resize(pairs);
  workspace_.product.resize(kProductDoubles);
}

Candidates FewEnds::candidates(std::size_t node) const {
  if (node < branches_.leaves()) return {{&place_of_leaf_[node], 1}, 0, nullptr};
  const Kept& kept = kept_[node - branches_.leaves()];
  return {{ends_.data() + kept.first_end, kept.left + kept.right}, kept.left, costs_.data() + kept.first_cost};
}

// Computes the costs of all pairs of candidates of the two branches.
void FewEnds::join(const Candidates& left, const Candidates& right) {
  const std::size_t step = right.size();
  const auto min_plus = [&](const MatrixView& a, const MatrixView& b, double* c, std::size_t rows, std::size_t depth,
                            std::size_t columns) {
    order_kernels().min_plus({a, b, c, step, rows, depth, columns}, workspace_.product.data());
  };
  distances_.between(left.ends, right.ends, gaps_.data(), step, workspace_);
  const MatrixView gaps{gaps_.data(), step, 1};
  if (left.left == 0) {
    half_.swap(gaps_);
  } else {
    min_plus(left.from_left(), gaps.from(left.left, 0), half_.data(), left.left, left.right(), step);
    min_plus(left.from_right(), gaps, half_.data() + left.left * step, left.right(), left.left, step);
  }
  if (right.left == 0) {
    whole_.swap(half_);
  } else {
    const MatrixView half{half_.data(), step, 1};
    min_plus(half.from(0, right.left), right.from_right(), whole_.data(), left.size(), right.right(), right.left);
    min_plus(half, right.from_left(), whole_.data() + right.left, left.size(), right.left, right.right());
  }
}

// The numbers of the `count` least costs, ascending; of equal costs the first.
std::vector<std::size_t> cheapest(const std::vector<double>& costs, std::size_t count) {
  std::vector<std::size_t> numbers(costs.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  if (count < costs.size()) {
    const auto cheaper = [&](std::size_t a, std::size_t b) {
      return costs[a] < costs[b] || (costs[a] == costs[b] && a < b);
    };
    const auto last = numbers.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(numbers.begin(), last, numbers.end(), cheaper);
    numbers.erase(last, numbers.end());
    std::sort(numbers.begin(), numbers.end());
  }
  return numbers;
}

void FewEnds::merge(std::size_t row) {
  const Candidates left = candidates(branches_.left_node(row)), right = candidates(branches_.right_node(row));
  join(left, right);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> least_of_left(left.size(), infinity), least_of_right(right.size(), infinity);
  for (std::size_t i = 0; i < left.size(); ++i)
    for (std::size_t j = 0; j < right.size(); ++j) {
      const double cost = whole_[i * right.size() + j];
      least_of_left[i] = std::min(least_of_left[i], cost);
      least_of_right[j] = std::min(least_of_right[j], cost);
    }
  const Kept& kept = kept_[row];
  const std::vector<std::size_t> on_left = cheapest(least_of_left, kept.left);
  const std::vector<std::size_t> on_right = cheapest(least_of_right, kept.right);
  std::uint32_t* end = ends_.data() + kept.first_end;
  double* cost = costs_.data() + kept.first_cost;
  for (const std::size_t i : on_left) *end++ = left.ends[i];
  for (const std::size_t j : on_right) *end++ = right.ends[j];
  for (const std::size_t i : on_left)
    for (const std::size_t j : on_right) *cost++ = whole_[i * right.size() + j];
}

Ends FewEnds::ends_of_root() const {
  const Candidates root = candidates(branches_.leaves() + branches_.merges() - 1);
  const auto best =
      static_cast<std::size_t>(std::min_element(root.costs, root.costs + root.left * root.right()) - root.costs);
  return {root.ends[best / root.right()], root.ends[root.left + best % root.right()]};
}

FewEnds::OtherEnds FewEnds::other_ends(std::size_t node, std::size_t end) const {
  static constexpr double kNothing = 0.0;
  const Candidates branch = candidates(node);
  if (branch.left == 0) return {branch.ends, {&kNothing, 0, 0}};
  const auto number =
      static_cast<std::size_t>(std::find(branch.ends.begin(), branch.ends.end(), end) - branch.ends.begin());
  if (number < branch.left) return {branch.ends.subspan(branch.left), branch.from_left().from(number, 0)};
  return {branch.ends.first(branch.left), branch.from_right().from(number - branch.left, 0)};
}

Ends FewEnds::inner_ends(std::size_t first, std::size_t second, const Ends& outer) {
  const OtherEnds from = other_ends(first, outer.first), to = other_ends(second, outer.last);
  distances_.between(from.ends, to.ends, gaps_.data(), to.ends.size(), workspace_);
  Ends best{from.ends[0], to.ends[0]};
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < from.ends.size(); ++i)
    for (std::size_t j = 0; j < to.ends.size(); ++j) {
      const double sum = *from.costs.from(0, i).data + gaps_[i * to.ends.size() + j] + *to.costs.from(0, j).data;
      if (sum < least) {
        least = sum;
        best = {from.ends[i], to.ends[j]};
      }
    }
  return best;
}

// The rows of Z, children before parents, so that a branch is merged soon after its parts.
std::vector<std::size_t> rows_by_branch(const Branches& branches) {
  std::vector<std::size_t> rows, waiting{branches.merges() - 1};
  rows.reserve(branches.merges());
  while (!waiting.empty()) {
    const std::size_t row = waiting.back();
    waiting.pop_back();
    rows.push_back(row);
    for (const std::size_t child : {branches.left_node(row), branches.right_node(row)})
      if (child >= branches.leaves()) waiting.push_back(child - branches.leaves());
  }
  std::reverse(rows.begin(), rows.end());
  return rows;
}

}  // namespace

std::vector<std::int64_t> few_ends_order(const Branches& branches, const LeafDistances& distances, std::size_t ends,
                                         const Progress& progress) {
  if (ends < 1 || ends > kMostEnds) throw std::invalid_argument("the number of ends must be between 1 and 64");
  if (branches.merges() == 0) return branches.leaf_at();
  FewEnds order(branches, distances, ends);
  std::size_t done = 0;
  for (const std::size_t row : rows_by_branch(branches)) {
    order.merge(row);
    progress(++done, branches.merges());
  }
  const auto inner_ends = [&](std::size_t first, std::size_t second, const Ends& outer) {
    return order.inner_ends(first, second, outer);
  };
  return read_order(branches, order.ends_of_root(), inner_ends, progress);
}

}  // namespace silverbirch

#include "silverbirch/nearest/nearest_index.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "silverbirch/base/switches.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/index/kd_order.hpp"
#include "silverbirch/index/search.hpp"

namespace silverbirch {

namespace {

// With fewer dimensions or points the tree is always as fast.
constexpr std::size_t kManyDimensions = 12, kManyPoints = 256;
constexpr std::size_t kGroupsToDecide = 8, kRowsToDecide = 4 * kGroupsToDecide * kLanes;
// The filter bounds all points in about the time the tree takes to scan one leaf in this many.
constexpr std::size_t kLeavesForPanels = 8;
constexpr std::size_t kFewestRowsOfPiece = std::size_t{1} << 12, kMostRowsOfPiece = std::size_t{1} << 20;
// With several threads, each sorts ranges of the kd-order with at most this many values.
constexpr std::size_t kRangeValues = std::size_t{1} << 14;
// The lists of cells pay off from this many rows per point on, if at most one row in kLeftToTheTree is left to the
// tree.
constexpr std::size_t kRowsForLists = 16, kLeftToTheTree = 3;

std::size_t leaf_slots() { return on(Mechanism::group_search) ? kLabelLeaf : kClusterLeaf; }

}  // namespace

NearestIndex::NearestIndex(const double* points, std::size_t count, std::size_t dim, std::size_t threads,
                           const Progress& progress, Strategy strategy, bool may_list)
    : numbers_(count),
      blocks_(leaves_for(count, leaf_slots()) * (leaf_slots() / kLanes) * index_block_doubles(dim)),
      boxes_(dim, leaf_slots(), Nearness::centroid),
      row_order_(points, count, dim, threads),
      find_(index_search().nearest_to_points[IndexSearch::unrolled(dim)]),
      strategy_(strategy == Strategy::undecided &&
                        (dim < kManyDimensions || count < kManyPoints || !on(Mechanism::label_filter))
                    ? Strategy::tree
                    : strategy),
      may_list_(may_list && on(Mechanism::cell_lists) && strategy == Strategy::undecided &&
                NearestCells::suits(count, dim)) {
  if (count >= kNoSlot) throw std::invalid_argument("an index holds fewer than 2^32 points");
  std::vector<KdKey> order(count);
  std::iota(order.begin(), order.end(), KdKey{0});
  kd_order(
      order, {leaf_slots(), kLanes}, dim, [&](std::size_t point, std::size_t k) { return points[point * dim + k]; },
      threads, progress, threads > 1 ? kRangeValues / dim : 0);
  for (std::size_t slot = 0; slot < leaves_for(count, leaf_slots()) * leaf_slots(); ++slot) {
    double* lane = blocks_.data() + slot / kLanes * index_block_doubles(dim) + slot % kLanes;
    if (slot < count) numbers_[slot] = static_cast<std::uint32_t>(point_of(order[slot]));
    for (std::size_t k = 0; k < dim; ++k) lane[k * kLanes] = slot < count ? points[numbers_[slot] * dim + k] : kFarAway;
  }
  boxes_.pack(blocks_.data(), leaves_for(count, leaf_slots()), threads, progress);
  tree_.dim = dim;
  tree_.slot_count = count;
  tree_.blocks = blocks_.data();
  tree_.names = numbers_.data();
  boxes_.show(tree_);
}

// The rows in groups of eight that lie close together.
template <class Scalar>
class NearestIndex::Groups {
 public:
  Groups(const NearestIndex& index, const Scalar* rows, std::size_t row_count)
      : index_(index), rows_(rows), row_count_(row_count), group_(index.dim() * (kLanes + 2)) {
    RowOrder row_order = index.row_order_;
    row_order.order(rows, row_count, order_);
  }

  std::size_t row(std::size_t place) const { return order_[place]; }
  Slot slot(std::size_t lane) const { return nearest_[lane]; }

  // Finds the nearest slots of rows begin … begin + 7 in that order. Returns how many leaves were scanned.
  std::size_t find(std::size_t begin) {
    const std::size_t dim = index_.dim();
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const Scalar* row = rows_ + order_[std::min(begin + lane, row_count_ - 1)] * dim;
      for (std::size_t k = 0; k < dim; ++k) group_[k * kLanes + lane] = static_cast<double>(row[k]);
    }
    for (std::size_t k = 0; k < dim; ++k) {
      const auto [least, greatest] = std::minmax_element(group_.data() + k * kLanes, group_.data() + (k + 1) * kLanes);
      group_[dim * kLanes + k] = *least;
      group_[dim * (kLanes + 1) + k] = *greatest;
    }
    const std::size_t visits = index_.find_(index_.tree_, group_.data(), likely_, nearest_);
    likely_ = nearest_[0];
    return visits;
  }

 private:
  const NearestIndex& index_;
  const Scalar* rows_;
  std::size_t row_count_;
  std::vector<std::uint32_t> order_;
  AlignedDoubles group_;
  Slot nearest_[kLanes] = {};
  Slot likely_ = kNoSlot;
};

template <class Scalar>
void NearestIndex::nearest(const Scalar* rows, std::size_t row_count, std::int64_t* numbers, std::size_t threads,
                           const Progress& progress) const {
  try {
    const Strategy strategy = choose(rows, row_count, threads, progress);
    Spares<NearestCells::Batch> batches;
    parallel_for(row_count, piece_rows(strategy, row_count, threads), threads, progress,
                 [&](std::size_t begin, std::size_t end, const Checkpoint& checkpoint) {
                   piece(strategy, rows + begin * dim(), end - begin, numbers + begin, batches, checkpoint);
                 });
  } catch (const BadValue&) {
    check_some(rows, 0, row_count, dim());  // throws the first bad value, whichever thread found one
    throw;
  }
}

// Long pieces have rows that are near each other, but every thread should get as many rows as any other. Pieces for
// cells are batches.
std::size_t NearestIndex::piece_rows(Strategy strategy, std::size_t row_count, std::size_t threads) const {
  const std::size_t most = strategy == Strategy::cells ? cells_->batch_rows() : kMostRowsOfPiece;
  const std::size_t rounds = (row_count + threads * most - 1) / (threads * most);
  return std::max(kFewestRowsOfPiece, (row_count + threads * rounds - 1) / (threads * rounds));
}

template <class Scalar>
NearestIndex::Strategy NearestIndex::choose(const Scalar* rows, std::size_t row_count, std::size_t threads,
                                            const Progress& progress) const {
  const std::lock_guard lock(choosing_);
  rows_seen_ += row_count;
  if (strategy_ == Strategy::undecided && row_count >= kRowsToDecide) {
    check_coordinates(rows, row_count, dim(), threads, progress);
    strategy_ = visits_much(rows, row_count) ? Strategy::panels : Strategy::tree;
  }
  if (strategy_ == Strategy::tree && may_list_ && rows_seen_ >= kRowsForLists * size()) strategy_ = Strategy::cells;
  if (strategy_ == Strategy::panels && !panels_) panels_ = std::make_unique<NearestPanels>(tree_, progress);
  if (strategy_ == Strategy::cells && !cells_) cells_ = std::make_unique<NearestCells>(tree_, threads, progress);
  return strategy_;
}

template <class Scalar>
void NearestIndex::piece(Strategy strategy, const Scalar* rows, std::size_t row_count, std::int64_t* numbers,
                         Spares<NearestCells::Batch>& batches, const Checkpoint& checkpoint) const {
  if (strategy == Strategy::panels) {
    check_some(rows, 0, row_count, dim());
    by_tree(rows, panels_->nearest(rows, row_count, numbers, checkpoint), numbers, checkpoint);
  } else if (strategy == Strategy::cells) {
    const std::vector<std::size_t> left = cells_->nearest(rows, row_count, numbers, batches, checkpoint);
    by_tree(rows, left, numbers, checkpoint);
    if (left.size() <= row_count / kLeftToTheTree) return;
    const std::lock_guard lock(choosing_);
    if (may_list_) strategy_ = Strategy::tree;
    may_list_ = false;
  } else {
    by_tree(rows, row_count, numbers, checkpoint);
  }
}

template <class Scalar>
void NearestIndex::by_tree(const Scalar* rows, std::size_t row_count, std::int64_t* numbers,
                           const Checkpoint& checkpoint) const {
  constexpr std::size_t kBetweenChecks = 64 * kLanes;
  check_some(rows, 0, row_count, dim());
  Groups<Scalar> groups(*this, rows, row_count);
  for (std::size_t begin = 0; begin < row_count; begin += kLanes) {
    if (begin % kBetweenChecks == 0) checkpoint();
    groups.find(begin);
    for (std::size_t lane = 0; lane < std::min(kLanes, row_count - begin); ++lane)
      numbers[groups.row(begin + lane)] = numbers_[groups.slot(lane)];
  }
}

template <class Scalar>
void NearestIndex::by_tree(const Scalar* rows, const std::vector<std::size_t>& some, std::int64_t* numbers,
                           const Checkpoint& checkpoint) const {
  std::vector<Scalar> together(some.size() * dim());
  std::vector<std::int64_t> found(some.size());
  for (std::size_t i = 0; i < some.size(); ++i) std::copy_n(rows + some[i] * dim(), dim(), together.data() + i * dim());
  by_tree(together.data(), some.size(), found.data(), checkpoint);
  for (std::size_t i = 0; i < some.size(); ++i) numbers[some[i]] = found[i];
}

// Searches for a few groups out of all rows and says whether much of the tree was visited.
template <class Scalar>
bool NearestIndex::visits_much(const Scalar* rows, std::size_t row_count) const {
  Groups<Scalar> groups(*this, rows, row_count);
  std::size_t visits = 0;
  for (std::size_t group = 0; group < kGroupsToDecide; ++group)
    visits += groups.find(row_count / kLanes * group / kGroupsToDecide * kLanes);
  return visits > leaves_for(size(), leaf_slots()) * kGroupsToDecide / kLeavesForPanels;
}

template void NearestIndex::nearest(const float*, std::size_t, std::int64_t*, std::size_t, const Progress&) const;
template void NearestIndex::nearest(const double*, std::size_t, std::int64_t*, std::size_t, const Progress&) const;

}  // namespace silverbirch

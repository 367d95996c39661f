#include "silverbirch/tree/parts.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/switches.hpp"
#include "silverbirch/tree/sorted_rows.hpp"

namespace silverbirch {

namespace {

constexpr std::size_t kNoLimit = std::size_t{1} << 62;  // exact as a double
// 2048 rows give the medians to about a hundredth of the mass.
constexpr std::size_t kPilotRows = 2048;
// More parts cost a single thread more time: see docs/quality.md.
constexpr std::size_t kMostParts = 16;
constexpr std::size_t kLeastLeavesOfPart = 1024, kLeastNodesOfPart = 16;

// A block takes a few milliseconds: long enough for threads to pay, short enough to react to an interrupt.
constexpr std::size_t kShortestBlock = 1024, kLongestBlock = 65536, kOperationsOfBlock = std::size_t{1} << 25;
constexpr std::size_t kOperationsOfThread = std::size_t{1} << 15;  // the least work that pays for another thread

// All parts are rebuilt when less than a hundredth of a limit is left, or fewer than this many leaves per part: smaller
// shares would make meetings too frequent.
constexpr std::size_t kLeastShare = 4;
// An interval is so long that the fastest growing part should use this fraction of its share; the rest is a margin for
// chance.
constexpr double kUseOfShare = 0.5;
// An interval is at most this many times as long as one in which every row could become a leaf.
constexpr std::size_t kLongestInterval = 16;

// Rows of the caller, and how to insert some of them into the tree of a part.
template <class Scalar>
struct RowBatch {
  const Scalar* rows;
  const double* weights;  // may be null
  std::size_t size, dim;
  bool checked;

  void check(std::size_t begin, std::size_t end) const {
    if (!checked) check_some(rows, begin, end, dim);
  }
  double weight(std::size_t i) const { return weights ? weights[i] : 1.0; }
  const Scalar* mean(std::size_t i) const { return rows + i * dim; }
  void insert_range(CfTree& tree, std::size_t begin, std::size_t end, const Progress& progress) const {
    tree.insert_rows(mean(begin), weights ? weights + begin : nullptr, end - begin, progress);
  }
  // Inserts the rows begin + chosen[i].
  void insert_chosen(CfTree& tree, std::size_t begin, const std::uint32_t* chosen, std::size_t count) const {
    tree.insert_chosen(mean(begin), weights ? weights + begin : nullptr, chosen, count);
  }
};

struct FeatureBatch {
  FeaturesView features;
  std::size_t size;

  void check(std::size_t, std::size_t) const {}
  double weight(std::size_t i) const { return features.weight[i]; }
  const double* mean(std::size_t i) const { return features.mean + i * features.dim; }
  void insert_range(CfTree& tree, std::size_t begin, std::size_t end, const Progress& progress) const {
    tree.insert_features({end - begin, features.dim, features.weight + begin, mean(begin), features.sse + begin},
                         progress);
  }
  void insert_chosen(CfTree& tree, std::size_t begin, const std::uint32_t* chosen, std::size_t count) const {
    Features some{features.dim, {}, {}, {}};
    for (std::size_t i = 0; i < count; ++i) some.push_back(features[begin + chosen[i]]);
    tree.insert_features(view(some), no_progress);
  }
};

// Passes rows from `begin` on until `most` rows of positive weight are passed, or all. Returns the end of these rows
// and how many of them have positive weight.
template <class Batch>
std::pair<std::size_t, std::size_t> next_rows(const Batch& batch, std::size_t begin, std::size_t end,
                                              std::size_t most) {
  std::size_t i = begin, count = 0;
  for (; i < end && count < most; ++i) count += batch.weight(i) > 0.0;
  return {i, count};
}

// Reverses the order, as a rebuild does.
Features backwards(const Features& leaves) {
  Features turned{leaves.dim, {}, {}, {}};
  for (std::size_t i = leaves.size(); i-- > 0;) turned.push_back(leaves[i]);
  return turned;
}

void append(Features& all, const Features& some) {
  all.weight.insert(all.weight.end(), some.weight.begin(), some.weight.end());
  all.mean.insert(all.mean.end(), some.mean.begin(), some.mean.end());
  all.sse.insert(all.sse.end(), some.sse.begin(), some.sse.end());
}

TreeSize limits_of(const TreeOptions& options) { return {options.max_leaves, options.max_nodes}; }

}  // namespace

std::size_t part_count_for(std::size_t dim, const TreeOptions& options) {
  if (options.parts > 0) return options.parts;
  if (dim > kFewDimensions) return 1;
  const std::size_t affordable =
      std::min(options.max_leaves / kLeastLeavesOfPart, options.max_nodes / kLeastNodesOfPart);
  return std::bit_floor(std::clamp<std::size_t>(affordable, 1, kMostParts));
}

PartitionedTree::PartitionedTree(std::size_t dim, const TreeOptions& options) : dim_(dim), options_(options) {
  options_.max_leaves = std::min(options.max_leaves, kNoLimit);
  options_.max_nodes = std::min(options.max_nodes, kNoLimit);
  parts_.emplace_back(dim, options_);
  interval_.left = part_count_for(dim, options_) > 1 ? kPilotRows : kNever;
}

template <class Scalar>
void PartitionedTree::insert_rows(const Scalar* rows, const double* weights, std::size_t row_count,
                                  const Progress& progress) {
  insert(RowBatch<Scalar>{rows, weights, row_count, dim_, true}, progress);
}

template void PartitionedTree::insert_rows(const float*, const double*, std::size_t, const Progress&);
template void PartitionedTree::insert_rows(const double*, const double*, std::size_t, const Progress&);

// An empty tree checks rows just before it inserts them, while they are in the cache. If a value is bad, the tree
// becomes empty again.
template <class Scalar>
void PartitionedTree::check_and_insert(const Scalar* rows, const double* weights, std::size_t row_count,
                                       const Progress& progress) {
  if (leaf_count() > 0 || !on(Mechanism::check_in_cache)) {
    check_coordinates(rows, row_count, dim_, threads_, progress);
    return insert_rows(rows, weights, row_count, progress);
  }
  try {
    insert(RowBatch<Scalar>{rows, weights, row_count, dim_, false}, progress);
  } catch (const BadValue&) {
    PartitionedTree empty(dim_, options_);
    empty.set_threads(threads_);
    *this = std::move(empty);
    check_some(rows, 0, row_count, dim_);  // throws the first bad value, whichever thread found one
    throw;
  }
}

template void PartitionedTree::check_and_insert(const float*, const double*, std::size_t, const Progress&);
template void PartitionedTree::check_and_insert(const double*, const double*, std::size_t, const Progress&);

void PartitionedTree::insert_features(const FeaturesView& features, const Progress& progress) {
  insert(FeatureBatch{features, features.size}, progress);
}

template <class Batch>
void PartitionedTree::insert(const Batch& batch, const Progress& progress) {
  if (interval_.left == 0) meet(progress);  // the last meeting was interrupted
  std::size_t begin = 0;
  while (parts_.size() == 1 && begin < batch.size) {
    progress(begin, batch.size);
    begin = insert_into_one(batch, begin, std::min(begin + block_length(), batch.size), progress);
  }
  if (begin < batch.size) insert_into_parts(batch, begin, progress);
  progress(batch.size, batch.size);
}

// Inserts rows into the only tree, up to the meeting that divides the space. Returns the end of the rows inserted.
template <class Batch>
std::size_t PartitionedTree::insert_into_one(const Batch& batch, std::size_t begin, std::size_t end,
                                             const Progress& progress) {
  batch.check(begin, end);
  if (interval_.left == kNever) {
    batch.insert_range(parts_.front(), begin, end, progress);
    return end;
  }
  const auto [last, count] = next_rows(batch, begin, end, interval_.left);
  batch.insert_range(parts_.front(), begin, last, no_progress);
  interval_.left -= count;
  if (interval_.left == 0) divide();
  return last;
}

template <class Batch>
void PartitionedTree::insert_into_parts(const Batch& batch, std::size_t begin, const Progress& progress) {
  SortedRows<Batch> sorted(batch, partition_, begin, block_length());
  while (begin < batch.size) {
    progress(begin, batch.size);
    std::size_t end = begin + std::min({block_length(), std::max(interval_.left, kPilotRows), batch.size - begin});
    sorted.move_to(begin);
    sorted.sort_until(end, threads_for(end - begin));
    std::size_t count = sorted.count_positive(begin, end);
    if (count > interval_.left) std::tie(end, count) = next_rows(batch, begin, end, interval_.left);
    insert_block(batch, sorted, begin, end);
    interval_.left -= count;
    begin = end;
    if (interval_.left == 0) meet(progress);
  }
}

// Inserts sorted rows, one thread for each part. Threads that have no part left to work on sort the rows that come
// next: at least as many as are inserted, and more until all parts are done.
template <class Batch>
void PartitionedTree::insert_block(const Batch& batch, SortedRows<Batch>& sorted, std::size_t begin, std::size_t end) {
  const std::size_t parts = parts_.size(), threads = threads_for(end - begin);
  std::vector<std::size_t> waiting(parts), order(parts);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (threads > 1 && threads < parts) {  // the longest first, so that threads finish at about the same time
    for (std::size_t p = 0; p < parts; ++p) waiting[p] = sorted.count(p, begin, end);
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t p) { return waiting[p]; });
  }
  const std::size_t next_end = std::min(end + (end - begin), batch.size);
  std::atomic<std::size_t> unfinished{parts};
  parallel_for(parts + threads, 1, threads, no_progress, [&](std::size_t i, std::size_t) {
    if (i < parts) {
      const auto rows = sorted.rows(order[i], begin, end);
      batch.insert_chosen(parts_[order[i]], begin, rows.data(), rows.size());
      --unfinished;
    } else {
      while ((unfinished > 0 || sorted.sorted_end() < next_end) && sorted.sort_piece()) {
      }
    }
  });
}

std::size_t PartitionedTree::block_length() const {
  if (parts_.size() == 1) return std::max<std::size_t>(1, 16384 / dim_);  // about a millisecond
  return std::clamp(kOperationsOfBlock / (dim_ * options_.branching), kShortestBlock, kLongestBlock);
}

std::size_t PartitionedTree::threads_for(std::size_t row_count) const {
  return std::clamp<std::size_t>(row_count * dim_ * options_.branching / kOperationsOfThread, 1, threads_);
}

// Divides the space, and moves the leaves of the first tree to one tree for each part.
void PartitionedTree::divide() {
  const CfTree pilot = std::move(parts_.front());
  const Features leaves = backwards(pilot.leaves());
  const std::size_t count = part_count_for(dim_, options_);
  partition_ = SpacePartition(leaves, count);
  rebuild_count_ += pilot.rebuild_count();
  std::vector<Features> of_part(count, Features{dim_, {}, {}, {}});
  for (std::size_t i = 0; i < leaves.size(); ++i) of_part[partition_.part_of(leaves[i].mean)].push_back(leaves[i]);
  TreeOptions options = options_;
  options.squared_threshold = 0.0;  // so that leaves are moved, not merged
  parts_.clear();
  for (std::size_t p = 0; p < count; ++p) parts_.emplace_back(dim_, options);
  parallel_for(count, 1, threads_for(leaves.size()), no_progress, [&](std::size_t p, std::size_t) {
    parts_[p].insert_features(view(of_part[p]), no_progress);
    parts_[p].raise_threshold(pilot.squared_threshold());
  });
  share_room({});
}

void PartitionedTree::meet(const Progress& progress) {
  if (!is_full()) return share_room(fastest_growth());
  rebuild_count_ += rebuild(parts_, limits_of(options_), threads_for(leaf_count()), progress);
  share_room({});
}

// The growth of the part that grew fastest since the last meeting.
PartitionedTree::Growth PartitionedTree::fastest_growth() const {
  if (interval_.rows == 0) return {};
  double leaves = 0.0, nodes = 0.0;
  const auto grown = [](std::size_t now, std::size_t limit, std::size_t share) {
    const std::size_t before = limit - share;
    return now > before ? static_cast<double>(now - before) : 0.0;
  };
  for (const CfTree& part : parts_) {
    const TreeOptions& limits = part.options();
    leaves = std::max(leaves, grown(part.leaf_count(), limits.max_leaves, interval_.share.leaves));
    nodes = std::max(nodes, grown(part.node_count(), limits.max_nodes, interval_.share.nodes));
    if (part.rebuild_count() > 0)  // it used up its share and would have grown further
      leaves = std::max(leaves, 2.0 * static_cast<double>(interval_.share.leaves));
  }
  const double rows = static_cast<double>(interval_.rows);
  return {(leaves + 1.0) / rows, (nodes + 1.0) / rows};  // + 1 because small counts vary by chance
}

// While only exact duplicates merge (threshold zero), no room is kept free: the data may have exactly as many different
// rows as leaves are allowed.
bool PartitionedTree::is_full() const {
  const TreeSize size = size_of(parts_);
  const TreeSize least =
      squared_threshold() > 0.0
          ? TreeSize{std::max(options_.max_leaves / 100, kLeastShare * parts_.size()), options_.max_nodes / 100}
          : TreeSize{};
  return size.leaves + least.leaves > options_.max_leaves || size.nodes + least.nodes > options_.max_nodes;
}

// Begins an interval, in which each part may grow by an equal share of the room. If every row of the interval could
// become a leaf without exceeding the limits by more than one, shares are not needed: only the last row can exceed a
// limit, and a meeting follows it at once.
void PartitionedTree::share_room(const Growth& growth) {
  const TreeSize size = size_of(parts_);
  const TreeSize room{options_.max_leaves - std::min(size.leaves, options_.max_leaves),
                      options_.max_nodes - std::min(size.nodes, options_.max_nodes)};
  const std::size_t safe_rows = std::min(room.leaves, room.nodes) + 1;
  const TreeSize share{room.leaves / parts_.size(), room.nodes / parts_.size()};
  const double rows = kUseOfShare * std::min(static_cast<double>(share.leaves) / growth.leaves,
                                             static_cast<double>(share.nodes) / growth.nodes);
  if (squared_threshold() > 0.0 && share.leaves > 0 && share.nodes > 0 && rows > static_cast<double>(safe_rows)) {
    interval_.rows = static_cast<std::size_t>(std::min(rows, kLongestInterval * static_cast<double>(safe_rows)));
    interval_.share = share;
  } else {
    interval_.rows = safe_rows;
    interval_.share = {room.leaves + 1, room.nodes + 1};
  }
  interval_.left = interval_.rows;
  for (CfTree& part : parts_) {
    part.set_limits(part.leaf_count() + interval_.share.leaves, part.node_count() + interval_.share.nodes);
    rebuild_count_ += part.take_rebuild_count();
  }
}

void PartitionedTree::raise_threshold(double squared_threshold) {
  for (CfTree& part : parts_) part.raise_threshold(squared_threshold);
}

// The decayed trees are built beside the old ones, so an interrupt loses nothing. Where leaves were removed, a new
// interval begins: the growth of the parts can no longer be told from their sizes.
void PartitionedTree::decay(double factor, double lightest, const Progress& progress) {
  if (!(factor > 0.0 && factor <= 1.0)) throw std::invalid_argument("a factor of decay must be in (0, 1]");
  const std::size_t leaves_before = leaf_count();
  std::vector<CfTree> decayed;
  for (const CfTree& part : parts_) {
    progress(decayed.size(), parts_.size());
    decayed.push_back(part.decayed(factor, lightest, progress));
  }
  progress(decayed.size(), parts_.size());
  parts_ = std::move(decayed);
  if (parts_.size() > 1 && leaf_count() < leaves_before) share_room({});
}

double PartitionedTree::squared_threshold() const {
  double largest = 0.0;
  for (const CfTree& part : parts_) largest = std::max(largest, part.squared_threshold());
  return largest;
}

double PartitionedTree::total_weight() const {
  double total = 0.0;
  for (const CfTree& part : parts_) total += part.total_weight();
  return total;
}

std::size_t PartitionedTree::rebuild_count() const {
  std::size_t count = rebuild_count_;
  for (const CfTree& part : parts_) count += part.rebuild_count();
  return count;
}

std::size_t PartitionedTree::memory_bytes() const {
  std::size_t bytes = 0;
  for (const CfTree& part : parts_) bytes += part.memory_bytes();
  return bytes;
}

Features PartitionedTree::leaves() const {
  Features all{dim_, {}, {}, {}};
  for (const CfTree& part : parts_) append(all, part.leaves());
  return all;
}

PartitionedTree::State PartitionedTree::state() const {
  State state{partition_, {}, interval_, rebuild_count_};
  for (const CfTree& part : parts_)
    state.parts.push_back({part.leaf_count() > 0 ? part.levels() : TreeLevels{}, part.total_weight(),
                           part.squared_threshold(), limits_of(part.options()), part.rebuild_count()});
  return state;
}

PartitionedTree::PartitionedTree(std::size_t dim, const TreeOptions& options, const State& state)
    : PartitionedTree(dim, options) {
  if (state.parts.empty() || state.parts.size() != state.partition.size())
    throw std::invalid_argument("a stored tree must have a part for each part of the space");
  const bool divided = state.parts.size() > 1;
  if (!divided && (state.interval.left == 0 || (state.interval.left > kPilotRows && state.interval.left != kNever)))
    throw std::invalid_argument("a stored tree must be divided after its first rows, or never");
  partition_ = state.partition;
  interval_ = state.interval;
  if (!divided && part_count_for(dim, options_) == 1) interval_.left = kNever;
  rebuild_count_ = state.rebuild_count;
  parts_.clear();
  for (const Part& part : state.parts) {
    TreeOptions own = options_;
    own.squared_threshold = part.squared_threshold;
    if (divided) own.max_leaves = part.limits.leaves, own.max_nodes = part.limits.nodes;
    if (part.limits.leaves < interval_.share.leaves || part.limits.nodes < interval_.share.nodes)
      throw std::invalid_argument("the limits of a stored part cannot be less than its share");
    if (part.levels.counts.empty())
      parts_.emplace_back(dim, own);
    else
      parts_.emplace_back(dim, own, part.levels, part.rebuild_count, part.total_weight);
  }
}

}  // namespace silverbirch

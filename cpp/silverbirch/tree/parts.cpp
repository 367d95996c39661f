#include "silverbirch/tree/parts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "silverbirch/base/parallel.hpp"

namespace silverbirch {

namespace {

constexpr std::size_t kNoLimit = std::size_t{1} << 62;  // still exact as a double
// So many rows tell the medians to about a hundredth of the mass, and are soon inserted by one thread.
constexpr std::size_t kPilotRows = 2048;
// A block takes some milliseconds: long enough for threads to be worth starting, short enough to stop in time.
constexpr std::size_t kShortestBlock = 1024, kLongestBlock = 65536, kOperationsOfBlock = std::size_t{1} << 25;
constexpr std::size_t kOperationsOfThread = std::size_t{1} << 17;  // that make another one worth starting
// The trees are rebuilt when they have used this share of a limit: the last leaves would be shared out one by one.
constexpr double kFull = 0.99;
constexpr double kEnough = 1.0 - kLeastRoom;  // and until this share is left

using Forest = std::vector<CfTree>;

std::size_t count_leaves(const Forest& trees) {
  std::size_t count = 0;
  for (const CfTree& tree : trees) count += tree.leaf_count();
  return count;
}

std::size_t block_length(std::size_t dim, std::size_t branching) {
  return std::clamp(kOperationsOfBlock / (dim * branching), kShortestBlock, kLongestBlock);
}

TreeOptions without_limits(TreeOptions options) {
  options.max_leaves = options.max_nodes = kNoLimit;
  return options;
}

// Rows of the caller, and how to hand some of them to a tree.
template <class Scalar>
struct RowBatch {
  const Scalar* rows;
  const double* weights;  // or null
  std::size_t size, dim;

  double weight(std::size_t i) const { return weights ? weights[i] : 1.0; }
  double sum_of_weights(std::size_t begin, std::size_t end, double sum) const {
    return weights ? std::accumulate(weights + begin, weights + end, sum) : sum + static_cast<double>(end - begin);
  }
  const Scalar* mean(std::size_t i) const { return rows + i * dim; }

  // chosen: counted from `begin` on
  void insert_into(CfTree& tree, std::size_t begin, const std::uint32_t* chosen, std::size_t count) const {
    tree.insert_some(mean(begin), weights ? weights + begin : nullptr, chosen, count);
  }
};

struct FeatureBatch {
  FeaturesView features;
  std::size_t size, dim;

  double weight(std::size_t i) const { return features.weight[i]; }
  double sum_of_weights(std::size_t begin, std::size_t end, double sum) const {
    return std::accumulate(features.weight + begin, features.weight + end, sum);
  }
  const double* mean(std::size_t i) const { return features.mean + i * dim; }

  void insert_into(CfTree& tree, std::size_t begin, const std::uint32_t* chosen, std::size_t count) const {
    Features some{dim, {}, {}, {}};
    for (std::size_t i = 0; i < count; ++i) some.push_back(features[begin + chosen[i]]);
    tree.insert_features(view(some), no_progress);
  }
};

// Backwards, as in the rebuild of one tree.
Features backwards(const Features& leaves) {
  Features turned{leaves.dim, {}, {}, {}};
  for (std::size_t i = leaves.size(); i-- > 0;) turned.push_back(leaves[i]);
  return turned;
}

std::size_t part_of_limit(double share, std::size_t limit) {
  return static_cast<std::size_t>(share * static_cast<double>(limit));
}

}  // namespace

struct PartitionedTree::Queue {
  std::vector<std::uint32_t> rows;  // counted from the first of the block on
  std::size_t done = 0;
  std::size_t max_leaves = 0, max_nodes = 0;  // of the tree, until the next meeting

  std::size_t waiting() const { return rows.size() - done; }

  // A row adds one leaf at most, and far less than one node: so many rows cannot pass the limits.
  template <class Batch>
  void insert_into(CfTree& tree, const Batch& batch, std::size_t begin) {
    while (waiting() > 0 && tree.leaf_count() < max_leaves && tree.node_count() < max_nodes) {
      const std::size_t room = std::min(max_leaves - tree.leaf_count(), max_nodes - tree.node_count());
      const std::size_t count = std::min(waiting(), room);
      batch.insert_into(tree, begin, rows.data() + done, count);
      done += count;
    }
  }
};

PartitionedTree::PartitionedTree(std::size_t dim, const TreeOptions& options, std::size_t part_count,
                                 std::size_t threads)
    : dim_(dim), options_(options), part_count_(std::bit_ceil(part_count)), threads_(threads) {
  if (part_count_ < 2 || threads < 1) throw std::invalid_argument("at least two parts and one thread, please");
  options_.max_leaves = std::min(options.max_leaves, kNoLimit);
  options_.max_nodes = std::min(options.max_nodes, kNoLimit);
  if (options.max_leaves / 64 < part_count_ || options.max_nodes / 4 < part_count_)
    throw std::invalid_argument("the limits are too small for so many parts");
  trees_.emplace_back(dim, options);
}

template <class Scalar>
void PartitionedTree::insert_rows(const Scalar* rows, const double* weights, std::size_t row_count,
                                  const Progress& progress) {
  insert(RowBatch<Scalar>{rows, weights, row_count, dim_}, progress);
}

template void PartitionedTree::insert_rows(const float*, const double*, std::size_t, const Progress&);
template void PartitionedTree::insert_rows(const double*, const double*, std::size_t, const Progress&);

template <class Scalar>
void PartitionedTree::check_and_insert(const Scalar* rows, const double* weights, std::size_t row_count,
                                       const Progress& progress) {
  check_coordinates(rows, row_count, dim_, threads_, progress);
  insert_rows(rows, weights, row_count, progress);
}

template void PartitionedTree::check_and_insert(const float*, const double*, std::size_t, const Progress&);
template void PartitionedTree::check_and_insert(const double*, const double*, std::size_t, const Progress&);

void PartitionedTree::insert_features(const FeaturesView& features, const Progress& progress) {
  insert(FeatureBatch{features, features.size, dim_}, progress);
}

template <class Batch>
void PartitionedTree::insert(const Batch& batch, const Progress& progress) {
  const std::size_t length = block_length(dim_, options_.branching);
  std::size_t end = insert_first_rows(batch);
  while (end < batch.size) {
    progress(end, batch.size);
    const std::size_t begin = end;
    end = std::min(begin + length, batch.size);
    insert_block(batch, begin, end);
  }
  progress(batch.size, batch.size);
}

// Into the one tree, until there are enough of them to divide the space. Returns where it ends.
template <class Batch>
std::size_t PartitionedTree::insert_first_rows(const Batch& batch) {
  if (trees_.size() > 1) return 0;
  std::vector<std::uint32_t> chosen;
  std::size_t end = 0;
  for (; end < batch.size && counts_.rows < kPilotRows; ++end)
    if (batch.weight(end) > 0.0) {
      chosen.push_back(static_cast<std::uint32_t>(end));
      counts_.weight += batch.weight(end);
      ++counts_.rows;
    }
  batch.insert_into(trees_.front(), 0, chosen.data(), chosen.size());
  if (counts_.rows == kPilotRows) divide();
  return end;
}

template <class Batch>
void PartitionedTree::insert_block(const Batch& batch, std::size_t begin, std::size_t end) {
  const std::size_t threads = threads_for(end - begin);
  std::vector<Queue> queues = route(batch, begin, end, threads);
  while (std::ranges::any_of(queues, [](const Queue& queue) { return queue.waiting() > 0; })) {
    if (is_full(kFull)) rebuild();
    share_room(queues);
    // The longest first, so that in the end no thread has much to do while the others wait.
    std::vector<std::size_t> order(queues.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t part) { return queues[part].waiting(); });
    for_each_part(threads, [&](std::size_t i) { queues[order[i]].insert_into(trees_[order[i]], batch, begin); });
  }
  counts_.weight = batch.sum_of_weights(begin, end, counts_.weight);
}

std::size_t PartitionedTree::threads_for(std::size_t row_count) const {
  return std::clamp<std::size_t>(row_count * dim_ * options_.branching / kOperationsOfThread, 1, threads_);
}

template <class Work>
void PartitionedTree::for_each_part(std::size_t threads, Work work) const {
  parallel_for(trees_.size(), 1, threads, no_progress, [&](std::size_t first, std::size_t last) {
    for (std::size_t part = first; part < last; ++part) work(part);
  });
}

// The rows of each part, in their order; those of no weight are left out.
template <class Batch>
std::vector<PartitionedTree::Queue> PartitionedTree::route(const Batch& batch, std::size_t begin, std::size_t end,
                                                           std::size_t threads) const {
  constexpr std::size_t piece = 4096;
  const std::size_t count = end - begin, pieces = (count + piece - 1) / piece;
  std::vector<Queue> queues(trees_.size() + 1);  // the last is for rows of no weight
  std::vector<std::uint32_t> part_of_row(count);
  // How many rows of a piece are of a part; then where they go.
  std::vector<std::size_t> places(pieces * queues.size());
  parallel_for(count, piece, threads, no_progress, [&](std::size_t first, std::size_t last) {
    partition_.parts_of(batch.mean(begin + first), last - first, part_of_row.data() + first);
    std::vector<std::size_t> counts(queues.size());
    for (std::size_t i = first; i < last; ++i) {
      if (!(batch.weight(begin + i) > 0.0)) part_of_row[i] = static_cast<std::uint32_t>(trees_.size());
      ++counts[part_of_row[i]];
    }
    std::ranges::copy(counts, places.begin() + static_cast<std::ptrdiff_t>(first / piece * queues.size()));
  });
  for (std::size_t part = 0; part < queues.size(); ++part) {
    std::size_t rows = 0;
    for (std::size_t p = 0; p < pieces; ++p) rows += std::exchange(places[p * queues.size() + part], rows);
    queues[part].rows.resize(rows);
  }
  parallel_for(count, piece, threads, no_progress, [&](std::size_t first, std::size_t last) {
    std::vector<std::uint32_t*> next(queues.size());
    for (std::size_t part = 0; part < queues.size(); ++part)
      next[part] = queues[part].rows.data() + places[first / piece * queues.size() + part];
    for (std::size_t i = first; i < last; ++i) *next[part_of_row[i]]++ = static_cast<std::uint32_t>(i);
  });
  queues.pop_back();
  return queues;
}

// In proportion to the rows that wait: where none arrive, no room is needed.
void PartitionedTree::share_room(std::vector<Queue>& queues) const {
  std::size_t all_waiting = 0;
  for (const Queue& queue : queues) all_waiting += queue.waiting();
  const auto share = [&](const Queue& queue, std::size_t limit, std::size_t used) {
    const double portion = static_cast<double>(queue.waiting()) / static_cast<double>(all_waiting);
    return limit > used ? part_of_limit(portion, limit - used) : 0;
  };
  const std::size_t leaves = leaf_count(), nodes = node_count();
  for (std::size_t part = 0; part < queues.size(); ++part) {
    queues[part].max_leaves = trees_[part].leaf_count() + share(queues[part], options_.max_leaves, leaves);
    // One node more for each part makes no difference to the memory.
    queues[part].max_nodes = trees_[part].node_count() + share(queues[part], options_.max_nodes, nodes) + 1;
  }
}

bool PartitionedTree::is_full(double share_of_limits) const {
  return leaf_count() > part_of_limit(share_of_limits, options_.max_leaves) ||
         node_count() > part_of_limit(share_of_limits, options_.max_nodes);
}

// The one tree of the first rows becomes a tree for each part.
void PartitionedTree::divide() {
  const CfTree pilot = std::move(trees_.front());
  const Features leaves = backwards(pilot.leaves());
  partition_ = SpacePartition(leaves, part_count_);
  counts_.rebuilds += pilot.rebuild_count();
  trees_.clear();
  TreeOptions options = without_limits(pilot.options());
  options.squared_threshold = 0.0;  // for now: the leaves are moved, not merged
  for (std::size_t part = 0; part < part_count_; ++part) trees_.emplace_back(dim_, options);
  std::vector<Features> of_part(part_count_, Features{dim_, {}, {}, {}});
  for (std::size_t i = 0; i < leaves.size(); ++i) of_part[partition_.part_of(leaves[i].mean)].push_back(leaves[i]);
  for_each_part(threads_for(leaves.size()), [&](std::size_t part) {
    trees_[part].insert_features(view(of_part[part]), no_progress);
    trees_[part].raise_threshold(pilot.squared_threshold());
  });
}

std::vector<CfTree> PartitionedTree::merged(const MergeExtent& limits, std::size_t threads) {
  Forest smaller;
  for (const CfTree& tree : trees_) smaller.emplace_back(dim_, tree.options());
  for_each_part(threads, [&](std::size_t part) { smaller[part] = trees_[part].merged(limits, no_progress); });
  return smaller;
}

// As the rebuild of one tree: the larger threshold follows from the leaves of all parts.
void PartitionedTree::rebuild() {
  const std::size_t threads = threads_for(leaf_count());
  const double room = room_to_free(total_weight(), static_cast<double>(leaf_count()));
  double least_growth = kLeastGrowth, failed = 0.0;
  MergeExtent limits;
  do {
    std::vector<std::vector<MergeExtent>> merges_of_part(trees_.size());
    const std::size_t sampled = kSampledLeaves / trees_.size() + 1;
    for_each_part(threads,
                  [&](std::size_t part) { merges_of_part[part] = trees_[part].sibling_merges(sampled, no_progress); });
    std::vector<MergeExtent> merges;
    for (const std::vector<MergeExtent>& some : merges_of_part) merges.insert(merges.end(), some.begin(), some.end());
    const double leaves = static_cast<double>(leaf_count());
    const auto wanted = static_cast<double>(part_of_limit(kEnough, options_.max_leaves));
    limits = merge_limits(limits, merges, std::max((leaves - wanted) / leaves, kLeastRoom), room, least_growth,
                          squared_threshold(), data_scale());
    Forest smaller = merged(limits, threads);
    // Where all distances are about the same, little more than what frees nothing merges all: see CfTree::rebuild.
    for (int halvings = 0; failed > 0.0 && count_leaves(smaller) < options_.max_leaves / 4 && halvings < kMostHalvings;
         ++halvings) {
      const double between = std::sqrt(failed) * std::sqrt(limits.squared_cost);
      Forest larger = merged({between, limits.squared_size}, threads);
      if (count_leaves(larger) > part_of_limit(kEnough, options_.max_leaves)) {
        failed = between;
      } else {
        limits.squared_cost = between;
        smaller = std::move(larger);
      }
    }
    failed = limits.squared_cost;
    const double absorption = room_to_grow(room) * limits.squared_size;
    for_each_part(threads, [&](std::size_t part) {  // what a tree held is given back node by node
      trees_[part] = std::move(smaller[part]);
      trees_[part].raise_threshold(absorption);
    });
    ++counts_.rebuilds;
    least_growth = 1.0 + 2.0 * (least_growth - 1.0);
  } while (is_full(kEnough));
}

double PartitionedTree::data_scale() const {
  Features whole{dim_, {}, {}, {}};
  for (const CfTree& tree : trees_)
    if (tree.leaf_count() > 0) {
      const Features part = tree.total();
      whole.size() == 0 ? whole.push_back(part[0]) : whole.absorb(0, part[0]);
    }
  return whole.sse[0] / whole.weight[0];
}

void PartitionedTree::raise_threshold(double squared_threshold) {
  for (CfTree& tree : trees_) tree.raise_threshold(squared_threshold);
}

std::size_t PartitionedTree::leaf_count() const { return count_leaves(trees_); }

std::size_t PartitionedTree::node_count() const {
  std::size_t count = 0;
  for (const CfTree& tree : trees_) count += tree.node_count();
  return count;
}

std::size_t PartitionedTree::rebuild_count() const {
  return counts_.rebuilds + (trees_.size() == 1 ? trees_.front().rebuild_count() : 0);
}

std::size_t PartitionedTree::memory_bytes() const {
  std::size_t bytes = 0;
  for (const CfTree& tree : trees_) bytes += tree.memory_bytes();
  return bytes;
}

Features PartitionedTree::leaves() const {
  Features all{dim_, {}, {}, {}};
  for (const CfTree& tree : trees_) {
    const Features some = tree.leaves();
    all.weight.insert(all.weight.end(), some.weight.begin(), some.weight.end());
    all.mean.insert(all.mean.end(), some.mean.begin(), some.mean.end());
    all.sse.insert(all.sse.end(), some.sse.begin(), some.sse.end());
  }
  return all;
}

std::vector<PartitionedTree::Part> PartitionedTree::parts() const {
  std::vector<Part> parts;
  for (const CfTree& tree : trees_)
    parts.push_back({tree.leaf_count() > 0 ? tree.levels() : TreeLevels{}, tree.total_weight()});
  return parts;
}

PartitionedTree::PartitionedTree(std::size_t dim, const TreeOptions& options, std::size_t part_count,
                                 std::size_t threads, SpacePartition partition, const std::vector<Part>& parts,
                                 const Counts& counts)
    : PartitionedTree(dim, options, part_count, threads) {
  const bool divided = parts.size() > 1;
  if (parts.size() != partition.size() || parts.size() != (divided ? part_count_ : 1))
    throw std::invalid_argument("a stored tree must have a tree for each part");
  if (!divided && counts.rows >= kPilotRows) throw std::invalid_argument("a stored tree must be divided by then");
  partition_ = std::move(partition);
  counts_ = counts;
  trees_.clear();
  const TreeOptions own = divided ? without_limits(options) : options;
  for (const Part& part : parts) {
    if (part.levels.counts.empty())
      trees_.emplace_back(dim, own);
    else
      trees_.emplace_back(dim, own, part.levels, 0, part.total_weight);
  }
}

}  // namespace silverbirch

#include "partitioned_tree.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "parallel.hpp"

namespace silverbirch {

namespace {

// So many rows tell the medians to a hundredth of the mass, and are soon inserted by one thread.
constexpr std::size_t kPilotRows = 4096;
// Blocks end often while the thresholds rise fast, at the beginning, and then every few milliseconds: long enough for
// the threads to be worth starting, short enough to stop in time.
constexpr std::size_t kShortestBlock = 1024, kLongestBlock = 65536;
constexpr std::size_t kOperationsOfBlock = std::size_t{1} << 25;
constexpr std::size_t kBlocksPerStream = 8;
// A tree whose squared threshold is within this factor of the largest is not rebuilt for it.
constexpr double kMuchSmaller = 0.8;
// Rows that make it worth to start another thread, and rows copied together for their tree.
constexpr std::size_t kRowsPerThread = 512, kRowsAtOnce = 256;

std::size_t block_length(std::size_t position, std::size_t dim, std::size_t branching) {
  const std::size_t longest = std::clamp(kOperationsOfBlock / (dim * branching), kShortestBlock, kLongestBlock);
  return std::clamp(position / kBlocksPerStream, kShortestBlock, longest);
}

// Rows of the caller, and how to hand some of them to a tree.
template <class Scalar>
struct RowBatch {
  const Scalar* rows;
  const double* weights;  // or null
  std::size_t size, dim;

  double weight(std::size_t i) const { return weights ? weights[i] : 1.0; }
  const Scalar* mean(std::size_t i) const { return rows + i * dim; }

  void insert_into(CfTree& tree, const std::vector<std::size_t>& chosen) const {
    std::vector<Scalar> some;
    std::vector<double> their_weights;
    some.reserve(chosen.size() * dim);
    for (const std::size_t i : chosen) some.insert(some.end(), mean(i), mean(i) + dim);
    if (weights)
      for (const std::size_t i : chosen) their_weights.push_back(weights[i]);
    tree.insert_rows(some.data(), weights ? their_weights.data() : nullptr, chosen.size(), no_progress);
  }
};

struct FeatureBatch {
  FeaturesView features;
  std::size_t size, dim;

  double weight(std::size_t i) const { return features.weight[i]; }
  const double* mean(std::size_t i) const { return features.mean + i * dim; }

  void insert_into(CfTree& tree, const std::vector<std::size_t>& chosen) const {
    Features some{dim, {}, {}, {}};
    for (const std::size_t i : chosen) some.push_back(features[i]);
    tree.insert_features(view(some), no_progress);
  }
};

// Divides a limit in proportion to what is there. Even an empty part may have one; with many for each part, as the
// constructor demands, rounding down makes up for that, and the sum does not pass the limit.
std::vector<std::size_t> shares(std::size_t limit, std::vector<std::size_t> used) {
  for (std::size_t& count : used) count = std::max<std::size_t>(count, 1);
  const std::size_t total = std::accumulate(used.begin(), used.end(), std::size_t{0});
  const double scale = static_cast<double>(limit) / static_cast<double>(total);
  for (std::size_t& count : used)
    count = std::max<std::size_t>(static_cast<std::size_t>(scale * static_cast<double>(count)), 1);
  return used;
}

Features backwards(const Features& leaves) {
  Features turned{leaves.dim, {}, {}, {}};
  for (std::size_t i = leaves.size(); i-- > 0;) turned.push_back(leaves[i]);
  return turned;
}

}  // namespace

PartitionedTree::PartitionedTree(std::size_t dim, const TreeOptions& options, std::size_t part_count,
                                 std::size_t threads)
    : dim_(dim), options_(options), part_count_(std::bit_ceil(part_count)), threads_(threads) {
  if (part_count_ < 2 || threads < 1) throw std::invalid_argument("at least two parts and one thread, please");
  if (options.max_leaves < part_count_ * part_count_ || options.max_nodes < part_count_)
    throw std::invalid_argument("the limits are too small for so many parts");
  trees_.emplace_back(dim, options);
  stream_.block_end = kPilotRows;
}

template <class Scalar>
void PartitionedTree::insert_rows(const Scalar* rows, const double* weights, std::size_t row_count,
                                  const Progress& progress) {
  insert(RowBatch<Scalar>{rows, weights, row_count, dim_}, progress);
}

template void PartitionedTree::insert_rows(const float*, const double*, std::size_t, const Progress&);
template void PartitionedTree::insert_rows(const double*, const double*, std::size_t, const Progress&);

void PartitionedTree::insert_features(const FeaturesView& features, const Progress& progress) {
  insert(FeatureBatch{features, features.size, dim_}, progress);
}

template <class Batch>
void PartitionedTree::insert(const Batch& batch, const Progress& progress) {
  for (std::size_t begin = 0; begin < batch.size;) {
    progress(begin, batch.size);
    std::size_t end = begin;
    const std::size_t first = stream_.position;
    double weight = stream_.total_weight;
    for (; end < batch.size && stream_.position < stream_.block_end; ++end)
      if (batch.weight(end) > 0.0) {
        weight += batch.weight(end);
        ++stream_.position;
      }
    insert_block(batch, begin, end, stream_.position - first);
    stream_.total_weight = weight;
    if (stream_.position == stream_.block_end) end_block();
    begin = end;
  }
  progress(batch.size, batch.size);
}

template <class Batch>
void PartitionedTree::insert_block(const Batch& batch, std::size_t begin, std::size_t end, std::size_t row_count) {
  part_of_row_.resize(end - begin);
  constexpr std::uint32_t none = ~std::uint32_t{0};
  const std::size_t threads = std::clamp<std::size_t>(row_count / kRowsPerThread, 1, threads_);
  parallel_for(end - begin, 8192, threads, no_progress, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      part_of_row_[i] =
          batch.weight(begin + i) > 0.0 ? static_cast<std::uint32_t>(partition_.part_of(batch.mean(begin + i))) : none;
  });
  for_each_part(row_count, [&](std::size_t part) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < part_of_row_.size(); ++i) {
      if (part_of_row_[i] == part) chosen.push_back(begin + i);
      if (chosen.size() < kRowsAtOnce && i + 1 < part_of_row_.size()) continue;
      batch.insert_into(trees_[part], chosen);
      chosen.clear();
    }
  });
}

template <class Work>
void PartitionedTree::for_each_part(std::size_t row_count, Work work) {
  const std::size_t threads = std::clamp<std::size_t>(row_count / kRowsPerThread, 1, threads_);
  parallel_for(trees_.size(), 1, threads, no_progress, [&](std::size_t begin, std::size_t end) {
    for (std::size_t part = begin; part < end; ++part) work(part);
  });
}

void PartitionedTree::raise_threshold(double squared_threshold) {
  for (CfTree& tree : trees_) tree.raise_threshold(squared_threshold);
}

void PartitionedTree::end_block() {
  if (trees_.size() == 1) divide();
  settle();
  share_limits();
  stream_.block_end += block_length(stream_.position, dim_, options_.branching);
}

// The one tree of the first rows becomes a tree for each part.
void PartitionedTree::divide() {
  const CfTree pilot = std::move(trees_.front());
  const Features leaves = backwards(pilot.leaves());
  partition_ = SpacePartition(leaves, part_count_);
  stream_.rebuild_count += pilot.rebuild_count();
  std::vector<Features> of_part(part_count_, Features{dim_, {}, {}, {}});
  for (std::size_t i = 0; i < leaves.size(); ++i) of_part[partition_.part_of(leaves[i].mean)].push_back(leaves[i]);
  std::vector<std::size_t> counts;
  for (const Features& features : of_part) counts.push_back(features.size());
  const std::vector<std::size_t> limits = shares(options_.max_leaves, std::move(counts));
  TreeOptions options = options_;
  options.squared_threshold = pilot.squared_threshold();
  trees_.assign(part_count_, CfTree(dim_, options));
  for (std::size_t part = 0; part < part_count_; ++part) {
    trees_[part].set_limits(limits[part], options_.max_nodes);
    trees_[part].insert_features(view(of_part[part]), no_progress);
  }
}

void PartitionedTree::settle() {
  const double common = squared_threshold();
  for (const CfTree& tree : trees_)
    if (tree.squared_threshold() < kMuchSmaller * common) stream_.rebuild_count += tree.rebuild_count() + 1;
  for_each_part(leaf_count(), [&](std::size_t part) {
    if (trees_[part].squared_threshold() < kMuchSmaller * common) rebuild_coarser(part, common);
  });
}

void PartitionedTree::rebuild_coarser(std::size_t part, double squared_threshold) {
  CfTree& tree = trees_[part];
  TreeOptions options = tree.options();
  options.squared_threshold = squared_threshold;
  CfTree coarser(dim_, options);
  coarser.insert_features(view(backwards(tree.leaves())), no_progress);
  tree = std::move(coarser);
}

void PartitionedTree::share_limits() {
  std::vector<std::size_t> leaves, nodes;
  for (const CfTree& tree : trees_) {
    leaves.push_back(tree.leaf_count());
    nodes.push_back(tree.node_count());
  }
  leaves = shares(options_.max_leaves, std::move(leaves));
  nodes = shares(options_.max_nodes, std::move(nodes));
  for (std::size_t part = 0; part < trees_.size(); ++part) trees_[part].set_limits(leaves[part], nodes[part]);
}

double PartitionedTree::squared_threshold() const {
  double largest = 0.0;
  for (const CfTree& tree : trees_) largest = std::max(largest, tree.squared_threshold());
  return largest;
}

std::size_t PartitionedTree::leaf_count() const {
  std::size_t count = 0;
  for (const CfTree& tree : trees_) count += tree.leaf_count();
  return count;
}

std::size_t PartitionedTree::node_count() const {
  std::size_t count = 0;
  for (const CfTree& tree : trees_) count += tree.node_count();
  return count;
}

std::size_t PartitionedTree::rebuild_count() const {
  std::size_t count = stream_.rebuild_count;
  for (const CfTree& tree : trees_) count += tree.rebuild_count();
  return count;
}

std::size_t PartitionedTree::memory_bytes() const {
  std::size_t bytes = part_of_row_.capacity() * sizeof(part_of_row_[0]);
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
    parts.push_back({tree.levels(), tree.squared_threshold(), tree.options().max_leaves, tree.options().max_nodes,
                     tree.rebuild_count(), tree.total_weight()});
  return parts;
}

PartitionedTree::PartitionedTree(std::size_t dim, const TreeOptions& options, std::size_t part_count,
                                 std::size_t threads, SpacePartition partition, const std::vector<Part>& parts,
                                 const Stream& stream)
    : PartitionedTree(dim, options, part_count, threads) {
  partition_ = std::move(partition);
  if (parts.size() != partition_.size() || (parts.size() > 1 && parts.size() != part_count_))
    throw std::invalid_argument("a stored tree must have a tree for each part");
  if (stream.position >= stream.block_end) throw std::invalid_argument("a stored tree must be inside of its block");
  trees_.clear();
  for (const Part& part : parts) {
    TreeOptions own = options;
    own.squared_threshold = part.squared_threshold;
    own.max_leaves = part.max_leaves;
    own.max_nodes = part.max_nodes;
    if (part.levels.counts.empty())
      trees_.emplace_back(dim, own);
    else
      trees_.emplace_back(dim, own, part.levels, part.rebuild_count, part.total_weight);
  }
  stream_ = stream;
}

}  // namespace silverbirch

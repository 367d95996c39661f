#include "cf_tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels.hpp"
#include "threshold.hpp"

namespace silverbirch {

namespace {

// About a millisecond's worth of rows, whatever their width.
std::size_t rows_between_reports(std::size_t dim) { return std::max<std::size_t>(1, 4096 / dim); }

// The entry that makes a node overflow is put into it before it is split, so there is room for one more.
std::size_t blocks_per_node(std::size_t branching) { return blocks_for(branching + 1); }

}  // namespace

CfTree::CfTree(std::size_t dim, const TreeOptions& options)
    : dim_(dim),
      options_(options),
      inner_(dim, blocks_per_node(options.branching), true),
      leaf_(dim, blocks_per_node(options.branching), false),
      root_(leaf_.create()),
      row_(dim),
      split_row_(dim) {
  if (dim == 0) throw std::invalid_argument("a tree needs rows of at least one column");
  if (options.branching < 2) throw std::invalid_argument("branching must be at least 2");
  if (options.max_leaves < 1 || options.max_nodes < 1) throw std::invalid_argument("limits must be at least 1");
}

template <class Scalar>
void CfTree::insert_rows(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress) {
  const std::size_t pause = rows_between_reports(dim_);
  for (std::size_t r = 0; r < row_count; ++r) {
    if (r % pause == 0) progress(r, row_count);
    const double weight = weights ? weights[r] : 1.0;
    if (weight == 0.0) continue;
    std::copy_n(rows + r * dim_, dim_, row_.begin());
    insert({weight, row_.data(), 0.0}, progress);
  }
  progress(row_count, row_count);
}

template void CfTree::insert_rows(const float*, const double*, std::size_t, const Progress&);
template void CfTree::insert_rows(const double*, const double*, std::size_t, const Progress&);

void CfTree::insert_features(const FeaturesView& features, const Progress& progress) {
  const std::size_t pause = rows_between_reports(dim_);
  for (std::size_t i = 0; i < features.size; ++i) {
    if (i % pause == 0) progress(i, features.size);
    if (features.weight[i] > 0.0) insert(features[i], progress);
  }
  progress(features.size, features.size);
}

void CfTree::raise_threshold(double squared_threshold) {
  options_.squared_threshold = std::max(options_.squared_threshold, squared_threshold);
  if (options_.squared_threshold > 0.0) directory_.clear();
}

void CfTree::insert(const Feature& feature, const Progress& progress) {
  place(feature);
  total_weight_ += feature.weight;
  if (leaf_count_ > options_.max_leaves || node_count() > options_.max_nodes) rebuild(progress);
}

void CfTree::place(const Feature& feature) {
  if (options_.squared_threshold == 0.0 && absorb_duplicate(feature)) return;
  const Kernels& kernel = kernels();
  path_.clear();
  NodeId node = root_;
  for (std::size_t level = height_; level > 0; --level) {
    const Nearest nearest =
        kernel.nearest(options_.distance, inner_.blocks(node), dim_, feature, {blocks_for(inner_.count(node))});
    path_.push_back({node, nearest.slot});
    inner_.slot(node, nearest.slot).absorb(feature);
    node = inner_.child(node, nearest.slot);
  }

  const std::uint32_t count = leaf_.count(node);
  if (count > 0) {
    const Nearest nearest = kernel.nearest(options_.distance, leaf_.blocks(node), dim_, feature, {blocks_for(count)});
    if (absorb(feature, {node, nearest.slot})) return;
  }
  leaf_.slot(node, leaf_.count(node)++).assign(feature);
  ++leaf_count_;
  if (options_.squared_threshold == 0.0) directory_.put(feature.mean, dim_, node);
  if (leaf_.count(node) > options_.branching) split_upwards(node);
}

bool CfTree::absorb(const Feature& feature, const Step& target) {
  // One block of slots holds the candidate; its distance comes from the same kernel as all others.
  const double* block = leaf_.blocks(target.node) + target.slot / kLanes * block_doubles(dim_);
  alignas(64) double squared_costs[kLanes];
  kernels().distances(options_.absorption, block, dim_, feature, 1, squared_costs);
  if (!(squared_costs[target.slot % kLanes] <= options_.squared_threshold)) return false;
  leaf_.slot(target.node, target.slot).absorb(feature);
  return true;
}

// Adds a feature to the leaf of the same mean, if there is one, and to all that is above it.
bool CfTree::absorb_duplicate(const Feature& feature) {
  const std::optional<NodeId> known = directory_.find(feature.mean, dim_);
  if (!known) return false;
  NodeId node = *known;
  for (std::size_t first = 0;;) {  // features of the same mean and a larger sse may be in the way
    const Nearest nearest = kernels().nearest(CfDistance::centroid, leaf_.blocks(node), dim_, feature,
                                              {blocks_for(leaf_.count(node)), first});
    if (nearest.squared_distance > 0.0) return false;
    if (absorb(feature, {node, nearest.slot})) break;
    first = nearest.slot + 1;
  }
  for (std::size_t level = 0; level < height_; ++level) {
    const NodeId parent = pool(level).parent(node);
    inner_.slot(parent, inner_.slot_of_child(parent, node)).absorb(feature);
    node = parent;
  }
  return true;
}

// Tells what a node refers to where it is now: the children of an inner node, the rows of a leaf.
void CfTree::move_in(std::size_t level, NodeId node) {
  if (level > 0)
    for (std::size_t s = 0; s < inner_.count(node); ++s) pool(level - 1).parent(inner_.child(node, s)) = node;
  else if (options_.squared_threshold == 0.0)
    for (std::size_t s = 0; s < leaf_.count(node); ++s)
      directory_.put(leaf_.load(node, s, split_row_.data()).mean, dim_, node);
}

void CfTree::split_upwards(NodeId overfull) {
  for (std::size_t level = 0;; ++level) {
    NodePool& nodes = pool(level);
    const NodeId sibling = split(nodes, overfull);
    move_in(level, sibling);
    if (level == height_) {
      root_ = inner_.create();
      ++height_;
      inner_.count(root_) = 1;
      inner_.child(root_, 0) = overfull;
      nodes.parent(overfull) = root_;
      path_.insert(path_.begin(), {root_, 0});
    }
    const Step parent = path_[height_ - 1 - level];
    const std::size_t end = inner_.count(parent.node)++;
    inner_.child(parent.node, end) = sibling;
    nodes.parent(sibling) = parent.node;
    summarize(parent.node, parent.slot, nodes, overfull);
    summarize(parent.node, end, nodes, sibling);
    if (inner_.count(parent.node) <= options_.branching) return;
    overfull = parent.node;
  }
}

// Splits by the farthest pair: each entry goes to the nearer of the two, equals to the smaller side. Returns the new
// node.
NodeId CfTree::split(NodePool& nodes, NodeId node) {
  const std::size_t count = nodes.count(node);
  const std::size_t blocks = blocks_for(count), width = blocks * kLanes;
  split_distances_.resize(count * width);
  std::size_t left_seed = 0, right_seed = 1;
  double farthest = -1.0;
  for (std::size_t i = 0; i < count; ++i) {
    double* row = split_distances_.data() + i * width;
    kernels().distances(options_.distance, nodes.blocks(node), dim_, nodes.load(node, i, split_row_.data()), blocks,
                        row);
    for (std::size_t j = i + 1; j < count; ++j)
      if (row[j] > farthest) {
        farthest = row[j];
        left_seed = i;
        right_seed = j;
      }
  }

  const double* to_left = split_distances_.data() + left_seed * width;
  const double* to_right = split_distances_.data() + right_seed * width;
  const NodeId sibling = nodes.create();
  std::size_t left_count = 1, right_count = 1;
  std::vector<bool> goes_right(count);
  goes_right[right_seed] = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (i == left_seed || i == right_seed) continue;
    goes_right[i] = to_right[i] < to_left[i] || (to_right[i] == to_left[i] && right_count < left_count);
    ++(goes_right[i] ? right_count : left_count);
  }

  nodes.count(node) = 0;
  for (std::size_t i = 0; i < count; ++i) nodes.append_from(goes_right[i] ? sibling : node, node, i);
  for (std::size_t i = nodes.count(node); i < count; ++i) nodes.slot(node, i).clear();
  return sibling;
}

// Sets an inner entry to the sum of all entries of the child.
void CfTree::summarize(NodeId inner_node, std::size_t slot, const NodePool& nodes, NodeId child) {
  const FeatureSlot sum = inner_.slot(inner_node, slot);
  sum.assign(nodes.load(child, 0, split_row_.data()));
  for (std::size_t i = 1; i < nodes.count(child); ++i) sum.absorb(nodes.load(child, i, split_row_.data()));
}

namespace {

// What a limit allows after a rebuild. A limit too small to leave room in whole numbers may be used up.
std::size_t after_rebuild(std::size_t limit) {
  return limit - static_cast<std::size_t>(kRoomAfterRebuild * static_cast<double>(limit));
}

}  // namespace

// Terminates: the threshold grows by a constant factor at least, and once it exceeds the spread of the data every
// feature is absorbed by the first leaf it meets. The smaller tree is built beside the old one, so that an interrupt
// loses nothing.
void CfTree::rebuild(const Progress& progress) {
  const std::size_t max_leaves = after_rebuild(options_.max_leaves), max_nodes = after_rebuild(options_.max_nodes);
  double least_growth = kLeastGrowth;
  do {
    // Too many nodes for the memory do not say how many leaves are too many: some, then.
    const std::size_t excess = leaf_count_ > max_leaves ? leaf_count_ - max_leaves : 0;
    const auto some = static_cast<std::size_t>(kRoomAfterRebuild * static_cast<double>(leaf_count_));
    TreeOptions options = options_;
    options.squared_threshold =
        next_squared_threshold(options_.squared_threshold, sibling_costs(progress),
                               std::max({excess, some, std::size_t{1}}), least_growth, data_scale());
    CfTree smaller(dim_, options);
    std::vector<NodeId> nodes = leaf_nodes();
    // Backwards, so that the leaves that were created together do not meet again in the same order.
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      progress.poll();
      for (std::size_t s = leaf_.count(*node); s-- > 0;) smaller.place(leaf_.load(*node, s, smaller.row_.data()));
    }
    smaller.rebuild_count_ = rebuild_count_ + 1;
    smaller.total_weight_ = total_weight_;
    *this = std::move(smaller);
    least_growth = 1.0 + 2.0 * (least_growth - 1.0);
  } while (leaf_count_ > max_leaves || node_count() > max_nodes);
}

// For each leaf the squared cost of its cheapest merge inside its node.
std::vector<double> CfTree::sibling_costs(const Progress& progress) const {
  std::vector<double> costs, row(dim_);
  for (NodeId node = 0; node < leaf_.size(); ++node) {
    const std::size_t count = leaf_.count(node);
    progress.poll();
    if (count < 2) continue;
    for (std::size_t s = 0; s < count; ++s)
      costs.push_back(kernels()
                          .nearest(options_.absorption, leaf_.blocks(node), dim_, leaf_.load(node, s, row.data()),
                                   {blocks_for(count), 0, s})
                          .squared_distance);
  }
  return costs;
}

std::vector<NodeId> CfTree::leaf_nodes() const {
  std::vector<NodeId> nodes = {root_};
  for (std::size_t level = height_; level > 0; --level) {
    std::vector<NodeId> below;
    for (const NodeId node : nodes)
      for (std::size_t s = 0; s < inner_.count(node); ++s) below.push_back(inner_.child(node, s));
    nodes = std::move(below);
  }
  return nodes;
}

double CfTree::data_scale() const {
  const NodePool& nodes = height_ == 0 ? leaf_ : inner_;
  AlignedDoubles block(block_doubles(dim_));
  std::vector<double> row(dim_);
  const FeatureSlot total(block.data(), dim_, 0);
  total.assign(nodes.load(root_, 0, row.data()));
  for (std::size_t s = 1; s < nodes.count(root_); ++s) total.absorb(nodes.load(root_, s, row.data()));
  return total.sse() / total.weight();
}

Features CfTree::leaves() const {
  Features leaves{dim_, {}, {}, {}};
  leaves.weight.reserve(leaf_count_);
  leaves.mean.reserve(leaf_count_ * dim_);
  leaves.sse.reserve(leaf_count_);
  std::vector<double> row(dim_);
  for (const NodeId node : leaf_nodes())
    for (std::size_t s = 0; s < leaf_.count(node); ++s) leaves.push_back(leaf_.load(node, s, row.data()));
  return leaves;
}

TreeLevels CfTree::levels() const {
  TreeLevels levels;
  std::vector<double> row(dim_);
  std::vector<NodeId> nodes = {root_};
  for (std::size_t level = height_ + 1; level-- > 0;) {
    const NodePool& here = level == 0 ? leaf_ : inner_;
    std::vector<NodeId> below;
    levels.counts.emplace_back();
    levels.entries.push_back({dim_, {}, {}, {}});
    for (const NodeId node : nodes) {
      levels.counts.back().push_back(here.count(node));
      for (std::size_t s = 0; s < here.count(node); ++s) {
        levels.entries.back().push_back(here.load(node, s, row.data()));
        if (level > 0) below.push_back(here.child(node, s));
      }
    }
    nodes = std::move(below);
  }
  return levels;
}

CfTree::CfTree(std::size_t dim, const TreeOptions& options, const TreeLevels& levels, std::size_t rebuild_count,
               double total_weight)
    : CfTree(dim, options) {
  if (levels.counts.empty() || levels.counts.front().size() != 1)
    throw std::invalid_argument("a stored tree must have exactly one root");
  height_ = levels.counts.size() - 1;
  rebuild_count_ = rebuild_count;
  total_weight_ = total_weight;
  if (height_ > 0) root_ = inner_.create();
  std::vector<NodeId> nodes = {root_};
  for (std::size_t l = 0; l <= height_; ++l) {
    const bool inner = l < height_;
    NodePool& here = pool(height_ - l);
    if (levels.counts[l].size() != nodes.size())
      throw std::invalid_argument("a stored tree must have a node for each entry of the level above");
    std::vector<NodeId> below;
    std::size_t entry = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (levels.counts[l][i] == 0 && height_ > 0)
        throw std::invalid_argument("a stored tree must not have empty nodes");
      for (std::uint32_t s = 0; s < levels.counts[l][i]; ++s, ++entry) {
        if (s >= options.branching || entry >= levels.entries[l].size())
          throw std::invalid_argument("a stored tree must hold as many entries as its nodes count");
        here.slot(nodes[i], here.count(nodes[i])++).assign(levels.entries[l][entry]);
        if (!inner) continue;
        // The leaf pool starts with the node that was made for an empty tree.
        const bool reuse = l + 1 == height_ && below.empty();
        below.push_back(reuse ? 0 : pool(height_ - l - 1).create());
        here.child(nodes[i], s) = below.back();
      }
    }
    if (entry != levels.entries[l].size())
      throw std::invalid_argument("a stored tree must hold as many entries as its nodes count");
    if (!inner) leaf_count_ = entry;
    for (const NodeId node : nodes) move_in(height_ - l, node);
    nodes = std::move(below);
  }
}

}  // namespace silverbirch

// Splits an overfull node of a CF-tree in two.
#include <algorithm>
#include <utility>

#include "silverbirch/tree/cf_tree.hpp"

namespace silverbirch {

namespace {

// The most rounds of k-means in a split.
constexpr int kHalvingRounds = 4;

}  // namespace

// Records where the entries of a node are now: the parent of its children, or the leaf node of its rows.
void CfTree::link_entries(std::size_t level, NodeId node) {
  if (level > 0)
    for (std::size_t s = 0; s < inner_.count(node); ++s) pool(level - 1).parent(inner_.child(node, s)) = node;
  else if (options_.squared_threshold == 0.0)
    for (std::size_t s = 0; s < leaf_.count(node); ++s)
      directory_.put(hash_of_row(leaf_.entry(node, s).mean, dim_), node);
}

void CfTree::split_upwards(NodeId overfull, std::vector<Step> path) {
  last_inner_change_ = ++clock_;
  for (std::size_t level = 0;; ++level) {
    NodePool& nodes = pool(level);
    const NodeId sibling = split(nodes, overfull);
    link_entries(level, sibling);
    if (level == height_) {
      last_growth_ = clock_;
      root_ = inner_.create();
      ++height_;
      inner_.count(root_) = 1;
      inner_.child(root_, 0) = overfull;
      nodes.parent(overfull) = root_;
      path.insert(path.begin(), {root_, 0});
    }
    const Step parent = path[height_ - 1 - level];
    const std::size_t end = inner_.count(parent.node)++;
    inner_.child(parent.node, end) = sibling;
    nodes.parent(sibling) = parent.node;
    summarize(parent.node, parent.slot, nodes, overfull);
    summarize(parent.node, end, nodes, sibling);
    inner_.last_change(parent.node) = clock_;
    if (inner_.count(parent.node) <= options_.branching) return;
    overfull = parent.node;
  }
}

// Splits a node and returns the new sibling. Each entry goes to the nearer of two seeds far from each other, and to the
// smaller side if both are equally near. Then rounds of k-means make the halves compact.
NodeId CfTree::split(NodePool& nodes, NodeId node) {
  const std::size_t count = nodes.count(node);
  gather_entries(nodes, node);
  const auto [left_seed, right_seed] = far_pair();
  std::size_t left_count = 1, right_count = 1;
  goes_right_.assign(count, 0);
  goes_right_[right_seed] = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (i == left_seed || i == right_seed) continue;
    goes_right_[i] = to_right_[i] < to_left_[i] || (to_right_[i] == to_left_[i] && right_count < left_count);
    ++(goes_right_[i] ? right_count : left_count);
  }
  for (int round = 0; round < kHalvingRounds && halve_by_means(); ++round) continue;

  const NodeId sibling = nodes.create();
  nodes.count(node) = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId to = goes_right_[i] ? sibling : node;
    const std::uint32_t end = nodes.count(to)++;
    if (to == node && end == i) continue;
    nodes.copy_entry(to, end, node, i);
    kernels_->move_routing(nodes.routing(to), end, nodes.routing(node), i, nodes.shape());
  }
  for (std::size_t i = nodes.count(node); i < count; ++i) nodes.clear_routing(node, i);
  return sibling;
}

void CfTree::gather_entries(const NodePool& nodes, NodeId node) {
  entries_.clear();
  for (std::size_t s = 0; s < nodes.count(node); ++s) entries_.push_back(nodes.entry(node, s));
}

// One round of k-means on the means of the entries, without weights. Compact halves make the descent miss the nearest
// leaf less often. Returns false if nothing changed.
bool CfTree::halve_by_means() {
  const std::size_t count = entries_.size();
  const double* base = entries_[0].mean;  // differences from it are small, wherever the data lies
  double sizes[2] = {};
  for (auto& mean : half_means_) mean.assign(dim_, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    sizes[goes_right_[i]] += 1.0;
    kernels_->add_difference(half_means_[goes_right_[i]].data(), entries_[i].mean, base, dim_);
  }
  for (std::size_t side = 0; side < 2; ++side)
    for (std::size_t k = 0; k < dim_; ++k) half_means_[side][k] = base[k] + half_means_[side][k] / sizes[side];

  distances_from(CfDistance::centroid, {1.0, half_means_[0].data(), 0.0}, to_left_);
  distances_from(CfDistance::centroid, {1.0, half_means_[1].data(), 0.0}, to_right_);
  next_goes_right_.resize(count);
  std::size_t right_count = 0;
  for (std::size_t i = 0; i < count; ++i) {
    next_goes_right_[i] = to_right_[i] < to_left_[i];
    right_count += next_goes_right_[i];
  }
  if (right_count == 0 || right_count == count || next_goes_right_ == goes_right_) return false;
  std::swap(goes_right_, next_goes_right_);
  return true;
}

// Finds two entries far from each other, and the distances of all entries from both: the entry farthest from the first
// one, then the entry farthest from that, and so on while the distance grows.
std::pair<std::size_t, std::size_t> CfTree::far_pair() {
  const auto from = [&](std::size_t slot, std::vector<double>& squared) {
    distances_from(options_.distance, entries_[slot], squared);
    squared[slot] = -1.0;  // never the farthest from itself
  };
  const auto farthest = [](const std::vector<double>& squared) {
    return static_cast<std::size_t>(std::max_element(squared.begin(), squared.end()) - squared.begin());
  };
  std::size_t left = 0;
  from(left, to_left_);
  std::size_t right = farthest(to_left_);
  for (;;) {
    from(right, to_right_);
    const std::size_t next = farthest(to_right_);
    if (!(to_right_[next] > to_left_[right])) return {left, right};
    left = right;
    right = next;
    std::swap(to_left_, to_right_);
  }
}

void CfTree::distances_from(CfDistance distance, const Feature& from, std::vector<double>& squared) const {
  squared.resize(entries_.size());
  kernels_->squared_distances(distance, from, entries_.data(), entries_.size(), dim_, squared.data());
}

// Sets an inner entry to the merged feature of all entries of its child.
void CfTree::summarize(NodeId inner_node, std::size_t slot, const NodePool& nodes, NodeId child) {
  double* record = inner_.record(inner_node, slot);
  kernels_->merge_all(record, nodes.entry(child, 0).mean, nodes.count(child), nodes.shape());
  kernels_->copy_for_routing(inner_.routing(inner_node), inner_.shape(), slot, record, origin_.data());
}

}  // namespace silverbirch

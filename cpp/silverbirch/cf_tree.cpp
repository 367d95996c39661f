#include "cf_tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kernels.hpp"
#include "threshold.hpp"

namespace silverbirch {

namespace {

// About a millisecond's worth of rows, whatever their width.
std::size_t rows_between_reports(std::size_t dim) { return std::max<std::size_t>(1, 4096 / dim); }

// Enough to hide what memory takes; more would only find their ways again more often.
constexpr std::size_t kLargestGroup = 8;

// Rounds of k-means at a split.
constexpr int kHalvingRounds = 4;

// The entry that makes a node overflow is put into it before it is split, so there is room for one more.
NodeShape shape_of(std::size_t dim, const TreeOptions& options, std::uint64_t weight_bits) {
  return node_shape(dim, options.branching + 1, options.distance == CfDistance::ward, weight_bits);
}

}  // namespace

CfTree::CfTree(std::size_t dim, const TreeOptions& options)
    : dim_(dim),
      options_(options),
      kernels_(&tree_kernels(dim)),
      inner_(shape_of(dim, options, kLeadingBits), true),
      leaf_(shape_of(dim, options, kAllBits), false),
      root_(leaf_.create()),
      origin_(dim),
      values_(2 * inner_.shape().slots) {
  if (dim == 0) throw std::invalid_argument("a tree needs rows of at least one column");
  if (options.branching < 2) throw std::invalid_argument("branching must be at least 2");
  if (options.max_leaves < 1 || options.max_nodes < 1) throw std::invalid_argument("limits must be at least 1");
}

std::size_t CfTree::bytes_per_node(std::size_t dim, std::size_t branching) {
  const NodeShape shape = node_shape(dim, branching + 1, true, kAllBits);
  return node_bytes(shape) + shape.slots * sizeof(NodeId) + 64;
}

// Features that look for their ways together.
class CfTree::Group {
 public:
  explicit Group(const CfTree& tree)
      : dim_(tree.dim_),
        position_floats_((tree.inner_.shape().entry_floats + kRouteLanes - 1) / kRouteLanes * kRouteLanes),
        travellers_(kLargestGroup),
        positions_(kLargestGroup * position_floats_),
        rows_(kLargestGroup * dim_) {}

  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  void add(const Feature& feature) { travellers_[size_++].feature = feature; }
  void add_row(const double* row, double weight) { add({weight, row, 0.0}); }
  void add_row(const float* row, double weight) {
    double* wide = rows_.data() + size_ * dim_;
    std::copy_n(row, dim_, wide);
    add({weight, wide, 0.0});
  }

  Traveller& operator[](std::size_t i) { return travellers_[i]; }
  float* position(std::size_t i) { return positions_.data() + i * position_floats_; }

 private:
  std::size_t dim_, position_floats_, size_ = 0;
  std::vector<Traveller> travellers_;
  AlignedFloats positions_;
  std::vector<double> rows_;
};

// Exact duplicates are looked for one by one, and a row of many dimensions has enough to fetch on its own.
std::size_t CfTree::group_size() const {
  return options_.squared_threshold == 0.0 || dim_ > kFewDimensions ? 1 : kLargestGroup;
}

template <class Scalar>
void CfTree::insert_rows(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress) {
  const std::size_t pause = rows_between_reports(dim_);
  Group group(*this);
  for (std::size_t r = 0; r < row_count;) {
    progress(r, row_count);
    for (const std::size_t end = std::min(r + pause, row_count); r < end;) {
      group.clear();
      for (const std::size_t most = group_size(); r < end && group.size() < most; ++r) {
        const double weight = weights ? weights[r] : 1.0;
        if (weight > 0.0) group.add_row(rows + r * dim_, weight);
      }
      insert(group, progress);
    }
  }
  progress(row_count, row_count);
}

template void CfTree::insert_rows(const float*, const double*, std::size_t, const Progress&);
template void CfTree::insert_rows(const double*, const double*, std::size_t, const Progress&);

void CfTree::insert_features(const FeaturesView& features, const Progress& progress) {
  const std::size_t pause = rows_between_reports(dim_);
  Group group(*this);
  for (std::size_t i = 0; i < features.size;) {
    progress(i, features.size);
    for (const std::size_t end = std::min(i + pause, features.size); i < end;) {
      group.clear();
      for (const std::size_t most = group_size(); i < end && group.size() < most; ++i)
        if (features.weight[i] > 0.0) group.add(features[i]);
      insert(group, progress);
    }
  }
  progress(features.size, features.size);
}

void CfTree::raise_threshold(double squared_threshold) {
  options_.squared_threshold = std::max(options_.squared_threshold, squared_threshold);
  if (options_.squared_threshold > 0.0) directory_.clear();
}

// One after the other, to the same bits as if each had come alone; but the ways are found together, so that the memory
// of one is fetched while the others are at work, and found again where one before changed what is on the way.
void CfTree::insert(Group& group, const Progress& progress) {
  std::uint64_t found = 0;
  bool lost = true;
  for (std::size_t i = 0; i < group.size(); ++i) {
    Traveller& traveller = group[i];
    if (options_.squared_threshold == 0.0 && absorb_duplicate(traveller.feature)) {
      lost = true;
    } else {
      if (lost || last_split_ > found) {
        find_ways(group, i);
        found = clock_;
        lost = false;
      } else {
        renew_way(traveller, found);
      }
      place(traveller);
    }
    total_weight_ += traveller.feature.weight;
    if (leaf_count_ > options_.max_leaves || node_count() > options_.max_nodes) {
      rebuild(progress);
      lost = true;
    }
  }
}

void CfTree::find_ways(Group& group, std::size_t first) {
  for (std::size_t i = first; i < group.size(); ++i) {
    prepare(group[i], group.position(i));
    group[i].path.clear();
    group[i].leaf.node = root_;
  }
  for (std::size_t level = height_; level > 0; --level)
    for (std::size_t i = first; i < group.size(); ++i) {
      Traveller& traveller = group[i];
      const NodeId node = traveller.leaf.node;
      traveller.path.push_back({node, nearest_entry(inner_, node, traveller)});
      traveller.leaf.node = inner_.child(node, traveller.path.back().slot);
      pool(level - 1).prefetch_routing(traveller.leaf.node);
    }
  for (std::size_t i = first; i < group.size(); ++i) {
    Step& leaf = group[i].leaf;
    leaf.slot = nearest_entry(leaf_, leaf.node, group[i]);
    leaf_.prefetch_record(leaf.node, leaf.slot);
  }
}

// Searches the nodes again that changed since the way was found, and all below a turn.
void CfTree::renew_way(Traveller& traveller, std::uint64_t found) {
  bool turned = false;
  if (last_inner_change_ > found) {
    NodeId node = root_;
    for (Step& step : traveller.path) {
      if (turned || inner_.last_change(node) > found) {
        const Step now = {node, nearest_entry(inner_, node, traveller)};
        turned = turned || now.slot != step.slot;
        step = now;
      }
      node = inner_.child(node, step.slot);
    }
    traveller.leaf.node = node;
  }
  if (turned || leaf_.last_change(traveller.leaf.node) > found)
    traveller.leaf.slot = nearest_entry(leaf_, traveller.leaf.node, traveller);
}

void CfTree::place(Traveller& traveller) {
  const Feature& feature = traveller.feature;
  const NodeId node = traveller.leaf.node;
  if (leaf_.count(node) == 0 || !absorb(feature, traveller.leaf)) {
    write(leaf_, {node, leaf_.count(node)++}, feature);
    ++leaf_count_;
    if (options_.squared_threshold == 0.0) directory_.put(feature.mean, dim_, node);
  }
  leaf_.last_change(node) = ++clock_;
  for (std::size_t level = 1; level <= height_; ++level)
    add_weight(traveller.path[height_ - level], feature.weight, pool(level - 1));
  if (leaf_.count(node) > options_.branching) split_upwards(node, traveller.path);
}

bool CfTree::absorb(const Feature& feature, const Step& target) {
  return kernels_->absorb_within(options_.absorption, options_.squared_threshold,
                                 leaf_.record(target.node, target.slot), leaf_.routing(target.node), leaf_.shape(),
                                 target.slot, feature, origin_.data());
}

// Adds a feature to the leaf of the same mean, if there is one, and to all that is above it.
bool CfTree::absorb_duplicate(const Feature& feature) {
  const std::optional<NodeId> known = directory_.find(feature.mean, dim_);
  if (!known) return false;
  NodeId node = *known;
  std::size_t slot = 0;  // features of the same mean and a larger sse may be in the way
  while (slot < leaf_.count(node) && !(std::equal(feature.mean, feature.mean + dim_, leaf_.entry(node, slot).mean) &&
                                       absorb(feature, {node, slot})))
    ++slot;
  if (slot == leaf_.count(node)) return false;
  for (std::size_t level = 0; level < height_; ++level) {
    const NodeId parent = pool(level).parent(node);
    add_weight({parent, inner_.slot_of_child(parent, node)}, feature.weight, pool(level));
    node = parent;
  }
  return true;
}

// An inner entry always has the weight of all that is below it. Its mean, which hardly moves once the entry is heavy,
// is renewed only when the weight comes to its next step: so most rows change nothing that another row's way depends
// on. The step follows from the weight alone: a tree that was stored goes on to the same bits.
void CfTree::add_weight(const Step& target, double weight, const NodePool& nodes) {
  double& sum = inner_.record(target.node, target.slot)[dim_];
  const double before = seen_weight(sum, kLeadingBits);
  sum += weight;
  if (seen_weight(sum, kLeadingBits) == before) return;
  summarize(target.node, target.slot, nodes, inner_.child(target.node, target.slot));
  inner_.last_change(target.node) = last_inner_change_ = ++clock_;
}

void CfTree::copy_to(double* record, const Feature& feature) const {
  std::copy_n(feature.mean, dim_, record);
  record[dim_] = feature.weight;
  record[dim_ + 1] = feature.sse;
}

void CfTree::write(NodePool& nodes, const Step& target, const Feature& feature) {
  double* record = nodes.record(target.node, target.slot);
  copy_to(record, feature);
  kernels_->copy_for_routing(nodes.routing(target.node), nodes.shape(), target.slot, record, origin_.data());
}

void CfTree::set_origin(const Features& amid) {
  Features sum{dim_, {}, {}, {}};
  for (std::size_t i = 0; i < amid.size(); ++i) i == 0 ? sum.push_back(amid[0]) : sum.absorb(0, amid[i]);
  if (amid.size() > 0) origin_ = sum.mean;
  has_origin_ = amid.size() > 0;
}

void CfTree::prepare(Traveller& traveller, float* position) {
  const Feature& feature = traveller.feature;
  if (!has_origin_) {
    std::copy_n(feature.mean, dim_, origin_.begin());
    has_origin_ = true;
  }
  const float squared_norm = kernels_->position(feature.mean, origin_.data(), dim_, position);
  const double variance = feature.sse / feature.weight;
  routed_ = routed_ && squared_norm <= kLargestRoutedSquare && variance <= kLargestRoutedVariance &&
            feature.weight >= kSmallestRoutedWeight && total_weight_ + feature.weight <= kLargestRoutedWeight;
  traveller.query = {position, squared_norm, static_cast<float>(feature.weight), static_cast<float>(variance)};
  const bool row = options_.distance == CfDistance::ward && feature.weight == 1.0;
  traveller.route = row ? Route::ward_row : static_cast<Route>(options_.distance);
}

// The least distant entry, the lowest slot among equals. Floats tell which come into question, doubles decide.
std::size_t CfTree::nearest_entry(const NodePool& nodes, NodeId node, const Traveller& traveller) {
  const std::size_t count = nodes.count(node);
  float limit = 0.0f;
  if (routed_) {
    const Candidates candidates = kernels_->nearest_entry[static_cast<std::size_t>(traveller.route)](
        nodes.routing(node), nodes.shape(), count, traveller.query, values_.data());
    if (candidates.sure) return candidates.slot;
    limit = candidates.limit;
  }
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < count; ++s) {
    if (routed_ && values_[s] > limit) continue;
    const double squared = squared_distance(options_.distance, traveller.feature, nodes.seen_entry(node, s));
    if (squared < least) {
      least = squared;
      nearest = s;
    }
  }
  return nearest;
}

double CfTree::squared_distance(CfDistance distance, const Feature& a, const Feature& b) const {
  return kernels_->squared_distance(distance, a, b, dim_);
}

// Tells what a node refers to where it is now: the children of an inner node, the rows of a leaf.
void CfTree::move_in(std::size_t level, NodeId node) {
  if (level > 0)
    for (std::size_t s = 0; s < inner_.count(node); ++s) pool(level - 1).parent(inner_.child(node, s)) = node;
  else if (options_.squared_threshold == 0.0)
    for (std::size_t s = 0; s < leaf_.count(node); ++s) directory_.put(leaf_.entry(node, s).mean, dim_, node);
}

void CfTree::split_upwards(NodeId overfull, std::vector<Step>& path) {
  last_split_ = ++clock_;
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
      path.insert(path.begin(), {root_, 0});
    }
    const Step parent = path[height_ - 1 - level];
    const std::size_t end = inner_.count(parent.node)++;
    inner_.child(parent.node, end) = sibling;
    nodes.parent(sibling) = parent.node;
    summarize(parent.node, parent.slot, nodes, overfull);
    summarize(parent.node, end, nodes, sibling);
    if (inner_.count(parent.node) <= options_.branching) return;
    overfull = parent.node;
  }
}

// Splits in two: each entry goes to the nearer of a far pair, equals to the smaller side, and then to the nearer of the
// means of the halves. Returns the new node.
NodeId CfTree::split(NodePool& nodes, NodeId node) {
  const std::size_t count = nodes.count(node);
  const auto [left_seed, right_seed] = far_pair(nodes, node);
  std::size_t left_count = 1, right_count = 1;
  goes_right_.assign(count, 0);
  goes_right_[right_seed] = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (i == left_seed || i == right_seed) continue;
    goes_right_[i] = to_right_[i] < to_left_[i] || (to_right_[i] == to_left_[i] && right_count < left_count);
    ++(goes_right_[i] ? right_count : left_count);
  }
  for (int round = 0; round < kHalvingRounds && halve_by_means(nodes, node); ++round) continue;

  const NodeId sibling = nodes.create();
  nodes.count(node) = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId to = goes_right_[i] ? sibling : node;
    const std::size_t end = nodes.count(to)++;
    if (to == node && end == i) continue;
    write(nodes, {to, end}, nodes.entry(node, i));
    nodes.copy_child(to, end, node, i);
  }
  for (std::size_t i = nodes.count(node); i < count; ++i) nodes.clear_routing(node, i);
  return sibling;
}

// One step of k-means on the means of the entries, weights aside: compact halves make the way down go wrong less often.
// False if nothing changed.
bool CfTree::halve_by_means(const NodePool& nodes, NodeId node) {
  const std::size_t count = nodes.count(node);
  const double* base = nodes.entry(node, 0).mean;  // small differences, wherever the data lies
  double sizes[2] = {};
  for (auto& mean : half_means_) mean.assign(dim_, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const double* mean = nodes.entry(node, i).mean;
    std::vector<double>& sum = half_means_[goes_right_[i]];
    sizes[goes_right_[i]] += 1.0;
    for (std::size_t k = 0; k < dim_; ++k) sum[k] += mean[k] - base[k];
  }
  for (std::size_t side = 0; side < 2; ++side)
    for (std::size_t k = 0; k < dim_; ++k) half_means_[side][k] = base[k] + half_means_[side][k] / sizes[side];

  next_goes_right_.resize(count);
  std::size_t right_count = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Feature entry = nodes.entry(node, i);
    const auto distance_to = [&](std::size_t side) {
      return squared_distance(CfDistance::centroid, entry, {1.0, half_means_[side].data(), 0.0});
    };
    next_goes_right_[i] = distance_to(1) < distance_to(0);
    right_count += next_goes_right_[i];
  }
  if (right_count == 0 || right_count == count || next_goes_right_ == goes_right_) return false;
  std::swap(goes_right_, next_goes_right_);
  return true;
}

// Two entries far from each other, and the distances of all entries from either: the farthest from the first entry,
// then the farthest from that, and so on while it gets farther.
std::pair<std::size_t, std::size_t> CfTree::far_pair(const NodePool& nodes, NodeId node) {
  const auto farthest = [](const std::vector<double>& squared) {
    return static_cast<std::size_t>(std::max_element(squared.begin(), squared.end()) - squared.begin());
  };
  std::size_t left = 0;
  distances_from(nodes, node, left, to_left_);
  std::size_t right = farthest(to_left_);
  for (;;) {
    distances_from(nodes, node, right, to_right_);
    const std::size_t next = farthest(to_right_);
    if (!(to_right_[next] > to_left_[right])) return {left, right};
    left = right;
    right = next;
    std::swap(to_left_, to_right_);
  }
}

void CfTree::distances_from(const NodePool& nodes, NodeId node, std::size_t slot, std::vector<double>& squared) const {
  squared.resize(nodes.count(node));
  const Feature from = nodes.entry(node, slot);
  for (std::size_t s = 0; s < squared.size(); ++s)
    squared[s] = squared_distance(options_.distance, from, nodes.entry(node, s));
  squared[slot] = -1.0;  // not from itself
}

// Sets an inner entry to the sum of all entries of the child.
void CfTree::summarize(NodeId inner_node, std::size_t slot, const NodePool& nodes, NodeId child) {
  double* record = inner_.record(inner_node, slot);
  copy_to(record, nodes.entry(child, 0));
  for (std::size_t i = 1; i < nodes.count(child); ++i) kernels_->merge(record, nodes.entry(child, i), dim_);
  kernels_->copy_for_routing(inner_.routing(inner_node), inner_.shape(), slot, record, origin_.data());
}

namespace {

// What a limit allows after a rebuild. A limit too small to leave room in whole numbers may be used up.
std::size_t after_rebuild(std::size_t limit) {
  return limit - static_cast<std::size_t>(kLeastRoom * static_cast<double>(limit));
}

// So many leaves tell how much it costs to merge one with its nearest sibling.
constexpr std::size_t kSampledLeaves = 2048;

}  // namespace

// Terminates: the threshold grows by a constant factor at least, and once it exceeds the spread of the data every
// feature is absorbed by the first leaf it meets. The smaller tree is built beside the old one, so that an interrupt
// loses nothing.
void CfTree::rebuild(const Progress& progress) {
  const std::size_t max_leaves = after_rebuild(options_.max_leaves), max_nodes = after_rebuild(options_.max_nodes);
  const double room = room_to_free(total_weight_, static_cast<double>(leaf_count_));
  double least_growth = kLeastGrowth, tried = 0.0;
  do {
    CfTree smaller = merged(room, tried, least_growth, progress);
    tried = smaller.options_.squared_threshold;
    smaller.options_.squared_threshold =
        std::max(room_to_grow(room) * tried, kLeastGrowth * options_.squared_threshold);
    smaller.rebuild_count_ = rebuild_count_ + 1;
    smaller.total_weight_ = total_weight_;
    *this = std::move(smaller);
    least_growth = 1.0 + 2.0 * (least_growth - 1.0);
  } while (leaf_count_ > max_leaves || node_count() > max_nodes);
}

// A tree of the same leaves, merged as far as the next threshold allows.
CfTree CfTree::merged(double room, double tried, double least_growth, const Progress& progress) const {
  // Too many nodes for the memory do not say how many leaves are too many: some, then.
  const double leaves = static_cast<double>(leaf_count_);
  const double excess = leaves - static_cast<double>(after_rebuild(options_.max_leaves));
  const double share_to_free = std::max(excess / leaves, kLeastRoom);
  const Features whole = total();
  TreeOptions options = options_;
  options.squared_threshold = squared_merge_threshold(tried, sibling_costs(progress), share_to_free, room, least_growth,
                                                      whole.sse[0] / whole.weight[0]);
  options.max_leaves = options.max_nodes = std::numeric_limits<std::size_t>::max();  // one step at a time
  CfTree smaller(dim_, options);
  smaller.set_origin(whole);
  const std::vector<NodeId> nodes = leaf_nodes();
  // Backwards, so that the leaves that were created together do not meet again in the same order.
  Group group(smaller);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    for (std::size_t s = leaf_.count(*node); s-- > 0;) {
      group.add(leaf_.entry(*node, s));
      if (s > 0 && group.size() < smaller.group_size()) continue;
      smaller.insert(group, progress);
      group.clear();
    }
    progress.poll();
  }
  smaller.options_.max_leaves = options_.max_leaves;
  smaller.options_.max_nodes = options_.max_nodes;
  return smaller;
}

// For the leaves of some nodes, evenly chosen, the squared cost of the cheapest merge inside the node.
std::vector<double> CfTree::sibling_costs(const Progress& progress) const {
  std::vector<double> costs;
  const auto every = static_cast<NodeId>(1 + leaf_count_ / kSampledLeaves);
  for (NodeId node = 0; node < leaf_.size(); node += every) {
    const std::size_t count = leaf_.count(node);
    progress.poll();
    if (count < 2) continue;
    for (std::size_t s = 0; s < count; ++s) {
      const Feature leaf = leaf_.entry(node, s);
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t other = 0; other < count; ++other)
        if (other != s) least = std::min(least, squared_distance(options_.absorption, leaf, leaf_.entry(node, other)));
      costs.push_back(least);
    }
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

// All that the tree holds, as one feature.
Features CfTree::total() const {
  const NodePool& nodes = height_ == 0 ? leaf_ : inner_;
  Features sum{dim_, {}, {}, {}};
  sum.push_back(nodes.entry(root_, 0));
  for (std::size_t s = 1; s < nodes.count(root_); ++s) sum.absorb(0, nodes.entry(root_, s));
  return sum;
}

Features CfTree::leaves() const {
  Features leaves{dim_, {}, {}, {}};
  leaves.weight.reserve(leaf_count_);
  leaves.mean.reserve(leaf_count_ * dim_);
  leaves.sse.reserve(leaf_count_);
  for (const NodeId node : leaf_nodes())
    for (std::size_t s = 0; s < leaf_.count(node); ++s) leaves.push_back(leaf_.entry(node, s));
  return leaves;
}

TreeLevels CfTree::levels() const {
  TreeLevels levels;
  std::vector<NodeId> nodes = {root_};
  for (std::size_t level = height_ + 1; level-- > 0;) {
    const NodePool& here = level == 0 ? leaf_ : inner_;
    std::vector<NodeId> below;
    levels.counts.emplace_back();
    levels.entries.push_back({dim_, {}, {}, {}});
    for (const NodeId node : nodes) {
      levels.counts.back().push_back(here.count(node));
      for (std::size_t s = 0; s < here.count(node); ++s) {
        levels.entries.back().push_back(here.entry(node, s));
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
  set_origin(levels.entries.front());
  if (height_ > 0) root_ = inner_.create();
  Traveller stored{};
  AlignedFloats position(inner_.shape().entry_floats);
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
        stored.feature = levels.entries[l][entry];
        prepare(stored, position.data());  // notices what is beyond the range of the filter
        write(here, {nodes[i], here.count(nodes[i])++}, levels.entries[l][entry]);
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

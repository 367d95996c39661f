#include "silverbirch/tree/cf_tree.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "silverbirch/tree/group.hpp"
#include "silverbirch/tree/rebuild.hpp"

namespace silverbirch {

namespace {

// The entry that makes a node overflow is put into it before it is split, so there is room for one more.
NodeShape shape_of(std::size_t dim, const TreeOptions& options, std::uint64_t weight_bits) {
  return node_shape(dim, options.branching + 1, options.distance == CfDistance::ward, weight_bits,
                    routed_by_integers(dim));
}

}  // namespace

CfTree::CfTree(std::size_t dim, const TreeOptions& options) : CfTree(dim, options, std::make_shared<HugePages>()) {}

CfTree::CfTree(std::size_t dim, const TreeOptions& options, std::shared_ptr<HugePages> pages)
    : dim_(dim),
      options_(options),
      kernels_(routed_by_integers(dim) ? &rounded_tree_kernels() : &tree_kernels(dim)),
      pages_(std::move(pages)),
      inner_(shape_of(dim, options, leading_bits(dim)), true, pages_),
      leaf_(shape_of(dim, options, kAllBits), false, pages_),
      root_(leaf_.create()),
      origin_(dim),
      routed_(dim <= kMostRoutedDimensions && on(Mechanism::float_routing)),
      values_(inner_.shape().slots) {
  if (dim == 0) throw std::invalid_argument("a tree needs rows of at least one column");
  if (options.branching < 2) throw std::invalid_argument("branching must be at least 2");
  if (options.max_leaves < 1 || options.max_nodes < 1) throw std::invalid_argument("limits must be at least 1");
}

std::size_t CfTree::bytes_per_node(std::size_t dim, std::size_t branching) {
  const NodeShape shape = node_shape(dim, branching + 1, true, kAllBits, false);
  return node_bytes(shape) + shape.slots * sizeof(NodeId) + 64;
}

// Nodes of these sizes are searched for several rows at once, smaller ones are not: measured at 100 000 rows of 5
// columns into 500 leaves, 31 entries take 12 % more instructions than 63, and 15 take 25 % more.
std::size_t default_branching(std::size_t dim, std::size_t node_bytes) {
  std::size_t slots = dim <= kFewDimensions ? kGroupedSlots : kWideGroupedSlots;
  constexpr std::size_t least_nodes = 8;
  while (slots > kRouteLanes && node_bytes / CfTree::bytes_per_node(dim, slots - 1) < least_nodes) slots /= 2;
  return slots - 1;
}

// An exact duplicate needs no way down, and seldom comes alone. Of many dimensions, fewer fit the nearest cache.
std::size_t CfTree::group_size() const {
  if ((met_duplicate_ && on(Mechanism::duplicate_runs)) || !on(Mechanism::groups)) return 1;
  return dim_ <= kFewDimensions ? kLargestGroup : kWideGroup;
}

// Calls add(group, i) for all i below the count, and inserts group by group.
template <class Add>
void CfTree::insert_in_groups(std::size_t count, Add add, const Progress& progress) {
  Group group(*this);
  for (std::size_t i = 0; i < count;) {
    group.clear();
    for (const std::size_t most = group_size(); i < count && group.size() < most; ++i) add(group, i);
    insert(group, progress);
  }
}

template <class Scalar>
void CfTree::insert_rows(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress) {
  const auto add = [&](Group& group, std::size_t r) {
    const double weight = weights ? weights[r] : 1.0;
    if (!(weight > 0.0)) return;
    group.add_row(rows + r * dim_, weight);
    if (dim_ > kFewDimensions && r + kRowsAhead < row_count) group.expect(rows + (r + kRowsAhead) * dim_);
  };
  insert_in_groups(row_count, add, progress);
}

template void CfTree::insert_rows(const float*, const double*, std::size_t, const Progress&);
template void CfTree::insert_rows(const double*, const double*, std::size_t, const Progress&);

template <class Scalar>
void CfTree::insert_chosen(const Scalar* rows, const double* weights, const std::uint32_t* chosen, std::size_t count) {
  const auto add = [&](Group& group, std::size_t i) {
    group.add_row(rows + chosen[i] * dim_, weights ? weights[chosen[i]] : 1.0);
    if (i + kRowsAhead < count) group.expect(rows + chosen[i + kRowsAhead] * dim_);
  };
  insert_in_groups(count, add, no_progress);
}

template void CfTree::insert_chosen(const float*, const double*, const std::uint32_t*, std::size_t);
template void CfTree::insert_chosen(const double*, const double*, const std::uint32_t*, std::size_t);

void CfTree::insert_features(const FeaturesView& features, const Progress& progress) {
  const auto add = [&](Group& group, std::size_t i) {
    if (features.weight[i] > 0.0) group.add(features[i]);
  };
  insert_in_groups(features.size, add, progress);
}

void CfTree::raise_threshold(double squared_threshold) {
  options_.squared_threshold = std::max(options_.squared_threshold, squared_threshold);
  if (options_.squared_threshold > 0.0) directory_.clear();
}

void CfTree::find_ways(Group& group, std::size_t first) {
  prepare(group, first);
  group.make_paths(height_);
  for (std::size_t i = first; i < group.size(); ++i) group[i].leaf.node = root_;
  const auto nearest = [&](const NodePool& nodes, std::size_t i) {
    const RowSearch& search = group.searches()[i];
    return search.sure ? search.slot : nearest_entry(nodes, group[i].leaf.node, group[i]);
  };
  for (std::size_t depth = 0; depth < height_; ++depth) {
    search_together(group, first, inner_);
    for (std::size_t i = first; i < group.size(); ++i) {
      const Step step = {group[i].leaf.node, nearest(inner_, i)};
      group[i].path[depth] = step;
      group[i].leaf.node = inner_.child(step.node, step.slot);
    }
  }
  search_together(group, first, leaf_);
  for (std::size_t i = first; i < group.size(); ++i) {
    Step& leaf = group[i].leaf;
    leaf.slot = nearest(leaf_, i);
    leaf_.prefetch_record(leaf.node, leaf.slot);
  }
}

// Searches for the nearest entry of the node that each has come to; all are unsure where it has to be done one by one.
void CfTree::search_together(Group& group, std::size_t first, const NodePool& nodes) {
  const std::size_t count = group.size();
  RowSearch* searches = group.searches();
  const std::size_t grouped_slots = dim_ <= kFewDimensions ? kGroupedSlots : kWideGroupedSlots;
  const bool together =
      on(Mechanism::groups) && on(dim_ <= kFewDimensions ? Mechanism::joint_search : Mechanism::wide_joint_search);
  if (together && group.all_rows() && routed_ && kernels_->nearest_of_rows && nodes.shape().slots == grouped_slots) {
    std::uint32_t most = 0;
    for (std::size_t i = first; i < count; ++i) {
      const NodeId node = group[i].leaf.node;
      searches[i].routing = nodes.routing(node);
      searches[i].count = nodes.count(node);
      most = std::max(most, searches[i].count);
    }
    kernels_->nearest_of_rows(searches + first, count - first, most, nodes.shape());
  } else {
    for (std::size_t i = first; i < count; ++i) searches[i].sure = false;
  }
}

// Searches the nodes again that changed since the way was found, and those that it did not lead through.
void CfTree::renew_way(Traveller& traveller, std::uint64_t found) {
  const auto renew = [&](NodePool& nodes, NodeId node, Step& step) {
    if (step.node == node && nodes.last_change(node) <= found) return;
    step = {node, nearest_entry(nodes, node, traveller)};
  };
  NodeId node = traveller.leaf.node;
  if (last_inner_change_ > found) {
    node = root_;
    for (std::size_t depth = 0; depth < height_; ++depth) {
      Step& step = traveller.path[depth];
      renew(inner_, node, step);
      node = inner_.child(node, step.slot);
    }
  }
  renew(leaf_, node, traveller.leaf);
}

// The same where no inner node changed, and one before, of those from the first on, changed an entry of the leaf node:
// of the others, the one that was the least distant is so still. The clock has counted one change for each that was
// placed, so the number of a change tells whose it was.
void CfTree::renew_leaf(Group& group, std::size_t first, std::size_t last, std::uint64_t found) {
  Traveller& traveller = group[last];
  Step& leaf = traveller.leaf;
  const auto distance_to = [&](std::size_t slot) {
    return squared_distance(options_.distance, traveller.feature, leaf_.seen_entry(leaf.node, slot));
  };
  std::uint32_t nearest = leaf.slot;
  double least = -1.0;  // its distance, once it is asked for
  for (std::uint64_t change = leaf_.last_change(leaf.node); change > found;) {
    const Traveller& other = group[first + (change - found - 1)];
    change = other.change_before;
    const std::uint32_t changed = other.leaf.slot;
    if (changed == leaf.slot) {
      leaf.slot = nearest_entry(leaf_, leaf.node, traveller);
      return;
    }
    if (surely_farther(group.searches()[last], changed, dim_)) continue;
    if (least < 0.0) least = distance_to(nearest);
    const double squared = distance_to(changed);
    if (squared < least || (squared == least && changed < nearest)) {
      least = squared;
      nearest = changed;
    }
  }
  leaf.slot = nearest;
}

// True if that made a new leaf.
SILVERBIRCH_INLINE bool CfTree::place(Traveller& traveller) {
  const bool absorbed = leaf_.count(traveller.leaf.node) > 0 && absorb(traveller.feature, traveller.leaf);
  if (!absorbed) add_leaf(traveller);
  std::uint64_t& last_change = leaf_.last_change(traveller.leaf.node);
  traveller.change_before = last_change;
  last_change = ++clock_;
  for (std::size_t depth = height_; depth-- > 0;) add_weight(traveller.path[depth], traveller.feature.weight, depth);
  if (!absorbed && leaf_.count(traveller.leaf.node) > options_.branching)
    split_upwards(traveller.leaf.node, {traveller.path, traveller.path + height_});
  return !absorbed;
}

// What most rows do without is kept out of the loop of those that are absorbed.
[[gnu::noinline]] void CfTree::add_leaf(Traveller& traveller) {
  const NodeId node = traveller.leaf.node;
  traveller.leaf.slot = leaf_.count(node)++;
  write(leaf_, traveller.leaf, traveller.feature);
  ++leaf_count_;
  if (options_.squared_threshold == 0.0) directory_.put(traveller.hash, node);
}

SILVERBIRCH_INLINE bool CfTree::absorb(const Feature& feature, const Step& target) {
  if (squared_merge_cost_ < std::numeric_limits<double>::infinity() &&
      squared_distance(CfDistance::ward, feature, leaf_.entry(target.node, target.slot)) > squared_merge_cost_)
    return false;
  return kernels_->absorb_within(options_.absorption, options_.squared_threshold,
                                 leaf_.record(target.node, target.slot), leaf_.routing(target.node), leaf_.shape(),
                                 target.slot, feature, origin_.data());
}

// Adds a feature to the leaf of the same mean, if there is one, and to all that is above it.
bool CfTree::absorb_duplicate(Traveller& traveller) {
  const Feature& feature = traveller.feature;
  traveller.hash = hash_of_row(feature.mean, dim_);
  const std::optional<NodeId> known = directory_.find(traveller.hash);
  if (!known) return false;
  NodeId node = *known;
  std::uint32_t slot = 0;  // features of the same mean and a larger sse may be in the way
  while (slot < leaf_.count(node) && !(std::equal(feature.mean, feature.mean + dim_, leaf_.entry(node, slot).mean) &&
                                       absorb(feature, {node, slot})))
    ++slot;
  if (slot == leaf_.count(node)) return false;
  leaf_.last_change(node) = ++clock_;
  for (std::size_t level = 0; level < height_; ++level) {
    const NodeId parent = pool(level).parent(node);
    add_weight({parent, inner_.slot_of_child(parent, node)}, feature.weight, height_ - 1 - level);
    node = parent;
  }
  return true;
}

// An inner entry always has the weight of all that is below it. Its mean, which hardly moves once the entry is heavy,
// is renewed only when the weight comes to its next step: so most rows change nothing that another row's way depends
// on. The step follows from the weight alone: a tree that was stored goes on to the same bits.
SILVERBIRCH_INLINE void CfTree::add_weight(const Step& target, double weight, std::size_t depth) {
  double& sum = inner_.record(target.node, target.slot)[dim_];
  const double before = sum;
  sum += weight;
  if (((std::bit_cast<std::uint64_t>(before) ^ std::bit_cast<std::uint64_t>(sum)) & inner_.shape().weight_bits) != 0)
    renew_summary(target, depth);
}

[[gnu::noinline]] void CfTree::renew_summary(const Step& target, std::size_t depth) {
  summarize(target.node, target.slot, pool(height_ - 1 - depth), inner_.child(target.node, target.slot));
  inner_.last_change(target.node) = last_inner_change_ = ++clock_;
}

// One after the other, to the same bits as if each had come alone; but the ways are found together, so that the memory
// of one is fetched while the others are at work, and found again where one before changed what is on the way.
void CfTree::insert(Group& group, const Progress& progress) {
  if (rounded()) adapt_routing();
  std::uint64_t found = 0;
  std::size_t first = 0;  // of those whose ways were found then
  bool lost = true;
  bool grown = true;  // more leaves than when the limits were looked at last; true for the first, so that they are
  for (std::size_t i = 0; i < group.size(); ++i) {
    Traveller& traveller = group[i];
    group.fetch_expected(i);
    const bool only_equals_merge = !(options_.squared_threshold > 0.0);
    met_duplicate_ = only_equals_merge && absorb_duplicate(traveller);
    if (!met_duplicate_) {
      if (lost || last_growth_ > found) {
        find_ways(group, i);
        found = clock_;
        first = i;
        lost = false;
      } else if (last_inner_change_ > found || only_equals_merge || !on(Mechanism::patched_leaf)) {
        renew_way(traveller, found);
      } else if (leaf_.last_change(traveller.leaf.node) > found) {
        renew_leaf(group, first, i, found);
      }
      grown |= place(traveller);
    }
    total_weight_ += traveller.feature.weight;
    if (grown && (leaf_count_ > options_.max_leaves || node_count() > options_.max_nodes)) {
      rebuild_count_ += rebuild({this, 1}, {options_.max_leaves, options_.max_nodes}, 1, progress);
      lost = true;
    }
    grown = false;
  }
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

double CfTree::squared_distance(CfDistance distance, const Feature& a, const Feature& b) const {
  return kernels_->squared_distance(distance, a, b, dim_);
}

}  // namespace silverbirch

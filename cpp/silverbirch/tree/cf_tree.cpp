#include "silverbirch/tree/cf_tree.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "silverbirch/tree/group.hpp"
#include "silverbirch/tree/rebuild.hpp"

namespace silverbirch {

namespace {

// The entry that makes a node overflow is stored before the node is split, so a node has room for one more entry.
NodeShape shape_of(std::size_t dim, const TreeOptions& options, std::uint64_t weight_bits) {
  return node_shape(dim, options.branching + 1, options.distance == CfDistance::ward, weight_bits,
                    routed_by_integers(dim));
}

// Searches keep the processor from noticing that rows are read in order, so rows of later groups are fetched by hand.
constexpr std::size_t kRowsAhead = 16;
template <class Scalar>
void fetch_row(const Scalar* row, std::size_t dim) {
  if (!on(Mechanism::row_prefetch)) return;
  for (std::size_t k = 0; k < dim; k += 64 / sizeof(Scalar)) __builtin_prefetch(row + k);
}

}  // namespace

CfTree::CfTree(std::size_t dim, const TreeOptions& options)
    : dim_(dim),
      options_(options),
      kernels_(routed_by_integers(dim) ? &rounded_tree_kernels() : &tree_kernels(dim)),
      inner_(shape_of(dim, options, leading_bits(dim)), true),
      leaf_(shape_of(dim, options, kAllBits), false),
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

// Only nodes of kGroupedSlots or kWideGroupedSlots are searched for several rows at once. Measured at 100 000 rows of 5
// columns and 500 leaves: 31 entries take 12 % more instructions than 63, and 15 entries take 25 % more.
std::size_t default_branching(std::size_t dim, std::size_t node_bytes) {
  std::size_t slots = dim <= kFewDimensions ? kGroupedSlots : kWideGroupedSlots;
  constexpr std::size_t least_nodes = 8;
  while (slots > kRouteLanes && node_bytes / CfTree::bytes_per_node(dim, slots - 1) < least_nodes) slots /= 2;
  return slots - 1;
}

// In many dimensions, fewer rows fit the first-level cache.
std::size_t CfTree::group_size() const {
  if (!on(Mechanism::groups)) return 1;
  return dim_ <= kFewDimensions ? kLargestGroup : kWideGroup;
}

// Calls add(group, i) for each i < count, and inserts each group when it is full.
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
    if (r + kRowsAhead < row_count) fetch_row(rows + (r + kRowsAhead) * dim_, dim_);
  };
  insert_in_groups(row_count, add, progress);
}

template void CfTree::insert_rows(const float*, const double*, std::size_t, const Progress&);
template void CfTree::insert_rows(const double*, const double*, std::size_t, const Progress&);

template <class Scalar>
void CfTree::insert_chosen(const Scalar* rows, const double* weights, const std::uint32_t* chosen, std::size_t count) {
  const auto add = [&](Group& group, std::size_t i) {
    group.add_row(rows + chosen[i] * dim_, weights ? weights[chosen[i]] : 1.0);
    if (i + kRowsAhead < count) fetch_row(rows + chosen[i + kRowsAhead] * dim_, dim_);
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

void CfTree::find_paths(Group& group, std::size_t first) {
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

// Searches, for each query, the node that it has reached. Where a joint search is not possible, every search is marked
// unsure, and the caller searches one by one.
void CfTree::search_together(Group& group, std::size_t first, const NodePool& nodes) {
  const std::size_t count = group.size();
  RowSearch* searches = group.searches();
  const std::size_t grouped_slots = dim_ <= kFewDimensions ? kGroupedSlots : kWideGroupedSlots;
  const bool together =
      on(Mechanism::groups) && on(dim_ <= kFewDimensions ? Mechanism::joint_search : Mechanism::wide_joint_search);
  if (together && group.all_rows() && routed_ && kernels_->nearest_of_rows && nodes.shape().slots == grouped_slots) {
    for (std::size_t i = first; i < count; ++i) {
      const NodeId node = group[i].leaf.node;
      searches[i].routing = nodes.routing(node);
      searches[i].count = nodes.count(node);
    }
    kernels_->nearest_of_rows(searches + first, count - first, nodes.shape());
  } else {
    for (std::size_t i = first; i < count; ++i) searches[i].sure = false;
  }
}

// Searches again the nodes that changed after the path was found, and nodes that are new on the path.
void CfTree::renew_path(Query& query, std::uint64_t found) {
  const auto renew = [&](NodePool& nodes, NodeId node, Step& step) {
    if (step.node == node && nodes.last_change(node) <= found) return;
    step = {node, nearest_entry(nodes, node, query)};
  };
  NodeId node = query.leaf.node;
  if (last_inner_change_ > found) {
    node = root_;
    for (std::size_t depth = 0; depth < height_; ++depth) {
      Step& step = query.path[depth];
      renew(inner_, node, step);
      node = inner_.child(node, step.slot);
    }
  }
  renew(leaf_, node, query.leaf);
}

// Returns whether the query became a new leaf.
SILVERBIRCH_INLINE bool CfTree::place(Query& query) {
  const bool absorbed = leaf_.count(query.leaf.node) > 0 && absorb(query.feature, query.leaf);
  if (!absorbed) add_leaf(query);
  leaf_.last_change(query.leaf.node) = ++clock_;
  for (std::size_t depth = height_; depth-- > 0;) add_weight(query.path[depth], query.feature.weight, depth);
  if (!absorbed && leaf_.count(query.leaf.node) > options_.branching)
    split_upwards(query.leaf.node, {query.path, query.path + height_});
  return !absorbed;
}

// Not inlined: most rows are absorbed, and their loop stays short.
[[gnu::noinline]] void CfTree::add_leaf(Query& query) {
  const NodeId node = query.leaf.node;
  query.leaf.slot = leaf_.count(node)++;
  write(leaf_, query.leaf, query.feature);
  ++leaf_count_;
  if (options_.squared_threshold == 0.0) directory_.put(query.hash, node);
}

SILVERBIRCH_INLINE bool CfTree::absorb(const Feature& feature, const Step& target) {
  if (squared_merge_cost_ < std::numeric_limits<double>::infinity() &&
      squared_distance(CfDistance::ward, feature, leaf_.entry(target.node, target.slot)) > squared_merge_cost_)
    return false;
  return kernels_->absorb_within(options_.absorption, options_.squared_threshold,
                                 leaf_.record(target.node, target.slot), leaf_.routing(target.node), leaf_.shape(),
                                 target.slot, feature, origin_.data());
}

// Merges the feature into a leaf of the same mean, if the directory knows one, and adds its weight to all ancestors.
bool CfTree::absorb_duplicate(Query& query) {
  const Feature& feature = query.feature;
  query.hash = hash_of_row(feature.mean, dim_);
  const std::optional<NodeId> known = directory_.find(query.hash);
  if (!known) return false;
  NodeId node = *known;
  std::uint32_t slot = 0;  // a leaf of the same mean may have a positive sse, and not absorb
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

// An inner entry always has the weight of everything below it. Its mean hardly moves once the entry is heavy, so the
// mean is renewed only when the weight reaches its next step. So most rows change nothing that the path of another row
// depends on. The step follows from the weight alone, so a restored tree continues to the same bits.
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

// Inserts the queries in order, to the same bits as one by one. The paths of the whole group are found together, so
// that the memory of one query is fetched while others are compared. A query whose path has changed since then searches
// the changed nodes again.
void CfTree::insert(Group& group, const Progress& progress) {
  if (rounded()) adapt_routing();
  std::uint64_t found = 0;
  bool lost = true;
  // Whether a leaf was added since the last check of the limits. True at first, so that they are checked at least once.
  bool grown = true;
  for (std::size_t i = 0; i < group.size(); ++i) {
    Query& query = group[i];
    const bool only_equals_merge = !(options_.squared_threshold > 0.0);
    if (!only_equals_merge || !absorb_duplicate(query)) {
      if (lost || last_growth_ > found) {
        find_paths(group, i);
        found = clock_;
        lost = false;
      } else {
        renew_path(query, found);
      }
      grown |= place(query);
    }
    total_weight_ += query.feature.weight;
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

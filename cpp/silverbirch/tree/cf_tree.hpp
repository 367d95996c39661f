// The BETULA CF-tree aggregates any number of rows into a bounded number of cluster features, in one pass. `CfTree` is
// the tree of one part of the space; users have the `PartitionedTree` of parts.hpp, which holds one or several of them.
//
// The tree is height-balanced. An entry of an inner node is the feature of everything below one child. An entry of a
// leaf node is one of the features that the data is aggregated into; the paper calls these features "leaves". A row
// descends to the nearest entry of each node. The leaf at the end of the path absorbs the row if the merged feature
// stays within the threshold by the absorption criterion; otherwise the row becomes a new leaf. A node that overflows
// is split in two. A tree with too many leaves is rebuilt from its leaves with a larger threshold.
//
// Sources: Zhang, Ramakrishnan & Livny 1996 (BIRCH); Lang & Schubert 2020, 2022 (BETULA).
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/features/absorption.hpp"
#include "silverbirch/features/cf_distance.hpp"
#include "silverbirch/features/features.hpp"
#include "silverbirch/tree/kernels/tree_kernels.hpp"
#include "silverbirch/tree/node_pool.hpp"
#include "silverbirch/tree/row_directory.hpp"
#include "silverbirch/tree/threshold.hpp"

namespace silverbirch {

struct TreeOptions {
  CfDistance distance = CfDistance::ward;      // which child a row descends to
  Absorption absorption = Absorption::radius;  // what the threshold bounds
  double squared_threshold = 0.0;
  std::size_t max_leaves = std::numeric_limits<std::size_t>::max();
  std::size_t max_nodes = std::numeric_limits<std::size_t>::max();  // bounds the memory even if nodes are almost empty
  std::size_t branching = kGroupedSlots - 1;
  std::size_t parts = 0;  // a power of two, or 0 to let part_count_for choose
};

// The number of entries per node for trees whose nodes may take `node_bytes` altogether. More entries give finer leaves
// for the same number of leaves; in many dimensions they cost more time than they gain (measured by
// `benchmarks/studies/tree_quality.py settings`). Nodes get smaller where only a handful of them would fit, because so
// few nodes make a poor tree.
std::size_t default_branching(std::size_t dim, std::size_t node_bytes);

// A whole tree as plain arrays, root level first. A tree restored from them continues to the same bits. Level l has
// counts[l].size() nodes. entries[l] holds the entries of all these nodes, node after node. The i-th entry of an inner
// level is the parent of the i-th node of the level below.
struct TreeLevels {
  std::vector<std::vector<std::uint32_t>> counts;
  std::vector<Features> entries;
};

class CfTree {
 public:
  CfTree(std::size_t dim, const TreeOptions& options);
  CfTree(std::size_t dim, const TreeOptions& options, const TreeLevels& levels, std::size_t rebuild_count,
         double total_weight);

  // Inserts rows of finite values. `weights` may be null (all one); a row of weight zero is left out. The tree is
  // rebuilt as soon as it exceeds a limit, and only then is `progress` polled: if it throws, the rows up to that one
  // are in the tree.
  template <class Scalar>
  void insert_rows(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress);
  // Inserts rows[chosen[i]]; every weight must be positive.
  template <class Scalar>
  void insert_chosen(const Scalar* rows, const double* weights, const std::uint32_t* chosen, std::size_t count);
  void insert_features(const FeaturesView& features, const Progress& progress);

  void set_limits(std::size_t max_leaves, std::size_t max_nodes) {
    options_.max_leaves = max_leaves;
    options_.max_nodes = max_nodes;
  }
  // Returns the number of rebuilds since the last call.
  std::size_t take_rebuild_count() { return std::exchange(rebuild_count_, 0); }

  // For inserting features that are coarser than this tree, such as the leaves of another tree.
  void raise_threshold(double squared_threshold);

  Features leaves() const;  // depth first
  Features total() const;   // everything in the tree as one feature; the tree must not be empty
  TreeLevels levels() const;
  // Samples about `sampled_leaves` leaves that have siblings in their node, and returns for each its cheapest merge
  // with a sibling.
  std::vector<MergeExtent> sibling_merges(std::size_t sampled_leaves, const Progress& progress) const;
  // Returns a tree of the same leaves, merged where these limits allow it. This is the first half of a rebuild; the
  // second half raises the threshold further, so that leaves have room to grow.
  CfTree merged(const MergeExtent& limits, const Progress& progress) const;
  // Returns this tree with the weight and sse of every entry multiplied by `factor` (0 < factor ≤ 1), and without the
  // leaves that are then lighter than `lightest` or kSmallestWeight. The leaves keep their means and their order.
  CfTree decayed(double factor, double lightest, const Progress& progress) const;

  // An upper bound of the memory of one node, with its share of the tables of the pool.
  static std::size_t bytes_per_node(std::size_t dim, std::size_t branching);

  std::size_t dim() const { return dim_; }
  const TreeOptions& options() const { return options_; }
  double squared_threshold() const { return options_.squared_threshold; }
  std::size_t leaf_count() const { return leaf_count_; }
  std::size_t rebuild_count() const { return rebuild_count_; }
  double total_weight() const { return total_weight_; }
  std::size_t height() const { return height_; }
  std::size_t node_count() const { return inner_.size() + leaf_.size(); }
  std::size_t memory_bytes() const { return inner_.memory_bytes() + leaf_.memory_bytes() + directory_.memory_bytes(); }

 private:
  struct Step {
    NodeId node;
    std::uint32_t slot;
  };

  // A feature that descends, and its path. Aligned to a cache line, because groups index arrays of these.
  struct alignas(64) Query {
    Feature feature;
    const RouteQuery* route_query;
    std::uint64_t hash;  // of the mean; set while the threshold is zero
    Step* path;          // from the root to the parent of the leaf node
    Step leaf;
  };
  class Group;

  NodePool& pool(std::size_t level) { return level == 0 ? leaf_ : inner_; }
  std::size_t group_size() const;
  template <class Add>
  void insert_in_groups(std::size_t count, Add add, const Progress& progress);
  void insert(Group& group, const Progress& progress);
  void find_paths(Group& group, std::size_t first);
  void search_together(Group& group, std::size_t first, const NodePool& nodes);
  void renew_path(Query& query, std::uint64_t found);
  bool place(Query& query);
  void add_leaf(Query& query);
  bool absorb(const Feature& feature, const Step& target);
  bool absorb_duplicate(Query& query);
  void add_weight(const Step& target, double weight, std::size_t depth);
  void renew_summary(const Step& target, std::size_t depth);
  void copy_to(double* record, const Feature& feature) const;
  void write(NodePool& nodes, const Step& target, const Feature& feature);

  bool rounded() const { return leaf_.shape().steps > 0.0f; }  // routing copies are integers
  void set_frame(const Features& amid, double least_reach = 0.0);
  void adapt_routing();
  void use_floats();
  void renew_routing();
  Features root_entries() const;
  void prepare(Group& group, std::size_t first);
  void complete(RouteQuery& query, const Feature& feature);
  std::size_t route(const Feature& feature) const;
  std::uint32_t nearest_entry(const NodePool& nodes, NodeId node, const Query& query);
  float limit_of_others(const Query& query, double squared, float limit) const;
  double squared_distance(CfDistance distance, const Feature& a, const Feature& b) const;

  NodeId split(NodePool& nodes, NodeId node);
  void gather_entries(const NodePool& nodes, NodeId node);
  bool halve_by_means();
  std::pair<std::size_t, std::size_t> far_pair();
  void distances_from(CfDistance distance, const Feature& from, std::vector<double>& squared) const;
  void split_upwards(NodeId overfull, std::vector<Step> path);
  void link_entries(std::size_t level, NodeId node);
  void summarize(NodeId inner_node, std::size_t slot, const NodePool& nodes, NodeId child);

  std::vector<NodeId> leaf_nodes() const;

  std::size_t dim_;
  TreeOptions options_;
  const TreeKernels* kernels_;
  NodePool inner_, leaf_;
  RowDirectory directory_;  // used while the threshold is zero
  NodeId root_ = 0;
  std::size_t height_ = 0;  // levels of inner nodes above the leaf nodes
  std::size_t leaf_count_ = 0;
  std::size_t rebuild_count_ = 0;
  double total_weight_ = 0.0;
  double squared_merge_cost_ = std::numeric_limits<double>::infinity();  // a limit during a rebuild only

  // The routing copies are relative to the origin. Neither the origin nor the filter changes the tree, see routing.cpp.
  std::vector<double> origin_;
  bool routed_;  // false after a feature beyond the range of the filter
  bool has_origin_ = false;
  // For integer routing copies: `reach_` is the distance from the origin that the steps cover. The others count since
  // the frame was set: features inserted (`queries_`), those beyond the reach (`outside_`), searches (`searches_`), and
  // the exact distances that searches needed (`doubts_`).
  double reach_ = 1.0, outside_ = 0.0, queries_ = 0.0, searches_ = 0.0, doubts_ = 0.0;

  // The clock counts changes, so that a path found earlier can be checked for nodes that changed since. Zero is before
  // all changes.
  std::uint64_t clock_ = 0;
  std::uint64_t last_growth_ = 0, last_inner_change_ = 0;  // growth: the height grew

  // Scratch space.
  std::vector<Feature> entries_;  // of the node that is split
  std::vector<double> to_left_,
      to_right_;  // squared distances from the seeds of a split, then from the means of the halves
  std::vector<double> half_means_[2];
  std::vector<std::uint8_t> goes_right_, next_goes_right_;
  AlignedFloats values_;
};

}  // namespace silverbirch

// The BETULA CF-tree: any number of rows aggregated into a bounded number of cluster features, in one pass. This is the
// tree of one part of the space; parts.hpp holds the tree that users have, of one part or several.
//
// A height-balanced tree. An entry of an inner node is the feature of everything below a child; an entry of a leaf node
// is one of the features the data is aggregated into ("leaves", in the words of the paper). A row goes down to the
// least distant entry of each node and is absorbed by the leaf it arrives at if the absorption criterion of the merged
// feature stays within the threshold; else it becomes a leaf of its own. A node that overflows is split in
// two. When there are more leaves than allowed, the tree is rebuilt from its leaves with a larger threshold.
//
// Sources: Zhang, Ramakrishnan & Livny 1996 (BIRCH); Lang & Schubert 2020, 2022 (BETULA).
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
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
  CfDistance distance = CfDistance::ward;      // which child a row goes down to
  Absorption absorption = Absorption::radius;  // what the threshold bounds
  double squared_threshold = 0.0;
  std::size_t max_leaves = std::numeric_limits<std::size_t>::max();
  std::size_t max_nodes = std::numeric_limits<std::size_t>::max();  // bounds the memory, however empty nodes are
  std::size_t branching = kGroupedSlots - 1;
  std::size_t parts = 0;  // a power of two; 0: as many as part_count_for says
};

// How many entries a node should have where all nodes may take so many bytes. More entries give finer leaves for the
// same number of them; in many dimensions they cost more time than they gain. Measured by
// `benchmarks/studies/tree_quality.py settings`. Nodes so large that only a handful of them fit would make a poor tree.
std::size_t default_branching(std::size_t dim, std::size_t node_bytes);

// A whole tree as plain arrays, root level first, so that it can be stored and continued to the same bits. Level l has
// counts[l].size() nodes; their entries follow each other in entries[l], and the i-th entry of an inner level is the
// parent of the i-th node of the level below.
struct TreeLevels {
  std::vector<std::vector<std::uint32_t>> counts;
  std::vector<Features> entries;
};

class CfTree {
 public:
  CfTree(std::size_t dim, const TreeOptions& options);
  CfTree(std::size_t dim, const TreeOptions& options, const TreeLevels& levels, std::size_t rebuild_count,
         double total_weight);

  // Rows of finite values; weights may be null (all one), a weight of zero leaves the row out. Where a limit is passed,
  // the tree is rebuilt at once, and `progress` is polled: when it throws, the rows up to then are in the tree.
  template <class Scalar>
  void insert_rows(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress);
  // Inserts rows[chosen[i]]; every weight must be positive.
  template <class Scalar>
  void insert_chosen(const Scalar* rows, const double* weights, const std::uint32_t* chosen, std::size_t count);
  void insert_features(const FeaturesView& features, const Progress& progress);
  void free_spare_memory() { pages_->free_spare(); }  // what rebuilds keep for the next one

  void set_limits(std::size_t max_leaves, std::size_t max_nodes) {
    options_.max_leaves = max_leaves;
    options_.max_nodes = max_nodes;
  }
  // How often it was rebuilt since this was asked last.
  std::size_t take_rebuild_count() { return std::exchange(rebuild_count_, 0); }

  // For features that are coarser than this tree, such as the leaves of another one.
  void raise_threshold(double squared_threshold);

  Features leaves() const;  // depth first
  Features total() const;   // all that the tree holds, as one feature; of a tree that is not empty
  TreeLevels levels() const;
  // For about so many leaves that have siblings in their node, the cheapest merge with one of them.
  std::vector<MergeExtent> sibling_merges(std::size_t sampled_leaves, const Progress& progress) const;
  // A tree of the same leaves, merged where these limits allow. That is the first half of a rebuild; the other is to
  // raise the threshold further, so that leaves have room to grow.
  CfTree merged(const MergeExtent& limits, const Progress& progress) const;

  // What a node of such a tree takes at most, and a little for where it is.
  static std::size_t bytes_per_node(std::size_t dim, std::size_t branching);

  std::size_t dim() const { return dim_; }
  const TreeOptions& options() const { return options_; }
  double squared_threshold() const { return options_.squared_threshold; }
  std::size_t leaf_count() const { return leaf_count_; }
  std::size_t rebuild_count() const { return rebuild_count_; }
  double total_weight() const { return total_weight_; }
  std::size_t height() const { return height_; }
  std::size_t node_count() const { return inner_.size() + leaf_.size(); }
  std::size_t memory_bytes() const {
    return inner_.memory_bytes() + leaf_.memory_bytes() + directory_.memory_bytes() + pages_->spare_bytes();
  }

 private:
  struct Step {
    NodeId node;
    std::uint32_t slot;
  };

  // A feature on its way down, and where it has been. Aligned, because many are asked for by number.
  struct alignas(64) Traveller {
    Feature feature;
    const RouteQuery* query;
    std::uint64_t hash;  // of the mean, while the threshold is zero
    Step* path;          // from the root to the parent of the leaf node
    Step leaf;
    std::uint64_t change_before;  // the last one of the leaf node before it was placed there
  };
  class Group;

  CfTree(std::size_t dim, const TreeOptions& options, std::shared_ptr<HugePages> pages);

  NodePool& pool(std::size_t level) { return level == 0 ? leaf_ : inner_; }
  std::size_t group_size() const;
  template <class Add>
  void insert_in_groups(std::size_t count, Add add, const Progress& progress);
  void insert(Group& group, const Progress& progress);
  void find_ways(Group& group, std::size_t first);
  void search_together(Group& group, std::size_t first, const NodePool& nodes);
  void renew_way(Traveller& traveller, std::uint64_t found);
  void renew_leaf(Group& group, std::size_t first, std::size_t last, std::uint64_t found);
  bool place(Traveller& traveller);
  void add_leaf(Traveller& traveller);
  bool absorb(const Feature& feature, const Step& target);
  bool absorb_duplicate(Traveller& traveller);
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
  std::uint32_t nearest_entry(const NodePool& nodes, NodeId node, const Traveller& traveller);
  float limit_of_others(const Traveller& traveller, double squared, float limit) const;
  double squared_distance(CfDistance distance, const Feature& a, const Feature& b) const;

  NodeId split(NodePool& nodes, NodeId node);
  void look_at(const NodePool& nodes, NodeId node);
  bool halve_by_means();
  std::pair<std::size_t, std::size_t> far_pair();
  void distances_from(CfDistance distance, const Feature& from, std::vector<double>& squared) const;
  void split_upwards(NodeId overfull, std::vector<Step> path);
  void move_in(std::size_t level, NodeId node);
  void summarize(NodeId inner_node, std::size_t slot, const NodePool& nodes, NodeId child);

  std::vector<NodeId> leaf_nodes() const;

  std::size_t dim_;
  TreeOptions options_;
  const TreeKernels* kernels_;
  std::shared_ptr<HugePages> pages_;  // those of a tree that was rebuilt are used by the next
  NodePool inner_, leaf_;
  RowDirectory directory_;  // while the threshold is zero
  NodeId root_ = 0;
  std::size_t height_ = 0;  // levels of inner nodes above the leaf nodes
  std::size_t leaf_count_ = 0;
  std::size_t rebuild_count_ = 0;
  double total_weight_ = 0.0;
  double squared_merge_cost_ = std::numeric_limits<double>::infinity();  // the limit of it, during a rebuild

  // The routing copies are relative to the origin. Neither it nor the use of them changes the tree, see
  // cf_tree_routing.cpp.
  std::vector<double> origin_;
  bool routed_;  // false once there was a feature beyond the range of the filter
  bool has_origin_ = false;
  // Integers: how far from the origin they reach; how many features were beyond that, of how many; and how many exact
  // distances followed how many searches, all since the frame was set.
  double reach_ = 1.0, outside_ = 0.0, travellers_ = 0.0, searches_ = 0.0, doubts_ = 0.0;

  // What changed since a way was found. Counts changes; zero is before all.
  std::uint64_t clock_ = 0;
  std::uint64_t last_growth_ = 0, last_inner_change_ = 0;  // growth: of the height

  bool met_duplicate_ = false;  // the last one was one

  // Scratch space of one insertion.
  std::vector<Feature> entries_;            // of a node
  std::vector<double> to_left_, to_right_;  // distances from the seeds of a split, and then from the means
  std::vector<double> half_means_[2];
  std::vector<std::uint8_t> goes_right_, next_goes_right_;
  AlignedFloats values_;
};

}  // namespace silverbirch

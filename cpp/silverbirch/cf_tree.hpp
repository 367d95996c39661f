// The BETULA CF-tree: any number of rows aggregated into a bounded number of cluster features, in one pass.
//
// A height-balanced tree. An entry of an inner node is the feature of everything below a child; an entry of a leaf node
// is one of the features the data is aggregated into ("leaves", in the words of the paper). A row goes down to the
// least distant entry of each node and is absorbed by the leaf it arrives at if the absorption criterion of the merged
// feature stays within the threshold; else it becomes a leaf of its own. A node that overflows is split by its farthest
// pair. When there are more leaves than allowed, the tree is rebuilt from its leaves with a larger threshold.
//
// Sources: Zhang, Ramakrishnan & Livny 1996 (BIRCH); Lang & Schubert 2020, 2022 (BETULA).
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "cf_distance.hpp"
#include "features.hpp"
#include "node_pool.hpp"
#include "progress.hpp"
#include "row_directory.hpp"

namespace silverbirch {

struct TreeOptions {
  CfDistance distance = CfDistance::ward;      // which child a row goes down to
  CfDistance absorption = CfDistance::radius;  // what the threshold bounds
  double squared_threshold = 0.0;
  std::size_t max_leaves = std::numeric_limits<std::size_t>::max();
  std::size_t max_nodes = std::numeric_limits<std::size_t>::max();  // bounds the memory, however empty nodes are
  std::size_t branching = 63;
};

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

  // Rows of finite values; weights may be null (all one), a weight of zero leaves the row out. When `progress` throws,
  // the rows before that moment are in the tree and the others are not.
  template <class Scalar>
  void insert_rows(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress);
  void insert_features(const FeaturesView& features, const Progress& progress);

  // For features that are coarser than this tree, such as the leaves of another one.
  void raise_threshold(double squared_threshold);

  Features leaves() const;  // depth first
  TreeLevels levels() const;
  // For each leaf that has siblings in its node, the squared absorption cost of merging it with the nearest one.
  std::vector<double> sibling_costs(const Progress& progress) const;

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
    std::size_t slot;
  };

  NodePool& pool(std::size_t level) { return level == 0 ? leaf_ : inner_; }
  void insert(const Feature& feature, const Progress& progress);
  void place(const Feature& feature);
  bool absorb(const Feature& feature, const Step& target);
  bool absorb_duplicate(const Feature& feature);
  NodeId split(NodePool& nodes, NodeId node);
  void split_upwards(NodeId overfull);
  void move_in(std::size_t level, NodeId node);
  void summarize(NodeId inner_node, std::size_t slot, const NodePool& nodes, NodeId child);
  void rebuild(const Progress& progress);
  std::vector<NodeId> leaf_nodes() const;
  double data_scale() const;

  std::size_t dim_;
  TreeOptions options_;
  NodePool inner_, leaf_;
  RowDirectory directory_;  // while the threshold is zero
  NodeId root_ = 0;
  std::size_t height_ = 0;  // levels of inner nodes above the leaf nodes
  std::size_t leaf_count_ = 0;
  std::size_t rebuild_count_ = 0;
  double total_weight_ = 0.0;

  // Scratch space of one insertion.
  std::vector<Step> path_;  // from the root to the parent of the leaf node
  std::vector<double> row_, split_row_;
  AlignedDoubles split_distances_;
};

}  // namespace silverbirch

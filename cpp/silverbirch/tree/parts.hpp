// A CF-tree on several threads: the space is divided into parts, and each part has a tree of its own.
//
// The first rows go into one tree. Its leaves say where to divide the space into parts of about equal mass; from then
// on every row goes to the tree of its part, and the trees grow side by side. Dividing the space and not the rows keeps
// the leaves as fine as those of one tree: leaves of different parts do not overlap.
//
// There is one threshold and one limit of leaves for all. Rows are taken in blocks. Each part may fill its share of the
// room that is left below the limit; a part that has used it up waits for the others, then the room is shared out
// again, or all parts are rebuilt with a larger threshold if there is none. What a part does between two meetings
// depends on its own rows only, so the result does not depend on which thread comes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/tree/cf_tree.hpp"
#include "silverbirch/tree/space_partition.hpp"

namespace silverbirch {

class PartitionedTree {
 public:
  PartitionedTree(PartitionedTree&&) = default;  // trees are moved, never copied
  PartitionedTree& operator=(PartitionedTree&&) = default;

  // All there is to say about the tree of one part, to store it and continue it to the same bits.
  struct Part {
    TreeLevels levels;  // none if the part is empty
    double total_weight = 0.0;
  };
  struct Counts {
    std::size_t rows = 0;  // counted until the space is divided
    std::size_t rebuilds = 0;
    double weight = 0.0;
  };

  // part_count: rounded up to a power of two
  PartitionedTree(std::size_t dim, const TreeOptions& options, std::size_t part_count, std::size_t threads);
  PartitionedTree(std::size_t dim, const TreeOptions& options, std::size_t part_count, std::size_t threads,
                  SpacePartition partition, const std::vector<Part>& parts, const Counts& counts);

  // As in CfTree. When `progress` throws, the rows of the blocks before that moment are in the tree and the others are
  // not.
  template <class Scalar>
  void insert_rows(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress);
  template <class Scalar>
  void check_and_insert(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress);
  void insert_features(const FeaturesView& features, const Progress& progress);
  void raise_threshold(double squared_threshold);

  Features leaves() const;  // part by part
  std::vector<Part> parts() const;
  const SpacePartition& partition() const { return partition_; }
  Counts counts() const { return {counts_.rows, rebuild_count(), counts_.weight}; }

  std::size_t dim() const { return dim_; }
  double squared_threshold() const { return trees_.front().squared_threshold(); }
  std::size_t leaf_count() const;
  std::size_t rebuild_count() const;
  double total_weight() const { return counts_.weight; }
  std::size_t node_count() const;
  std::size_t memory_bytes() const;

 private:
  struct Queue;  // the rows of a block that wait to be inserted into one tree

  template <class Batch>
  void insert(const Batch& batch, const Progress& progress);
  template <class Batch>
  std::size_t insert_first_rows(const Batch& batch);
  template <class Batch>
  std::vector<Queue> route(const Batch& batch, std::size_t begin, std::size_t end, std::size_t threads) const;
  template <class Batch>
  void insert_block(const Batch& batch, std::size_t begin, std::size_t end);
  std::size_t threads_for(std::size_t row_count) const;
  template <class Work>
  void for_each_part(std::size_t threads, Work work) const;
  void share_room(std::vector<Queue>& queues) const;
  bool is_full(double share_of_limits) const;
  void divide();
  std::vector<CfTree> merged(const MergeExtent& limits, std::size_t threads);
  void rebuild();
  double data_scale() const;

  std::size_t dim_;
  TreeOptions options_;  // of all parts together; those of the trees have no limits
  std::size_t part_count_, threads_;
  SpacePartition partition_;
  std::vector<CfTree> trees_;
  Counts counts_;
};

}  // namespace silverbirch

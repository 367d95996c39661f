// A CF-tree on several threads: the space is divided into parts, and each part has a tree of its own.
//
// The first rows of the stream go into one tree. Its leaves say where to divide the space into parts of about equal
// mass; from then on every row goes to the tree of its part, and the trees grow side by side. Dividing the space and
// not the rows keeps the leaves as fine as those of one tree: leaves of different parts do not overlap.
//
// The stream is cut into blocks. Inside a block the trees know nothing of each other, so the order in which threads
// come along does not matter. Between blocks they settle: all take the largest of their thresholds, and the limit of
// leaves is shared out anew by the leaves each part has at that common threshold. The ends of blocks are counted along
// the stream, so the result does not depend on the pieces it arrives in, and the shares of the limit sum to no more
// than the limit at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cf_tree.hpp"
#include "space_partition.hpp"

namespace silverbirch {

class PartitionedTree {
 public:
  // All there is to say about one of the trees, to store it and continue it to the same bits.
  struct Part {
    TreeLevels levels;  // none if the part is empty
    double squared_threshold = 0.0;
    std::size_t max_leaves = 0, max_nodes = 0;
    std::size_t rebuild_count = 0;
    double total_weight = 0.0;
  };
  struct Stream {
    std::size_t position = 0;   // how many rows were taken
    std::size_t block_end = 0;  // the position at which to settle next
    std::size_t rebuild_count = 0;
    double total_weight = 0.0;
  };

  // part_count: rounded up to a power of two. The limit of leaves must be at least its square.
  PartitionedTree(std::size_t dim, const TreeOptions& options, std::size_t part_count, std::size_t threads);
  PartitionedTree(std::size_t dim, const TreeOptions& options, std::size_t part_count, std::size_t threads,
                  SpacePartition partition, const std::vector<Part>& parts, const Stream& stream);

  // As in CfTree. `progress` is called between blocks, in which case the rows of the blocks before are in the tree.
  template <class Scalar>
  void insert_rows(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress);
  void insert_features(const FeaturesView& features, const Progress& progress);
  void raise_threshold(double squared_threshold);

  Features leaves() const;  // part by part
  std::vector<Part> parts() const;
  const SpacePartition& partition() const { return partition_; }
  const Stream& stream() const { return stream_; }

  std::size_t dim() const { return dim_; }
  double squared_threshold() const;
  std::size_t leaf_count() const;
  std::size_t rebuild_count() const;
  double total_weight() const { return stream_.total_weight; }
  std::size_t node_count() const;
  std::size_t memory_bytes() const;

 private:
  template <class Batch>
  void insert(const Batch& batch, const Progress& progress);
  template <class Batch>
  void insert_block(const Batch& batch, std::size_t begin, std::size_t end, std::size_t row_count);
  void end_block();
  void divide();
  void settle();
  void rebuild_coarser(std::size_t part, double squared_threshold);
  void share_limits();
  template <class Work>
  void for_each_part(std::size_t row_count, Work work);

  std::size_t dim_;
  TreeOptions options_;  // of all parts together
  std::size_t part_count_, threads_;
  SpacePartition partition_;
  std::vector<CfTree> trees_;
  Stream stream_;
  std::vector<std::uint32_t> part_of_row_;  // of the block at hand
};

}  // namespace silverbirch

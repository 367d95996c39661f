// The CF-tree that users have: a bounded number of leaves, in one part or several, on any number of threads.
//
// The first rows go into one tree. In few dimensions, the leaves of this tree then say where to divide the space into
// parts of about equal mass; each part has a tree of its own, and every later row goes to the tree of its part. Smaller
// trees have shorter paths, rows are absorbed by nearer leaves, and threads work on different parts. The number of
// parts follows from the dimensions and the limits, never from the threads.
//
// The limits hold for all parts together. At a *meeting*, each part gets an equal share of the room that is left. The
// number of rows until the next meeting is chosen so that no part should use up its share before; a part that does is
// rebuilt alone. When little room is left, all parts are rebuilt with the same larger threshold. Meetings are counted
// in rows of the whole stream, however it is cut into chunks. Between two meetings, the tree of a part depends on its
// own rows only. So neither chunks nor threads change a bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "silverbirch/tree/cf_tree.hpp"
#include "silverbirch/tree/rebuild.hpp"
#include "silverbirch/tree/space_partition.hpp"

namespace silverbirch {

template <class Batch>
class SortedRows;

class PartitionedTree {
 public:
  PartitionedTree(PartitionedTree&&) = default;
  PartitionedTree& operator=(PartitionedTree&&) = default;

  // The tree of one part, its limits, and its rebuilds since the last meeting.
  struct Part {
    TreeLevels levels;  // no levels if the part is empty
    double total_weight = 0.0, squared_threshold = 0.0;
    TreeSize limits;
    std::size_t rebuild_count = 0;
  };
  // The time from one meeting to the next, in rows of positive weight. The first meeting divides the space.
  struct Interval {
    std::size_t rows = 0, left = 0;
    TreeSize share;  // how much each part may grow in this interval
  };
  // The whole state of a tree: a tree restored from it continues to the same bits.
  struct State {
    SpacePartition partition;
    std::vector<Part> parts;
    Interval interval;
    std::size_t rebuild_count = 0;
  };
  static constexpr std::size_t kNever = std::size_t{1} << 62;  // `left` of a tree that stays one part

  PartitionedTree(std::size_t dim, const TreeOptions& options);
  PartitionedTree(std::size_t dim, const TreeOptions& options, const State& state);

  void set_threads(std::size_t threads) { threads_ = std::max<std::size_t>(threads, 1); }  // default: one

  // Inserts rows of finite values. `weights` may be null (all one); a row of weight zero is left out. If `progress`
  // throws, the rows before that moment are in the tree and the others are not.
  template <class Scalar>
  void insert_rows(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress);
  // Inserts rows of any values. Throws std::invalid_argument, and leaves the tree as it was, if a value is not finite
  // or too large to square.
  template <class Scalar>
  void check_and_insert(const Scalar* rows, const double* weights, std::size_t row_count, const Progress& progress);
  void insert_features(const FeaturesView& features, const Progress& progress);
  // For inserting features that are coarser than this tree, such as the leaves of another tree.
  void raise_threshold(double squared_threshold);
  // Multiplies the weight and sse of every leaf by `factor` (0 < factor ≤ 1), and removes the leaves that are then
  // lighter than `lightest` or kSmallestWeight. If `progress` throws, nothing has changed.
  void decay(double factor, double lightest, const Progress& progress);

  Features leaves() const;  // part by part, each depth first
  State state() const;

  std::size_t dim() const { return dim_; }
  std::size_t part_count() const { return parts_.size(); }
  double squared_threshold() const;
  std::size_t leaf_count() const { return size_of(parts_).leaves; }
  std::size_t node_count() const { return size_of(parts_).nodes; }
  std::size_t rebuild_count() const;
  double total_weight() const;
  std::size_t memory_bytes() const;

 private:
  struct Growth {  // new leaves and nodes per row; infinite if not known
    double leaves = std::numeric_limits<double>::infinity(), nodes = std::numeric_limits<double>::infinity();
  };

  template <class Batch>
  void insert(const Batch& batch, const Progress& progress);
  template <class Batch>
  std::size_t insert_into_one(const Batch& batch, std::size_t begin, std::size_t end, const Progress& progress);
  template <class Batch>
  void insert_into_parts(const Batch& batch, std::size_t begin, const Progress& progress);
  template <class Batch>
  void insert_block(const Batch& batch, SortedRows<Batch>& sorted, std::size_t begin, std::size_t end);
  std::size_t block_length() const;
  std::size_t threads_for(std::size_t row_count) const;

  void meet(const Progress& progress);
  void divide();
  Growth fastest_growth() const;
  bool is_full() const;
  void share_room(const Growth& growth);

  std::size_t dim_;
  TreeOptions options_;  // of all parts together
  std::size_t threads_ = 1;
  SpacePartition partition_;
  std::vector<CfTree> parts_;
  Interval interval_;
  std::size_t rebuild_count_ = 0;  // up to the last meeting
};

// The number of parts that such a tree is divided into: a power of two.
std::size_t part_count_for(std::size_t dim, const TreeOptions& options);

}  // namespace silverbirch

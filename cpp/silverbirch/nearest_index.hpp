// The exactly nearest of many points, for millions of queries: a packed kd-tree.
//
// The points are put in kd-order, eight to a block; eight blocks share a node, eight nodes the next, with no pointers:
// the children of node i are 8i … 8i+7 of the level below. A node holds the bounding boxes of its children, again
// dimension by dimension, so that one vector pass bounds all eight. Boxes and points are evaluated in the same order of
// operations, so rounding keeps a box's bound below the distances of its points and pruning never loses the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aligned.hpp"
#include "kernels.hpp"
#include "progress.hpp"

namespace silverbirch {

class NearestIndex {
 public:
  // points: row-major, finite
  NearestIndex(const double* points, std::size_t count, std::size_t dim, const Progress& progress);

  // Number of the nearest point; the lowest one among equally near ones.
  std::size_t nearest(const double* query) const;
  std::size_t dim() const { return dim_; }
  std::size_t size() const { return point_of_slot_.size(); }

 private:
  struct Best {
    double squared_distance;
    std::size_t point;
  };

  void order(const double* points, std::size_t begin, std::size_t end, const Progress& progress);
  std::size_t widest_dimension(const double* points, std::size_t begin, std::size_t end) const;
  void pack_blocks(const double* points);
  void pack_boxes(const Progress& progress);
  void search_blocks(std::size_t block, const Feature& query, Best& best) const;
  void search_node(std::size_t level, std::size_t node, const Feature& query, Best& best) const;

  std::size_t dim_;
  std::vector<std::size_t> point_of_slot_;
  AlignedDoubles blocks_;
  std::vector<AlignedDoubles> boxes_;  // boxes_[0]: nodes whose children are blocks
};

}  // namespace silverbirch

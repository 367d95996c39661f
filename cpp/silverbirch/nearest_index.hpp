// The exactly nearest of many points, for millions of queries: a packed kd-tree, as the clustering uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aligned.hpp"
#include "index/packed_boxes.hpp"
#include "index/search.hpp"
#include "parallel.hpp"
#include "progress.hpp"
#include "row_order.hpp"

namespace silverbirch {

class NearestIndex {
 public:
  // points: row-major, finite
  NearestIndex(const double* points, std::size_t count, std::size_t dim, const Progress& progress);

  // Numbers of the points nearest to the rows; the lowest one among equally near ones.
  template <class Scalar>
  void nearest(const Scalar* rows, std::size_t row_count, std::int64_t* numbers, const Checkpoint& checkpoint) const;
  std::size_t dim() const { return tree_.dim; }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::vector<std::uint32_t> numbers_;  // of the point in each slot
  AlignedDoubles blocks_;
  PackedBoxes boxes_;
  PackedTree tree_;
  RowOrder row_order_;
  IndexSearch::NearestToPoints find_;
};

}  // namespace silverbirch

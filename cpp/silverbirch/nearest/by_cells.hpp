// The exactly nearest of many points for very many rows in few dimensions: rows of the same cell of a kd-tree look for
// it side by side.
//
// Every cell has a list of the points nearest to its centre. The rows in it go through the list together, a lane of a
// vector for each, and one is done when the triangle inequality says that nobody on the rest of the list can be nearer
// [cf. Orchard 1991, "A fast nearest-neighbor search algorithm", where the lists are those of points]. So there is no
// minimum across a vector and no branch for each row, which a search in a tree is made of. All of it is in float32; a
// row whose answer rounding could have changed, or for which the list is too short, is left to the tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/nearest/cell_lists.hpp"

namespace silverbirch {

class NearestCells {
 public:
  // Whether there are enough points, and their lists short enough and of little enough memory.
  static bool suits(std::size_t count, std::size_t dim);

  // The slots of a tree.
  NearestCells(const PackedTree& tree, std::size_t threads, const Progress& progress);

  // Names of the slots nearest to the rows; for all rows but those that are returned.
  template <class Scalar>
  std::vector<std::size_t> nearest(const Scalar* rows, std::size_t row_count, std::int64_t* names,
                                   const Checkpoint& checkpoint) const;

 private:
  template <class Scalar>
  class Batch;

  template <class Scalar>
  float position(const Scalar* row, float* position) const;

  std::size_t dim_;
  std::vector<double> origin_;
  std::vector<std::uint32_t> names_;  // by slot of the lists
  std::unique_ptr<CellLists> lists_;  // none if the points are beyond the range of floats
};

}  // namespace silverbirch

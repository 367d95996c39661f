// Finds the exactly nearest of many points for very many rows in few dimensions: rows of the same cell of a kd-tree
// search side by side.
//
// Every cell has a list of the points nearest to its centre. The rows in the cell scan the list together, one row in
// each lane of a vector. A row is done when the triangle inequality says that no point on the rest of the list can be
// nearer [cf. Orchard 1991, "A fast nearest-neighbor search algorithm", which has a list for each point]. Unlike the
// search in a tree, this needs no minimum across a vector and no branch for each row. Everything is in float32. A row
// whose answer rounding could have changed, or whose list is too short, is left to the tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/base/spares.hpp"
#include "silverbirch/nearest/cell_lists.hpp"

namespace silverbirch {

class NearestCells {
 public:
  // Whether there are enough points, in few enough dimensions, and the lists take little enough memory.
  static bool suits(std::size_t count, std::size_t dim);

  // Searches the slots of `tree`.
  NearestCells(const PackedTree& tree, std::size_t threads, const Progress& progress);

  class Batch;  // rows, sorted by cell

  // How many rows should be searched together.
  std::size_t batch_rows() const;

  // Writes the names of the slots nearest to the rows. Returns the rows it left out; those with values that are not
  // finite are among them.
  template <class Scalar>
  std::vector<std::size_t> nearest(const Scalar* rows, std::size_t row_count, std::int64_t* names,
                                   Spares<Batch>& batches, const Checkpoint& checkpoint) const;

 private:
  template <class Scalar>
  float position(const Scalar* row, float* position) const;

  std::size_t dim_;
  std::vector<double> origin_;
  std::vector<std::uint32_t> names_;  // by slot of the lists
  std::unique_ptr<CellLists> lists_;  // null if the points are beyond the range of floats
};

}  // namespace silverbirch

// The data structure that by_cells.hpp searches: the cells of a kd-tree, each with a list of the points nearest to its
// centre.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/nearest/cell_scan.hpp"

namespace silverbirch {

class CellLists {
 public:
  // positions: of the points, row-major; their squared norms are at most kLargestScannedSquare.
  CellLists(const std::vector<float>& positions, std::size_t dim, std::size_t threads, const Progress& progress);
  CellLists(const CellLists&) = delete;  // tables_ points into this object
  CellLists& operator=(const CellLists&) = delete;

  static std::size_t most_bytes(std::size_t count, std::size_t dim);  // the most memory that the lists can take

  const CellTables& tables() const { return tables_; }
  std::size_t point(Slot slot) const { return order_[slot]; }
  std::size_t cell_count() const { return cell_begin_.size() - 1; }
  // Writes the cell of each position; positions are row-major.
  void find_cells(const float* positions, std::size_t count, std::uint32_t* cells) const;

 private:
  struct Split {
    float at;
    std::uint32_t dimension;
  };
  class Neighbours;

  std::size_t block_floats() const { return dim_ * kCellPoints; }
  float coordinate(Slot slot, std::size_t k) const { return positions_[slot * dim_ + k]; }

  void divide(std::size_t threads);
  Split halve(Slot begin, Slot middle, Slot end);
  void write_cells(std::size_t threads);
  void write_cell(std::size_t cell);
  void write_list(std::size_t cell, Neighbours& near);

  std::size_t dim_;
  std::vector<float> positions_;  // by slot, as all members below
  std::vector<Slot> order_;       // the number of the point in each slot
  std::vector<Split> splits_;     // the children of split i are 2i + 1 and 2i + 2; after the last split come the cells
  std::vector<Slot> cell_begin_;
  AlignedFloats blocks_, boxes_;
  std::vector<float> centres_, reach_;
  std::vector<Slot> lists_;
  CellTables tables_;
};

}  // namespace silverbirch

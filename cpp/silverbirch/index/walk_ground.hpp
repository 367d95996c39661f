// What the walk of nearest_walk.hpp goes over: points in the cells of a kd-tree, each with a list of its nearest
// others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../aligned.hpp"
#include "../progress.hpp"
#include "walk.hpp"

namespace silverbirch {

class WalkGround {
 public:
  // positions: of the points, row-major, their squared norms at most kLargestWalkedSquare
  WalkGround(const std::vector<float>& positions, std::size_t dim, std::size_t threads, const Progress& progress);
  WalkGround(const WalkGround&) = delete;  // the tables point into it
  WalkGround& operator=(const WalkGround&) = delete;

  static std::size_t list_bytes(std::size_t dim);  // of a point

  const WalkTables& tables() const { return tables_; }
  std::size_t point(Slot slot) const { return order_[slot]; }
  std::size_t cell_count() const { return cell_begin_.size() - 1; }
  void find_cells(WalkRow* rows, std::size_t count) const;

 private:
  using Floats = std::vector<float, AlignedAllocator<float>>;
  struct Split {
    float at;
    std::uint32_t dimension;
  };
  class Neighbours;

  std::size_t block_floats() const { return dim_ * kWalkLanes; }
  float coordinate(Slot slot, std::size_t k) const { return positions_[slot * dim_ + k]; }

  void divide();
  Split halve(Slot begin, Slot middle, Slot end);
  void write_cells();
  void write_lists(std::size_t cell, Neighbours& near);
  void write_list(Slot slot, const Neighbours& near, float beyond);
  void write_block(const Slot* slots, std::size_t count, float* block) const;

  std::size_t dim_;
  std::vector<float> positions_;  // by slot, as all that follows
  std::vector<Slot> order_;       // the number of the point
  std::vector<Split> splits_;     // the halves of i are 2i + 1 and 2i + 2; after the splits come the cells
  std::vector<Slot> cell_begin_;
  Floats cells_, boxes_, lists_;
  std::vector<Slot, AlignedAllocator<Slot>> list_slots_;
  std::vector<float> reach_;
  WalkTables tables_;
};

}  // namespace silverbirch

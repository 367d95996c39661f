// The exactly nearest of many points for very many rows in few dimensions: a walk from neighbour to neighbour.
//
// Every point has a list of its nearest others. A row starts from the nearest point of its cell of a kd-tree, moves to
// whoever is nearer, and is done when the triangle inequality says that nobody beyond the part of the list it has seen
// can be nearer: a few vectors of sixteen points, where a search in a tree has to decide box by box [cf. Orchard 1991,
// "A fast nearest-neighbor search algorithm", which goes through such lists]. All of it is in float32; a row whose
// answer rounding could have changed, or for which the lists are too short, is left to the tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "index/walk_ground.hpp"
#include "parallel.hpp"
#include "progress.hpp"

namespace silverbirch {

class NearestWalk {
 public:
  // Whether the lists of so many points are short enough and take little enough memory.
  static bool suits(std::size_t count, std::size_t dim);

  // The slots of a tree.
  NearestWalk(const PackedTree& tree, std::size_t threads, const Progress& progress);

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
  std::vector<std::uint32_t> names_;    // by slot of the ground
  std::unique_ptr<WalkGround> ground_;  // none if the points are beyond the range of floats
};

}  // namespace silverbirch

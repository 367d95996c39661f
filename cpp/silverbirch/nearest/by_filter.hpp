// Finds the exactly nearest of many points in many dimensions, where a tree of boxes prunes little. It computes float32
// lower bounds of all distances (pair_filter.hpp) and measures the few points that may be the nearest in float64. Those
// distances are summed in the same order as in the tree. So both methods give the same bits, and either may handle any
// row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/filter/panel_units.hpp"
#include "silverbirch/index/search.hpp"

namespace silverbirch {

class NearestPanels {
 public:
  // Searches the slots of `tree`, which must outlive this object.
  NearestPanels(const PackedTree& tree, const Progress& progress);

  // Writes the names of the slots nearest to the rows, the lowest name among equally near slots. Returns the rows that
  // it left out because their numbers are too large for float32.
  template <class Scalar>
  std::vector<std::size_t> nearest(const Scalar* rows, std::size_t row_count, std::int64_t* names,
                                   const Checkpoint& checkpoint) const;

 private:
  using Floats = std::vector<float, AlignedAllocator<float>>;
  template <class Scalar>
  class Pass;

  const PackedTree& tree_;
  PanelUnits units_;
  Floats panels_;
};

}  // namespace silverbirch

// The exactly nearest of many points in many dimensions, where a tree of boxes leaves nothing out: float32 lower bounds
// of all distances (pair_filter.hpp), and the few that may be the least measured again in float64. Those are summed in
// the order the tree sums them, so that both ways give the same bits and any row may go either way.
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
  // The slots of a tree, which has to stay.
  NearestPanels(const PackedTree& tree, const Progress& progress);

  // Names of the slots nearest to the rows, the lowest one among equally near ones; for all rows but those whose
  // numbers float32 cannot hold, which are returned.
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

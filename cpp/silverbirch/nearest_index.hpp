// The exactly nearest of many points, for millions of queries: a packed kd-tree, as the clustering uses, and in many
// dimensions, where most of the tree would be visited, a filter over all points. Both give the same bits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "aligned.hpp"
#include "index/packed_boxes.hpp"
#include "index/search.hpp"
#include "nearest_panels.hpp"
#include "parallel.hpp"
#include "progress.hpp"
#include "row_order.hpp"

namespace silverbirch {

class NearestIndex {
 public:
  enum class Way { undecided, tree, panels };

  // points: row-major, finite. way: the first rows decide which one is faster, unless it is given
  NearestIndex(const double* points, std::size_t count, std::size_t dim, const Progress& progress,
               Way way = Way::undecided);

  // Numbers of the points nearest to the rows; the lowest one among equally near ones.
  template <class Scalar>
  void nearest(const Scalar* rows, std::size_t row_count, std::int64_t* numbers, const Checkpoint& checkpoint) const;
  std::size_t dim() const { return tree_.dim; }
  std::size_t size() const { return numbers_.size(); }

 private:
  template <class Scalar>
  class Groups;

  template <class Scalar>
  void by_tree(const Scalar* rows, std::size_t row_count, std::int64_t* numbers, const Checkpoint& checkpoint) const;
  template <class Scalar>
  void by_panels(const Scalar* rows, std::size_t row_count, std::int64_t* numbers, const Checkpoint& checkpoint) const;
  template <class Scalar>
  void decide(const Scalar* rows, std::size_t row_count) const;

  std::vector<std::uint32_t> numbers_;  // of the point in each slot
  AlignedDoubles blocks_;
  PackedBoxes<double> boxes_;
  PackedTree tree_;
  RowOrder row_order_;
  IndexSearch::NearestToPoints find_;
  mutable std::atomic<Way> way_;
  mutable std::once_flag panels_made_;
  mutable std::unique_ptr<NearestPanels> panels_;
};

}  // namespace silverbirch

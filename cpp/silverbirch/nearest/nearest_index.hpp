// Finds the exactly nearest of many points, for millions of queries. Usually it searches a packed kd-tree, as the
// clustering does. In many dimensions, where most of the tree would be visited, it filters all points. In few
// dimensions, and for very many rows, it uses lists of the points near each cell. All three give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "silverbirch/base/aligned.hpp"
#include "silverbirch/base/parallel.hpp"
#include "silverbirch/base/progress.hpp"
#include "silverbirch/index/packed_boxes.hpp"
#include "silverbirch/index/search.hpp"
#include "silverbirch/nearest/by_cells.hpp"
#include "silverbirch/nearest/by_filter.hpp"
#include "silverbirch/nearest/row_order.hpp"

namespace silverbirch {

class NearestIndex {
 public:
  enum class Strategy { undecided, tree, panels, cells };

  // points: row-major, finite. strategy: undecided lets the rows decide which strategy is fastest. may_list: whether
  // there is memory for the lists of cells, which are several times as large as the points.
  NearestIndex(const double* points, std::size_t count, std::size_t dim, std::size_t threads, const Progress& progress,
               Strategy strategy = Strategy::undecided, bool may_list = true);

  // Writes the numbers of the points nearest to the rows, the lowest number among equally near points. Throws BadValue
  // if a value is not finite or too large to square.
  template <class Scalar>
  void nearest(const Scalar* rows, std::size_t row_count, std::int64_t* numbers, std::size_t threads,
               const Progress& progress) const;
  std::size_t dim() const { return tree_.dim; }
  std::size_t size() const { return numbers_.size(); }

 private:
  template <class Scalar>
  class Groups;

  template <class Scalar>
  Strategy choose(const Scalar* rows, std::size_t row_count, std::size_t threads, const Progress& progress) const;
  template <class Scalar>
  bool visits_much(const Scalar* rows, std::size_t row_count) const;
  std::size_t piece_rows(Strategy strategy, std::size_t row_count, std::size_t threads) const;
  template <class Scalar>
  void piece(Strategy strategy, const Scalar* rows, std::size_t row_count, std::int64_t* numbers,
             Spares<NearestCells::Batch>& batches, const Checkpoint& checkpoint) const;
  template <class Scalar>
  void by_tree(const Scalar* rows, std::size_t row_count, std::int64_t* numbers, const Checkpoint& checkpoint) const;
  template <class Scalar>
  void by_tree(const Scalar* rows, const std::vector<std::size_t>& some, std::int64_t* numbers,
               const Checkpoint& checkpoint) const;

  std::vector<std::uint32_t> numbers_;  // the number of the point in each slot
  AlignedDoubles blocks_;
  PackedBoxes<double> boxes_;
  PackedTree tree_;
  RowOrder row_order_;
  IndexSearch::NearestToPoints find_;
  // What the rows decide. Several calls may run at once: each call first lets choose() pick its strategy and build what
  // that strategy needs.
  mutable std::mutex choosing_;
  mutable Strategy strategy_;
  mutable bool may_list_;
  mutable std::size_t rows_seen_ = 0;
  mutable std::unique_ptr<NearestPanels> panels_;
  mutable std::unique_ptr<NearestCells> cells_;
};

}  // namespace silverbirch

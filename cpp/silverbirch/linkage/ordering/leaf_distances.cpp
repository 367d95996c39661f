#include "silverbirch/linkage/ordering/leaf_distances.hpp"

#include <algorithm>
#include <cmath>

#include "silverbirch/linkage/ordering/order_kernels.hpp"

namespace silverbirch {

PointDistances::PointDistances(const Branches& branches, const double* points, std::size_t dim, PointDistance distance)
    : points_(branches.leaves() * dim), dim_(dim), distance_(distance) {
  for (std::size_t place = 0; place < branches.leaves(); ++place)
    std::copy_n(points + static_cast<std::size_t>(branches.leaf_at()[place]) * dim, dim, points_.data() + place * dim);
}

void PointDistances::between(Places a, Places b, double* to, std::size_t row_step, Workspace& workspace) const {
  const auto gather = [&](Places places, std::vector<double>& rows) {
    rows.resize(std::max(rows.size(), places.size() * dim_));
    for (std::size_t i = 0; i < places.size(); ++i)
      std::copy_n(points_.data() + places[i] * dim_, dim_, rows.data() + i * dim_);
  };
  gather(a, workspace.rows);
  gather(b, workspace.columns);
  workspace.product.resize(kProductDoubles);
  for (std::size_t i = 0; i < a.size(); i += kProductRows)
    order_kernels().squared_distances({{workspace.rows.data() + i * dim_, dim_, 1},
                                       {workspace.columns.data(), 1, dim_},
                                       to + i * row_step,
                                       row_step,
                                       std::min(kProductRows, a.size() - i),
                                       dim_,
                                       b.size()},
                                      workspace.product.data());
  if (distance_ == PointDistance::squared) return;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (double* d = to + i * row_step; d < to + i * row_step + b.size(); ++d)
      *d = distance_ == PointDistance::euclidean ? std::sqrt(*d) : *d / 2.0;
}

void CondensedDistances::between(Places a, Places b, double* to, std::size_t row_step, Workspace&) const {
  const std::size_t n = branches_.leaves();
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto one = static_cast<std::size_t>(branches_.leaf_at()[a[i]]);
      const auto other = static_cast<std::size_t>(branches_.leaf_at()[b[j]]);
      const std::size_t low = std::min(one, other), high = std::max(one, other);
      to[i * row_step + j] = low == high ? 0.0 : condensed_[n * low - low * (low + 1) / 2 + high - low - 1];
    }
}

}  // namespace silverbirch

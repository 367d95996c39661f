#include "convert.hpp"
#include "silverbirch/linkage/ordering/branches.hpp"
#include "silverbirch/linkage/ordering/few_ends.hpp"
#include "silverbirch/linkage/ordering/leaf_distances.hpp"
#include "silverbirch/linkage/ordering/optimal_order.hpp"

namespace sb = silverbirch;

namespace {

std::vector<std::int64_t> order_by(const sb::Branches& branches, const sb::LeafDistances& distances,
                                   std::optional<std::size_t> ends, std::size_t threads, const sb::Progress& progress) {
  return ends ? sb::few_ends_order(branches, distances, *ends, progress)
              : sb::optimal_order(branches, distances, threads, progress);
}

}  // namespace

void bind_ordering(nb::module_& m) {
  m.def(
      "order_points",
      [](const Array2<const double>& z, const Array2<const double>& points, const std::string& distance,
         std::optional<std::size_t> ends, std::size_t threads, Callback progress) {
        if (points.shape(0) != z.shape(0) + 1) throw std::invalid_argument("there must be a point for each leaf");
        const auto kind = sb::point_distance_from_name(distance);
        return to_numpy(without_gil(std::move(progress), [&](const sb::Progress& report) {
          const sb::Branches branches(z.data(), z.shape(0));
          const sb::PointDistances distances(branches, points.data(), points.shape(1), kind);
          return order_by(branches, distances, ends, threads, report);
        }));
      },
      nb::arg("z"), nb::arg("points"), nb::arg("distance"), nb::arg("ends").none(), nb::arg("threads"),
      nb::arg("progress").none(),
      "Returns the leaves of Z in an order in which neighbours are near. distance: 'euclidean', 'squared' or "
      "'half_squared'. ends: how many leaves of each part of a branch may be its end; None finds the optimal order in "
      "cubic time, and takes 8 n² bytes.");
  m.def(
      "order_distances",
      [](const Array2<const double>& z, const Array1<const double>& condensed, std::optional<std::size_t> ends,
         std::size_t threads, Callback progress) {
        if (condensed.shape(0) != z.shape(0) * (z.shape(0) + 1) / 2)
          throw std::invalid_argument("condensed must have a distance for each pair of leaves");
        return to_numpy(without_gil(std::move(progress), [&](const sb::Progress& report) {
          const sb::Branches branches(z.data(), z.shape(0));
          return order_by(branches, sb::CondensedDistances(branches, condensed.data()), ends, threads, report);
        }));
      },
      nb::arg("z"), nb::arg("condensed"), nb::arg("ends").none(), nb::arg("threads"), nb::arg("progress").none(),
      "The same from the distances of all pairs.");
  m.def(
      "reordered",
      [](const Array2<const double>& z, const Array1<const std::int64_t>& order) {
        const std::size_t merges = z.shape(0);
        if (order.shape(0) != merges + 1) throw std::invalid_argument("the order must contain each leaf once");
        return to_numpy(
            without_gil({}, [&](const sb::Progress&) { return sb::reordered(z.data(), merges, order.data()); }),
            {merges, 4});
      },
      nb::arg("z"), nb::arg("order"), "Returns Z with children exchanged so that the leaves stand in this order.");
}

#include <algorithm>

#include "convert.hpp"
#include "silverbirch/linkage/reference/pairwise_distances.hpp"

namespace sb = silverbirch;

namespace {

template <class Scalar>
Refused check_coordinates(const Array2<const Scalar>& rows) {
  return refused_by([&] {
    without_gil({}, [&](const sb::Progress& progress) {
      sb::check_coordinates(rows.data(), rows.shape(0), rows.shape(1), 1, progress);
    });
  });
}

template <class Scalar>
FeatureArrays grouped(const Array2<const Scalar>& rows, const std::optional<Array1<const double>>& weights,
                      const Array1<const std::int64_t>& group_of_row, std::size_t group_count, Callback progress) {
  const std::size_t count = rows.shape(0);
  if (group_of_row.shape(0) != count || (weights && weights->shape(0) != count))
    throw std::invalid_argument("group_of_row and weights must have one value for each row");
  const std::int64_t* group = group_of_row.data();
  if (std::any_of(group, group + count,
                  [&](std::int64_t g) { return g < 0 || static_cast<std::size_t>(g) >= group_count; }))
    throw std::invalid_argument("group_of_row must lie between 0 and group_count - 1");
  return to_numpy(without_gil(std::move(progress), [&](const sb::Progress& report) {
    return sb::grouped(rows.data(), weights ? weights->data() : nullptr, group, count, rows.shape(1), group_count,
                       report);
  }));
}

}  // namespace

void bind_features(nb::module_& m) {
  m.def("cf_distance_names", [] { return name_list(sb::kCfDistanceNames); });
  m.attr("LARGEST_COORDINATE") = sb::kLargestCoordinate;
  m.attr("SMALLEST_WEIGHT") = sb::kSmallestWeight;
  m.attr("LARGEST_WEIGHT") = sb::kLargestWeight;
  m.attr("LARGEST_VARIANCE") = sb::kLargestVariance;

  m.def("check_coordinates", &check_coordinates<double>, nb::arg("rows"),
        "Returns (row, column, value) of the first value that is not finite or too large to square, or None.");
  m.def("check_coordinates", &check_coordinates<float>, nb::arg("rows"));

  m.def("grouped", &grouped<double>, nb::arg("rows"), nb::arg("weights").none(), nb::arg("group_of_row"),
        nb::arg("group_count"), nb::arg("progress").none(), "Returns (weight, mean, sse) of each group of rows.");
  m.def("grouped", &grouped<float>, nb::arg("rows"), nb::arg("weights").none(), nb::arg("group_of_row"),
        nb::arg("group_count"), nb::arg("progress").none());

  m.def(
      "merged_pairs",
      [](const Array1<const double>& weight_a, const Array2<const double>& mean_a, const Array1<const double>& sse_a,
         const Array1<const double>& weight_b, const Array2<const double>& mean_b, const Array1<const double>& sse_b) {
        const sb::FeaturesView a = view(weight_a, mean_a, sse_a), b = view(weight_b, mean_b, sse_b);
        if (a.size != b.size || a.dim != b.dim) throw std::invalid_argument("features to merge must have equal shapes");
        sb::Features merged{a.dim, {}, {}, {}};
        without_gil({}, [&](const sb::Progress&) {
          for (std::size_t i = 0; i < a.size; ++i) {
            merged.push_back(a[i]);
            merged.absorb(i, b[i]);
          }
        });
        return to_numpy(std::move(merged));
      },
      nb::arg("weight_a"), nb::arg("mean_a"), nb::arg("sse_a"), nb::arg("weight_b"), nb::arg("mean_b"),
      nb::arg("sse_b"), "Merges feature i of a with feature i of b, for every i. Returns (weight, mean, sse).");

  m.def(
      "pairwise_squared_distances",
      [](const Array1<const double>& weight, const Array2<const double>& mean, const Array1<const double>& sse,
         const std::string& distance, std::size_t threads, Callback progress) {
        const sb::FeaturesView features = view(weight, mean, sse);
        const sb::CfDistance cf_distance = sb::cf_distance_from_name(distance);
        const std::size_t pairs = features.size * (features.size - 1) / 2;
        // Left unset: filling this much memory takes seconds and could not be interrupted.
        const auto condensed = new double[pairs];
        const nb::capsule owner(condensed, [](void* p) noexcept { delete[] static_cast<double*>(p); });
        without_gil(std::move(progress), [&](const sb::Progress& report) {
          sb::pairwise_squared_distances(features, cf_distance, condensed, threads, report);
        });
        return NumpyArray<double>(condensed, {pairs}, owner);
      },
      nb::arg("weight"), nb::arg("mean"), nb::arg("sse"), nb::arg("distance"), nb::arg("threads"),
      nb::arg("progress").none(), "Returns the squared CF distances of all pairs as a condensed vector.");
}

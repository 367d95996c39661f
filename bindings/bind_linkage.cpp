#include "convert.hpp"
#include "silverbirch/linkage/cluster.hpp"

namespace sb = silverbirch;

namespace {

using MergeArrays = std::pair<NumpyArray<double>, NumpyArray<std::int64_t>>;

MergeArrays to_numpy_merges(sb::Merges&& merges) {
  const std::size_t count = merges.prototypes.size();
  std::vector<std::int64_t> prototypes(merges.prototypes.begin(), merges.prototypes.end());
  return {to_numpy(std::move(merges.z), {count, 4}), to_numpy(std::move(prototypes))};
}

void check_condensed(std::size_t pairs, std::size_t objects) {
  if (objects < 1 || pairs != objects * (objects - 1) / 2)
    throw std::invalid_argument("the condensed distances do not fit the number of weights");
}

}  // namespace

void bind_linkage(nb::module_& m) {
  m.def("linkage_names", [] { return name_list(sb::kLinkageNames); });
  m.def("algorithm_names", [] { return name_list(sb::kAlgorithmNames); });

  m.def(
      "cluster_features",
      [](const Array1<const double>& weight, const Array2<const double>& mean, const Array1<const double>& sse,
         const std::string& distance, bool equal_vote, const std::string& algorithm, std::size_t threads,
         Callback progress) {
        const sb::FeaturesView features = view(weight, mean, sse);
        const auto cf_distance = sb::cf_distance_from_name(distance);
        const auto how = sb::algorithm_from_name(algorithm);
        return to_numpy_merges(without_gil(std::move(progress), [&](const sb::Progress& report) {
          return sb::cluster_features(features, cf_distance, equal_vote ? sb::Vote::equal : sb::Vote::by_weight, how,
                                      threads, report);
        }));
      },
      nb::arg("weight"), nb::arg("mean"), nb::arg("sse"), nb::arg("distance"), nb::arg("equal_vote"),
      nb::arg("algorithm"), nb::arg("threads"), nb::arg("progress").none(),
      "Z with squared CF distances as heights, and prototypes.");

  m.def(
      "cluster_single",
      [](const Array1<const double>& weight, const Array2<const double>& points, const std::string& algorithm,
         std::size_t threads, Callback progress) {
        const sb::FeaturesView features = view(weight, points, weight);  // the sses are not used
        const auto how = sb::algorithm_from_name(algorithm);
        return to_numpy_merges(without_gil(std::move(progress), [&](const sb::Progress& report) {
          return sb::cluster_single(features, how, threads, report);
        }));
      },
      nb::arg("weight"), nb::arg("points"), nb::arg("algorithm"), nb::arg("threads"), nb::arg("progress").none(),
      "Single linkage of points. Z with squared distances as heights, and prototypes.");

  m.def(
      "cluster_points",
      [](const Array1<const double>& weight, const Array2<const double>& points, const std::string& linkage,
         const std::string& algorithm, std::size_t threads, Callback progress) -> std::optional<MergeArrays> {
        const sb::FeaturesView features = view(weight, points, weight);  // the sses are not used
        const auto kind = sb::linkage_from_name(linkage);
        const auto how = sb::algorithm_from_name(algorithm);
        auto merges = without_gil(std::move(progress), [&](const sb::Progress& report) {
          return sb::cluster_points(features, kind, how, threads, report);
        });
        if (!merges) return std::nullopt;
        return to_numpy_merges(std::move(*merges));
      },
      nb::arg("weight"), nb::arg("points"), nb::arg("linkage"), nb::arg("algorithm"), nb::arg("threads"),
      nb::arg("progress").none(),
      "Complete, average or weighted linkage of points, in linear memory. Z with squared distances as heights, and "
      "prototypes; None if a distance matrix is faster.");

  m.def(
      "cluster_matrix",
      [](const Array1<double>& condensed, const Array1<const double>& weight, const std::string& linkage,
         const std::string& algorithm, Callback progress) {
        check_condensed(condensed.shape(0), weight.shape(0));
        const auto kind = sb::linkage_from_name(linkage);
        const auto how = sb::algorithm_from_name(algorithm);
        return to_numpy_merges(without_gil(std::move(progress), [&](const sb::Progress& report) {
          return sb::cluster_matrix(condensed.data(), weight.data(), weight.shape(0), kind, how, report);
        }));
      },
      nb::arg("condensed"), nb::arg("weight"), nb::arg("linkage"), nb::arg("algorithm"), nb::arg("progress").none(),
      "Overwrites condensed. Z and prototypes.");

  m.def(
      "cluster_by_prototypes",
      [](const Array1<const double>& condensed, const Array1<const double>& weight, const std::string& linkage,
         const std::string& algorithm, Callback progress) {
        check_condensed(condensed.shape(0), weight.shape(0));
        const auto kind = sb::linkage_from_name(linkage);
        const auto how = sb::algorithm_from_name(algorithm);
        return to_numpy_merges(without_gil(std::move(progress), [&](const sb::Progress& report) {
          return sb::cluster_by_prototypes(condensed.data(), weight.data(), weight.shape(0), kind, how, report);
        }));
      },
      nb::arg("condensed"), nb::arg("weight"), nb::arg("linkage"), nb::arg("algorithm"), nb::arg("progress").none(),
      "Minimax and medoid linkage of objects given by their distances. Z and prototypes.");

  m.def(
      "cluster_points_by_prototypes",
      [](const Array1<const double>& weight, const Array2<const double>& points, const std::string& linkage,
         const std::string& algorithm, Callback progress) {
        const sb::FeaturesView features = view(weight, points, weight);  // the sses are not used
        const auto kind = sb::linkage_from_name(linkage);
        const auto how = sb::algorithm_from_name(algorithm);
        return to_numpy_merges(without_gil(std::move(progress), [&](const sb::Progress& report) {
          return sb::cluster_points_by_prototypes(features, kind, how, report);
        }));
      },
      nb::arg("weight"), nb::arg("points"), nb::arg("linkage"), nb::arg("algorithm"), nb::arg("progress").none(),
      "Minimax and medoid linkage of points. Z and prototypes.");
}

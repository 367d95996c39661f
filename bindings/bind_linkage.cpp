#include <nanobind/stl/string_view.h>

#include "convert.hpp"
#include "silverbirch/linkage/cluster.hpp"
#include "silverbirch/linkage/merge_history.hpp"
#include "silverbirch/linkage/reference/sparse_mst.hpp"

namespace sb = silverbirch;

namespace {

using MergeArrays = std::pair<NumpyArray<double>, NumpyArray<std::int64_t>>;

MergeArrays to_numpy_merges(sb::Merges&& merges) {
  const std::size_t count = merges.z.size() / 4;
  std::vector<std::int64_t> prototypes(merges.prototypes.begin(), merges.prototypes.end());
  return {to_numpy(std::move(merges.z), {count, 4}), to_numpy(std::move(prototypes))};
}

void check_condensed(std::size_t pairs, std::size_t objects) {
  if (objects < 1 || pairs != objects * (objects - 1) / 2)
    throw std::invalid_argument("condensed must have n(n - 1)/2 distances for n weights");
}

void bind_table(nb::module_& m) {
  nb::class_<sb::Linkage>(m, "Linkage", "A row of the core's table of linkages.")
      .def_ro("name", &sb::Linkage::name)
      .def_ro("reducible", &sb::Linkage::reducible)
      .def_ro("squared", &sb::Linkage::squared, "Defined on squared Euclidean distances; heights are their roots.")
      .def_prop_ro(
          "cf_distance",
          [](const sb::Linkage& linkage) -> std::optional<std::string_view> {
            if (!linkage.distance) return std::nullopt;
            return sb::kCfDistanceNames[static_cast<std::size_t>(*linkage.distance)];
          },
          "The CF distance that computes the linkage from cluster features; None if features are not enough.")
      .def_prop_ro(
          "equal_vote", [](const sb::Linkage& linkage) { return linkage.vote == sb::Vote::equal; },
          "Both parts of a merge count the same, whatever their weights.")
      .def_ro("scale", &sb::Linkage::scale, "The recurrence works on the squared CF distance times this.")
      .def_prop_ro("by_members", &sb::Linkage::by_members,
                   "algorithm='rounds' computes the linkage from points without a distance matrix.")
      .def_ro("prototypes", &sb::Linkage::prototypes, "One object represents each cluster.");
  m.def("linkages", [] { return std::vector<sb::Linkage>(sb::kLinkages.begin(), sb::kLinkages.end()); });
  m.def("algorithm_names", [] { return name_list(sb::kAlgorithmNames); });
}

}  // namespace

void bind_linkage(nb::module_& m) {
  bind_table(m);

  m.def(
      "cluster_features",
      [](const Array1<const double>& weight, const Array2<const double>& mean, const Array1<const double>& sse,
         const std::string& linkage, bool squares, const std::string& algorithm, std::size_t threads,
         const nb::typed<nb::callable, void(std::size_t objects)>& before_pairs, Callback progress) {
        const sb::FeaturesView features = view(weight, mean, sse);
        const sb::Linkage& kind = sb::linkage_from_name(linkage);
        const sb::ClusterOptions options{.algorithm = sb::algorithm_from_name(algorithm),
                                         .threads = threads,
                                         .before_pairs = [&](std::size_t objects) {
                                           const nb::gil_scoped_acquire gil;
                                           before_pairs(objects);
                                         }};
        return to_numpy_merges(without_gil(std::move(progress), [&](const sb::Progress& report) {
          return sb::cluster_features(features, kind, squares ? sb::Means::of_squares : sb::Means::of_distances,
                                      options, report);
        }));
      },
      nb::arg("weight"), nb::arg("mean"), nb::arg("sse"), nb::arg("linkage"), nb::arg("squares"), nb::arg("algorithm"),
      nb::arg("threads"), nb::arg("before_pairs"), nb::arg("progress").none(),
      "Returns Z and the prototypes, none for most linkages. squares: average and weighted linkage are root mean "
      "squared distances. "
      "before_pairs(objects) is called before the distances of all pairs are allocated.");

  m.def(
      "aggregate_features",
      [](const Array1<const double>& weight, const Array2<const double>& mean, const Array1<const double>& sse,
         const std::string& distance, const std::string& algorithm, std::size_t threads, Callback progress) {
        const sb::FeaturesView features = view(weight, mean, sse);
        const auto cf_distance = sb::cf_distance_from_name(distance);
        const sb::ClusterOptions options{.algorithm = sb::algorithm_from_name(algorithm), .threads = threads};
        return to_numpy_merges(without_gil(std::move(progress), [&](const sb::Progress& report) {
          return sb::aggregate_features(features, cf_distance, options, report);
        }));
      },
      nb::arg("weight"), nb::arg("mean"), nb::arg("sse"), nb::arg("distance"), nb::arg("algorithm"), nb::arg("threads"),
      nb::arg("progress").none(), "Merges features at each step. Returns Z and the prototypes.");

  m.def(
      "cluster_distances",
      [](const Array1<double>& condensed, const Array1<const double>& weight, const std::string& linkage,
         const std::string& algorithm, Callback progress) {
        check_condensed(condensed.shape(0), weight.shape(0));
        const sb::Linkage& kind = sb::linkage_from_name(linkage);
        const auto how = sb::algorithm_from_name(algorithm);
        return to_numpy_merges(without_gil(std::move(progress), [&](const sb::Progress& report) {
          return sb::cluster_distances(condensed.data(), weight.data(), weight.shape(0), kind, how, report);
        }));
      },
      nb::arg("condensed"), nb::arg("weight"), nb::arg("linkage"), nb::arg("algorithm"), nb::arg("progress").none(),
      "Clusters objects given by their distances, which are overwritten. Returns Z and the prototypes.");

  m.def(
      "cluster_distances_by_prototypes",
      [](const Array1<const double>& condensed, const Array1<const double>& weight, const std::string& linkage,
         const std::string& algorithm, Callback progress) {
        check_condensed(condensed.shape(0), weight.shape(0));
        const sb::Linkage& kind = sb::linkage_from_name(linkage);
        const auto how = sb::algorithm_from_name(algorithm);
        return to_numpy_merges(without_gil(std::move(progress), [&](const sb::Progress& report) {
          return sb::cluster_distances_by_prototypes(condensed.data(), weight.data(), weight.shape(0), kind, how,
                                                     report);
        }));
      },
      nb::arg("condensed"), nb::arg("weight"), nb::arg("linkage"), nb::arg("algorithm"), nb::arg("progress").none(),
      "The same for linkages with prototypes. The distances are not changed.");

  m.def(
      "merged_in_order",
      [](const Array1<const std::int64_t>& a, const Array1<const std::int64_t>& b, const Array1<const double>& height,
         bool monotone) {
        return to_numpy_merges(without_gil({},
                                           [&](const sb::Progress&) {
                                             return sb::merged_in_order({a.data(), a.shape(0)}, {b.data(), b.shape(0)},
                                                                        {height.data(), height.shape(0)}, monotone);
                                           }))
            .first;
      },
      nb::arg("a"), nb::arg("b"), nb::arg("height"), nb::arg("monotone"),
      "Z of merges in an order where parts come before the whole. a[i] is merged into b[i], which names the merged "
      "cluster from then on; if the heights ascend, any objects of the two clusters will do. monotone: there are no "
      "inversions, and heights that fall by rounding are levelled.");

  m.def(
      "sparse_mst",
      [](const Array1<const std::int64_t>& indptr, const Array1<const std::int32_t>& indices,
         const Array1<const double>& data, std::size_t columns, const std::string& metric, Callback progress) {
        const std::size_t values = data.shape(0);
        if (indptr.shape(0) < 2 || indices.shape(0) != values ||
            indptr.data()[indptr.shape(0) - 1] != static_cast<std::int64_t>(values))
          throw std::invalid_argument("indptr must end at the number of values, and every value needs a column");
        const sb::SparseRows rows{indptr.shape(0) - 1, columns, indptr.data(), indices.data(), data.data()};
        const sb::SparseMetric kind = sb::sparse_metric_from_name(metric);
        return to_numpy_merges(
                   without_gil(std::move(progress),
                               [&](const sb::Progress& report) { return sb::sparse_mst(rows, kind, report); }))
            .first;
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("columns"), nb::arg("metric"),
      nb::arg("progress").none(),
      "Z of single linkage of CSR rows, in memory linear in their values. metric: 'euclidean', 'cosine' or "
      "'correlation', of the rows as they are: nothing is to be normalised or centred before. The columns of a row "
      "must ascend (scipy: sum_duplicates). Rows without a distance raise ValueError: zero rows with 'cosine', "
      "constant rows with 'correlation'.");
}

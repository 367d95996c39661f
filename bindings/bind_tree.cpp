#include "convert.hpp"
#include "silverbirch/cf_tree.hpp"

namespace sb = silverbirch;

namespace {

template <class Scalar>
void insert_rows(sb::CfTree& tree, const Array2<const Scalar>& rows, const std::optional<Array1<const double>>& weights,
                 Callback progress) {
  if (rows.shape(1) != tree.dim()) throw std::invalid_argument("rows have the wrong width");
  if (weights && weights->shape(0) != rows.shape(0)) throw std::invalid_argument("one weight for each row, please");
  without_gil(std::move(progress), [&](const sb::Progress& report) {
    tree.insert_rows(rows.data(), weights ? weights->data() : nullptr, rows.shape(0), report);
  });
}

// (counts, weight, mean, sse) of one level
using LevelOut = std::tuple<NumpyArray<std::uint32_t>, NumpyArray<double>, NumpyArray<double>, NumpyArray<double>>;
using LevelIn =
    std::tuple<Array1<const std::uint32_t>, Array1<const double>, Array2<const double>, Array1<const double>>;

std::vector<LevelOut> levels(const sb::CfTree& tree) {
  sb::TreeLevels levels = without_gil({}, [&](const sb::Progress&) { return tree.levels(); });
  std::vector<LevelOut> result;
  for (std::size_t l = 0; l < levels.counts.size(); ++l)
    result.push_back(
        std::tuple_cat(std::tuple(to_numpy(std::move(levels.counts[l]))), to_numpy(std::move(levels.entries[l]))));
  return result;
}

sb::TreeLevels levels_from(const std::vector<LevelIn>& stored, std::size_t dim) {
  sb::TreeLevels levels;
  for (const auto& [counts, weight, mean, sse] : stored) {
    const sb::FeaturesView features = view(weight, mean, sse);
    if (features.dim != dim) throw std::invalid_argument("a stored tree must have means of one width");
    levels.counts.emplace_back(counts.data(), counts.data() + counts.shape(0));
    levels.entries.push_back({dim,
                              {features.weight, features.weight + features.size},
                              {features.mean, features.mean + features.size * dim},
                              {features.sse, features.sse + features.size}});
  }
  return levels;
}

sb::TreeOptions options_from(const std::string& distance, const std::string& absorption, double squared_threshold,
                             std::size_t max_leaves, std::size_t max_nodes, std::size_t branching) {
  return {sb::cf_distance_from_name(distance),
          sb::cf_distance_from_name(absorption),
          squared_threshold,
          max_leaves,
          max_nodes,
          branching};
}

}  // namespace

void bind_tree(nb::module_& m) {
  nb::class_<sb::CfTree>(m, "CfTree")
      .def(
          "__init__",
          [](sb::CfTree* self, std::size_t dim, const std::string& distance, const std::string& absorption,
             double squared_threshold, std::size_t max_leaves, std::size_t max_nodes, std::size_t branching) {
            new (self) sb::CfTree(
                dim, options_from(distance, absorption, squared_threshold, max_leaves, max_nodes, branching));
          },
          nb::arg("dim"), nb::arg("distance"), nb::arg("absorption"), nb::arg("squared_threshold"),
          nb::arg("max_leaves"), nb::arg("max_nodes"), nb::arg("branching"))
      .def_static(
          "from_levels",
          [](std::size_t dim, const std::string& distance, const std::string& absorption, double squared_threshold,
             std::size_t max_leaves, std::size_t max_nodes, std::size_t branching, const std::vector<LevelIn>& stored,
             std::size_t rebuild_count, double total_weight) {
            const sb::TreeOptions options =
                options_from(distance, absorption, squared_threshold, max_leaves, max_nodes, branching);
            return without_gil({}, [&](const sb::Progress&) {
              return sb::CfTree(dim, options, levels_from(stored, dim), rebuild_count, total_weight);
            });
          },
          nb::arg("dim"), nb::arg("distance"), nb::arg("absorption"), nb::arg("squared_threshold"),
          nb::arg("max_leaves"), nb::arg("max_nodes"), nb::arg("branching"), nb::arg("levels"),
          nb::arg("rebuild_count"), nb::arg("total_weight"))
      .def("insert_rows", &insert_rows<double>, nb::arg("rows"), nb::arg("weights").none(), nb::arg("progress").none())
      .def("insert_rows", &insert_rows<float>, nb::arg("rows"), nb::arg("weights").none(), nb::arg("progress").none())
      .def(
          "insert_features",
          [](sb::CfTree& tree, const Array1<const double>& weight, const Array2<const double>& mean,
             const Array1<const double>& sse, Callback progress) {
            const sb::FeaturesView features = view(weight, mean, sse);
            if (features.dim != tree.dim()) throw std::invalid_argument("features have the wrong width");
            without_gil(std::move(progress),
                        [&](const sb::Progress& report) { tree.insert_features(features, report); });
          },
          nb::arg("weight"), nb::arg("mean"), nb::arg("sse"), nb::arg("progress").none())
      .def_static("bytes_per_node", &sb::CfTree::bytes_per_node, nb::arg("dim"), nb::arg("branching"))
      .def("raise_threshold", &sb::CfTree::raise_threshold, nb::arg("squared_threshold"))
      .def(
          "leaves", [](const sb::CfTree& tree) { return to_numpy(tree.leaves()); }, "(weight, mean, sse)")
      .def("levels", &levels, "(counts, weight, mean, sse) for each level, the root's first")
      .def_prop_ro("dim", &sb::CfTree::dim)
      .def_prop_ro("squared_threshold", [](const sb::CfTree& tree) { return tree.options().squared_threshold; })
      .def_prop_ro("leaf_count", &sb::CfTree::leaf_count)
      .def_prop_ro("rebuild_count", &sb::CfTree::rebuild_count)
      .def_prop_ro("total_weight", &sb::CfTree::total_weight)
      .def_prop_ro("node_count", &sb::CfTree::node_count)
      .def_prop_ro("height", &sb::CfTree::height)
      .def_prop_ro("memory_bytes", &sb::CfTree::memory_bytes);
}

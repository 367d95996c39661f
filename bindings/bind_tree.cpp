#include "convert_tree.hpp"

namespace sb = silverbirch;

void bind_tree(nb::module_& m) {
  auto tree = nb::class_<sb::CfTree>(m, "CfTree");
  tree.def(
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
      .def(
          "levels",
          [](const sb::CfTree& self) {
            return to_numpy(without_gil({}, [&](const sb::Progress&) { return self.levels(); }));
          },
          "(counts, weight, mean, sse) for each level, the root's first")
      .def_static("bytes_per_node", &sb::CfTree::bytes_per_node, nb::arg("dim"), nb::arg("branching"))
      .def_prop_ro("height", &sb::CfTree::height);
  bind_insertion(tree);
}

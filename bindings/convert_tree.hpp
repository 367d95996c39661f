// Between numpy arrays and what is stored of a CF-tree.
#pragma once

#include "convert.hpp"
#include "silverbirch/tree/cf_tree.hpp"

// (counts, weight, mean, sse) of one level
using LevelOut = std::tuple<NumpyArray<std::uint32_t>, NumpyArray<double>, NumpyArray<double>, NumpyArray<double>>;
using LevelIn =
    std::tuple<Array1<const std::uint32_t>, Array1<const double>, Array2<const double>, Array1<const double>>;

inline std::vector<LevelOut> to_numpy(silverbirch::TreeLevels&& levels) {
  std::vector<LevelOut> result;
  for (std::size_t l = 0; l < levels.counts.size(); ++l)
    result.push_back(
        std::tuple_cat(std::tuple(to_numpy(std::move(levels.counts[l]))), to_numpy(std::move(levels.entries[l]))));
  return result;
}

inline silverbirch::TreeLevels levels_from(const std::vector<LevelIn>& stored, std::size_t dim) {
  silverbirch::TreeLevels levels;
  for (const auto& [counts, weight, mean, sse] : stored) {
    const silverbirch::FeaturesView features = view(weight, mean, sse);
    if (features.dim != dim) throw std::invalid_argument("a stored tree must have means of one width");
    levels.counts.emplace_back(counts.data(), counts.data() + counts.shape(0));
    levels.entries.push_back({dim,
                              {features.weight, features.weight + features.size},
                              {features.mean, features.mean + features.size * dim},
                              {features.sse, features.sse + features.size}});
  }
  return levels;
}

inline silverbirch::TreeOptions options_from(const std::string& distance, const std::string& absorption,
                                             double squared_threshold, std::size_t max_leaves, std::size_t max_nodes,
                                             std::size_t branching) {
  return {silverbirch::cf_distance_from_name(distance),
          silverbirch::cf_distance_from_name(absorption),
          squared_threshold,
          max_leaves,
          max_nodes,
          branching};
}

// What both kinds of trees do: insert, and tell how they are.
template <class Tree, class Scalar>
Refused insert_rows(Tree& tree, const Array2<const Scalar>& rows, const std::optional<Array1<const double>>& weights,
                    Callback progress, bool checked) {
  if (rows.shape(1) != tree.dim()) throw std::invalid_argument("rows have the wrong width");
  if (weights && weights->shape(0) != rows.shape(0)) throw std::invalid_argument("one weight for each row, please");
  return refused_by([&] {
    without_gil(std::move(progress), [&](const silverbirch::Progress& report) {
      const double* weight = weights ? weights->data() : nullptr;
      if (checked)
        tree.insert_rows(rows.data(), weight, rows.shape(0), report);
      else
        tree.check_and_insert(rows.data(), weight, rows.shape(0), report);
    });
  });
}

template <class Tree>
void bind_insertion(nb::class_<Tree>& type) {
  type.def(
          "insert_rows", &insert_rows<Tree, double>, nb::arg("rows"), nb::arg("weights").none(),
          nb::arg("progress").none(), nb::arg("checked"),
          "Inserts the rows. If one holds a value that cannot be clustered, the tree is left as it was, and the result "
          "is (row, column, value).")
      .def("insert_rows", &insert_rows<Tree, float>, nb::arg("rows"), nb::arg("weights").none(),
           nb::arg("progress").none(), nb::arg("checked"))
      .def(
          "insert_features",
          [](Tree& tree, const Array1<const double>& weight, const Array2<const double>& mean,
             const Array1<const double>& sse, Callback progress) {
            const silverbirch::FeaturesView features = view(weight, mean, sse);
            if (features.dim != tree.dim()) throw std::invalid_argument("features have the wrong width");
            without_gil(std::move(progress),
                        [&](const silverbirch::Progress& report) { tree.insert_features(features, report); });
          },
          nb::arg("weight"), nb::arg("mean"), nb::arg("sse"), nb::arg("progress").none())
      .def("raise_threshold", &Tree::raise_threshold, nb::arg("squared_threshold"))
      .def(
          "leaves", [](const Tree& tree) { return to_numpy(tree.leaves()); }, "(weight, mean, sse)")
      .def_prop_ro("dim", &Tree::dim)
      .def_prop_ro("squared_threshold", &Tree::squared_threshold)
      .def_prop_ro("leaf_count", &Tree::leaf_count)
      .def_prop_ro("rebuild_count", &Tree::rebuild_count)
      .def_prop_ro("total_weight", &Tree::total_weight)
      .def_prop_ro("node_count", &Tree::node_count)
      .def_prop_ro("memory_bytes", &Tree::memory_bytes);
}

#include "convert.hpp"
#include "silverbirch/tree/parts.hpp"

namespace sb = silverbirch;

namespace {

using Tree = sb::PartitionedTree;

// A stored tree in Python is (parts, planes, interval, rebuilds).
// part: (levels, weight, squared threshold, (max leaves, max nodes), rebuilds)
// level: (counts, weight, mean, sse)
// planes between the parts, in heap order: (normals, offsets)
// interval between two meetings of the parts: (rows, rows left, leaves that each part may add, nodes likewise)
using Size = std::pair<std::size_t, std::size_t>;
using Interval = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
template <class Level>
using Part = std::tuple<std::vector<Level>, double, double, Size, std::size_t>;
template <class Level, class Matrix, class Vector>
using State = std::tuple<std::vector<Part<Level>>, std::pair<Matrix, Vector>, Interval, std::size_t>;

using LevelOut = std::tuple<NumpyArray<std::uint32_t>, NumpyArray<double>, NumpyArray<double>, NumpyArray<double>>;
using LevelIn =
    std::tuple<Array1<const std::uint32_t>, Array1<const double>, Array2<const double>, Array1<const double>>;
using StateOut = State<LevelOut, NumpyArray<double>, NumpyArray<double>>;
using StateIn = State<LevelIn, Array2<const double>, Array1<const double>>;

std::vector<LevelOut> arrays_of(sb::TreeLevels&& levels) {
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

StateOut state_of(const Tree& tree) {
  Tree::State state = without_gil({}, [&](const sb::Progress&) { return tree.state(); });
  std::vector<Part<LevelOut>> parts;
  for (Tree::Part& part : state.parts)
    parts.emplace_back(arrays_of(std::move(part.levels)), part.total_weight, part.squared_threshold,
                       Size(part.limits.leaves, part.limits.nodes), part.rebuild_count);
  const Tree::Interval& interval = state.interval;
  const sb::SpacePartition& partition = state.partition;
  return {std::move(parts),
          {to_numpy(std::vector(partition.normals()), {partition.size() - 1, tree.dim()}),
           to_numpy(std::vector(partition.offsets()))},
          {interval.rows, interval.left, interval.share.leaves, interval.share.nodes},
          state.rebuild_count};
}

Tree::State state_from(const StateIn& stored, std::size_t dim) {
  const auto& [parts, planes, interval, rebuild_count] = stored;
  const auto& [normals, offsets] = planes;
  const auto& [rows, left, leaves, nodes] = interval;
  Tree::State state{sb::SpacePartition(dim, {normals.data(), normals.data() + normals.size()},
                                       {offsets.data(), offsets.data() + offsets.size()}),
                    {},
                    {rows, left, {leaves, nodes}},
                    rebuild_count};
  for (const auto& [levels, weight, squared_threshold, limits, rebuilds] : parts)
    state.parts.push_back(
        {levels_from(levels, dim), weight, squared_threshold, {limits.first, limits.second}, rebuilds});
  return state;
}

sb::TreeOptions options_from(const std::string& distance, const std::string& absorption, double squared_threshold,
                             std::size_t max_leaves, std::size_t max_nodes, std::size_t branching, std::size_t parts) {
  return {sb::cf_distance_from_name(distance),
          sb::absorption_from_name(absorption),
          squared_threshold,
          max_leaves,
          max_nodes,
          branching,
          parts};
}

template <class Scalar>
Refused insert_rows(Tree& tree, const Array2<const Scalar>& rows, const std::optional<Array1<const double>>& weights,
                    Callback progress, bool checked) {
  if (rows.shape(1) != tree.dim()) throw std::invalid_argument("rows have the wrong width");
  if (weights && weights->shape(0) != rows.shape(0))
    throw std::invalid_argument("weights must have one value for each row");
  return refused_by([&] {
    without_gil(std::move(progress), [&](const sb::Progress& report) {
      const double* weight = weights ? weights->data() : nullptr;
      if (checked)
        tree.insert_rows(rows.data(), weight, rows.shape(0), report);
      else
        tree.check_and_insert(rows.data(), weight, rows.shape(0), report);
    });
  });
}

void insert_features(Tree& tree, const Array1<const double>& weight, const Array2<const double>& mean,
                     const Array1<const double>& sse, Callback progress) {
  const sb::FeaturesView features = view(weight, mean, sse);
  if (features.dim != tree.dim()) throw std::invalid_argument("features have the wrong width");
  without_gil(std::move(progress), [&](const sb::Progress& report) { tree.insert_features(features, report); });
}

}  // namespace

void bind_tree(nb::module_& m) {
  m.attr("NEVER") = Tree::kNever;  // "rows left" of a tree that stays one part
  m.def("absorption_names", [] { return name_list(sb::kAbsorptionNames); });
  m.def("default_branching", &sb::default_branching, nb::arg("dim"), nb::arg("node_bytes"),
        "The number of entries per node for trees whose nodes may take `node_bytes` altogether.");
  m.def("bytes_per_node", &sb::CfTree::bytes_per_node, nb::arg("dim"), nb::arg("branching"));

  nb::class_<Tree>(m, "CfTree")
      .def(
          "__init__",
          [](Tree* self, std::size_t dim, const std::string& distance, const std::string& absorption,
             double squared_threshold, std::size_t max_leaves, std::size_t max_nodes, std::size_t branching,
             std::size_t parts) {
            new (self) Tree(
                dim, options_from(distance, absorption, squared_threshold, max_leaves, max_nodes, branching, parts));
          },
          nb::arg("dim"), nb::arg("distance"), nb::arg("absorption"), nb::arg("squared_threshold"),
          nb::arg("max_leaves"), nb::arg("max_nodes"), nb::arg("branching"), nb::arg("parts"))
      .def_static(
          "from_state",
          [](std::size_t dim, const std::string& distance, const std::string& absorption, double squared_threshold,
             std::size_t max_leaves, std::size_t max_nodes, std::size_t branching, std::size_t parts,
             const StateIn& state) {
            const sb::TreeOptions options =
                options_from(distance, absorption, squared_threshold, max_leaves, max_nodes, branching, parts);
            return without_gil({}, [&](const sb::Progress&) { return Tree(dim, options, state_from(state, dim)); });
          },
          nb::arg("dim"), nb::arg("distance"), nb::arg("absorption"), nb::arg("squared_threshold"),
          nb::arg("max_leaves"), nb::arg("max_nodes"), nb::arg("branching"), nb::arg("parts"), nb::arg("state"))
      .def("state", &state_of, "(parts, planes, interval, rebuilds), as `from_state` takes it")
      .def(
          "insert_rows", &insert_rows<double>, nb::arg("rows"), nb::arg("weights").none(), nb::arg("progress").none(),
          nb::arg("checked"),
          "Inserts the rows. If one holds a value that cannot be clustered, the tree is left as it was, and the result "
          "is (row, column, value).")
      .def("insert_rows", &insert_rows<float>, nb::arg("rows"), nb::arg("weights").none(), nb::arg("progress").none(),
           nb::arg("checked"))
      .def("insert_features", &insert_features, nb::arg("weight"), nb::arg("mean"), nb::arg("sse"),
           nb::arg("progress").none())
      .def("set_threads", &Tree::set_threads, nb::arg("threads"))
      .def("raise_threshold", &Tree::raise_threshold, nb::arg("squared_threshold"))
      .def(
          "decay",
          [](Tree& tree, double factor, double lightest, Callback progress) {
            without_gil(std::move(progress), [&](const sb::Progress& report) { tree.decay(factor, lightest, report); });
          },
          nb::arg("factor"), nb::arg("lightest"), nb::arg("progress").none(),
          "Multiplies all weights and sses by `factor`, and removes leaves lighter than `lightest`.")
      .def(
          "leaves", [](const Tree& tree) { return to_numpy(tree.leaves()); }, "(weight, mean, sse)")
      .def_prop_ro("dim", &Tree::dim)
      .def_prop_ro("part_count", &Tree::part_count)
      .def_prop_ro("squared_threshold", &Tree::squared_threshold)
      .def_prop_ro("leaf_count", &Tree::leaf_count)
      .def_prop_ro("rebuild_count", &Tree::rebuild_count)
      .def_prop_ro("total_weight", &Tree::total_weight)
      .def_prop_ro("node_count", &Tree::node_count)
      .def_prop_ro("memory_bytes", &Tree::memory_bytes);
}

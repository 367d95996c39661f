#include "convert_tree.hpp"
#include "silverbirch/tree/parts.hpp"

namespace sb = silverbirch;

namespace {

// (levels, total_weight) of the tree of one part
using PartOut = std::pair<std::vector<LevelOut>, double>;
using PartIn = std::pair<std::vector<LevelIn>, double>;
using Planes = std::pair<Array2<const double>, Array1<const double>>;
using Counts = std::tuple<std::size_t, std::size_t, double>;

std::vector<PartOut> parts(const sb::PartitionedTree& tree) {
  std::vector<PartOut> result;
  for (auto& part : without_gil({}, [&](const sb::Progress&) { return tree.parts(); }))
    result.emplace_back(to_numpy(std::move(part.levels)), part.total_weight);
  return result;
}

std::vector<sb::PartitionedTree::Part> parts_from(const std::vector<PartIn>& stored, std::size_t dim) {
  std::vector<sb::PartitionedTree::Part> result;
  for (const auto& [levels, total_weight] : stored) result.push_back({levels_from(levels, dim), total_weight});
  return result;
}

sb::SpacePartition partition_from(const Planes& planes, std::size_t dim) {
  const auto& [normals, offsets] = planes;
  return {dim, {normals.data(), normals.data() + normals.size()}, {offsets.data(), offsets.data() + offsets.size()}};
}

}  // namespace

void bind_partitioned_tree(nb::module_& m) {
  auto tree = nb::class_<sb::PartitionedTree>(m, "PartitionedTree");
  tree.def(
          "__init__",
          [](sb::PartitionedTree* self, std::size_t dim, const std::string& distance, const std::string& absorption,
             double squared_threshold, std::size_t max_leaves, std::size_t max_nodes, std::size_t branching,
             std::size_t part_count, std::size_t threads) {
            const sb::TreeOptions options =
                options_from(distance, absorption, squared_threshold, max_leaves, max_nodes, branching);
            new (self) sb::PartitionedTree(dim, options, part_count, threads);
          },
          nb::arg("dim"), nb::arg("distance"), nb::arg("absorption"), nb::arg("squared_threshold"),
          nb::arg("max_leaves"), nb::arg("max_nodes"), nb::arg("branching"), nb::arg("part_count"), nb::arg("threads"))
      .def_static(
          "from_parts",
          [](std::size_t dim, const std::string& distance, const std::string& absorption, double squared_threshold,
             std::size_t max_leaves, std::size_t max_nodes, std::size_t branching, std::size_t part_count,
             std::size_t threads, const Planes& planes, const std::vector<PartIn>& stored, const Counts& counts) {
            const sb::TreeOptions options =
                options_from(distance, absorption, squared_threshold, max_leaves, max_nodes, branching);
            const auto& [rows, rebuilds, weight] = counts;
            return without_gil({}, [&](const sb::Progress&) {
              return sb::PartitionedTree(dim, options, part_count, threads, partition_from(planes, dim),
                                         parts_from(stored, dim), {rows, rebuilds, weight});
            });
          },
          nb::arg("dim"), nb::arg("distance"), nb::arg("absorption"), nb::arg("squared_threshold"),
          nb::arg("max_leaves"), nb::arg("max_nodes"), nb::arg("branching"), nb::arg("part_count"), nb::arg("threads"),
          nb::arg("planes"), nb::arg("parts"), nb::arg("counts"))
      .def("parts", &parts, "(levels, total_weight) of each")
      .def(
          "planes",
          [](const sb::PartitionedTree& self) {
            const sb::SpacePartition& partition = self.partition();
            const std::size_t count = partition.size() - 1;
            return std::pair(to_numpy(std::vector(partition.normals()), {count, self.dim()}),
                             to_numpy(std::vector(partition.offsets())));
          },
          "(normals, offsets) of the planes between the parts, in the order of a heap")
      .def(
          "counts",
          [](const sb::PartitionedTree& self) {
            const sb::PartitionedTree::Counts counts = self.counts();
            return Counts(counts.rows, counts.rebuilds, counts.weight);
          },
          "(rows, rebuilds, weight)");
  bind_insertion(tree);
}

#include "convert_tree.hpp"
#include "silverbirch/partitioned_tree.hpp"

namespace sb = silverbirch;

namespace {

// (levels, squared_threshold, max_leaves, max_nodes, rebuild_count, total_weight) of the tree of one part
using PartOut = std::tuple<std::vector<LevelOut>, double, std::size_t, std::size_t, std::size_t, double>;
using PartIn = std::tuple<std::vector<LevelIn>, double, std::size_t, std::size_t, std::size_t, double>;
using Planes = std::pair<Array2<const double>, Array1<const double>>;
using Stream = std::tuple<std::size_t, std::size_t, std::size_t, double>;

std::vector<PartOut> parts(const sb::PartitionedTree& tree) {
  std::vector<PartOut> result;
  for (auto& part : without_gil({}, [&](const sb::Progress&) { return tree.parts(); }))
    result.emplace_back(to_numpy(std::move(part.levels)), part.squared_threshold, part.max_leaves, part.max_nodes,
                        part.rebuild_count, part.total_weight);
  return result;
}

std::vector<sb::PartitionedTree::Part> parts_from(const std::vector<PartIn>& stored, std::size_t dim) {
  std::vector<sb::PartitionedTree::Part> result;
  for (const auto& [levels, squared_threshold, max_leaves, max_nodes, rebuild_count, total_weight] : stored)
    result.push_back({levels_from(levels, dim), squared_threshold, max_leaves, max_nodes, rebuild_count, total_weight});
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
             std::size_t threads, const Planes& planes, const std::vector<PartIn>& stored, const Stream& stream) {
            const sb::TreeOptions options =
                options_from(distance, absorption, squared_threshold, max_leaves, max_nodes, branching);
            const auto& [position, block_end, rebuild_count, total_weight] = stream;
            return without_gil({}, [&](const sb::Progress&) {
              return sb::PartitionedTree(dim, options, part_count, threads, partition_from(planes, dim),
                                         parts_from(stored, dim), {position, block_end, rebuild_count, total_weight});
            });
          },
          nb::arg("dim"), nb::arg("distance"), nb::arg("absorption"), nb::arg("squared_threshold"),
          nb::arg("max_leaves"), nb::arg("max_nodes"), nb::arg("branching"), nb::arg("part_count"), nb::arg("threads"),
          nb::arg("planes"), nb::arg("parts"), nb::arg("stream"))
      .def("parts", &parts, "(levels, squared_threshold, max_leaves, max_nodes, rebuild_count, total_weight) of each")
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
          "stream",
          [](const sb::PartitionedTree& self) {
            const sb::PartitionedTree::Stream& stream = self.stream();
            return Stream(stream.position, stream.block_end, stream.rebuild_count, stream.total_weight);
          },
          "(position, block_end, rebuild_count, total_weight)");
  bind_insertion(tree);
}

// Two small fixed jobs whose instructions are counted: instruction_jobs tree | ward | none
//
// "none" only makes the rows, so that the counts of the others can do without that. The instruction set is fixed,
// because valgrind does not run AVX-512 and a count is comparable only with one of the same kernels.
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "silverbirch/features/block_kernels.hpp"
#include "silverbirch/linkage/cluster.hpp"
#include "silverbirch/tree/parts.hpp"

namespace sb = silverbirch;

namespace {

constexpr std::size_t kColumns = 5, kRows = 40'000, kLeaves = 1'000, kPoints = 3'000;

// A cube of side 100. Marsaglia's xorshift: the same rows with every standard library.
std::vector<double> uniform_rows() {
  std::uint64_t state = 88172645463325252ULL;
  std::vector<double> rows(kRows * kColumns);
  for (double& x : rows) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    x = 100.0 * static_cast<double>(state >> 11) * 0x1p-53;
  }
  return rows;
}

std::size_t build_tree(const std::vector<double>& rows) {
  sb::TreeOptions options;
  options.max_leaves = kLeaves;
  sb::PartitionedTree tree(kColumns, options);
  tree.insert_rows(rows.data(), nullptr, kRows, sb::no_progress);
  return tree.leaf_count();
}

std::size_t ward(const std::vector<double>& rows) {
  const std::vector<double> ones(kPoints, 1.0), zeros(kPoints, 0.0);
  const sb::FeaturesView points{kPoints, kColumns, ones.data(), rows.data(), zeros.data()};
  const auto merges =
      sb::cluster_features(points, sb::linkage_from_name("ward"), sb::Means::of_squares, {}, sb::no_progress);
  return merges.z.size();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view job = count > 1 ? arguments[1] : "";
  if (count != 3 || (job != "tree" && job != "ward" && job != "none")) {
    std::fprintf(stderr, "instruction_jobs tree|ward|none <instruction set>\n");
    return 2;
  }
  sb::use_instruction_set(arguments[2]);
  const std::vector<double> rows = uniform_rows();
  const std::size_t result = job == "tree" ? build_tree(rows) : job == "ward" ? ward(rows) : rows.size();
  std::printf("%zu\n", result);
}

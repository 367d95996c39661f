#include <atomic>
#include <stdexcept>
#include <string>

#include "silverbirch/features/block_kernels.hpp"

namespace silverbirch {

extern const Kernels kernels_baseline;
#if defined(SILVERBIRCH_X86)
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
extern const PairFilter pair_filter_avx512vnni;
#endif

namespace {

#if defined(SILVERBIRCH_X86)
// With sums of products of bytes, which the filter of pairs alone makes use of.
const Kernels& kernels_avx512vnni() {
  static const Kernels table = [] {
    Kernels with_bytes = kernels_avx512;
    with_bytes.instruction_set = "avx512vnni";
    with_bytes.pair_filter = &pair_filter_avx512vnni;
    return with_bytes;
  }();
  return table;
}
#endif

// Slowest first. What is asked of the machine is what CMakeLists.txt lets the compiler use.
std::vector<const Kernels*> supported() {
  std::vector<const Kernels*> tables = {&kernels_baseline};
#if defined(SILVERBIRCH_X86)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2) tables.push_back(&kernels_avx2);
  if (avx512) tables.push_back(&kernels_avx512);
  if (avx512 && __builtin_cpu_supports("avx512vnni")) tables.push_back(&kernels_avx512vnni());
#endif
  return tables;
}

std::atomic<const Kernels*>& chosen() {
  static std::atomic<const Kernels*> table{supported().back()};
  return table;
}

}  // namespace

const Kernels& kernels() { return *chosen().load(std::memory_order_relaxed); }

const TreeKernels& tree_kernels(std::size_t dim) {
  return kernels().tree->by_dimension[dim <= kFewDimensions ? dim : 0];
}

const TreeKernels& rounded_tree_kernels() { return kernels().tree->rounded; }

std::vector<std::string_view> supported_instruction_sets() {
  std::vector<std::string_view> names;
  for (const Kernels* table : supported()) names.push_back(table->instruction_set);
  return names;
}

void use_instruction_set(std::string_view name) {
  for (const Kernels* table : supported())
    if (table->instruction_set == name) {
      chosen().store(table, std::memory_order_relaxed);
      return;
    }
  throw std::invalid_argument("this machine does not run the instruction set '" + std::string(name) + "'");
}

}  // namespace silverbirch

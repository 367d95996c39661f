#include <atomic>
#include <stdexcept>
#include <string>

#include "kernels.hpp"

namespace silverbirch {

extern const Kernels kernels_baseline;
#if defined(SILVERBIRCH_X86_LEVELS)
extern const Kernels kernels_v3;
extern const Kernels kernels_v4;
#endif

namespace {

// Slowest first. The levels are those of the x86-64 psABI: v3 is AVX2, v4 is AVX-512.
std::vector<const Kernels*> supported() {
  std::vector<const Kernels*> tables = {&kernels_baseline};
#if defined(SILVERBIRCH_X86_LEVELS)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v3) tables.push_back(&kernels_v3);
  if (v4) tables.push_back(&kernels_v4);
#endif
  return tables;
}

std::atomic<const Kernels*>& chosen() {
  static std::atomic<const Kernels*> table{supported().back()};
  return table;
}

}  // namespace

const Kernels& kernels() { return *chosen().load(std::memory_order_relaxed); }

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

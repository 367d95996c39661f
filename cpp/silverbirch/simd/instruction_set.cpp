#include "silverbirch/simd/instruction_set.hpp"

#include <atomic>
#include <stdexcept>
#include <string>

#include "silverbirch/base/names.hpp"

namespace silverbirch {

namespace {

// Asks for exactly the extensions that CMakeLists.txt lets the compiler use.
InstructionSet best_supported() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return InstructionSet::baseline;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return InstructionSet::avx2;
  return __builtin_cpu_supports("avx512vnni") ? InstructionSet::avx512vnni : InstructionSet::avx512;
#else
  return InstructionSet::baseline;
#endif
}

std::atomic<InstructionSet> in_use{best_supported()};

}  // namespace

InstructionSet instruction_set() { return in_use.load(std::memory_order_relaxed); }

std::vector<std::string_view> supported_instruction_sets() {
  return {kInstructionSetNames.begin(), kInstructionSetNames.begin() + static_cast<int>(best_supported()) + 1};
}

void use_instruction_set(std::string_view name) {
  const auto set = from_name<InstructionSet>(kInstructionSetNames, name, "instruction set");
  if (set > best_supported())
    throw std::invalid_argument("this machine does not run the instruction set '" + std::string(name) + "'");
  in_use.store(set, std::memory_order_relaxed);
}

}  // namespace silverbirch

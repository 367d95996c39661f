#include "convert.hpp"
#include "silverbirch/simd/instruction_set.hpp"

namespace sb = silverbirch;

void bind_simd(nb::module_& m) {
  m.def(
      "instruction_set",
      [] { return std::string(sb::kInstructionSetNames[static_cast<std::size_t>(sb::instruction_set())]); },
      "Returns the name of the instruction set in use.");
  m.def(
      "supported_instruction_sets",
      [] {
        const auto names = sb::supported_instruction_sets();
        return std::vector<std::string>(names.begin(), names.end());
      },
      "Returns the names of the instruction sets that this machine supports, slowest first.");
  m.def(
      "use_instruction_set", [](const std::string& name) { sb::use_instruction_set(name); }, nb::arg("name"),
      "Uses another instruction set from now on. For tests and benchmarks; not while another thread computes.");
}

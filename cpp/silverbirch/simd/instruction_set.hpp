// Which vector instructions are in use: the best set that this machine supports, unless another was chosen by name.
//
// All sets give the same bits: the order of operations is fixed in each lane, and multiply-add is not fused. Only
// filters may differ, because their numbers never enter a result.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace silverbirch {

enum class InstructionSet { baseline, avx2, avx512, avx512vnni };  // each includes those before it
inline constexpr std::array<std::string_view, 4> kInstructionSetNames = {"baseline", "avx2", "avx512", "avx512vnni"};

InstructionSet instruction_set();
std::vector<std::string_view> supported_instruction_sets();  // slowest first
void use_instruction_set(std::string_view name);  // for tests and benchmarks; not while another thread computes

}  // namespace silverbirch

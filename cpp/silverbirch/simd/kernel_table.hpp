// Kernel tables: a room's inner loops, compiled once per instruction set.
//
// A room declares its table once, in a header: SILVERBIRCH_KERNEL_TABLE(IndexSearch, index_search). Every instruction
// set has a constant of that type (index_search_avx2, …), and index_search() is the one in use. The file of the loops
// defines SILVERBIRCH_KERNELS(index_search); CMakeLists.txt compiles it once per set, with SILVERBIRCH_SET for its
// name.
//
// Such a file gives everything else internal linkage and instantiates no template of the standard library, so that no
// code for a newer processor leaks into the rest of the program.
#pragma once

#include "silverbirch/simd/inline.hpp"
#include "silverbirch/simd/instruction_set.hpp"

#define SILVERBIRCH_JOIN_NAMES(name, set) name##_##set
#define SILVERBIRCH_JOIN(name, set) SILVERBIRCH_JOIN_NAMES(name, set)
#define SILVERBIRCH_KERNELS(name) SILVERBIRCH_JOIN(name, SILVERBIRCH_SET)

#if defined(__x86_64__)
#define SILVERBIRCH_KERNEL_TABLE(Table, name)                                        \
  extern const Table name##_baseline, name##_avx2, name##_avx512;                    \
  SILVERBIRCH_INLINE const Table& name() {                                           \
    return table_in_use(name##_baseline, name##_avx2, name##_avx512, name##_avx512); \
  }
#else
#define SILVERBIRCH_KERNEL_TABLE(Table, name) \
  extern const Table name##_baseline;         \
  SILVERBIRCH_INLINE const Table& name() { return name##_baseline; }
#endif

namespace silverbirch {

template <class Table>
SILVERBIRCH_INLINE const Table& table_in_use(const Table& baseline, const Table& avx2, const Table& avx512,
                                             const Table& avx512vnni) {
  switch (instruction_set()) {
    case InstructionSet::baseline: return baseline;
    case InstructionSet::avx2: return avx2;
    case InstructionSet::avx512: return avx512;
    case InstructionSet::avx512vnni: break;
  }
  return avx512vnni;
}

}  // namespace silverbirch

// Kernel tables: the inner loops of a room, compiled once per instruction set.
//
// A room declares its table once, in a header: SILVERBIRCH_KERNEL_TABLE(IndexSearch, index_search). Each instruction
// set then has a constant of that type (index_search_avx2, …), and index_search() returns the one in use. The .cpp file
// with the loops defines SILVERBIRCH_KERNELS(index_search). CMakeLists.txt compiles that file once per instruction set
// and passes the name of the set as SILVERBIRCH_SET.
//
// Everything else in such a file has internal linkage, and the file instantiates no template of the standard library.
// Otherwise code for a newer processor could reach the rest of the program through the linker.
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

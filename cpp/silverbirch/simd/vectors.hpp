// Vectors of the native width, by one name on every instruction set: Doubles, Floats, Ints, and what compilers do not
// make of plain C++ by themselves. Only for files that are compiled once per instruction set: all of it has internal
// linkage.
#pragma once

#if defined(__AVX512F__)
#include "silverbirch/simd/avx512.hpp"
#elif defined(__AVX2__)
#include "silverbirch/simd/avx2.hpp"
#else
#include "silverbirch/simd/baseline.hpp"
#endif

// Vectors of the native width under one set of names: Doubles, Floats, Ints, and the operations that compilers do not
// generate from plain C++. Only for files that are compiled once per instruction set: everything here has internal
// linkage.
#pragma once

#if defined(__AVX512F__)
#include "silverbirch/simd/avx512.hpp"
#elif defined(__AVX2__)
#include "silverbirch/simd/avx2.hpp"
#else
#include "silverbirch/simd/baseline.hpp"
#endif

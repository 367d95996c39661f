// Functions in headers of files that are compiled once per instruction set must always be inlined. Otherwise the linker
// would keep one copy of such a function, and that copy may use instructions that the machine lacks.
#pragma once

#define SILVERBIRCH_INLINE inline __attribute__((always_inline))

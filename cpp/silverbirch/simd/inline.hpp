// For functions in headers of files that are compiled once per instruction set: never out of line, because the linker
// keeps one copy of an inline function, and that copy may use instructions that the machine lacks.
#pragma once

#define SILVERBIRCH_INLINE inline __attribute__((always_inline))

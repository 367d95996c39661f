// The least a test needs: CHECK says which line failed, main() counts.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

inline bool close(double a, double b, double relative = 1e-12) {
  return std::abs(a - b) <= relative * std::fmax(std::abs(a), std::abs(b));
}

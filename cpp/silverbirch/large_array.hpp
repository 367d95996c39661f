// A large array that is written once: not zeroed before, and of huge pages where the system has them, because with
// small ones the first touch of each takes longer than writing it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace silverbirch {

template <class T>
std::unique_ptr<T[]> make_large_array(std::size_t size) {
  auto array = std::make_unique_for_overwrite<T[]>(size);
#if defined(__linux__)
  constexpr std::uintptr_t kHugePage = std::uintptr_t{1} << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(array.get());
  const std::uintptr_t begin = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (address + size * sizeof(T)) / kHugePage * kHugePage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
  return array;
}

}  // namespace silverbirch

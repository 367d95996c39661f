// Memory that starts on a cache line, as the block kernels expect.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace silverbirch {

template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kAlignment); }

  template <class U>
  bool operator==(const AlignedAllocator<U>&) const {
    return true;
  }
};

using AlignedDoubles = std::vector<double, AlignedAllocator<double>>;
using AlignedFloats = std::vector<float, AlignedAllocator<float>>;

}  // namespace silverbirch

// Memory that starts on a cache line, as the block kernels expect.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "silverbirch/base/switches.hpp"
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

// Leaves new elements unset. This is for large arrays that several threads will fill: the first write to a page makes
// the system provide that page, which takes longer than the write, so the threads should share these first writes.
template <class T>
struct UnsetAllocator : AlignedAllocator<T> {
  UnsetAllocator() = default;
  template <class U>
  UnsetAllocator(const UnsetAllocator<U>&) {}

  template <class U>
  void construct(U* p) {
    static_assert(std::is_trivially_default_constructible_v<U>);
    if (on(Mechanism::unset_memory))
      ::new (static_cast<void*>(p)) U;
    else
      ::new (static_cast<void*>(p)) U();
  }
  template <class U, class... Arguments>
  void construct(U* p, Arguments&&... arguments) {
    ::new (static_cast<void*>(p)) U(std::forward<Arguments>(arguments)...);
  }
};

template <class T>
using UnsetVector = std::vector<T, UnsetAllocator<T>>;
using AlignedDoubles = std::vector<double, AlignedAllocator<double>>;
using AlignedFloats = std::vector<float, AlignedAllocator<float>>;

}  // namespace silverbirch
